// SPDX-License-Identifier: BSD-3-Clause
#include "restart/sets/name_adders.hpp"

#include <sys/stat.h>

#include "restart/base/trust.hpp"

namespace mcr::restart {

Result<NameAdders> NameAdders::of(const File& containers, const File& directory) {
  const struct stat status = MCR_TRY(directory.status());
  NameAdders adders;
  adders.owner_ = status.st_uid;
  // The group bits include what an access list gives to users and groups that it names.
  adders.others_add_ = (status.st_mode & (S_IWGRP | S_IWOTH)) != 0;
  adders.is_shared_ = MCR_TRY(Beside::of(containers, directory)).is_shared_by_all();
  return adders;
}

bool NameAdders::may_remove_sets_of(uid_t owner) const {
  return is_shared_ || (!others_add_ && is_believed(owner_, owner));
}

}  // namespace mcr::restart
