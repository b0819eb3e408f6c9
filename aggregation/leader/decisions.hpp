// SPDX-License-Identifier: BSD-3-Clause
// What the leader does, as a pure function from events to decisions. It reads no clock and no file,
// so that test/simulation can replay a run from its seed. Times are milliseconds of any monotonic
// clock; the caller gives the time with the events.
//
// A part's life as the leader sees it, with the function that makes each transition:
//
//   PartBegun      PartPublished           drain_ripe_sets            DrainDone
//   ---------> open -----------> published ---------------> draining -----------> (gone; kept?)
//               | ^              |  ^   |                      |
//               | |PartWithdrawn |  |   | look_for_siblings:   | DrainDone: failed
//               | +--------------+  |   |   none (lone), or    |
//               |                   |   |   treat_unranked     v
//               |                   |   +---------------> putting_back ---------> (gone: native)
//               | writer dead       |                          |
//               v                   +--------------------------+ PutBackDone: not_possible;
//                                                                DrainDone: without_stub
//           settling --> (gone: native file, kept in mcr/, or dropped)
//         settle_dead_writers
//
// Invariants (checked after every event by test/simulation)
//  1. A part is in at most one outstanding action.
//  2. Only a published part is drained or put back; only a dead writer's part is settled.
//  3. A group holds each path at most once, all of one set and of one run of ranks; or it is a
//     bundle: sets of one rank, each with its only part, all of one family and block.
//  4. The leader does not exit while a process of the launch lives or shares frames, or while a
//     part waits. Exceptions: after Terminate; and after the last failed try, with `complete`
//     false, when the stage still holds the parts.
//  5. Once no process lives and storage works, every published part leaves the stage in bounded
//     time.
//  6. A group counts as superseded (flush=) only if a later writing of the same names is published, draining or
//     committed in all ranks of this node, and the team has said so of all other nodes with ranks. It is then all of its set: no
//     other part of the set is ever committed.
//  7. A set is told to be safe (TellSafe) only while all of its parts of this node are in storage, or held back with a replica.
//     If this ends before all nodes have agreed, it is taken back (TakeBackSafe).
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "aggregation/commit/drain_group.hpp"
#include "aggregation/commit/put_back_end.hpp"
#include "aggregation/merge/sets.hpp"

