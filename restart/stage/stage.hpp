// SPDX-License-Identifier: BSD-3-Clause
// The stage: a directory on a memory file system where parts lie until they are committed. What
// lies where, and what a part's state is, stands here and in docs/format.md, "Stage".
//
//   begin()          publish()             leader: container written
//   ------> open/  ------------> published/ ------------------------> committed/ (kept) or freed
//                     rename         ^
//   publish_small()                  |
//   ---------------------------------+   bytes and all records of a small part in one write
//
// Invariants
//  1. A journal lies in exactly one of open/, published/, committed/; rename moves it. One in
//     published/ without a whole publish record is being written, or its writer died over it: it is
//     nobody's.
//  2. The bytes of a part that is in published/ or committed/ equal the file that native HDF5 would
//     have left, every byte of it, and no longer change except after withdraw().
//  3. Who writes a part holds LOCK_EX on its bytes; who reads or drains it LOCK_SH. Reuse and free
//     need LOCK_EX. Of a small part, whose bytes lie in its journal, that is the journal's lock.
//  4. A process that may begin parts holds LOCK_EX on its file below ranks/ for its whole life.
//  5. No journal names the bytes of a file in pool/: it is gone before the file goes there.
//
// A provisional publish (H5Fflush) leaves the journal in open/: the writer goes on. If it dies, the
// leader finds the last such record there and puts back what native HDF5 would have left.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "restart/base/file.hpp"
#include "restart/base/part_id.hpp"
#include "restart/format/journal.hpp"

namespace mcr::restart {

/// The pattern that stands for all files: marked native after a failed commit, so that the program
/// meets the storage's own error. Whoever asks for a pattern asks for this one too.
inline constexpr std::string_view every_pattern = "*";

/// What enter() makes of a stage that is locked: it waits for about a second, or not at all.
enum class Entering : std::uint8_t { waits, at_once };

/// One node's directory of one launch in the stage.
class LaunchDirectory {
 public:
  /// Makes `<stage>/<node>.<launch>/` and what it holds where missing. The stage itself is made
  /// with mode 0700; one that is not a directory of this user's with that mode, or that is reached
  /// through a link in its last component, is refused (Cause::usage). Cause::full, Cause::system:
  /// stage unusable.
  static Result<LaunchDirectory> create(const std::string& stage, const std::string& node,
                                        const std::string& launch);
  /// An existing one by its absolute path; same checks of ownership. `path` may come from a stub:
  /// the directory must be this user's, closed to others, and lie in a directory of which the same
  /// is true.
  static Result<LaunchDirectory> open(const std::string& path);
  /// The same for who drains and removes it: `path` must lie in `stage`, which the settings name and
  /// no file, or have the mark that create() leaves; and be a launch's: all directories of one are
  /// there, or nothing but names of one.
  static Result<LaunchDirectory> open_in(const std::string& stage, const std::string& path);
  /// Makes what a process that died in create() left out. For who holds the leader's lock.
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
  /// Records a regular end with the process's exit status, as far as it is known (else 0).
  Result<void> end_presence(const Presence& presence, int status = 0) const;
  /// Gives the descriptor up without closing it: somebody else has done that.
  void abandon() { (void)directory_.release(); }

  /// create() and join() in one, which is how a rank must do it: a leader may be removing the
  /// directory of a launch in which nobody lives between the two.
  /// EWOULDBLOCK: the stage, or the launch, is locked.
  struct Entered;
  static Result<Entered> enter(const std::string& stage, const std::string& node,
                               const std::string& launch, std::uint32_t rank,
                               std::uint32_t rank_count, Entering how = Entering::waits);

  /// New bytes file, locked LOCK_EX; `reused_bytes` says how many old bytes it holds (a pool file,
  /// which the caller must overwrite or zero before publish), 0 for a fresh one.
  struct NewPart {
    PartId part;
    File bytes;
    std::uint64_t reused_bytes = 0;
  };
  Result<NewPart> create_part(std::uint32_t rank) const;
  /// The name of a new part. Some consecutive ones of this process are of one block.
  Result<PartId> new_part_id() const;
  /// Journal with its begin record in open/. The descriptor stays open for publish().
  Result<File> begin(const PartBegin& begin) const;
  /// The journal of a part that is in open/, for publish().
  Result<File> open_journal(const PartId& part) const;
  /// Appends the publish record and, unless it is provisional, renames the journal into published/.
  /// After this returns, the death of any process loses nothing. On failure the journal is as it
  /// was.
  Result<void> publish(const PartId& part, const File& journal, const PartPublish& publish) const;
  /// begin() and publish() in one, for a part of at most max_content_bytes that was never begun: it
  /// appears in published/ whole or not at all. What is returned holds the part's LOCK_EX; nobody
  /// drains it before that is closed. On failure nothing is left.
  Result<File> publish_small(const PartBegin& begin, const PartPublish& publish,
                             ByteSpan content) const;
  /// Takes a published part back for more writing: its bytes are locked LOCK_EX, its journal
  /// returns to open/ (with its last publish record repeated as a provisional one). Nothing where
  /// the leader or a reader has its bytes, or it is no longer published.
  struct Withdrawn {
    File bytes;
    File journal;
    PartPublish publish;
  };
  Result<std::optional<Withdrawn>> withdraw(const PartId& part) const;
  /// Drops a part that was begun or published: journal and bytes.
  Result<void> drop(const PartId& part) const;

