// SPDX-License-Identifier: BSD-3-Clause
// Puts parts back at their paths as native HDF5 would have left them: lone parts, parts whose
// container storage refused, and open files of dead writers.
#pragma once

#include <sys/stat.h>

#include <optional>
#include <string>

#include "aggregation/commit/put_back_end.hpp"
#include "aggregation/commit/stub_handles.hpp"
#include "restart/base/attributes.hpp"
#include "restart/base/file.hpp"
#include "restart/format/stub.hpp"
#include "restart/stage/stage.hpp"

namespace mcr::aggregation {

/// Returns the stub that belongs at the part's path.
restart::Stub stub_of(const restart::PartBegin& begin, const std::string& launch_directory);

/// True if the file is this user's. On file systems that show another owner for every file (NFS for
/// root), true if the file has the inode number of the file that the part's writer made.
bool is_own_file(const restart::PartBegin& begin, const struct stat& status);

/// True for the empty file that H5Fcreate made for the part and that was not written since.
bool is_our_empty_file(const restart::PartBegin& begin, const struct stat& status);

/// The file at a path where a stub of ours once lay.
struct AtPath {
  /// our_empty: the file that H5Fcreate made, whose writer has not filled in the stub yet.
  enum class Kind : std::uint8_t {
    nothing,
    our_stub,
    our_empty,
    other_stub,
    damaged_stub,
    other_file
  };
  Kind kind = Kind::nothing;
  std::optional<restart::PartId> part;  ///< of the other stub
  bool is_older_writing = false;  ///< the other stub is of this rank's earlier writing of the path
  bool is_rewritten = false;      ///< a program has begun to write the stub's file anew
  std::uint64_t links = 0;        ///< number of hard links, without ours
  std::string our_link;           ///< gc=on: our link to the stub; empty: no link
  std::uint64_t modified_ns = 0;
  std::optional<restart::Access> access;  ///< of a regular file
  restart::File file;  ///< the file at the path; not open if the path has no file or a link
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  /// is_own_file(); the contents prove nothing, because any user can forge a stub.
  bool is_own = false;

  /// True if the file is the part's own.
  [[nodiscard]] bool is_ours() const {
    return is_own && (kind == Kind::our_stub || kind == Kind::our_empty);
  }
  /// True if the part's own file also has no second hard link. A replacement would separate the two
  /// names.
  [[nodiscard]] bool is_ours_alone() const { return is_ours() && links == 1; }
};
Result<AtPath> look_at(const restart::PartBegin& begin);

/// Whether the part can go into a container instead. If it can, the part is not put back in three
/// cases: if the stub was read and so may have been copied, if a program has begun to write the file anew, and if
/// such a program could not find the plain file.
enum class MayDrain : std::uint8_t { no, yes };

/// Replaces the stub by the part's bytes, durably, and takes the part out of the stage. `stubs`
/// finds the stub if it or its directory was renamed. Unless the end is `done`, nothing was changed. A
/// crash leaves either stub and part or the native file, and at worst a hidden temporary file too.
Result<PutBackEnd> put_back(const restart::LaunchDirectory& directory, const restart::PartId& part,
                            std::optional<std::uint32_t> pool_rank,
                            const StubHandles* stubs = nullptr, MayDrain may_drain = MayDrain::no);

/// Removes the temporary file of a leader that died while it put the part back, if there is one.
void remove_leftover(const restart::PartBegin& begin);

/// Takes a dead writer's part out of the stage. If the part's stub lies at its path, the file that
/// native HDF5 would have left replaces it. If the path still has the file that the part was to
/// replace, a flushed part is kept beside the containers, under a name that begins with
/// "unfinished-". Returns one sentence about what was done.
Result<std::string> settle(const restart::LaunchDirectory& directory, const restart::PartId& part,
                           const StubHandles* stubs = nullptr);

/// Puts the stub of a published part in place, durably, for a part whose writer is dead or whose
/// journal says that storage refused the stub (`older`). The stub replaces only the file that it was
/// to replace, or the empty file of H5Fcreate. Returns true if the stub was put there; false if the
/// program has put another file there or none, or if a newer part of this path waits for its stub
/// (restart/stage/refused_stubs).
Result<bool> repair_stub(const restart::LaunchDirectory& directory, const restart::PartBegin& begin,
                         const std::optional<restart::PartPublish::OlderFile>& older = {});

}  // namespace mcr::aggregation
