// SPDX-License-Identifier: BSD-3-Clause
// A group of published parts becomes a container, and leaves the stage.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>

#include "aggregation/commit/stub_handles.hpp"
#include "aggregation/leader/decisions.hpp"
#include "restart/base/settings.hpp"
#include "restart/container_name.hpp"
#include "restart/stage.hpp"

namespace mcr::aggregation {

/// What this launch has come to on this node; written into its directory after each commit, where
/// ranks (for the line at their end), `mcr status` and `mcr run` read it.
class Summary {
 public:
  explicit Summary(const restart::LaunchDirectory& directory) : directory_(directory) {}

  /// Answers how many containers there were before.
  std::uint64_t committed(const SetName& set, std::size_t parts, std::uint64_t raw_bytes,
                          std::uint64_t container_bytes);
  void put_back(std::size_t parts);
  void failed(const std::string& why);
  /// What the leader has been writing, and for how long.
  struct Busy {
    std::string what;  ///< empty: nothing
    std::uint64_t seconds = 0;
  };
  /// Parts still in the stage; rewrites the file where anything has changed, and once a second
  /// while parts wait: its time says that the leader moves.
  void write(std::size_t pending, const Busy& busy);

 private:
  const restart::LaunchDirectory& directory_;
  std::mutex mutex_;
  std::deque<SetName> recent_;  ///< so that groups and late parts do not count their set again
  std::uint64_t sets_ = 0, parts_ = 0, raw_bytes_ = 0, stored_bytes_ = 0, containers_ = 0;
  std::uint64_t put_back_ = 0, failures_ = 0;
  std::size_t pending_ = 0, largest_set_ = 0;
  std::string last_failure_;
  bool changed_ = true;
  std::uint64_t written_ns_ = 0;
};

/// Where the sets of this launch went that a container of ours holds: for what becomes known of
/// them later.
struct SetPlace {
  restart::ContainerName where;
  restart::Settings settings;
  std::uint32_t first_rank = 0;  ///< of our container: names ours apart from other nodes'
  std::uint32_t last_rank = 0;
};
using SetPlaces = std::map<SetName, SetPlace>;

/// Merges the group and takes its parts out of the stage. The only caller of HDF5 in a leader:
/// always from the same thread. Steps and what a crash after each leaves: commit.cpp.
/// `stubs` may be null: directories that were renamed are then found by their identity alone.
DrainDone commit_group(const restart::LaunchDirectory& directory, const DrainGroup& group,
                       Summary& summary, const StubHandles* stubs = nullptr,
                       SetPlaces* places = nullptr);

/// Writes what is known of a set by now into a supplement without parts, beside its containers;
/// nothing where these are gone.
Result<void> note_account(const DrainGroup& account, const SetPlaces& places);

/// Says it in the leader's log and, where that is possible, beside the checkpoints, where a user
/// looks.
void report_trouble(const std::string& container_directory, const std::string& message);

}  // namespace mcr::aggregation
