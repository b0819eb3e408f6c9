// SPDX-License-Identifier: BSD-3-Clause
// The stage: a directory on a memory file system where parts lie until they are committed. Its
// layout and the states of a part are described here and in docs/format.md, "Stage".
//
//   begin()          publish()             leader: container written
//   ------> open/  ------------> published/ ------------------------> committed/ --> freed, or kept
//                     rename         ^
//   publish_small()                  |
//   ---------------------------------+   bytes and all records of a small part in one write
//
// Invariants
//  1. A journal lies in exactly one of open/, published/, committed/; rename moves it. A journal in
//     published/ without a whole publish record is ignored: it is being written, or its writer died
//     while writing it.
//  2. The bytes of a part that is in published/ or committed/ equal the file that native HDF5 would
//     have left, every byte of it, and no longer change except after withdraw().
//  3. A writer of a part holds LOCK_EX on its bytes; a reader or drainer holds LOCK_SH. Reuse and
//     free need LOCK_EX. The bytes of a small part lie in its journal, so these locks are then on
//     the journal.
//  4. A process that may begin parts holds LOCK_EX on its file below ranks/ for its whole life.
//  5. A journal is removed before the file with its bytes goes to pool/.
//
// A provisional publish (H5Fflush) leaves the journal in open/, because the writer goes on. If the
// writer dies, the leader finds the last provisional record in that journal, and puts back what
// native HDF5 would have left.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "restart/base/file.hpp"
#include "restart/base/part_id.hpp"
#include "restart/format/journal.hpp"
#include "restart/format/native_counts.hpp"

namespace mcr::restart {

/// The pattern that stands for all files. After a failed commit it is marked native, so that the
/// program meets the storage's own error. A process that asks for any pattern must ask for this one
/// too.
inline constexpr std::string_view every_pattern = "*";

/// What enter() does if the stage is locked: wait for about a second, or fail at once.
enum class Entering : std::uint8_t { waits, at_once };

/// Parts of a one-process program that are not larger share containers: the overhead of a container is
/// small beside a larger one. In bytes.
constexpr std::uint64_t largest_bundled_part = 256 * 1024;

/// One node's directory of one launch in the stage.
class LaunchDirectory {
 public:
  /// Makes `<stage>/<node>.<launch>/` and its subdirectories as far as they are missing. The stage
  /// itself is made with mode 0700. A stage that is not a directory of this user with that mode, or
  /// whose last component is a link, is refused (Cause::usage). Cause::full, Cause::system: the
  /// stage is unusable.
  static Result<LaunchDirectory> create(const std::string& stage, const std::string& node,
                                        const std::string& launch);
  /// Opens an existing launch directory by its absolute path. `path` may come from a stub: the
  /// directory and the one above it must both be this user's and closed to others.
  static Result<LaunchDirectory> open(const std::string& path);
  /// The same for a process that drains and removes the directory. `path` must lie in `stage`,
  /// which the settings name (never a path from a file), or the directory must have the mark that
  /// create() leaves. It must also look like a launch's directory: all its subdirectories exist, or
  /// it holds only names that a launch makes.
  static Result<LaunchDirectory> open_in(const std::string& stage, const std::string& path);
  /// Makes the subdirectories that a process which died in create() left out. The caller holds the
  /// leader's lock.
  Result<void> complete() const;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] bool is_of(const std::string& launch) const;
  [[nodiscard]] int descriptor() const { return directory_.descriptor(); }

  // --- rank's side ------------------------------------------------------------------------------

  /// This process's presence below ranks/, locked. Keep the File for the process's life;
  /// `end_presence` records the regular end.
  struct Presence {
    File file;
    std::string name;
  };
  Result<Presence> join(std::uint32_t rank, std::uint32_t rank_count) const;
  /// Records that the process writes natively files of a pattern that mcr would otherwise have captured.
  /// `pattern` may be any text.
  static Result<void> record_native_pattern(const Presence& presence, const std::string& pattern);
  /// Records a regular end with the process's exit status; 0: not known. `natives`: the files that it
  /// wrote natively. `all_have_begun`: every rank of the program has begun, and creates no further file.
  Result<void> end_presence(const Presence& presence, int status = 0,
                            const NativeCounts& natives = {}, bool all_have_begun = false) const;
  /// Forgets the directory's descriptor without closing it, because the program has closed it
  /// already.
  void abandon() { (void)directory_.release(); }

  /// Calls create() and join() under the stage's lock. A rank must call enter(): between the two
  /// calls a leader may remove the directory of a launch without a living process. EWOULDBLOCK: the
  /// stage, or the launch, is locked.
  struct Entered;
  static Result<Entered> enter(const std::string& stage, const std::string& node,
                               const std::string& launch, std::uint32_t rank,
                               std::uint32_t rank_count, Entering how = Entering::waits);

