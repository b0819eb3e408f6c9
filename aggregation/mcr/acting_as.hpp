// SPDX-License-Identifier: BSD-3-Clause
// Root does something for another user with that user's rights, so that the operating system decides
// what he may: modes, access lists, sticky bits, quotas.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "codecs/base/result.hpp"

namespace mcr::aggregation {

/// This process has the rights of `user` while an object of this class lives. For one thread at a time.
class ActingAs {
 public:
  /// Nothing changes where this process is `user`; else only root can. The groups are those of the
  /// user's account. Of a user without an account no group is known, and so none counts.
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
