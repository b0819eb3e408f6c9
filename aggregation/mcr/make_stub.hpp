// SPDX-License-Identifier: BSD-3-Clause
// Stubs that `mcr recover` writes for their owners.
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>

#include "aggregation/commit/held_containers.hpp"
#include "codecs/base/result.hpp"
#include "restart/base/durable_replace.hpp"
#include "restart/base/file.hpp"
#include "restart/format/stub.hpp"

namespace mcr::aggregation {

struct StubToMake {
  restart::Stub stub;  ///< for stub.path
  uid_t owner = 0;
  std::optional<gid_t> group;  ///< nullopt: the group that the directory gives
  mode_t mode = 0644;
  /// The file that the stub replaces, whose mode, group, access list and attributes it gets instead of `mode`; may be null.
  const restart::File* replaced = nullptr;
  restart::Existing existing = restart::Existing::kept;
  std::shared_ptr<const ContainersPlace> containers;  ///< the directory of the part's container
};

/// Writes the stub durably at `name` in the open directory `home`. Acts with the rights of the
/// stub's owner, because the file at that name may be another user's by now. Then makes our link to
/// the part's stub (gc=on) lead to the new stub. EPERM: another directory is at the path of
/// `containers` by now.
Result<void> make_stub(int home, const std::string& name, const StubToMake& wanted);

/// Sets the group of a file that was made for `owner`. On a file system that maps root to nobody,
/// this fails, and the file keeps the owner's group.
void give_group(const restart::File& made, uid_t owner, std::optional<gid_t> group);

}  // namespace mcr::aggregation