namespace mcr::aggregation {

// --- events -------------------------------------------------------------------------------------

struct RankJoined {
  std::string presence;
  std::uint32_t rank = 0;
};
/// The process writes files of a pattern, but the leader sees no parts of that pattern: the files are native, or another
/// user's link leads them to other names.
struct PatternWrittenNatively {
  std::string presence;
  std::string pattern;
};
/// The process recorded its end. It may live on for a while (exit=wait), but writes nothing more.
struct RankEnded {
  std::string presence;
  bool regular = true;  ///< true: its exit status was 0
  /// True: every rank of the program has begun, and creates no further file (MPI_Finalize).
  bool all_have_begun = false;
};
/// The process is gone. Without an earlier RankEnded it died.
struct RankGone {
  std::string presence;
};
struct PartBegun {
  PartFacts facts;
};
struct PartPublished {
  PartFacts facts;
  std::uint64_t publish_ns = 0;
  bool durable = false;
  /// Its bytes are a plain file at its path; the set counts it as a native member.
  bool native = false;
  std::uint64_t size = 0;
};
/// The writer took a published part back to write more.
struct PartWithdrawn {
  PartId part;
};
/// A rank on another node waits for this part, as a native file or in a container.
struct PartRequested {
  PartId part;
  bool native = false;
};
/// The part left the stage without an action of the leader.
struct PartDropped {
  PartId part;
};
struct SiblingsLookedUp {
  PartId part;
  /// Index in PartFacts::names of the name under which other ranks have files or the launch has
  /// containers. names.size() means lone_name; nullopt means that no name has evidence.
  std::optional<std::size_t> name;
  /// False: the only evidence is native files that any rank may have written.
  bool is_certain = true;
};
/// A rank has made a file of this family, and the file's path does not contain the rank's number.
/// So the numbers in this family's paths are not ranks.
struct FamilyUnranked {
  std::string family;
};
struct PutBackDone {
  PartId part;
  PutBackEnd end = PutBackEnd::not_possible;
};
struct SettleDone {
  PartId part;
  bool done = true;  ///< false: another process writes it, or storage refuses
};
/// The answer to NoteAccount, whether the account was written or not.
struct AccountNoted {
  SetName set;
};
struct Tick {};
/// Ranks of a restart share decoded frames in the stage. They need a leader even if they write
/// nothing.
struct FramesShared {
  bool is_left = false;  ///< shared frames are in the stage
};
/// Whether containers that may lose their names are watched (commit/container_watch).
struct ContainersWatched {
  bool is_any = false;
};
/// The stage is nearly full, so kept sets must be freed.
struct StageShort {};
/// Whether no set may be held back in memory (flush=): the stage is nearly full, the job ends soon, or a command asks for it.
struct Hurry {
  bool is_on = false;
  bool has_team = true;  ///< false: no set of several nodes may be held back
};
/// The answer to HoldSet.
struct SetHeld {
  std::uint64_t drain = 0;
  SetName set;
  bool is_held = false;  ///< false: it is to be committed
};
/// Another node has the held set's container, too; or it has refused it or lost it.
struct SetReplicated {
  SetName set;
  bool is_refused = false;
};
/// The set is safe on all nodes: each node with ranks of the set has told so.
struct SetAgreed {
  SetName set;
};
/// SIGTERM: drain the published parts as fast as possible, then end.
struct Terminate {};

using Event =
    std::variant<RankJoined, PatternWrittenNatively, RankEnded, RankGone, PartBegun, PartPublished,
                 PartWithdrawn, PartRequested, PartDropped, SiblingsLookedUp, FamilyUnranked,
                 DrainDone, PutBackDone, SettleDone, AccountNoted, FramesShared, ContainersWatched,
                 Tick, StageShort, Hurry, SetHeld, SetReplicated, SetAgreed, Terminate>;

// --- decisions ----------------------------------------------------------------------------------

/// Look for files of other ranks beside this part. Answer: SiblingsLookedUp.
struct LookForSiblings {
  PartId part;
};
/// Write what became known of a set after its commit into a supplement without parts. The answer is
/// AccountNoted.
struct NoteAccount {
  DrainGroup account;  ///< without parts
};
/// Make the group's container in memory and on another node, and hold the group back from storage (flush= on several nodes). The
/// answer is SetHeld.
struct HoldSet {
  DrainGroup group;
};
/// Tell the other nodes that this node's part of the set is safe. The answer, if all nodes tell the same, is SetAgreed.
struct TellSafe {
  SetName set;
  std::uint32_t parts = 0;  ///< of this node
  std::uint32_t all = 0;
  /// What the attempts of this node's ranks that failed are. Sets of nodes that differ in this are not one set.
  std::optional<std::uint64_t> failed_attempts = {};
};
/// Tell the other nodes that this node's part of a set that was told to be safe is not safe any more.
struct TakeBackSafe {
  SetName set;
};
enum class PutBackReason : std::uint8_t { lone, storage_failed, part_refused, requested };
/// Leave the part at its path as native HDF5 would have left it. Answer: PutBackDone.
struct PutBack {
  PartId part;
  PutBackReason reason = PutBackReason::lone;
};
/// Write files of this pattern natively for the rest of the launch.
struct MarkNative {
  std::string pattern;
  std::string why;
};
/// Storage refused a container. Later files are made natively, so that the program itself gets the
/// storage's error.
struct StorageFailed {};
/// The part's writer died with the file open: leave what native HDF5 would have left. The answer is
/// SettleDone.
struct Settle {
  PartId part;
};
/// A kept part is no longer needed.
struct FreeKept {
  PartId part;
};
/// The leader has nothing left to do. If not `complete`, parts remain for `mcr recover` or for a
/// leader that adopts the launch.
struct Exit {
  bool complete = true;
};

using Decision = std::variant<LookForSiblings, DrainGroup, HoldSet, TellSafe, TakeBackSafe, PutBack,
                              MarkNative, StorageFailed, Settle, FreeKept, NoteAccount, Exit>;

// --- the function -------------------------------------------------------------------------------

/// How long the leader waits.
struct Patience {
  std::uint64_t lone_ms = 1000;  ///< delay before siblings of a part are looked for
  /// How long a part that was closed durably waits for the other parts of its set.
  std::uint64_t durable_ms = 100;
  /// How long a set waits after its last publish if the number of local ranks is not known.
  std::uint64_t settle_ms = 1000;
  std::uint64_t first_rank_ms = 10'000;  ///< the first process must have joined by then
  /// How long after the node's first process its other processes may join.
  std::uint64_t join_ms = 5000;
  /// Delay before a drain that no rank waits for. A program that removes its files as soon as they
  /// are closed then finds no container in its directory.
  std::uint64_t calm_ms = 100;
  /// If many sets of one rank wait: how long they wait for further sets for the same container.
  std::uint64_t bundle_ms = 500;
  /// How long a writing must have been whole before it takes the place of an earlier one (flush=). The program may rename its
  /// files after their close.
  std::uint64_t superseded_ms = 200;
  /// How long a set that another node has, too, waits for the other nodes' agreement about a newer one, once there are two newer ones,
  /// or at the program's end.
  std::uint64_t agreement_ms = 5000;
  /// How long a set that is held back waits for its replica. The team may hang, or the network be slow.
  std::uint64_t replica_ms = 60'000;
  std::uint64_t retry_ms = 2000;  ///< after a failed commit; doubles up to retry_max_ms
  std::uint64_t retry_max_ms = 60'000;
  /// The tries that each part has when no process of the launch lives. Each commit of a part gives the others
  /// all their tries again.
  std::uint32_t last_tries = 3;
  /// The setting lag=: if this many sets of one pattern are not committed, creates wait for the leader, and
  /// the leader delays no drain. 0: no limit.
  std::size_t lag = 0;
};

class Decisions {
 public:
  explicit Decisions(Patience patience = {}) : patience_(patience) {}

