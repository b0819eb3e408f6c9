// SPDX-License-Identifier: BSD-3-Clause
// Tests the leader's decisions under random events. Simulates a world of ranks, parts and storage
// from a seed, gives its events to the real Decisions, and checks the invariants of
// leader/decisions.hpp after every event.
//
//   leader_simulation [--seeds N] [--first SEED] [--verbose]
//
// In this world, ranks join late, write several files in a step, flush, withdraw parts, drift
// apart, end, and die at any moment. Storage refuses for a while or for ever, or single stubs;
// parts cannot be put back, and parts vanish. The leader dies and another one adopts the launch, or
// the leader is told to terminate. Files are named as by real programs: one for each rank, an
// overwritten ring, names with the rank's number twice by accident, fewer files than ranks, a file
// of one rank beside files of all ranks. They are captured under every kind of rule that files=
// has, by the plugin's own code. A run prints only its result; a failure prints the seed that
// replays it.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "aggregation/leader/decisions.hpp"
#include "aggregation/leader/part_facts.hpp"
#include "restart/format/masked_name.hpp"
#include "vol/capture/capture_rule.hpp"

namespace {

using namespace mcr::aggregation;

enum class Fate { open, published, committed, native, aside, dropped };

struct WorldPart {
  PartFacts facts;
  Fate fate = Fate::open;
  std::uint64_t published_at = 0;
};

struct WorldRank {
  std::string presence;
  std::uint32_t rank = 0;
  bool joined = false;
  bool ended = false;
  bool all_have_begun = false;  ///< as the rank knew at its end
  bool alive = true;
  std::uint32_t step = 0;
  std::set<std::string> unranked;  ///< families that this rank knows to be
};

/// What lies at a path.
struct WorldFile {
  std::uint32_t rank = 0;  ///< that wrote it
  bool is_stub = false;
};

/// An action of the leader that is under way.
struct Action {
  std::uint64_t due = 0;
  Decision decision;
};

class Simulation {
 public:
  Simulation(std::uint64_t seed, bool verbose) : random_(seed), seed_(seed), verbose_(verbose) {
    rank_count_ = pick(1, 9);
    knows_local_count_ = chance(0.8);
    group_size_ = chance(0.3) ? pick(1, 4) : 0;
    keep_ = chance(0.3) ? pick(1, 3) : 0;
    flush_ = chance(0.4) ? pick(2, 4) : 1;
    ranks_elsewhere_ = flush_ > 1 && knows_local_count_ && chance(0.5) ? pick(1, 5) : 0;
    others_agree_ = chance(0.8) ? 0.9 : 0.0;
    steps_ = pick(1, 6);
    naming_ = pick(0, naming_kinds - 1);
    files_ = rule(pick(0, rule_kinds - 1));
    is_patient_ = chance(0.5);
    storage_fails_until_ = chance(0.2) ? (chance(0.3) ? forever : pick(0, 40'000)) : 0;
    put_back_works_ = chance(0.8) ? 0.95 : 0.1;
    stub_is_refused_ = chance(0.8) ? 0.02 : 0.5;
    most_refusals_in_a_row_ = chance(0.5) ? Patience().last_tries - 1 : forever;
    lone_writer_ = chance(0.3);
    lazy_ = chance(0.3);
    has_requests_ = chance(0.3);
    for (std::uint32_t r = 0; r < rank_count_; ++r) {
      ranks_.push_back({"p" + std::to_string(r), r, false, false, false, true, 0, {}});
    }
  }

  bool run() {
    std::uint64_t idle = 0;
    while (!failed_) {
      if (exited_) {
        if (finished()) break;
        new_leader();
      }
      const std::size_t before = parts_.size();
      act();
      now_ += pick(0, 400);
      complete_actions();
      if (decisions_.next_tick_ms() && *decisions_.next_tick_ms() <= now_) tell(Tick{});
      if (world_is_quiet() && !exited_) {
        if (shares_frames_ && chance(0.1)) share(false);
        // From now on only the clock moves, and the leader must come to its end by its own ticks.
        const auto tick = decisions_.next_tick_ms();
        std::uint64_t next = tick ? *tick : now_;
        for (const Action& action : actions_) next = std::min(next, action.due);
        if (!tick && actions_.empty() && !shares_frames_) {
          tell(Tick{});
          if (!exited_ && actions_.empty() && !decisions_.next_tick_ms())
            fail("the leader waits for nothing");
        }
        now_ = std::max(now_, next);
      }
      check_end_is_prompt();
      idle = parts_.size() == before ? idle + 1 : 0;
      if (idle > 200'000) fail("no end is in sight");
    }
    if (!failed_) check_end();
    return !failed_;
  }

  /// True if a leader left parts in the stage because storage refused them too often in a row.
  [[nodiscard]] bool gave_up() const { return gave_up_; }
  /// True if a leader without processes came to its end after as many refusals, not in a row.
  [[nodiscard]] bool went_on() const { return went_on_; }

 private:
  static constexpr std::uint64_t forever = ~std::uint64_t{0};
  /// A look, a put-back that is refused and a drain take three seconds each, at most.
  static constexpr std::uint64_t most_end_ms = 60'000;

  // --- the world's own moves --------------------------------------------------------------------

  void act() {
    if (world_is_quiet()) return;
    if (chance(0.003)) return kill_leader();
    if (chance(0.002)) return tell(StageShort{});
    if (chance(0.002)) return tell(Hurry{chance(0.5), chance(0.8)});
    if (!held_.empty() && chance(0.02)) return answer_of_buddy();
    if (!told_.empty() && chance(0.1)) return agree();
    if (chance(0.002)) return share(!shares_frames_);
    if (has_requests_ && chance(0.02)) return request();
    if (chance(0.001)) {
      tell(Terminate{});
      return;
    }
    WorldRank& rank = ranks_[pick(0, rank_count_ - 1)];
    if (!rank.alive) return;
    if (rank.ended) {
      // exit=wait: the rank lives until its parts are committed, or until exit_wait= is over.
      if ((!is_patient_ && chance(0.05)) || !has_published(rank.presence)) leave(rank);
      return;
    }
    if (chance(lazy_ ? 0.9 : 0.3)) return;
    if (chance(0.004)) return leave(rank);
    if (!rank.joined) {
      rank.joined = true;
      tell(RankJoined{rank.presence, rank.rank});
      return;
    }
    // Finish an open part, or begin the next part, or end.
    for (auto& [id, part] : parts_) {
      if (part.facts.presence != rank.presence) continue;
      if (part.fate == Fate::open) {
        if (chance(0.02)) return drop(part);
        return publish(part);
      }
      if (part.fate == Fate::published && chance(0.02) && !in_action(id) && !is_locked(id)) {
        part.fate = Fate::open;
        tell(PartWithdrawn{id});
        return;
      }
      if (flush_ > 1 && part.fate == Fate::published && chance(0.01)) return amend(part.facts);
    }
    if (rank.step >= steps_) {
      rank.ended = true;
      rank.all_have_begun = std::all_of(ranks_.begin(), ranks_.end(),
                                        [](const WorldRank& other) { return other.joined; });
      tell(RankEnded{rank.presence, true, rank.all_have_begun});
      return;
    }
    for (const std::string& path : paths_of(rank)) create(rank, path);
    ++rank.step;
  }

  // --- names and rules --------------------------------------------------------------------------

  static constexpr std::uint32_t naming_kinds = 8;

  static std::string digits(std::uint32_t value, int width) {
    char text[16];
    std::snprintf(text, sizeof text, "%0*u", width, value);
    return text;
  }

  /// The files that a rank makes in a step.
  std::vector<std::string> paths_of(const WorldRank& rank) const {
    const std::uint32_t n = rank.step;
    const std::uint32_t r = rank.rank;
    const std::string step = std::to_string(n);
    const std::string own = std::to_string(r);
    const std::string dump = "/d/DD" + digits(n, 4) + "/DD" + digits(n, 4);
    std::vector<std::string> paths;
    switch (naming_) {
      case 0:
        paths = {"/d/dump_" + step + "." + own + ".h5"};
        break;
      case 1:
        paths = {"/d/ring" + std::to_string(n % 2) + "." + own + ".h5"};
        break;
      case 2:
        paths = {"/d/same." + own + ".h5"};
        break;
      case 3:  // if rank and step are equal, the rank's number occurs twice
        paths = {"/d/ck_" + digits(n, 5) + "_" + digits(r, 3) + ".h5"};
        break;
      case 4:  // the same, and rank 0 alone has another file in each step (Enzo)
        paths = {dump + ".cpu" + digits(r, 4) + ".h5"};
        if (r == 0) paths.push_back(dump + ".boundary.h5");
        break;
      case 5:  // every second rank writes a file, whose number is not the rank (GADGET)
        if (r % 2 == 0)
          paths = {"/d/snapdir_" + digits(n, 3) + "/snapshot_" + digits(n, 3) + "." +
                   std::to_string(r / 2) + ".h5"};
        break;
      case 6:  // the same with the step at the end (MACSio)
        if (r % 2 == 0) paths = {"/d/f_" + digits(r / 2, 3) + "_" + digits(n, 3) + ".h5"};
        break;
      default:  // the first ranks write files with their own numbers, the other ranks write none
        if (r < (rank_count_ + 1) / 2) paths = {"/d/io_" + digits(r, 2) + "." + step + ".h5"};
        break;
    }
    if (r == 0 && lone_writer_) {
      paths.emplace_back("/d/log_0.h5");
      paths.push_back("/d/plt_" + digits(n, 5) + ".h5");
    }
    return paths;
  }

  static constexpr std::uint32_t rule_kinds = 7;

  static std::string rule(std::uint32_t kind) {
    static const char* const rules[] = {"auto",
                                        "*",
                                        "*.h5",
                                        "*{rank}*.h5",
                                        "*{part}.h5;*{part}*.h5",
                                        "plt_*.h5;auto",
                                        "other{rank}.h5;auto"};
    return rules[kind];
  }

  void create(WorldRank& rank, const std::string& path) {
    const auto names =
        mcr::vol::captured_names({files_, path, path, rank.rank, all_ranks()}).masked_names;
    const std::string family = mcr::restart::pattern_of(path);
    const bool is_native = marks_.contains(family) || rank.unranked.contains(family) ||
                           (!names.empty() && marks_.contains(mcr::restart::pattern_of(names[0])));
    if (names.empty() || is_native) {
      world_files_[path] = {rank.rank, false};
      if (!names.empty() || all_ranks() == 1 || files_.find("auto") == std::string::npos) return;
      rank.unranked.insert(family);
      // The stage may not be there yet.
      if (chance(0.8) && marks_.insert(family).second) tell(FamilyUnranked{family});
      return;
    }
    mcr::restart::Journal journal;
    mcr::restart::PartBegin& begin = journal.begin;
    for (auto& byte : begin.part.bytes) byte = static_cast<std::uint8_t>(random_());
    begin.launch = "L";
    begin.path = path;
    begin.rank = rank.rank;
    begin.rank_count = all_ranks();
    begin.local_rank_count = knows_local_count_ ? rank_count_ : 0;
    begin.masked_names = names;
    const auto [sequence, is_first] = sequences_.try_emplace({rank.rank, path}, 0);
    begin.sequence = is_first ? 0 : ++sequence->second;
    begin.presence = rank.presence;
    begin.begin_ns = now_ * 1'000'000;
    begin.settings = "files=" + files_;
    PartFacts facts = facts_of(journal);
    facts.group_size = group_size_;
    facts.keep = keep_;
    facts.flush = flush_;
    facts.is_replicated = ranks_elsewhere_ > 0;
    facts.waits_for_replica = closes_wait();
    facts.bundle_family.clear();
    if (all_ranks() == 1 && names.size() == 1 && keep_ == 0 && flush_ <= 1) {
      facts.bundle_family = mcr::restart::pattern_of(names.front());
      facts.block = std::to_string(rank.step / 20);
    }
    parts_[facts.part] = {facts, Fate::open, 0};
    world_files_.try_emplace(path, WorldFile{rank.rank, false});
    tell(PartBegun{facts});
  }

  /// The program opens a closed file for writing: a second part of the same writing will replace the first one.
  void amend(PartFacts facts) {
    for (auto& byte : facts.part.bytes) byte = static_cast<std::uint8_t>(random_());
    facts.begin_ns = now_ * 1'000'000;
    parts_[facts.part] = {facts, Fate::open, 0};
    tell(PartBegun{facts});
  }

  void publish(WorldPart& part) {
    part.fate = Fate::published;
    part.published_at = now_;
    world_files_[part.facts.path] = {part.facts.rank, true};
    tell(published_event(part));
  }

  PartPublished published_event(const WorldPart& part) const {
    return {part.facts, part.published_at * 1'000'000, false, false};
  }

  void drop(WorldPart& part) {
    part.fate = Fate::dropped;
    tell(PartDropped{part.facts.part});
  }

  /// Another node has the container of a held set, or refuses it. A new team may lose it later.
  void answer_of_buddy() {
    auto set = held_.begin();
    std::advance(set, pick(0, static_cast<std::uint32_t>(held_.size() - 1)));
    const SetName name = *set;
    const bool is_refused = chance(0.1);
    if (is_refused) held_.erase(set);
    tell(SetReplicated{name, is_refused});
  }

  /// All nodes have told of a set.
  void agree() {
    const SetName set = told_.front();
    told_.erase(told_.begin());
    for (const auto& [id, part] : parts_) {
      const bool is_of_set = part.facts.sequence == set.sequence && !part.facts.names.empty() &&
                             part.facts.names.front().masked_name == set.masked_name;
      if (is_of_set && part.fate == Fate::native)
        fail("a set with plain files counts as safe on two nodes");
    }
    if (!chance(others_agree_)) return;
    agreed_.insert(set);
    tell(SetAgreed{set});
  }

  /// A rank of another node wants to read or write a part, whatever has become of it.
  void request() {
    if (parts_.empty()) return;
    auto part = parts_.begin();
    std::advance(part, pick(0, static_cast<std::uint32_t>(parts_.size() - 1)));
    tell(PartRequested{part->first, chance(0.5)});
  }

  void leave(WorldRank& rank) {
    rank.alive = false;
    if (rank.joined) tell(RankGone{rank.presence});
  }

  void kill_leader() {
    if (verbose_) std::printf("%8llu leader killed\n", static_cast<unsigned long long>(now_));
    // Each action under way either reached its commit or did not.
    for (const Action& action : actions_) {
      if (chance(0.5)) finish_in_world(action.decision, nullptr);
    }
    found_after_.clear();
    new_leader();
  }

  /// As aggregation/leader/siblings does it.
  SiblingsLookedUp look_up(const PartFacts& facts) {
    SiblingsLookedUp found{facts.part, {}, false};
    for (std::size_t i = 0; i < facts.names.size() && !found.is_certain; ++i) {
      for (std::uint32_t other = 0; other < rank_count_; ++other) {
        if (other == facts.rank) continue;
        for (const std::string& path : mcr::restart::sibling_paths(
                 facts.path, facts.names[i].masked_name, facts.rank, other)) {
          const auto file = world_files_.find(path);
          if (file == world_files_.end()) continue;
          if (file->second.is_stub && file->second.rank != other) continue;
          const bool is_certain = file->second.is_stub || chance(0.2);
          if (found.name && !is_certain) continue;
          found.name = i;
          found.is_certain |= is_certain;
        }
      }
    }
    return found;
  }

  /// Another leader finds what lies in the stage.
  void new_leader() {
    actions_.clear();
    held_.clear();
    decisions_ = Decisions();
    decisions_.succeed();
    ended_since_ = 0;
    refusals_in_a_row_ = last_refusals_ = 0;
    exited_ = false;
    terminated_ = false;
    first_join_ = 0;
    std::vector<Event> found;
    for (const WorldRank& rank : ranks_) {
      if (!rank.joined) continue;
      found.emplace_back(RankJoined{rank.presence, rank.rank});
      if (rank.ended) found.emplace_back(RankEnded{rank.presence, true, rank.all_have_begun});
      if (!rank.alive) found.emplace_back(RankGone{rank.presence});
    }
    for (auto& [id, part] : parts_) {
      if (part.fate == Fate::open) found.emplace_back(PartBegun{part.facts});
      if (part.fate == Fate::published) found.emplace_back(published_event(part));
    }
    for (const std::string& family : marks_) found.emplace_back(FamilyUnranked{family});
    found.emplace_back(FramesShared{shares_frames_});
    tell(found);
  }

  void share(bool shares) {
    shares_frames_ = shares;
    tell(FramesShared{shares});
  }

  // --- the leader's moves -----------------------------------------------------------------------

  void tell(const Event& event) { tell(std::vector<Event>{event}); }

  void tell(const std::vector<Event>& events) {
    if (exited_ || failed_) return;
    for (const Event& event : events) {
      terminated_ |= std::holds_alternative<Terminate>(event);
      if (std::holds_alternative<RankJoined>(event) && first_join_ == 0) first_join_ = now_;
    }
    auto decided = decisions_.on(events, now_);
    for (Decision& decision : decided) {
      check(decision);
      if (verbose_) say(decision);
      if (const auto* mark = std::get_if<MarkNative>(&decision); mark && chance(0.9))
        marks_.insert(mark->pattern);
      if (const auto* safe = std::get_if<TellSafe>(&decision)) told_.push_back(safe->set);
      if (const auto* safe = std::get_if<TakeBackSafe>(&decision)) std::erase(told_, safe->set);
      if (std::holds_alternative<Exit>(decision)) {
        exited_ = true;
        complete_exit_ = std::get<Exit>(decision).complete;
      } else if (!std::holds_alternative<MarkNative>(decision) &&
                 !std::holds_alternative<StorageFailed>(decision) &&
                 !std::holds_alternative<TellSafe>(decision) &&
                 !std::holds_alternative<TakeBackSafe>(decision) &&
                 !std::holds_alternative<FreeKept>(decision)) {
        actions_.push_back({now_ + pick(0, 3000), decision});
      }
    }
  }

  void complete_actions() {
    for (std::size_t i = 0; i < actions_.size() && !failed_;) {
      if (actions_[i].due > now_) {
        ++i;
        continue;
      }
      const Action action = actions_[i];
      actions_.erase(actions_.begin() + static_cast<std::ptrdiff_t>(i));
      Event answer = Tick{};
      finish_in_world(action.decision, &answer);
      // The leader looks at the stage after it has taken the answer, and before it decides.
      std::vector<Event> events{std::move(answer)};
      std::move(found_after_.begin(), found_after_.end(), std::back_inserter(events));
      found_after_.clear();
      tell(std::move(events));
      i = 0;
    }
  }

  /// The program has the part while the leader wants to put it back. It deletes it; keeps it, which
  /// the leader sees before or after the answer; or publishes it again before the leader looks.
  void take_back(WorldPart& part) {
    switch (pick(0, 3)) {
      case 0:
        part.fate = Fate::dropped;
        tell(PartDropped{part.facts.part});
        return;
      case 1:
        part.fate = Fate::open;
        tell(PartWithdrawn{part.facts.part});
        found_after_.emplace_back(PartBegun{part.facts});
        return;
      case 2:
        part.fate = Fate::open;
        found_after_.emplace_back(PartBegun{part.facts});
        return;
      default:
        part.published_at = now_;
        found_after_.emplace_back(published_event(part));
    }
  }

  void finish_in_world(const Decision& decision, Event* answer) {
    Event ignored = Tick{};
    Event& out = answer ? *answer : ignored;
    if (const auto* look = std::get_if<LookForSiblings>(&decision)) {
      out = look_up(parts_.at(look->part).facts);
    } else if (const auto* hold = std::get_if<HoldSet>(&decision)) {
      bool is_held = chance(0.9);
      if (answer &&
          chance(0.05)) {  // the program takes a part back before the leader has locked it
        const PartId id = hold->group.parts.front();
        parts_.at(id).fate = Fate::open;
        tell(PartWithdrawn{id});
      }
      for (const PartId& id : hold->group.parts) is_held &= parts_.at(id).fate == Fate::published;
      if (is_held && answer) held_.insert(hold->group.set);
      out = SetHeld{hold->group.drain, hold->group.set, is_held};
    } else if (const auto* group = std::get_if<DrainGroup>(&decision)) {
      held_.erase(group->set);
      DrainDone done{group->drain, {}, {}, false};
      std::vector<Event> lost;
      const bool fails = now_ < storage_fails_until_;
      const bool refused = !fails && chance(0.01);
      const bool may_refuse_stubs = may_refuse();
      const bool gives_up = group->is_superseded && chance(0.8) && can_give_up(*group);
      done.is_dropped = gives_up;
      for (const PartId& id : group->parts) {
        WorldPart& part = parts_.at(id);
        if (!gives_up && chance(0.01) && part.fate == Fate::published) {
          // The program took the part back, or deleted it, before the leader had the part's lock.
          part.fate = chance(0.5) ? Fate::dropped : Fate::open;
          if (answer && part.fate == Fate::dropped) lost.emplace_back(PartDropped{id});
          if (answer && part.fate == Fate::open) {
            // The leader sees that the part was withdrawn, before DrainDone, or finds it open again
            // afterwards.
            chance(0.5) ? lost.emplace_back(PartWithdrawn{id})
                        : found_after_.emplace_back(PartBegun{part.facts});
          }
        }
        if (part.fate != Fate::published) continue;
        if (gives_up) {
          done.committed.push_back(id);
          part.fate = Fate::dropped;
        } else if (fails || refused) {
          done.failed.push_back(id);
        } else if (may_refuse_stubs && chance(stub_is_refused_)) {
          done.without_stub.push_back(id);
        } else {
          done.committed.push_back(id);
          part.fate = Fate::committed;
        }
      }
      if (!done.committed.empty() && group->bundle.empty()) {
        (gives_up ? given_up_ : committed_).insert(group->set);
        if (given_up_.contains(group->set) && committed_.contains(group->set))
          fail("a set of which one group was given up and another was committed");
      }
      if (!done.committed.empty() && !gives_up) refusals_in_a_row_ = 0;
      if (!done.without_stub.empty()) count_refusal();
      done.place_went_away = fails && chance(0.3);
      done.storage_failed = fails && !done.place_went_away;
      out = done;
      tell(lost);  // these events come before DrainDone, which has these parts in neither list
    } else if (const auto* back = std::get_if<PutBack>(&decision)) {
      WorldPart& part = parts_.at(back->part);
      const bool is_lone =
          back->reason == PutBackReason::lone || back->reason == PutBackReason::requested;
      const bool works = chance(put_back_works_) || !(is_lone || may_refuse());
      if (part.fate == Fate::published && chance(0.02)) {
        take_back(part);
        out = PutBackDone{back->part, PutBackEnd::taken_back};
        return;
      }
      const bool done = part.fate == Fate::published && works;
      if (!is_lone && !done) count_refusal();
      if (done) part.fate = Fate::native;
      if (done) world_files_[part.facts.path] = {part.facts.rank, false};
      out = PutBackDone{back->part, done ? PutBackEnd::done : PutBackEnd::not_possible};
    } else if (const auto* settle = std::get_if<Settle>(&decision)) {
      // Not done, because a living process has opened the dead process's part for writing.
      const bool done = !anybody_lives() || chance(0.8);
      if (done) parts_.at(settle->part).fate = Fate::aside;
      out = SettleDone{settle->part, done};
    } else if (const auto* note = std::get_if<NoteAccount>(&decision)) {
      out = AccountNoted{note->account.set};
    }
  }

  // --- what must hold ---------------------------------------------------------------------------

  [[nodiscard]] bool anybody_lives() const {
    for (const WorldRank& rank : ranks_) {
      if (rank.joined && rank.alive) return true;
    }
    return false;
  }

  /// Some rank of the node may be about to begin.
  [[nodiscard]] bool awaits_ranks() const {
    if (terminated_ || has_requests_ || !knows_local_count_ || !anybody_lives() || closes_wait())
      return false;
    if (first_join_ == 0 || now_ >= first_join_ + Patience{}.join_ms) return false;
    for (const WorldRank& rank : ranks_) {
      if (!rank.joined) return true;
    }
    return false;
  }

  void check(const Decision& decision) {
    if (const auto* hold = std::get_if<HoldSet>(&decision)) {
      if (ranks_elsewhere_ == 0) fail("holds a set of one node");
      if (hold->group.parts.size() != rank_count_) fail("holds some parts of a set");
      for (const PartId& id : hold->group.parts) {
        if (parts_.at(id).fate != Fate::published) fail("holds a part that is not published");
        if (in_action(id)) fail("a part in two actions");
      }
      if (has_more_parts(hold->group)) fail("holds some parts of a set");
    } else if (const auto* safe = std::get_if<TellSafe>(&decision)) {
      check_safe(*safe);
    } else if (const auto* group = std::get_if<DrainGroup>(&decision)) {
      std::set<std::uint32_t> ranks, runs;
      std::set<std::string> paths;
      if (group->parts.empty()) fail("a group without parts");
      if (!group->bundle.empty()) return check_bundle(*group);
      for (const PartId& id : group->parts) {
        const WorldPart& part = parts_.at(id);
        if (part.fate != Fate::published) fail("drains a part that is not published");
        if (in_action(id)) fail("a part in two actions");
        ranks.insert(part.facts.rank);
        if (!paths.insert(part.facts.path).second) fail("a path twice in one group");
        runs.insert(group_of(part.facts.rank, group_size_));
        if (part.facts.sequence != group->set.sequence) fail("sequences mixed");
        bool named = false;
        for (const auto& name : part.facts.names)
          named |= name.masked_name == group->set.masked_name;
        named |= part.facts.lone_name == group->set.masked_name;
        if (!named) fail("a part in a set of another name");
      }
      if (runs.size() != 1) fail("a group over two runs of ranks");
      if (group->is_superseded && !is_replaced(*group)) fail("gives up a set without a newer one");
      if (group->is_superseded && has_more_parts(*group)) fail("gives up some parts of a set");
      if (group->is_superseded && group->parts.size() != rank_count_)
        fail("gives up one group of several");
      const bool is_of_one_file = mcr::restart::is_of_one_file(group->set.masked_name);
      if (is_of_one_file && all_ranks() > 1 && group->parts.size() != 1)
        fail("several files in the set of one file");
      if (is_of_one_file && all_ranks() > 1 && !group->passed_ranks.empty())
        fail("ranks passed a set of one file");
      if (!is_of_one_file && awaits_ranks() && storage_fails_until_ == 0)
        fail("drained while ranks of the node have not begun");
      for (const std::uint32_t passed : group->passed_ranks) {
        if (ranks.contains(passed)) fail("a rank wrote and passed");
      }
      check_account(*group);
    } else if (const auto* back = std::get_if<PutBack>(&decision)) {
      if (parts_.at(back->part).fate != Fate::published)
        fail("puts back a part that is not published");
      // The drain's action was removed from the list before its parts are put back.
      if (in_action(back->part)) fail("a part in two actions");
    } else if (const auto* settle = std::get_if<Settle>(&decision)) {
      const WorldPart& part = parts_.at(settle->part);
      for (const WorldRank& rank : ranks_) {
        if (rank.presence == part.facts.presence && rank.alive)
          fail("settles a living writer's part");
      }
      if (part.fate != Fate::open) fail("settles a published part");
    } else if (const auto* note = std::get_if<NoteAccount>(&decision)) {
      check_account(note->account);
      if (!note->account.parts.empty()) fail("a note with parts");
    } else if (const auto* mark = std::get_if<MarkNative>(&decision)) {
      if (mark->pattern.empty()) fail("an empty pattern");
    } else if (const auto* exit = std::get_if<Exit>(&decision)) {
      if (shares_frames_ && !terminated_) fail("exit while ranks share what they read");
      for (const Action& action : actions_) {
        if (!std::holds_alternative<LookForSiblings>(action.decision))
          fail("exit with actions under way");
      }
      bool published = false;
      for (const auto& [id, part] : parts_) published |= part.fate == Fate::published;
      if (exit->complete && published) fail("a complete exit with published parts left");
      if (!terminated_) {
        for (const WorldRank& rank : ranks_) {
          if (rank.joined && rank.alive) fail("exit while a rank lives");
        }
      }
      const bool is_unforced = !terminated_ && storage_fails_until_ == 0;
      const std::uint64_t tries = Patience().last_tries;
      if (is_unforced && !exit->complete && refusals_in_a_row_ < tries)
        fail("gave up though storage works");
      gave_up_ |= is_unforced && !exit->complete;
      went_on_ |= exit->complete && last_refusals_ >= tries;
    }
  }

  /// Invariant 7.
  void check_safe(const TellSafe& safe) {
    std::set<std::uint32_t> here;
    for (const auto& [id, part] : parts_) {
      const auto& names = part.facts.names;
      const bool is_of_set = part.facts.sequence == safe.set.sequence &&
                             std::any_of(names.begin(), names.end(), [&](const auto& it) {
                               return it.masked_name == safe.set.masked_name;
                             });
      if (!is_of_set) continue;
      if (part.fate == Fate::committed ||
          (part.fate == Fate::published && held_.contains(safe.set)))
        here.insert(part.facts.rank);
    }
    if (here.size() < rank_count_ || safe.parts != rank_count_)
      fail("tells that a set is safe that is not");
    if (safe.all != all_ranks()) fail("tells a wrong number of ranks");
  }

  /// True if each rank has closed a newer file of the same name, and none of these is being written again.
  [[nodiscard]] bool is_replaced(const DrainGroup& group) const {
    std::map<std::uint64_t, std::set<std::uint32_t>> closed;  // by sequence: ranks
    for (const auto& [id, part] : parts_) {
      if (part.fate != Fate::published && part.fate != Fate::committed) continue;
      for (const auto& name : part.facts.names)
        if (name.masked_name == group.set.masked_name && part.facts.sequence > group.set.sequence)
          closed[part.facts.sequence].insert(part.facts.rank);
    }
    const auto is_agreed = [&](std::uint64_t sequence) {
      return ranks_elsewhere_ == 0 ||
             agreed_.contains({group.set.launch, group.set.masked_name, sequence});
    };
    return std::any_of(closed.begin(), closed.end(), [&](const auto& entry) {
      return entry.second.size() == rank_count_ && is_agreed(entry.first);
    });
  }

  /// True if a part outside the group is of the same writing of one of its files.
  [[nodiscard]] bool has_more_parts(const DrainGroup& group) const {
    return std::any_of(group.parts.begin(), group.parts.end(), [&](const PartId& id) {
      const PartFacts& facts = parts_.at(id).facts;
      return std::any_of(parts_.begin(), parts_.end(), [&](const auto& entry) {
        const PartFacts& other = entry.second.facts;
        const Fate fate = entry.second.fate;
        return entry.first != id && other.path == facts.path && other.sequence == facts.sequence &&
               (fate == Fate::open || fate == Fate::published || fate == Fate::committed);
      });
    });
  }

  /// As drop_superseded() does it: all parts can be locked, and no file was opened for writing since the decision.
  [[nodiscard]] bool can_give_up(const DrainGroup& group) const {
    return !has_more_parts(group) &&
           std::all_of(group.parts.begin(), group.parts.end(),
                       [this](const PartId& id) { return parts_.at(id).fate == Fate::published; });
  }

  /// True if storage may refuse a stub or a plain file now.
  [[nodiscard]] bool may_refuse() const {
    return now_ < storage_fails_until_ || refusals_in_a_row_ < most_refusals_in_a_row_;
  }

  void count_refusal() {
    ++refusals_in_a_row_;
    if (!anybody_lives()) ++last_refusals_;
  }

  /// What a leader says of ranks that have no part in a set must be true in the world, for ever.
  void check_bundle(const DrainGroup& group) {
    if (group.bundle.size() != group.parts.size())
      return fail("a bundle with other sets than parts");
    const PartFacts& first = parts_.at(group.parts.front()).facts;
    std::set<SetName> sets;
    for (std::size_t i = 0; i < group.parts.size(); ++i) {
      const WorldPart& part = parts_.at(group.parts[i]);
      const PartFacts& facts = part.facts;
      if (part.fate != Fate::published) fail("drains a part that is not published");
      if (in_action(group.parts[i])) fail("a part in two actions");
      if (facts.bundle_family.empty() || facts.bundle_family != first.bundle_family ||
          facts.block != first.block)
        fail("a part in another family's bundle");
      if (group.bundle[i].set !=
          SetName{facts.launch, facts.names.front().masked_name, facts.sequence})
        fail("a part in another set of the bundle");
      if (!sets.insert(group.bundle[i].set).second) fail("a set twice in one bundle");
    }
  }

  void check_account(const DrainGroup& account) {
    for (const std::uint32_t passed : account.passed_ranks) {
      if (passed >= rank_count_) fail("a rank that does not exist passed");
      for (const auto& [id, part] : parts_) {
        if (part.facts.rank != passed || part.fate == Fate::dropped) continue;
        for (const auto& name : part.facts.names) {
          if (name.pattern == mcr::restart::pattern_of(account.set.masked_name))
            fail("a rank passed that writes");
        }
      }
    }
    for (const std::uint32_t failed : account.failed_ranks) {
      for (const WorldRank& rank : ranks_) {
        if (rank.rank == failed && rank.alive && !rank.ended) fail("a rank failed that may write");
      }
    }
  }

  /// Invariant 5, and its like while processes wait for their last parts.
  void check_end_is_prompt() {
    const bool works = storage_fails_until_ == 0 && put_back_works_ > 0.5 &&
                       stub_is_refused_ < 0.5 && !terminated_;
    bool all_ended = works && !exited_;
    for (const WorldRank& rank : ranks_) all_ended &= !rank.alive || rank.ended;
    if (!all_ended) {
      ended_since_ = 0;
      return;
    }
    if (ended_since_ == 0) ended_since_ = now_;
    if (now_ < ended_since_ + most_end_ms) return;
    for (const auto& [id, part] : parts_) {
      if (part.fate == Fate::published) return fail("a part stays in the stage at the job's end");
    }
  }

  void check_end() {
    std::size_t left = 0;
    for (const auto& [id, part] : parts_) {
      if (part.fate == Fate::open) fail("a dead writer's part was left open");
      left += part.fate == Fate::published ? 1 : 0;
    }
    if (left > 0 && complete_exit_) fail("published parts left behind");
    if (left > 0 && storage_fails_until_ == 0 && !terminated_ &&
        refusals_in_a_row_ < Patience().last_tries) {
      fail("parts left though storage works");
    }
  }

  bool finished() const {
    // An incomplete exit is final: the parts stay in the stage for `mcr recover`.
    if (!world_is_quiet()) return false;
    for (const auto& [id, part] : parts_) {
      if (part.fate == Fate::open) return false;
      if (part.fate == Fate::published && complete_exit_) return true;  // check_end reports it
      if (part.fate == Fate::published && terminated_) return false;
    }
    return true;
  }

  bool world_is_quiet() const {
    for (const WorldRank& rank : ranks_) {
      if (rank.alive) return false;
    }
    return true;
  }

  bool in_action(const PartId& id) const {
    for (const Action& action : actions_) {
      if (const auto* group = std::get_if<DrainGroup>(&action.decision)) {
        for (const PartId& part : group->parts) {
          if (part == id) return true;
        }
      }
      if (const auto* hold = std::get_if<HoldSet>(&action.decision)) {
        for (const PartId& part : hold->group.parts)
          if (part == id) return true;
      }
      if (const auto* back = std::get_if<PutBack>(&action.decision); back && back->part == id)
        return true;
      if (const auto* settle = std::get_if<Settle>(&action.decision); settle && settle->part == id)
        return true;
    }
    return false;
  }

  /// True if the leader keeps a lock on the part, because its set is held.
  bool is_locked(const PartId& id) const {
    const PartFacts& facts = parts_.at(id).facts;
    return std::any_of(facts.names.begin(), facts.names.end(), [&](const auto& name) {
      return held_.contains({facts.launch, name.masked_name, facts.sequence});
    });
  }

  /// With close=replicated, a set need not wait for ranks that have not begun.
  [[nodiscard]] bool closes_wait() const { return ranks_elsewhere_ > 0 && seed_ % 2 == 0; }
  [[nodiscard]] std::uint32_t all_ranks() const { return rank_count_ + ranks_elsewhere_; }

  bool has_published(const std::string& presence) const {
    for (const auto& [id, part] : parts_) {
      if (part.facts.presence == presence && part.fate == Fate::published) return true;
    }
    return false;
  }

  void say(const Decision& decision) const {
    std::printf("%8llu ", static_cast<unsigned long long>(now_));
    if (const auto* group = std::get_if<DrainGroup>(&decision)) {
      std::printf("drain %llu %s-%llu: %zu parts, %zu passed, supplement %u\n",
                  static_cast<unsigned long long>(group->drain), group->set.masked_name.c_str(),
                  static_cast<unsigned long long>(group->set.sequence), group->parts.size(),
                  group->passed_ranks.size(), group->supplement);
    } else if (const auto* mark = std::get_if<MarkNative>(&decision)) {
      std::printf("native %s (%s)\n", mark->pattern.c_str(), mark->why.c_str());
    } else {
      static const char* const names[] = {"look",      "drain",    "hold", "tell",
                                          "take back", "put back", "mark", "storage",
                                          "settle",    "free",     "note", "exit"};
      std::printf("%s\n", names[decision.index()]);
    }
  }

  void fail(const char* what) {
    if (!failed_) {
      std::printf("seed %llu, after %llu ms: %s\n", static_cast<unsigned long long>(seed_),
                  static_cast<unsigned long long>(now_), what);
    }
    failed_ = true;
  }

  std::uint32_t pick(std::uint32_t low, std::uint32_t high) {
    return std::uniform_int_distribution<std::uint32_t>(low, high)(random_);
  }
  bool chance(double p) { return std::bernoulli_distribution(p)(random_); }

  std::mt19937_64 random_;
  std::uint64_t seed_;
  bool verbose_;
  std::uint64_t now_ = 1000;
  std::uint32_t rank_count_ = 1, group_size_ = 0, keep_ = 0, flush_ = 1, steps_ = 1, naming_ = 0;
  std::uint64_t storage_fails_until_ = 0;
  double put_back_works_ = 1;
  double stub_is_refused_ = 0;
  /// How often storage refused stubs of a drain, or a plain file, since it last took a part.
  std::uint64_t refusals_in_a_row_ = 0;
  std::uint64_t last_refusals_ = 0;  ///< likewise, since no process lives, in a row or not
  std::uint64_t most_refusals_in_a_row_ = 0;
  std::uint64_t first_join_ = 0;  ///< that the present leader has seen; 0: none
  bool shares_frames_ = false;    ///< ranks that read, whether they have joined or not
  bool knows_local_count_ = true, lone_writer_ = false, lazy_ = false, has_requests_ = false;
  bool is_patient_ = false;        ///< ranks wait at their end until all is committed
  std::uint64_t ended_since_ = 0;  ///< 0: somebody may write
  std::string files_;              ///< the rule files=
  std::set<std::string> marks_;    ///< patterns that go native
  std::map<std::string, WorldFile> world_files_;
  std::map<std::pair<std::uint32_t, std::string>, std::uint64_t> sequences_;
  std::vector<WorldRank> ranks_;
  std::map<PartId, WorldPart> parts_;
  std::set<SetName> given_up_, committed_;  ///< sets of which a group was
  std::uint32_t ranks_elsewhere_ = 0;       ///< on other nodes, with replicas
  double others_agree_ = 0;
  std::set<SetName> held_;     ///< by this leader, with a replica
  std::vector<SetName> told_;  ///< that they are safe here
  std::set<SetName> agreed_;   ///< safe on all nodes
  std::vector<Action> actions_;
  std::vector<Event> found_after_;
  Decisions decisions_;
  bool exited_ = false, complete_exit_ = true, terminated_ = false, failed_ = false;
  bool gave_up_ = false, went_on_ = false;
};

}  // namespace

int main(int count, char** words) {
  std::uint64_t seeds = 2000;
  std::uint64_t first = 1;
  bool verbose = false;
  for (int i = 1; i < count; ++i) {
    if (std::strcmp(words[i], "--seeds") == 0 && i + 1 < count)
      seeds = std::strtoull(words[++i], nullptr, 10);
    else if (std::strcmp(words[i], "--first") == 0 && i + 1 < count)
      first = std::strtoull(words[++i], nullptr, 10);
    else if (std::strcmp(words[i], "--verbose") == 0)
      verbose = true;
    else {
      std::fprintf(stderr, "usage: leader_simulation [--seeds N] [--first SEED] [--verbose]\n");
      return 2;
    }
  }
  std::uint64_t bad = 0, gave_up = 0, went_on = 0;
  for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
    Simulation simulation(seed, verbose);
    bad += simulation.run() ? 0 : 1;
    gave_up += simulation.gave_up() ? 1 : 0;
    went_on += simulation.went_on() ? 1 : 0;
  }
  std::printf(
      "%llu runs from seed %llu, %llu broke an invariant; after refusals, the leader gave up in "
      "%llu and went on in %llu\n",
      static_cast<unsigned long long>(seeds), static_cast<unsigned long long>(first),
      static_cast<unsigned long long>(bad), static_cast<unsigned long long>(gave_up),
      static_cast<unsigned long long>(went_on));
  const bool has_all_outcomes = seeds < 20'000 || (gave_up > 0 && went_on > 0);
  if (!has_all_outcomes) std::printf("some leaders must give up and some go on in so many runs\n");
  return bad == 0 && has_all_outcomes ? 0 : 1;
}
