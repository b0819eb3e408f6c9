// SPDX-License-Identifier: BSD-3-Clause
// Who may add names to a directory of ours in a directory of containers (set-stubs/, set-natives/).
//
// Because of such a name, a set or a file is removed. Other users can move this user's files there
// and so give them any name. So a name counts only if each user who may add names may remove the
// containers as well.
#pragma once

#include <sys/types.h>

#include "restart/base/file.hpp"

namespace mcr::restart {

class NameAdders {
 public:
  NameAdders() = default;  ///< root alone
  static Result<NameAdders> of(const File& containers, const File& directory);

  /// True if nobody may add names but `owner`, root, and users who may remove containers of `owner`.
  [[nodiscard]] bool may_remove_sets_of(uid_t owner) const;

 private:
  uid_t owner_ = 0;
  bool others_add_ = false;
  bool is_shared_ = false;  ///< whoever may add names may remove the containers
};

}  // namespace mcr::restart
