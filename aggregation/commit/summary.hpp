// SPDX-License-Identifier: BSD-3-Clause
// The totals of a launch on this node, as a small text file in its directory.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>

#include "aggregation/merge/sets.hpp"
#include "restart/format/launch_summary.hpp"
#include "restart/stage/stage.hpp"

namespace mcr::aggregation {

/// Returns the launch's summary as its leader left it.
std::optional<restart::LaunchSummary> read_summary(const restart::LaunchDirectory& directory);

/// The totals of this launch on this node. Written into the launch's directory after each commit.
/// The lowest rank reads it for its line at the job's end; `mcr status` and `mcr run` read it too.
class Summary {
 public:
  /// Goes on counting from what an earlier leader of the launch left.
  explicit Summary(const restart::LaunchDirectory& directory)
      : directory_(directory), now_(read_summary(directory).value_or(restart::LaunchSummary{})) {
    now_.pending = 0;
  }

  /// Counts a committed container. Returns the number of containers that were counted before.
  std::uint64_t committed(const SetName& set, std::size_t parts, std::uint64_t raw_bytes,
                          std::uint64_t container_bytes);
  /// The same for a bundle, which holds `sets` sets of one part each.
  std::uint64_t committed_bundle(std::size_t sets, std::uint64_t raw_bytes,
                                 std::uint64_t container_bytes);
  /// Counts raw bytes of frames, and those of them that a GPU encoded. `problem`: why the GPU is not used.
  void encoded(std::uint64_t encoded_bytes, std::uint64_t card_bytes, const std::string& problem);
  /// Counts a part that was put back as a plain file. `is_lone`: one rank alone wrote such files.
  void put_back(bool is_lone);
  /// Counts parts whose files the program removed before their commit.
  void removed(std::size_t parts);
  /// Counts parts that newer ones replaced before they went to storage (flush=).
  void unflushed(std::size_t parts);
  /// Counts parts whose files were not found at their commit; `container` has their data.
  void astray(std::size_t parts, const std::string& container);
  void failed(const std::string& why);
  /// Replaces what is known of superseded sets; `where`: the directory of the checkpoints.
  void superseded(std::uint64_t superseded_bytes, std::uint64_t live_bytes,
                  const std::string& where);
  /// Counts sets that gc=auto removed.
  void made_room(std::uint64_t sets, std::uint64_t bytes);
  /// The leader's present job, in words that follow "it is", and for how long it has run.
  struct Busy {
    std::string what;  ///< empty: nothing
    std::uint64_t seconds = 0;
    bool holds_back = false;  ///< a set waits in memory for a newer one (flush=)
  };
  /// Rewrites the file if anything has changed. Also rewrites it once a second while parts wait,
  /// because the file's modification time shows that the leader makes progress. `pending`: parts
  /// still in the stage.
  void write(std::size_t pending, const Busy& busy);
  /// Rewrites the file. Called before parts leave the stage, so that a rank whose parts are gone
  /// finds them counted.
  void write();

 private:
  void write_file(const Busy& busy);  ///< the caller holds the mutex

  const restart::LaunchDirectory& directory_;
  restart::LaunchSummary now_;
  std::mutex mutex_;
  std::deque<SetName> recent_;  ///< sets that were counted: a set may have several groups
  bool changed_ = true;
  std::uint64_t written_ns_ = 0;
};

}  // namespace mcr::aggregation
