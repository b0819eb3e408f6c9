// SPDX-License-Identifier: BSD-3-Clause
// Makes a container from a group's parts: takes their inventory, matches variables, plans frames,
// chooses codecs, encodes, writes, and gives the file its final name. The leader and `mcr pack` use
// it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "aggregation/commit/written_since.hpp"
#include "aggregation/merge/choice_memory.hpp"
#include "aggregation/merge/layout_memory.hpp"
#include "aggregation/merge/plan.hpp"
#include "aggregation/merge/schemes.hpp"
#include "aggregation/merge/similarity.hpp"
#include "aggregation/pipeline/drain_pipeline.hpp"
#include "codecs/choice/profiles.hpp"
#include "restart/base/attributes.hpp"
#include "restart/base/file.hpp"
#include "restart/format/index.hpp"

namespace mcr::aggregation {

/// A part whose bytes no longer change while write_container() runs (the caller holds its lock).
struct PartToCommit {
  restart::PartId part;
  std::uint32_t rank = 0;
  std::string path;                      ///< the path for the index
  const restart::File* bytes = nullptr;  ///< open for reading
  std::uint64_t size = 0;
  std::uint32_t mode = 0644;
};

struct SetToCommit {
  restart::SetIdentity set;             ///< write_container() adds scheme, profile, writer, time
  std::vector<PartToCommit> parts;      ///< of one group, by rank; may be empty (all ranks passed)
  std::string directory;                ///< where the container goes; exists
  const restart::File* home = nullptr;  ///< that directory, open; null: it is opened by its path
  std::string name;                     ///< the container's file name
  /// Part of the temporary name. An attempt with the same word replaces an earlier attempt's file.
  /// "": a new name.
  std::string temporary_word;
  /// Returns the access rights of each part, in order, and of further files that the container
  /// names. Called as late as possible, when the parts are in the container, because programs
  /// change modes at any time. Null: the umask decides.
  std::function<std::vector<restart::Access>()> look_at_access;
  /// Called right before the container gets its name. If it returns false, write_container() fails
  /// with Cause::system, ENOENT. May be empty.
  std::function<bool()> is_wanted;
  /// An empty file in memory in which the container is made before it is copied to storage; null: it is
  /// written to storage at once.
  const restart::File* replica = nullptr;
  /// Called when the replica is whole, before the copy; the argument is the container's size. An error is the
  /// call's error. Not empty if there is a replica.
  std::function<Result<void>(std::uint64_t)> replica_is_made;
  bool is_held_back = false;  ///< only the replica is made, and nothing is written to storage
};

struct MergeOptions {
  Scheme scheme = Scheme::aware;
  std::uint64_t block_bytes = 64 * 1024;  ///< of the -block schemes
  codecs::ProfileOptions profile;
  MatchOptions match;
  DrainOptions drain;
  std::uint64_t frame_bytes = frame_target_bytes;  ///< about the largest size of a frame
  /// Choices made for earlier sets; null: each set is examined anew.
  std::shared_ptr<ChoiceMemory> memory;
  std::shared_ptr<WrittenSince> since;  ///< null: each container's directory is looked at
  /// Layouts of earlier sets' parts; null: the parts of each set are walked anew.
  LayoutMemory* layouts = nullptr;
  /// Replaces an existing container of that name; if false, that is Cause::system (EEXIST).
  bool replace = false;
};

/// A dataset of the container.
struct VariableReport {
  std::string name;
  std::string type;  ///< for users
  std::uint64_t raw_bytes = 0;
  std::uint64_t stored_bytes = 0;
  std::uint32_t frames = 0;
  std::size_t fragments = 0;
  std::string pipeline;
  std::string why;  ///< why the pipeline was chosen
  codecs::Choice choice;
  std::size_t variables = 1;  ///< of the parts: several in a table
};

struct CommitReport {
  std::string path;
  std::uint64_t raw_bytes = 0;            ///< of all parts
  std::uint64_t container_bytes = 0;      ///< of the file
  std::uint64_t skeleton_bytes = 0;       ///< raw
  std::uint64_t frame_bytes = 0;          ///< stored, of all frames
  std::vector<VariableReport> variables;  ///< skeletons and rows of tables last
  std::vector<std::uint64_t> checksums;   ///< of the parts, XXH3-64
  /// For each part that is stored as skeleton only, the reason.
  std::vector<std::string> unreadable;
  std::size_t parts_not_walked = 0;  ///< parts whose layout was known from another part
  double inventory_seconds = 0;
  double plan_seconds = 0;
  double choose_seconds = 0;
  DrainTimes drain;
  double finish_seconds = 0;  ///< remaining checksums of parts, tables, user block, reading back
  double commit_seconds = 0;  ///< sync and final name
  restart::Access access;     ///< of the container
  restart::FileIdentity directory;  ///< in which it lies
  /// Open for reading since before it had its name; not open if /proc is not mounted.
  restart::File container;
  struct stat status {};  ///< of the container, before it had its name
};

/// Calls HDF5 from the caller's thread, and from the pipeline's write step while the caller waits,
/// but never from two threads at once. After an error there is no container and no temporary file,
/// and the parts are unchanged. Cause::full and Cause::system are errors of the storage.
Result<CommitReport> write_container(const SetToCommit& set, const MergeOptions& options);

}  // namespace mcr::aggregation
