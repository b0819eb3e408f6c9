// SPDX-License-Identifier: BSD-3-Clause
// A part back at its path as native HDF5 would have left it: lone files, parts that storage refused
// to take as a container, and files whose writer died while they were open.
#pragma once

#include <sys/stat.h>

#include <optional>
#include <string>

#include "aggregation/commit/stub_handles.hpp"
#include "restart/base/attributes.hpp"
#include "restart/base/file.hpp"
#include "restart/format/stub.hpp"
#include "restart/stage/stage.hpp"

namespace mcr::aggregation {

/// The stub that belongs at the part's path.
restart::Stub stub_of(const restart::PartBegin& begin, const std::string& launch_directory);

/// Whether it is this user's. Some file systems give every file another owner (NFS to root, for one):
/// the file that the part's writer made is known by its number.
bool is_own_file(const restart::PartBegin& begin, const struct stat& status);

/// True for the empty file that H5Fcreate made for the part, and that nobody has written since.
bool is_our_empty_file(const restart::PartBegin& begin, const struct stat& status);

/// What lies at a path where a stub of ours once lay.
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
  std::uint64_t links = 0;              ///< names that are not ours
  std::string our_link;                 ///< gc=on: our own name for the stub; empty: none
  std::uint64_t modified_ns = 0;
  std::optional<restart::Access> access;  ///< of a regular file
  restart::File file;                     ///< what was looked at; closed for a link, or for nothing
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  bool is_own = false;  ///< is_own_file(): anybody may write what a stub says

  /// The part's own file, with one name only: what another name shares must not be torn from it.
  [[nodiscard]] bool is_ours_alone() const {
    return is_own && (kind == Kind::our_stub || kind == Kind::our_empty) && links == 1;
  }
};
Result<AtPath> look_at(const restart::PartBegin& begin);

/// Puts the part's bytes in the place of its stub, durably, and takes it out of the stage. A stub
/// that was renamed meanwhile, or whose directory was, is found by `stubs`. False: not possible
/// without harm (the stub was removed, linked or replaced meanwhile, or the part is being written);
/// nothing was changed then. A crash at any moment leaves stub and part, or the native file, and at
/// worst a hidden temporary file.
Result<bool> put_back(const restart::LaunchDirectory& directory, const restart::PartId& part,
                      std::optional<std::uint32_t> pool_rank, const StubHandles* stubs = nullptr);

/// Whether somebody has read the stub since its rank wrote it, and so may have copied it: the copy would
/// lead nowhere once the part is a plain file. False where that cannot be found out (read_marks.hpp).
bool was_read(const restart::LaunchDirectory& directory, const restart::PartId& part,
              const StubHandles* stubs);

/// The part of a dead writer, taken out of the stage. What native HDF5 would have left is put at
/// its path where its stub lies; where the old file was never replaced, a flushed part is kept
/// beside the containers under a name that begins with "unfinished-". One sentence about what was
/// done.
Result<std::string> settle(const restart::LaunchDirectory& directory, const restart::PartId& part,
                           const StubHandles* stubs = nullptr);

/// Puts the stub of a published part in place where its writer died before it could: what the part
/// replaces still lies there, or the empty file of H5Fcreate. Only for a writer that is gone. True
/// where something was done.
Result<bool> repair_stub(const restart::LaunchDirectory& directory,
                         const restart::PartBegin& begin);

}  // namespace mcr::aggregation
