// SPDX-License-Identifier: BSD-3-Clause
// Stubs that `mcr recover` writes for their owners.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "codecs/base/result.hpp"
#include "restart/base/durable_replace.hpp"
#include "restart/base/file.hpp"
#include "restart/format/stub.hpp"

namespace mcr::aggregation {

struct StubToMake {
  restart::Stub stub;  ///< for stub.path
  uid_t owner = 0;
  std::optional<gid_t> group;  ///< nullopt: the one that the directory gives
  mode_t mode = 0644;
  restart::Existing existing = restart::Existing::kept;
  std::string containers;  ///< the directory of the part's container
};

/// Writes the stub durably at `name` in the open directory `home`, with the rights of its owner: what
/// lies at the name by now may be another user's. Our link to the part's stub (gc=on) leads to the new
/// one from then on.
Result<void> make_stub(int home, const std::string& name, const StubToMake& wanted);

/// Gives `group` to what was made for `owner`. A file system where root is nobody refuses that, and the
/// file is the owner's all the same.
void give_group(const restart::File& made, uid_t owner, std::optional<gid_t> group);

}  // namespace mcr::aggregation
