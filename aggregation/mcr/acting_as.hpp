// SPDX-License-Identifier: BSD-3-Clause
// Lets root act with the rights of another user, so that the operating system applies that user's
// modes, access lists, sticky bits and quotas.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "codecs/base/result.hpp"

namespace mcr::aggregation {

/// While an object of this class lives, the process has the rights of `user`. Use it in one thread
/// at a time.
class ActingAs {
 public:
  /// Changes nothing if this process is `user`; otherwise only root can call it. The groups are
  /// those of the user's account. A user without an account has no groups.
  static Result<ActingAs> begin(uid_t user);

  ActingAs(ActingAs&& other) noexcept;
  ActingAs& operator=(ActingAs&&) = delete;
  ~ActingAs();

 private:
  ActingAs() = default;

  bool is_changed_ = false;
  uid_t user_ = 0;  ///< what this process was before
  gid_t group_ = 0;
  std::vector<gid_t> groups_;
};

}  // namespace mcr::aggregation
