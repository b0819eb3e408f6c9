// SPDX-License-Identifier: BSD-3-Clause
// Gathers the input of choose_generation() that containers (stored_sets) do not give: the files at the
// present names of the ranks, and the parts in the stages.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "restart/format/stub.hpp"
#include "restart/sets/generations.hpp"

namespace mcr::restart {

/// The stubs at the names of the ranks under `masked_name`, which `path` of `rank` fits, and the notes
/// in `containers` about native files there. Contains only stubs and notes that `owner`, the owner of
/// the file at `path`, may believe.
struct PresentNames {
  std::map<std::uint32_t, AtName> at;
  std::map<std::uint32_t, Stub> stubs;  ///< for native files: the stubs in their notes
  std::set<std::uint32_t> natives;      ///< ranks with a native file and a note about it
  std::map<std::uint32_t, std::string> paths;
};
PresentNames present_names(const std::string& path, const std::string& masked_name,
                           std::uint32_t rank, std::uint32_t rank_count,
                           const std::string& containers, uid_t owner);

/// Locates the native members of the generations; `base` is the directory that all parts share. A
/// generation whose native member is gone becomes damaged. A native file without a note counts for the
/// generation that has it as a member.
void find_native_members(std::vector<Generation>& generations, PresentNames& present,
                         const std::string& containers, const std::string& base);

/// True if no process of the launch will write any more, and parts are left in its stage. A leader,
/// perhaps one that is yet to start, drains these parts.
bool drains(const std::string& launch_directory);

/// A stub that will come to a path: its part is published already.
struct ComingStub {
  std::string launch_directory;
  /// True if the writer lives and is about to put the stub there. If the writer died before that, a
  /// leader puts the stub there (aggregation/commit/put_back, repair_stub).
  bool writer_lives = false;
};
/// Returns the stub of a launch of `stage` that will replace `there`, or a native file, at `path`.
std::optional<ComingStub> stub_coming_to(const std::string& path, const PartId& there,
                                         bool is_native, const std::string& stage);

/// Sets AtName::available. Adds generations that have no container yet, with their parts in this node's
/// stages.
StageLook look_into_stages(PresentNames& present, std::vector<Generation>& generations,
                           std::size_t components);

}  // namespace mcr::restart