  /// Call this if an earlier leader has drained parts of the launch. No rank then counts as passed,
  /// because this leader does not know what each rank wrote.
  void succeed() { is_successor_ = true; }

  /// Returns what to do now. `now_ms` must never decrease. Events that were found together must be
  /// given together, because the rules run once, after the last event.
  std::vector<Decision> on(const std::vector<Event>& events, std::uint64_t now_ms);

  /// Returns when the next Tick has an effect; nullopt if nothing waits for the clock.
  [[nodiscard]] std::optional<std::uint64_t> next_tick_ms() const { return wake_ms_; }

  [[nodiscard]] bool anybody_lives() const;  ///< true if a process of the launch lives
  /// True if a process of the launch may still create files, or if none has joined yet.
  [[nodiscard]] bool anybody_may_write() const;
  /// True if a process waits until parts are committed: a process of the launch at its end, a rank
  /// that closed a file durably or that may not create another one (is_behind()), a rank on another
  /// node, or the sender of SIGTERM.
  [[nodiscard]] bool somebody_waits() const;

  /// Returns how many sets of one pattern all ranks of this node have closed and are not committed:
  /// the largest such number. Small files of a one-process program share containers, so those of a
  /// pattern count as one set.
  [[nodiscard]] std::size_t behind() const { return behind_; }
  /// True if the leader is so far behind that creates wait (lag=).
  [[nodiscard]] bool is_behind() const { return patience_.lag > 0 && behind_ >= patience_.lag; }

  /// True if a set is held back in memory (flush=).
  [[nodiscard]] bool holds_back() const { return holds_back_; }

  /// Returns how many bytes the published parts have, including those being drained or put back.
  [[nodiscard]] std::uint64_t pending_bytes() const;
  /// Returns how many parts are published, including those being drained or put back.
  [[nodiscard]] std::size_t pending() const;

 private:
  enum class State : std::uint8_t {
    open,
    provisional,
    published,
    draining,
    putting_back,
    settling
  };

  struct Set;
  struct Part {
    PartFacts facts;
    State state = State::open;
    std::optional<SetName> set;
    Set* in_set = nullptr;  ///< the set with the name `set`; exists as long as any of its parts
    std::uint64_t published_ms = 0;
    std::uint64_t publish_ns = 0;
    std::uint64_t size = 0;
    std::uint64_t drain = 0;
    std::uint64_t hold_until_ms = 0;  ///< after a failed commit
    bool durable = false;
    /// The part left the stage during an action. The result event of the action removes the entry.
    bool dropped = false;
    bool lookup_sent = false;   ///< the answer to LookForSiblings has not come yet
    bool is_last_look = false;  ///< the awaited answer is final
    std::uint32_t looks = 0;
    std::uint64_t looked_ms = 0;
    /// Siblings were found, or the part must drain; such a part is not put back.
    bool has_company = false;
    bool must_drain = false;  ///< the part cannot be put back, or is native already
    bool is_alone = false;    ///< the part's set is the one named facts.lone_name
    bool requested = false;   ///< a rank on another node waits for the part
    bool wanted_native = false;
    std::uint32_t settle_tries = 0;
    /// How often storage refused the part since the launch's last process was gone, or since SIGTERM,
    /// and since another part was committed.
    std::uint32_t last_tries = 0;
    PutBackReason reason = PutBackReason::lone;
  };
  /// What this node knows of the ranks that have no part in a set.
  struct Told {
    std::vector<std::uint32_t> passed;
    std::vector<std::uint32_t> failed;
    bool drifted = false;

