// SPDX-License-Identifier: BSD-3-Clause
// The sets whose containers lie in a directory, oldest first, as the leader and the commands that
// list, verify and remove sets see them (restart/sets/stored_sets).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "aggregation/commit/amendments.hpp"
#include "aggregation/commit/held_containers.hpp"
#include "aggregation/merge/sets.hpp"
#include "restart/base/file.hpp"
#include "restart/base/file_identity.hpp"
#include "restart/base/trust.hpp"
#include "restart/format/index.hpp"

namespace mcr::aggregation {

/// The launch that `mcr pack` writes into all its containers; it does not distinguish sets.
inline constexpr const char* packed_launch = "packed";

/// True if the set is a single file of a launch of several ranks, without files of the other ranks
/// beside it. Such a set is not a checkpoint of the job. False for the sets of `mcr pack`.
bool is_of_one_file(const restart::SetIdentity& set);

struct StoredPart {
  PartId part;
  std::uint32_t rank = 0;
  std::string path;  ///< the stub's path when the stub was written, for messages and comparisons
  std::uint32_t mode = 0;
  std::uint64_t size = 0;
  std::shared_ptr<const ContainersPlace> home;  ///< the directory of its containers
  /// The stub is looked for only at this path in `home->base`. Empty if the container names a path
  /// outside `home->base`.
  std::string below;

  /// Opens the file at that place; follows no links. ENOENT, ENOTDIR: no file lies there.
  [[nodiscard]] Result<restart::File> open() const;
};

/// A file of the set that a rank wrote natively.
struct NativeFile {
  std::uint32_t rank = 0;
  std::string path;  ///< where it lies now
};

/// A container that was read.
struct ReadContainer {
  std::shared_ptr<const ContainersPlace> home;  ///< its directory
  restart::FileIdentity file;
};

struct StoredSet {
  SetName name;
  uid_t owner = 0;  ///< of its containers; a container of another user is not part of the set
  gid_t group = 0;
  /// The directory of its containers, as it was when they were read. If they lie in several directories,
  /// `beside` and `home` describe one of these.
  restart::Beside beside;
  std::shared_ptr<const ContainersPlace> home;
  std::string container_dir;              ///< the setting that leads to these containers
  std::optional<std::uint32_t> steps_up;  ///< SetIdentity::steps_up
  std::uint32_t rank_count = 1;
  std::string prefix;                         ///< common beginning of its containers' paths
  std::vector<std::string> containers;        ///< paths; those without parts come last
  std::map<std::string, ReadContainer> read;  ///< by path of a container
  std::vector<StoredPart> parts;
  Account account;
  Amendments amendments;
  bool is_of_one_file = false;  ///< is_of_one_file()
  Wholeness wholeness = Wholeness::unknown;
  std::uint64_t created_ns = 0;  ///< of its newest container
  std::uint64_t written_ns = 0;  ///< of its newest container, by the file system's clock
  std::uint64_t begun_ns = 0;    ///< when its first part was begun, by its node's clock
  std::uint64_t order_ns = 0;    ///< what orders sets (SetIdentity::order)
  bool has_own_date = false;  ///< `order_ns` is from containers of this user or root (add_order())
  std::vector<NativeFile> natives;        ///< members that are native files, still there
  std::vector<std::string> kept_aside;    ///< replaced by newer files: their paths now
  std::vector<std::string> lost_natives;  ///< native members that are missing
  std::uint64_t container_bytes = 0;
  /// Descriptions of the damage; a damaged set never counts as whole.
  std::vector<std::string> damaged;
  bool is_bundled = false;  ///< one of its containers holds other sets too
  bool is_copied = true;    ///< all its containers are late copies (LateCopies)
  /// All its containers are copies, late or not: the whole run may have been copied or moved.
  bool is_of_copies = true;
  /// Some of its parts are only in late copies. Like a copied set, it replaces none of other containers.
  bool has_copied_parts = false;
  /// A copied set that does not count (copied_sets.hpp).
  bool is_unused_copy = false;
  bool is_unreadable = false;  ///< a container cannot be read, so its parts are unknown
  /// A container is unreadable by its content. Else the system refused, and another user may be able to read it.
  bool is_broken = false;

  /// Returns the masked name relative to `home->base`, so that sets have the same name wherever they lie. The name in the container
  /// is that at writing, and a copied container may tell any. Without parts below that directory, returns that name.
  [[nodiscard]] std::string name_below() const;
  /// Opens one of `containers` again. EPERM: the file or its directory is not the one that was read.
  [[nodiscard]] Result<restart::File> open_container(const std::string& path) const;
};

/// True if `a` was begun before `b`; within a launch, the times follow the sequences. The names may
/// differ.
bool is_older(const StoredSet& a, const StoredSet& b);

/// Returns all sets of these containers, oldest first. Adds to `unreadable` why containers
/// cannot be read at all.
std::vector<StoredSet> stored_sets(const std::vector<std::string>& containers,
                                   std::vector<Error>& unreadable);

/// Returns the beginning of the names of a set's own containers. Sets in bundles use it as their
/// name too.
std::string name_prefix_of(const restart::SetIdentity& set);

/// Returns the ContainerName::distinct_prefix of a set with that SetIdentity::steps_up.
std::string distinct_prefix_of(const SetName& name, std::uint32_t steps_up);

/// Returns the newest whole set with files of several ranks; nullptr if there is none.
const StoredSet* newest_whole(const std::vector<StoredSet>& sets);

}  // namespace mcr::aggregation
