// SPDX-License-Identifier: BSD-3-Clause
// Containers that somebody may remove without having seen them. `mv` to another file system, and
// `cp -r` followed by `rm -r`, list a directory, copy what they saw, and then remove all of it: stubs
// are copied, and a container that came between goes with the directory. So the leader keeps such a
// container open for a while, and where it loses its name, gives it one in a directory above, where the
// copies of its stubs are led (restart/sets/places_above).
//
// A program that removes its older checkpoints is no such copy. Where nobody's reading leaves a trace,
// nothing tells the two apart; so there a container is given up when a newer set of the same pattern is
// committed, else brought back when the time for a copy is over, and only a few are in a leader's life:
// they would fill the storage.
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

/// Belongs to the drain's thread, but for is_empty().
class ContainerWatch {
 public:
  /// A container was just given its name. It is watched where somebody may have listed a directory of
  /// these stubs since they came into it, as long as a copy of what lies there may take. Takes the
  /// descriptors of a container that is watched, and of its stubs.
  void add(CommitReport& report, const PlaceByNames& names, const Followed& followed,
           const std::vector<LockedPart>& parts, StubHandles& stubs);

  /// Gives a new name to containers that have lost theirs, unless their stubs were certainly removed
  /// without being read, the container was read too, or a collection removed it. Where that fails, it
  /// is tried again for ten minutes.
  void look();

  [[nodiscard]] bool is_empty() const { return count_ == 0; }

 private:
  struct Watched {
    restart::File container;
    std::string path;
    std::string suffix;  ///< of its name, behind the prefix
    PlaceByNames names;
    std::string pattern;               ///< of its set's name; empty: a bundle's
    std::vector<restart::File> stubs;  ///< those of which there are descriptors
    bool shows_reads = false;          ///< who reads a stub leaves a trace
    struct timespec read_time {};      ///< of the container, as it was first
    std::uint64_t until_ms = 0;        ///< by the monotonic clock
    std::uint64_t lost_ms = 0;         ///< when its name was seen to be gone; 0: it has one
    std::uint64_t try_ms = 0;          ///< not brought back before, because that failed
    int returns = 0;                   ///< so often it was given a new one
  };
  void give_up_older(const std::string& pattern, const restart::ContainerName& newer);
  bool is_done(Watched& watched, std::uint64_t now_ms);
  bool may_bring_back(const Watched& watched);
  static bool has_stubs(const Watched& watched);
  static bool is_missed(const Watched& watched);
  static Result<void> bring_back(Watched& watched);

  std::vector<Watched> watched_;
  int brought_back_ = 0;  ///< of those without shows_reads
  std::atomic<std::size_t> count_ = 0;
};

}  // namespace mcr::aggregation