  /// Returns a new file for a part's bytes, locked LOCK_EX. `reused_bytes` is the number of old
  /// bytes in it (a pool file, which the caller must overwrite or zero before publish); 0 for a
  /// fresh file.
  struct NewPart {
    PartId part;
    File bytes;
    std::uint64_t reused_bytes = 0;
  };
  Result<NewPart> create_part(std::uint32_t rank) const;
  /// Returns the name of a new part. Consecutive parts of this process share blocks (part_id.hpp).
  Result<PartId> new_part_id() const;
  /// Creates the part's journal, with its begin record, in open/. Keep the descriptor for
  /// publish().
  Result<File> begin(const PartBegin& begin) const;
  /// Opens the journal of a part that is in open/, for publish().
  Result<File> open_journal(const PartId& part) const;
  /// Appends the publish record and, unless it is provisional, renames the journal into published/.
  /// After a successful return the death of any process loses nothing. On failure the journal is
  /// unchanged.
  Result<void> publish(const PartId& part, const File& journal, const PartPublish& publish) const;
  /// Calls begin() and publish() in one, for a part of at most max_content_bytes that was never
  /// begun: the part appears in published/ whole or not at all. The returned file holds the part's
  /// LOCK_EX, and the part is not drained before that file is closed. On failure nothing is left.
  Result<File> publish_small(const PartBegin& begin, const PartPublish& publish,
                             ByteSpan content) const;
  /// Appends a further publish record to the journal of a published part. The caller holds the
  /// part's lock, so that no other process reads the journal before.
  Result<void> amend_publish(const File& journal, const PartPublish& publish) const;
  /// Takes a published part back for more writing: its bytes are locked LOCK_EX, and its journal
  /// returns to open/ with its last publish record repeated as a provisional one. Returns nothing
  /// if the leader or a reader has the bytes, or the part is no longer published.
  struct Withdrawn {
    File bytes;
    File journal;
    PartPublish publish;
  };
  Result<std::optional<Withdrawn>> withdraw(const PartId& part) const;
  /// Removes a part that was begun or published: its journal and its bytes.
  Result<void> drop(const PartId& part) const;

  /// Sets and tests the mark that a pattern is native: the launch's later files with the pattern
  /// are written natively. `pattern` may be any text.
  Result<void> mark_native(const std::string& pattern) const;
  [[nodiscard]] bool is_marked_native(const std::string& pattern) const;

  // --- leader's side and readers ----------------------------------------------------------------

  enum class State { open, published, committed };
  Result<std::vector<PartId>> list(State state) const;
  Result<Journal> journal(State state, const PartId& part) const;
  [[nodiscard]] bool is_in(State state, const PartId& part) const;
  /// Returns how many closed files of this launch are in no container yet. The line at the job's
  /// end and `mcr status` show this number.
  [[nodiscard]] Result<std::size_t> uncommitted() const;
  /// Opens the bytes for reading and takes LOCK_SH; Cause::system with EWOULDBLOCK if a writer has
  /// them. The bytes of a small part are returned as a file without a name.
  Result<File> open_bytes(const PartId& part) const;
  /// Opens the bytes without a lock, for a part that its writer has flushed. The bytes may change
  /// during reads.
  Result<File> open_unpublished(const PartId& part) const;
  /// Records that the part is in a container: its journal moves from published/ to committed/.
  Result<void> mark_committed(const PartId& part) const;
  /// Takes the part out of the stage, whatever its state. Its bytes go to the pool of `pool_rank`,
  /// if that is given, the pool has a free slot and no process reads the bytes; else they are
  /// removed. The caller holds no lock on the bytes.
  Result<void> free_part(const PartId& part, std::optional<std::uint32_t> pool_rank) const;

  /// Opens a presence file, so that the caller can test its lock.
  Result<File> open_presence(const std::string& name) const;

  struct RankPresence {
    std::string name;  ///< below ranks/
    std::uint32_t rank = 0;
    bool alive = false;
    bool ended = false;           ///< recorded a regular end
    int status = 0;               ///< the process's exit status; valid if `ended`
    bool all_have_begun = false;  ///< see end_presence()
    NativeCounts natives;         ///< files that the process wrote natively; valid if `ended`
    std::set<std::string> native_patterns;  ///< of record_native_pattern()
  };
  Result<std::vector<RankPresence>> presences() const;
  /// True if some process of the launch lives.
  Result<bool> anybody_lives() const;
  /// True if some living process of the launch has not recorded its end, so that it may still
  /// write.
  Result<bool> anybody_goes_on() const;

