// SPDX-License-Identifier: BSD-3-Clause
// gc=auto: removes superseded sets if storage or quota runs short (docs/design/sets.md, "Old sets").
// A set is removed only if all of this holds:
//
//  * this leader has committed all its parts, and every stub has lost its last name
//    (committed_stubs.hpp);
//  * no stub of the set lies in the directory that its ranks share, or below it: a copy, for example;
//  * a newer whole set replaces it, and at least three newer sets of its pattern are whole;
//  * it has no native files, its containers can be read and hold no other set, and no decision of a
//    restart gives it.
#pragma once

#include <cstdint>
#include <string>

#include "aggregation/commit/committed_stubs.hpp"
#include "aggregation/commit/container_watch.hpp"
#include "aggregation/commit/summary.hpp"

namespace mcr::aggregation {

/// Used by the drain's thread alone.
class ShortStorage {
 public:
  ShortStorage(Summary& summary, ContainerWatch& watch) : summary_(summary), watch_(watch) {}

  /// Called when the container has its name: remembers the stubs, and updates the summary.
  void committed(const CommittedStubs::Container& container, const StubHandles& stubs,
                 const std::string& directory);

  /// Called after a commit into that directory of containers. Removes sets if the file system has
  /// less room, or fewer free inodes, than four such sets take. `files`: the number of files of `set`.
  void keep_room(const std::string& directory, const SetName& set, std::size_t files);

  /// Called after a commit into that directory failed with Cause::full. True if sets were removed,
  /// so that the commit can be tried again.
  bool make_room(const std::string& directory);

 private:
  struct Shortage {
    std::uint64_t bytes = 0;
    std::uint64_t inodes = 0;
  };
  /// Removes the oldest sets until `shortage` is over. Returns true if a set was removed.
  bool remove_oldest(const std::string& directory, const Shortage& shortage, int looks);

  Summary& summary_;
  ContainerWatch& watch_;
  CommittedStubs stubs_;
  std::uint64_t next_count_ns_ = 0;  ///< no count of bytes before this time
  std::uint64_t pause_end_ms_ = 0;   ///< no look for room after a commit before this time
};

/// Notes in set-recovered.log in `containers` that a command makes a stub for a container there, perhaps in place
/// of another one. From then on gc=auto removes nothing there: the leader's descriptor of a replaced stub looks
/// as if the program had removed it.
void note_made_stub(const restart::File& containers, const std::string& path);

}  // namespace mcr::aggregation