    bool operator==(const Told&) const = default;
  };
  struct Set {
    std::string pattern;
    std::uint32_t rank_count = 1;
    std::uint32_t writers = 1;
    std::uint32_t local_rank_count = 0;
    std::uint64_t set_wait_ms = 0;
    std::uint32_t group_size = 0;
    std::uint32_t keep = 0;
    std::uint32_t flush = 1;
    bool is_replicated = false;
    enum class Hold : std::uint8_t { none, asked, held, replicated, refused };
    Hold hold = Hold::none;  ///< of a set of several nodes
    std::uint64_t held_ms = 0;
    bool is_safe_everywhere = false;
    std::optional<std::uint64_t>
        whole_ms;  ///< since when all of it is in this node's stage; only with flush=
    std::vector<PartId> replaced;  ///< the parts whose stubs it found at its paths, if it is whole
    bool is_held_back = false;
    std::set<std::uint32_t> wrote;  ///< ranks that published a part, even if the part is gone
    std::map<std::uint32_t, std::uint32_t> parts_of;  ///< by rank: how many of its parts are known
    std::uint64_t last_publish_ms = 0;
    std::uint64_t last_publish_ns = 0;
    std::uint32_t last_publisher = 0;
    std::uint64_t first_begin_ns = 0;
    std::uint32_t first_beginner = 0;
    std::map<std::uint32_t, std::uint64_t> begun_ns;    ///< by rank: when it began its part
    std::map<std::uint32_t, std::uint32_t> containers;  ///< by group
    std::vector<PartId> kept;
    std::uint64_t order = 0;  ///< in which sets first appeared
    std::uint32_t failures = 0;
    bool counted_lone = false;
    bool drifted = false;
    std::optional<restart::FailedAttempts> failed_attempts;
    /// Another rank's part may lie elsewhere, so no rank passes.
    bool is_by_untrusted_links = false;
    bool is_amended = false;  ///< its parts amend a set of another launch
    bool committed = false;   ///< at least one container is in storage
    bool is_closed = false;   ///< no further part of this node is expected
    Told told;
  };
  struct Pattern {
    bool proven =
        false;  ///< a set of the pattern had parts of two ranks, or siblings on other nodes
    std::uint32_t lone_sets = 0;
    std::uint32_t drifted_sets = 0;
    bool native = false;
    /// Ranks that do not count as passed. Such a rank has a part, one of whose names may have this pattern,
    /// or it writes files of the pattern natively.
    std::set<std::uint32_t> possible_writers;
    /// By rank: `order` of the newest set that it has begun.
    std::map<std::uint32_t, std::uint64_t> newest_begun;
    std::deque<SetName> kept;
    std::uint32_t held_in_vain = 0;  ///< sets about which the nodes did not agree in time
  };
  struct Rank {
    std::uint32_t rank = 0;
    bool alive = true;
    bool ended = false;
    bool regular = false;
    bool all_have_begun = false;
  };

  void apply(const RankJoined&);
  void apply(const PatternWrittenNatively&);
  void apply(const RankEnded&);
  void apply(const RankGone&);
  void apply(const PartBegun&);
  void apply(const PartPublished&);
  void apply(const PartWithdrawn&);
  void apply(const PartRequested&);
  void apply(const PartDropped&);
  void apply(const SiblingsLookedUp&);
  void apply(const FamilyUnranked& event) { unranked_.insert(event.family); }
  void apply(const DrainDone&);
  void apply(const PutBackDone&);
  void apply(const SettleDone&);
  void apply(const AccountNoted& event) { noting_.erase(event.set); }
  void apply(const FramesShared& event) {
    shares_frames_ = event.is_left;
    has_shared_frames_ |= event.is_left;
  }
  void apply(const ContainersWatched& event) { watches_ = event.is_any; }
  void apply(const Tick&) {}
  void apply(const StageShort&) { release_kept(); }
  void apply(const Hurry& event) {
    hurries_ = event.is_on;
    has_team_ = event.has_team;
  }
  void apply(const SetHeld&);
  void apply(const SetReplicated&);
  void apply(const SetAgreed&);
  void apply(const Terminate&);

  void name_parts();
  void treat_unranked();
  void look_for_siblings();
  void drain_ripe_sets();
  [[nodiscard]] std::size_t count_behind() const;
  void put_back_requested();
  void settle_dead_writers();
  void release_kept();
  void note_accounts();
  void consider_exit();