  /// Marks and asks "files of this pattern go native for the launch". `pattern` is any text.
  Result<void> mark_native(const std::string& pattern) const;
  [[nodiscard]] bool is_marked_native(const std::string& pattern) const;

  // --- leader's side and readers ----------------------------------------------------------------

  enum class State { open, published, committed };
  Result<std::vector<PartId>> list(State state) const;
  Result<Journal> journal(State state, const PartId& part) const;
  [[nodiscard]] bool is_in(State state, const PartId& part) const;
  /// How many closed files of this launch are in no container yet. What ranks say at their end and
  /// what `mcr status` shows is this number.
  [[nodiscard]] Result<std::size_t> uncommitted() const;
  /// The bytes for reading; LOCK_SH is taken, Cause::system with EWOULDBLOCK where a writer has
  /// them. Those of a small part come as a file without a name.
  Result<File> open_bytes(const PartId& part) const;
  /// The same without a lock, of a part that a writer has and has flushed. It may change under the reader.
  Result<File> open_unpublished(const PartId& part) const;
  /// The part is in a container: published/ -> committed/ (`keep`), or freed (from any state), its
  /// bytes into the pool of `pool_rank` when there is one, room in it, and nobody reads them. The
  /// caller holds no lock on the bytes.
  Result<void> committed(const PartId& part, bool keep,
                         std::optional<std::uint32_t> pool_rank) const;

  /// Opens the file of a presence, for a look at its lock.
  Result<File> open_presence(const std::string& name) const;

  struct RankPresence {
    std::string name;  ///< below ranks/
    std::uint32_t rank = 0;
    bool alive = false;
    bool ended = false;  ///< recorded a regular end
    int status = 0;      ///< exit status that came with it
  };
  Result<std::vector<RankPresence>> presences() const;
  /// Some process of the launch lives.
  Result<bool> anybody_lives() const;
  /// Some process of the launch lives that has not recorded its end, so that it may still write.
  Result<bool> anybody_goes_on() const;

  /// The leader's lock; false: another holds it.
  Result<std::optional<File>> try_lead() const;
  /// True while some leader holds the lock.
  [[nodiscard]] bool has_leader() const;

  /// Whether the caller is to start a leader: ranks begin together, and one leader is enough. Not
  /// where somebody else was told so within the last half second. (Where that is over, two may be
  /// told so at the same time: one of their leaders ends at once.)
  [[nodiscard]] bool claim_start() const;
  /// The leader leads, or the caller, who claimed it, could not start it.
  void end_start() const;

  /// True for the first of the ranks that give up waiting within one second: it speaks for all.
  [[nodiscard]] bool claim_report() const;

  /// Bytes of memory that parts and pool of this launch take. Lists directories: for the leader.
  Result<std::uint64_t> used_bytes() const;
  /// The leader leaves here, about once a second, what this user's stages take on the node, whether
  /// a commit failed, and what the stages may take as far as memory goes (0: not known). A rank
  /// reads it before a create.
  struct Notice {
    std::uint64_t stage_bytes = 0;
    bool commit_failed = false;
    std::uint64_t automatic_limit = 0;
    std::uint64_t written_ns = 0;  ///< since 1970; when it is read
  };
  Result<void> write_notice(const Notice& notice) const;
  [[nodiscard]] Notice notice() const;  ///< all zero where there is none

  /// What is added to the times of this launch's parts to order its sets behind those that lay
  /// there when it began (aggregation/leader/launch_clock); 0 where its clock is right.
  Result<void> write_clock_behind(std::uint64_t ns) const;
  [[nodiscard]] std::uint64_t clock_behind_ns() const;

  /// Removes files of the pool, until `bytes` are given back. Returns how many were.
  Result<std::uint64_t> shrink_pool(std::uint64_t bytes) const;

  /// Removes the directory when nothing is open, published or committed and nobody lives. False: it
  /// stays. The caller holds the leader's lock. Only what a launch makes itself is removed: an error
  /// where anything else lies there.
  Result<bool> remove_if_done() const;

 private:
  /// Says that create() made this very directory: wherever it lies, and whoever names it. A copy of
  /// the mark, or one that came with files of another's, says nothing.
  void write_mark() const;
  [[nodiscard]] bool is_marked() const;
  /// An error names the first thing in the directory that no launch makes.
  Result<void> holds_a_launch_alone() const;
  LaunchDirectory(std::string path, File directory);
  /// True for one caller within `valid_ns`: who makes the file `name`.
  [[nodiscard]] bool claim(const char* name, std::uint64_t valid_ns) const;
  Result<File> open_small_bytes(const PartId& part) const;
  Result<std::optional<Withdrawn>> withdraw_small(const PartId& part) const;

  std::string path_;
  File directory_;
  /// When the pool changed last and held nothing for this rank; for create_part, by one thread.
  mutable std::uint64_t pool_empty_since_ns_ = 0;
  /// Of new_part_id, by the same thread.
  mutable PartId last_id_;
  mutable std::uint32_t ids_left_of_block_ = 0;
};

struct LaunchDirectory::Entered {
  LaunchDirectory directory;
  Presence presence;
};

/// Absolute paths of all launch directories in a stage (empty where there is no stage).
Result<std::vector<std::string>> launch_directories(const std::string& stage);

}  // namespace mcr::restart