  /// Takes the leader's lock; nothing if another process is the leader.
  Result<std::optional<File>> try_lead() const;
  /// True if the leader that runs now has led since before `time_ns`. What was published at that time is then in a
  /// container only if this leader has put it there, which keeps the part locked meanwhile.
  [[nodiscard]] bool has_led_since(std::uint64_t time_ns) const;
  /// True if a leader runs, which holds the leader's lock.
  [[nodiscard]] bool has_leader() const;

  /// True if the caller should start a leader. Ranks begin together and one leader is enough, so it
  /// is false if another rank got true within the last half second. After that time, two callers
  /// may get true: one of their leaders then ends at once.
  [[nodiscard]] bool claim_start() const;
  /// Ends the claim that claim_start() gave: the new leader holds the lock now, or it could not be
  /// started.
  void end_start() const;

  /// True for one of the ranks that give up waiting within the same second. This rank reports for
  /// all.
  [[nodiscard]] bool claim_report() const;

  /// Returns how many bytes of memory the launch's files take. Ranks read the notice instead,
  /// because this function lists all directories of the launch.
  Result<std::uint64_t> used_bytes() const;
  /// What the leader tells ranks, which read it before a create: how much this user's stages take on
  /// the node, whether a commit failed, the limit on the stages by memory (0: not known), and how far
  /// the leader is behind. The leader writes it at least once a second, and at once after a publish.
  struct Notice {
    /// An older notice is that of a leader that has died or stands still.
    static constexpr std::uint64_t fresh_ns = 3'000'000'000;

    std::uint64_t stage_bytes = 0;
    bool commit_failed = false;
    std::uint64_t automatic_limit = 0;
    std::uint64_t sets_behind = 0;  ///< closed sets of one name pattern that wait for their commit
    std::uint64_t seen_ns =
        0;  ///< parts published before this time (since 1970) are in sets_behind
    std::uint64_t written_ns = 0;  ///< time of writing, since 1970; set by notice()

    [[nodiscard]] bool is_fresh(std::uint64_t now_ns) const {
      return now_ns >= written_ns && now_ns - written_ns < fresh_ns;
    }
  };
  Result<void> write_notice(const Notice& notice) const;
  [[nodiscard]] Notice notice() const;  ///< all zero if there is no notice

  /// Records how far this launch's clock is behind: the value is added to the times of its parts,
  /// so that its sets come after those that already existed (aggregation/leader/launch_clock). 0 if
  /// the clock is right.
  Result<void> write_clock_behind(std::uint64_t ns) const;
  [[nodiscard]] std::uint64_t clock_behind_ns() const;

  /// True if bytes of files lie in parts/ or pool/, so that they take memory.
  Result<bool> takes_memory() const;
  /// Removes files of the pool until `bytes` are freed. Returns the number of freed bytes.
  Result<std::uint64_t> shrink_pool(std::uint64_t bytes) const;

  /// Removes the directory if no process of the launch lives and nothing is open, published or
  /// committed. False: the directory stays. The caller holds the leader's lock. Removes only files
  /// that a launch makes; any other file is an error.
  Result<bool> remove_if_done() const;

 private:
  /// Marks this directory as made by create(). is_marked() accepts the mark wherever the directory
  /// lies, but not a copy of the mark, nor a mark that came with another user's files.
  void write_mark() const;
  [[nodiscard]] bool is_marked() const;
  /// An error names the first file in the directory that no launch makes.
  Result<void> holds_a_launch_alone() const;
  LaunchDirectory(std::string path, File directory);
  /// True for one caller within `valid_ns`: the one that creates the file `name`. True for every
  /// caller if the file cannot be made.
  [[nodiscard]] bool claim(const char* name, std::uint64_t valid_ns) const;
  Result<File> open_small_bytes(const PartId& part) const;
  Result<std::optional<Withdrawn>> withdraw_small(const PartId& part) const;

  std::string path_;
  File directory_;
  /// When the pool last changed, if it held nothing for this rank then. Only create_part() uses it,
  /// in one thread.
  mutable std::uint64_t pool_empty_since_ns_ = 0;
  /// State of new_part_id(), used in the same thread.
  mutable PartId last_id_;
  mutable std::uint32_t ids_left_of_block_ = 0;
};

struct LaunchDirectory::Entered {
  LaunchDirectory directory;
  Presence presence;
};

/// Returns the absolute paths of all launch directories in a stage; empty if the stage does not
/// exist.
Result<std::vector<std::string>> launch_directories(const std::string& stage);

}  // namespace mcr::restart
