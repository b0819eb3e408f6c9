// SPDX-License-Identifier: BSD-3-Clause
// Saves containers that a program removes without having copied them. `mv` to another file system,
// and `cp -r` followed by `rm -r`, list a directory, copy what they listed, and then remove the
// directory. A container that was committed after the listing is removed but not copied. So the
// leader keeps a new container open for a while. If the container loses its name, the leader gives
// it a name in a directory above, where readers of the copied stubs look for it
// (restart/sets/places_above).
//
// On a file system that records no access times, a program that removes its older checkpoints looks
// like one that copied them. There, a removed container is given up as soon as a newer set of the
// same pattern is committed. If no newer set comes, the container is brought back after the time
// that a copy may take. A leader brings back only a few of these containers, because they would
// fill the storage.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "aggregation/commit/commit_place.hpp"
#include "aggregation/commit/locked_parts.hpp"
#include "aggregation/commit/stub_handles.hpp"
#include "aggregation/commit/write_container.hpp"
#include "restart/base/file.hpp"

namespace mcr::aggregation {

/// Used only by the drain's thread, except is_empty().
class ContainerWatch {
 public:
  /// Called when a container was given its name. If the directory may have been listed since these
  /// stubs were made in it, watches the container for as long as a copy of the directory may take.
  /// Takes over the descriptors of a watched container and of its stubs.
  void add(CommitReport& report, const PlaceByNames& names, const Followed& followed,
           const std::vector<LockedPart>& parts, StubHandles& stubs);

  /// Gives a new name to each container that has lost its name. Leaves a container out if its stubs
  /// were certainly not read, if it was read itself, or if a collection removed it. After a
  /// failure, tries again for ten minutes.
  void look();

  /// Closes the containers whose paths begin with `prefix`: this leader has removed them, and their
  /// room is free only when they are closed.
  void forget(const std::string& prefix);

  [[nodiscard]] bool is_empty() const { return count_ == 0; }

 private:
  struct Watched {
    restart::File container;
    std::string path;
    std::string suffix;  ///< the container's name after the prefix
    PlaceByNames names;
    std::string pattern;               ///< of the set's masked name; empty: a bundle
    std::vector<restart::File> stubs;  ///< stubs with an open descriptor
    bool shows_reads = false;          ///< reads of a stub change its access time
    struct timespec read_time {};      ///< the container's first access time
    bool was_read_unnamed = false;     ///< a process may have read it under its temporary name
    std::uint64_t until_ms = 0;        ///< by the monotonic clock
    std::uint64_t lost_ms = 0;         ///< when its name was found missing; 0: not missing
    std::uint64_t try_ms = 0;          ///< when to try again after a failure
    int returns = 0;                   ///< how often it was given a new name
  };
  void give_up_older(const std::string& pattern, const restart::ContainerName& newer);
  bool is_done(Watched& watched, std::uint64_t now_ms);
  bool may_bring_back(const Watched& watched);
  static bool has_stubs(const Watched& watched);
  static bool is_missed(const Watched& watched);
  static Result<void> bring_back(Watched& watched);

  std::vector<Watched> watched_;
  int brought_back_ = 0;  ///< containers without shows_reads that were brought back
  std::atomic<std::size_t> count_ = 0;
};

}  // namespace mcr::aggregation
