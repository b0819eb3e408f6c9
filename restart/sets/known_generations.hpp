// SPDX-License-Identifier: BSD-3-Clause
// What choose_generation() is asked with, besides what containers say (stored_sets): what lies at the names
// of the ranks now, and in the stages.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "restart/format/stub.hpp"
#include "restart/sets/generations.hpp"

namespace mcr::restart {

/// The stubs at the names that the ranks have under `masked_name`, which `path` of `rank` fits, and
/// the notes in `containers` about native files there, as far as the owner of the file at `path`,
/// `owner`, may believe them.
struct PresentNames {
  std::map<std::uint32_t, AtName> at;
  std::map<std::uint32_t, Stub> stubs;  ///< of native files: what their notes say
  std::set<std::uint32_t> natives;      ///< ranks whose stub stands for a native file there
  std::map<std::uint32_t, std::string> paths;
};
PresentNames present_names(const std::string& path, const std::string& masked_name,
                           std::uint32_t rank, std::uint32_t rank_count,
                           const std::string& containers, uid_t owner);

/// Looks where the native members of the generations are: `base` is the directory that all parts
/// share. One that is gone damages its generation. A present native file without a note is the
/// generation's of which it is a member.
void find_native_members(std::vector<Generation>& generations, PresentNames& present,
                         const std::string& containers, const std::string& base);

/// Whether a launch that nobody goes on with has parts left in its stage, which a leader, perhaps one
/// yet to come, brings to storage.
bool drains(const std::string& launch_directory);

/// A stub that is still to come to a path: the part that it stands for is published.
struct ComingStub {
  std::string launch_directory;
  /// Its writer puts it there, now. Else the writer died before it did, and a leader puts it there
  /// (aggregation/commit/put_back, repair_stub).
  bool writer_lives = false;
};
/// A stub of a launch of `stage` that is to replace what lies at `path`, `there` or a native file.
std::optional<ComingStub> stub_coming_to(const std::string& path, const PartId& there,
                                         bool is_native, const std::string& stage);

/// Sets AtName::available, and adds generations of which no container is there yet with what this
/// node's stages have of them.
StageLook look_into_stages(PresentNames& present, std::vector<Generation>& generations,
                           std::size_t components);

}  // namespace mcr::restart