  Part& part(const PartFacts& facts);
  void place_in_set(Part& part, std::size_t name);
  static void enter(Set& set, Part& part);
  static void leave_set(Part& part);
  void stand_alone(Part& part);
  void put_back_lone(Part& part);
  bool is_look_due(const Part& part);
  bool is_last_look(Part& part);
  bool is_due(std::uint64_t time_ms);
  void forget(const PartId& part);
  void forget_old_sets();
  void note_drift(const SetName& name, Set& set);
  void mark_drifted(Set& set);
  void note_failed_attempts(const SetName& name, Set& set, const PartFacts& facts);
  bool is_ripe(const Set& set, const std::vector<Part*>& parts);
  bool is_calm(const Set& set, const std::vector<Part*>& parts);
  [[nodiscard]] bool all_have_joined(std::uint32_t local_rank_count) const;
  [[nodiscard]] bool others_may_join(const Set& set);
  void note_whole(const SetName& name, Set& set, const std::vector<Part*>& published);
  [[nodiscard]] static bool spans_nodes(const Set& set);
  [[nodiscard]] static std::uint32_t parts_here(const Set& set);
  [[nodiscard]] static bool is_urgent(const Part& part);
  [[nodiscard]] const Set* whole_after(const SetName& name) const;
  [[nodiscard]] std::vector<const Set*> whole_here_after(const SetName& name) const;
  bool is_to_hold_across(const SetName& name, const Set& set, const std::vector<Part*>& parts);
  void hold_set(const SetName& name, Set& set, std::vector<Part*> parts);
  void tell_safe();
  bool is_to_hold_back(const SetName& name, const Set& set, const std::vector<Part*>& parts);
  [[nodiscard]] bool may_be_superseded(const SetName& name, const Set& set,
                                       const std::vector<Part*>& parts) const;
  [[nodiscard]] const Set* superseded_by(const SetName& name, const Set& set,
                                         const std::vector<Part*>& parts) const;
  void mark_superseded(const SetName& name, const Set& newer, DrainGroup& group) const;
  bool may_be_lone(const Part& part) const;
  void drain(const SetName& name, Set& set, std::vector<Part*> parts);
  bool may_be_bundled(const Set& set, const std::vector<Part*>& parts) const;
  void drain_family(const std::vector<Part*>& parts);
  void drain_alone(const std::vector<Part*>& parts);
  void drain_bundle(const std::vector<Part*>& parts);
  [[nodiscard]] std::uint64_t order_of(const SetName& name) const;
  void keep_set(const SetName& name, Set& set);
  void put_back(Part& part, PutBackReason reason);
  void must_drain(Part& part);
  void hold(Part& part);
  void begin_last_tries();
  void mark_native(const std::string& pattern, const std::string& why);
  std::vector<std::uint32_t> passed_ranks(const Set& set) const;
  std::vector<std::uint32_t> failed_ranks(const Set& set) const;
  Told known_of(const Set& set) const;
  DrainGroup account_of(const SetName& name, const Set& set) const;
  void wake_at(std::uint64_t time_ms);

  Patience patience_;
  std::uint64_t now_ms_ = 0;
  std::optional<std::uint64_t> start_ms_;
  std::optional<std::uint64_t> first_join_ms_;
  std::optional<std::uint64_t> wake_ms_;
  std::map<PartId, Part> parts_;
  /// By number of a drain under way: its parts.
  std::map<std::uint64_t, std::vector<PartId>> draining_;
  std::map<SetName, Set> sets_;
  std::size_t forget_sets_at_ = 0;  ///< number of sets at which old sets are forgotten next
  std::map<std::string, Pattern> patterns_;
  std::map<std::string, Rank> ranks_;  ///< by presence
  std::set<std::string> marked_;
  std::set<std::string> unranked_;  ///< families
  /// By launch and masked name: the lowest sequence of a set whose parts differ in their failed attempts.
  std::map<std::pair<std::string, std::string>, std::uint64_t> failures_differ_from_;
  std::vector<Decision> out_;
  std::uint64_t last_drain_ = 0;
  std::uint64_t last_order_ = 0;
  std::size_t behind_ = 0;
  bool holds_back_ = false;
  bool hurries_ = false;
  bool has_team_ = true;
  std::optional<std::uint64_t> ended_ms_;  ///< since when no process may write
  std::set<SetName> told_;  ///< sets that were told to be safe, and are not known to be agreed
  std::set<SetName> lost_replica_;  ///< sets whose replica the buddy has lost or refused
  std::set<SetName> not_told_;      ///< sets of several nodes that were whole here
  bool storage_failed_ = false;
  bool terminating_ = false;
  bool exited_ = false;
  bool is_successor_ = false;
  bool has_drift_news_ = false;
  bool shares_frames_ = false;
  bool has_shared_frames_ = false;
  bool watches_ = false;
  std::set<SetName> noting_;
};

}  // namespace mcr::aggregation
