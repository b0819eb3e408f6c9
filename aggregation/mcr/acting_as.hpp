// SPDX-License-Identifier: BSD-3-Clause
// Lets root act with the rights of another user, so that the operating system applies that user's
// modes, access lists, sticky bits and quotas.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "codecs/base/result.hpp"

namespace mcr::aggregation {

/// While an object of this class lives, the process has the rights of `user`, and new files are not for group or others to write.
/// Use it in one thread at a time.
class ActingAs {
 public:
  /// Changes nothing if this process already is `user`; otherwise the caller must be root. The
  /// process gets the groups of the user's account, or no groups if the user has no account. Fails
  /// for restart::unknown_user.
  static Result<ActingAs> begin(uid_t user);

  ActingAs(ActingAs&& other) noexcept;
  ActingAs& operator=(ActingAs&&) = delete;
  ~ActingAs();

 private:
  ActingAs() = default;

  bool is_changed_ = false;
  uid_t user_ = 0;  ///< the rights of this process before
  gid_t group_ = 0;
  mode_t umask_ = 0;
  std::vector<gid_t> groups_;
};

}  // namespace mcr::aggregation
