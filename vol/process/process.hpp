// SPDX-License-Identifier: BSD-3-Clause
// The one object with a process's state: settings, launcher, place in the stage. It is made at the
// first captured create or opened stub. It is never destroyed, because HDF5 closes files after
// static destructors have run; for the same reason no static object of the plugin has a destructor.
// A fork's child inherits the state but must not use it: in the child is_owner() is false, and
// nothing is captured.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "restart/base/file_identity.hpp"
#include "restart/sets/earlier_writings.hpp"
#include "restart/settings/launcher.hpp"
#include "restart/settings/settings.hpp"
#include "restart/stage/stage.hpp"
#include "vol/process/writing_counts.hpp"

namespace mcr::vol {

/// A process's place in the stage of one launch. The process enters it at its first capture, and
/// leaves it at its end.
struct JobStage {
  JobStage(restart::LaunchDirectory::Entered entered, restart::Launcher who, std::string stage_path)
      : directory(std::move(entered.directory)),
        presence(std::move(entered.presence)),
        launcher(std::move(who)),
        stage(std::move(stage_path)) {}

  restart::LaunchDirectory directory;
  restart::LaunchDirectory::Presence presence;
  /// Identities of the files behind `directory` and `presence` when they were opened.
  restart::FileIdentity opened_directory, opened_presence;
  restart::Launcher launcher;
  std::string stage;
  std::string settings;  ///< for a leader that this process may have to start
  std::uint64_t exit_wait_ms = 0;
  bool waits_at_exit = false;
  bool gives_hints = false;
  /// This process created and captured a file; it did not only change stubs.
  bool has_created = false;
  /// Set if other programs may have run in this rank before this one (a shell or another wrapper
  /// starts them).
  std::optional<restart::EarlierWritings> earlier;
  std::set<restart::PartId> published;  ///< by this process
  std::string newest_path;              ///< of the part that this process published last
  std::string newest_masked_name;       ///< its likeliest one; empty if there is none
  /// Used by lag.hpp alone.
  struct Lag {
    /// By pattern: parts that this process published and that may wait for their commit.
    std::map<std::string, std::deque<restart::PartId>> uncommitted;
    std::uint64_t last_publish_ns = 0;  ///< time of the last one, since 1970
    /// Time of the last notice of a leader that stands still. While the notice keeps this time, creates do
    /// not wait.
    std::uint64_t standing_notice_ns = UINT64_MAX;
    unsigned waits_in_vain = 0;  ///< waits for commits that ended at their limit
    /// false after a wait that reached its limit, until the leader has committed all sets
    bool waits_for_leader = true;
  } lag;
  std::uint64_t leader_checked_ns = 0;
  /// Number of looks for a leader, a second apart, since a leader was last seen.
  int looks_in_vain = 0;
  // Values read from the stage, kept for recent_ns, because programs create files in bursts.
  std::uint64_t asked_ns = 0;
  std::uint64_t free_bytes = 0;
  std::map<std::string, bool> marked_native;
  std::set<std::string> native_patterns;  ///< recorded in the presence
  std::size_t native_pattern_bytes = 0;   ///< of these records
  /// Stubs whose descriptors were not handed to a leader yet (stub_handover.hpp), the oldest first.
  struct WaitingStub {
    restart::PartId part;
    restart::File stub;
    /// Identity of the stub: the program may have closed the descriptor and reused its number.
    restart::FileIdentity identity;
    std::uint64_t modified_ns = 0;
  };
  std::deque<WaitingStub> waiting_stubs;
  std::map<std::uint64_t, bool> keeps_names;  ///< by device: true on NFS
};

class Process {
 public:
  /// Returns the object; the first call makes it.
  static Process& get();
  /// Returns null if nothing has been captured or read so far.
  static Process* if_made();

  /// False in a fork's child.
  [[nodiscard]] static bool is_owner();
  /// True if the program has changed its root directory (chroot). Paths then mean other files to this process than to its leader.
  [[nodiscard]] bool has_new_root() const;
  /// True if a fork's child may have copies of our descriptors, and with them our locks.
  [[nodiscard]] static bool has_forked();

  using SettingsPointer = std::shared_ptr<const restart::Settings>;
  /// Returns the settings for files in `directory`. Cause::usage: an unknown key or a bad value.
  Result<SettingsPointer> settings(const std::string& connector_text, const std::string& directory);

  /// Returns rank and launch under these settings. They are determined only once, because the nonce
  /// of a launch with one rank is random.
  restart::Launcher launcher(const restart::Settings& settings);

  /// Enters the stage at the first call. An error means that the stage cannot be used. The error is
  /// final; only a locked stage is tried again, in a launch of one rank.
  Result<JobStage*> job_stage(const restart::Settings& settings, const restart::Launcher& launcher);

  /// The stage if it was entered already, else null.
  JobStage* entered_stage(const restart::Settings& settings, const restart::Launcher& launcher);

  WritingCounts& writings() { return writings_; }
  /// True if durable_every= asks for a durable close of the file that is created now.
  bool is_durable_turn(const std::string& pattern, const restart::Settings& settings);
  /// False at the first call for `path`, true afterwards. Called when a published file is written
  /// again.
  bool has_reopened(const std::string& path);

  /// Remembers a part that this process has published, for exit=wait.
  void add_published(JobStage& stage, const restart::PartBegin& begin);

  /// Time that the program has waited for capture.
  std::atomic<std::uint64_t> waited_ns{0};
  std::atomic<std::uint64_t> waited_for_commits_ns{0};  ///< of that time, because of lag=
  std::atomic<std::uint64_t> captured_parts{0};

  /// Call it when HDF5 ends and all files are closed: records the regular end, waits (exit=wait),
  /// prints the summary.
  void end();
  /// Call it when the process ends without a regular end of HDF5 (vol/process/process_exit.hpp).
  /// Files that are still open stay as their last flush left them, as natively. Does nothing after
  /// end().
  void end_without_hdf5();

 private:
  Process();
  restart::Launcher known_launcher(const restart::Settings& settings);  ///< mutex_ is held
  void end_stages();

  const pid_t pid_;
  const restart::FileIdentity root_;
  std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, SettingsPointer> settings_;
  std::map<std::string, std::unique_ptr<JobStage>> stages_;
  struct Unusable {
    Error error;
    std::uint64_t since_ns;  ///< CLOCK_MONOTONIC
  };
  std::map<std::string, Unusable> unusable_;
  WritingCounts writings_;
  std::set<std::string> reopened_;
  std::map<std::string, std::uint64_t> created_;  ///< by pattern: how many files
  std::map<std::string, restart::Launcher> launchers_;
};

/// CLOCK_MONOTONIC and CLOCK_REALTIME, in nanoseconds.
std::uint64_t monotonic_ns();
std::uint64_t realtime_ns();

/// Adds the time of its scope to Process::waited_ns.
class Waiting {
 public:
  Waiting() : begin_(monotonic_ns()) {}
  ~Waiting() { Process::get().waited_ns += monotonic_ns() - begin_; }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

 private:
  std::uint64_t begin_;
};

}  // namespace mcr::vol
