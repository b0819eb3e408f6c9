// SPDX-License-Identifier: BSD-3-Clause
// Gathers the input of choose_generation() that containers (stored_sets) do not give: the files at
// the present names of the ranks, and the parts in the stages.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "restart/format/stub.hpp"
#include "restart/sets/generations.hpp"
#include "restart/sets/look.hpp"

namespace mcr::restart {

/// The stub whose file is opened.
struct OpenedStub {
  std::string path;
  FileNumber number = 0;   ///< at {rank} or {part} in the masked name
  std::string written_as;  ///< the path in the stub
  uid_t owner = 0;         ///< of the stub
};

/// The stubs at the paths of all ranks under a masked name (with {part}: at all paths that fit it), and the notes about
/// native files at these paths that the files' own ranks find (note_about()). Stubs and notes that do not count
/// for a file of OpenedStub::owner are left out. So are, without {part}, stubs and notes that may be planted
/// (AtName::may_be_planted). The generations in `at` lack their masked names (name_generations()).
struct PresentNames {
  std::map<FileNumber, AtName> at;
  std::map<FileNumber, Stub> stubs;  ///< for native files: the stubs in their notes
  std::set<FileNumber> natives;      ///< native files with a note
  std::map<FileNumber, std::string> paths;
  /// Stubs in a directory to which a link leads: the path at which the stub was written, below that
  /// link. Their own masked names lead to the link's target, and are not those of the other ranks.
  std::map<FileNumber, std::string> linked;
  /// How many of the stubs may belong to a generation, by each of their masked names.
  std::map<GenerationName, std::size_t> candidates;
};
PresentNames present_names(const OpenedStub& opened, const std::string& masked_name,
                           std::uint32_t rank_count,
                           const std::optional<std::string>& container_dir, Look& look);

/// Returns the name of the generation that the stub's part belongs to. A stub has several candidates
/// for its masked name: the one of a known generation counts, else the one that most of the present
/// stubs of the same launch and sequence share.
GenerationName generation_of(const Stub& stub, const std::vector<Generation>& generations,
                             const PresentNames& present);
/// True if the generation is known under one of the stub's masked names.
bool is_known(const Stub& stub, const std::vector<Generation>& generations);
/// Sets the whole names of the generations that the present stubs show.
void name_generations(PresentNames& present, const std::vector<Generation>& generations);

/// Locates the native members of the generations; `base` is the directory that all parts share. A
/// generation whose native member is gone becomes damaged. A native file without a note counts for
/// the generation that lists it as a member.
void find_native_members(std::vector<Generation>& generations, PresentNames& present,
                         const std::string& containers, const std::string& base);

/// True if no process of the launch will write any more, and parts are left in its stage. A leader,
/// perhaps one that has not started yet, drains these parts.
bool drains(const std::string& launch_directory);

/// A stub that is not at its path yet, although its part is published.
struct ComingStub {
  /// The launches whose stubs are looked for.
  enum class From : std::uint8_t { any_launch, ended_launches };
  std::string launch_directory;
  /// True if the writer lives and is about to put the stub there. If the writer died before that, a
  /// leader puts the stub there (aggregation/commit/put_back, repair_stub).
  bool writer_lives = false;
};
/// Returns the stub that a launch in `stage` will put at `path`. `there`: the part of the stub that
/// lies there now; `is_native`: a native file lies there.
std::optional<ComingStub> stub_coming_to(const std::string& path, const PartId& there,
                                         bool is_native, const std::string& stage,
                                         ComingStub::From from);

/// Looks for the parts of the present stubs. Sets AtName::available, and adds generations that have
/// no container yet, with their parts in this node's stages.
StageLook look_into_stages(PresentNames& present, std::vector<Generation>& generations,
                           std::size_t components, Look& look);

}  // namespace mcr::restart
