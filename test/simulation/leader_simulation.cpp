// SPDX-License-Identifier: BSD-3-Clause
// The leader's decisions under random events. A world of ranks, parts and storage is played from a
// seed, the real Decisions answer, and the invariants of leader/decisions.hpp are checked after
// every event.
//
//   leader_simulation [--seeds N] [--first SEED] [--verbose]
//
// What the world may do: ranks join late, write several files a step (per-rank names, an
// overwritten ring, ambiguous names, a file of one rank alone), flush, withdraw, drift apart, end,
// die at any moment; storage refuses for a while or for good, put-backs fail, parts vanish, the
// leader dies and another adopts, or is told to terminate. Every run prints nothing but its result;
// a failure prints the seed that replays it.
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
  bool alive = true;
  std::uint32_t step = 0;
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
    steps_ = pick(1, 6);
    naming_ = pick(0, 3);
    storage_fails_until_ = chance(0.2) ? (chance(0.3) ? forever : pick(0, 40'000)) : 0;
    put_back_works_ = chance(0.8) ? 0.95 : 0.1;
    lone_writer_ = chance(0.3);
    lazy_ = chance(0.3);
    has_requests_ = chance(0.3);
    for (std::uint32_t r = 0; r < rank_count_; ++r) {
      ranks_.push_back({"p" + std::to_string(r), r, false, false, true, 0});
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
        // Nothing but the clock moves now: the leader must come to its end by its own ticks.
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
      idle = parts_.size() == before ? idle + 1 : 0;
      if (idle > 200'000) fail("no end is in sight");
    }
    if (!failed_) check_end();
    return !failed_;
  }

 private:
  static constexpr std::uint64_t forever = ~std::uint64_t{0};

  // --- the world's own moves --------------------------------------------------------------------

  void act() {
    if (world_is_quiet()) return;
    if (chance(0.003)) return kill_leader();
    if (chance(0.002)) return tell(StageShort{});
    if (chance(0.002)) return share(!shares_frames_);
    if (has_requests_ && chance(0.02)) return request();
    if (chance(0.001)) {
      tell(Terminate{});
      return;
    }
    WorldRank& rank = ranks_[pick(0, rank_count_ - 1)];
    if (!rank.alive) return;
    if (rank.ended) {
      // exit=wait: lives until its parts are committed, or its bound ends.
      if (chance(0.05) || !has_published(rank.presence)) leave(rank);
      return;
    }
    if (chance(lazy_ ? 0.9 : 0.3)) return;
    if (chance(0.004)) return leave(rank);
    if (!rank.joined) {
      rank.joined = true;
      tell(RankJoined{rank.presence, rank.rank});
      return;
    }
    // Finish what is open, or begin the next, or end.
    for (auto& [id, part] : parts_) {
      if (part.facts.presence != rank.presence) continue;
      if (part.fate == Fate::open) {
        if (chance(0.02)) return drop(part);
        return publish(part);
      }
      if (part.fate == Fate::published && chance(0.02) && !in_action(id)) {
        part.fate = Fate::open;
        tell(PartWithdrawn{id});
        return;
      }
    }
    if (rank.step >= steps_) {
      rank.ended = true;
      tell(RankEnded{rank.presence});
      return;
    }
    begin(rank, names_of(rank));
    if (rank.rank == 0 && lone_writer_) begin(rank, {"/d/log_{rank}.h5"}, rank.step);
    ++rank.step;
  }

  std::vector<std::string> names_of(const WorldRank& rank) const {
    const std::string n = std::to_string(rank.step);
    switch (naming_) {
      case 0:
        return {"/d/dump_" + n + ".{rank}.h5"};
      case 1:
        return {"/d/ring" + std::to_string(rank.step % 2) + ".{rank}.h5"};
      case 2:  // ambiguous where rank and step are equal
        if (rank.rank == rank.step) return {"/d/" + n + ".{rank}.h5", "/d/{rank}." + n + ".h5"};
        return {"/d/" + n + ".{rank}.h5"};
      default:
        return {"/d/same.{rank}.h5"};
    }
  }

  static std::string pattern(const std::string& name) {
    std::string out;
    for (const char c : name) {
      if (c >= '0' && c <= '9') {
        if (out.empty() || out.back() != '#') out += '#';
      } else {
        out += c;
      }
    }
    return out;
  }

  void begin(const WorldRank& rank, const std::vector<std::string>& names, std::uint64_t step = 0) {
    PartFacts facts;
    for (auto& byte : facts.part.bytes) byte = static_cast<std::uint8_t>(random_());
    facts.launch = "L";
    facts.rank = rank.rank;
    facts.rank_count = rank_count_;
    facts.local_rank_count = knows_local_count_ ? rank_count_ : 0;
    facts.writers = rank_count_;
    facts.may_be_lone = rank_count_ > 1;
    facts.path = names.front() + " of " + std::to_string(rank.rank);
    facts.sequence = naming_ == 1 ? rank.step / 2 : naming_ == 3 ? rank.step : 0;
    if (names.front().find("log_") != std::string::npos) facts.sequence = step;
    for (const auto& name : names) facts.names.push_back({name, pattern(name)});
    facts.presence = rank.presence;
    facts.begin_ns = now_ * 1'000'000;
    facts.group_size = group_size_;
    facts.keep = keep_;
    if (rank_count_ == 1 && names.size() == 1 && keep_ == 0) {
      facts.family = pattern(names.front());
      facts.block = std::to_string(step / 20);
    }
    parts_[facts.part] = {facts, Fate::open, 0};
    tell(PartBegun{facts});
  }

  void publish(WorldPart& part) {
    part.fate = Fate::published;
    part.published_at = now_;
    tell(published_event(part));
  }

  PartPublished published_event(const WorldPart& part) const {
    return {part.facts, part.published_at * 1'000'000, false, false};
  }

  void drop(WorldPart& part) {
    part.fate = Fate::dropped;
    tell(PartDropped{part.facts.part});
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
    // What was under way either reached its commit or did not.
    for (const Action& action : actions_) {
      if (chance(0.5)) finish_in_world(action.decision, nullptr);
    }
    new_leader();
  }

  /// Another leader finds what lies in the stage.
  void new_leader() {
    actions_.clear();
    decisions_ = Decisions();
    decisions_.succeed();
    exited_ = false;
    terminated_ = false;
    first_join_ = 0;
    std::vector<Event> found;
    for (const WorldRank& rank : ranks_) {
      if (!rank.joined) continue;
      found.emplace_back(RankJoined{rank.presence, rank.rank});
      if (rank.ended) found.emplace_back(RankEnded{rank.presence});
      if (!rank.alive) found.emplace_back(RankGone{rank.presence});
    }
    for (auto& [id, part] : parts_) {
      if (part.fate == Fate::open) found.emplace_back(PartBegun{part.facts});
      if (part.fate == Fate::published) found.emplace_back(published_event(part));
    }
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
      if (std::holds_alternative<Exit>(decision)) {
        exited_ = true;
        complete_exit_ = std::get<Exit>(decision).complete;
      } else if (!std::holds_alternative<MarkNative>(decision) &&
                 !std::holds_alternative<StorageFailed>(decision) &&
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
      tell(answer);
      tell(std::exchange(found_after_, {}));
      i = 0;
    }
  }

  void finish_in_world(const Decision& decision, Event* answer) {
    Event ignored = Tick{};
    Event& out = answer ? *answer : ignored;
    if (const auto* look = std::get_if<LookForSiblings>(&decision)) {
      SiblingsLookedUp found{look->part, {}};
      const WorldPart& part = parts_.at(look->part);
      for (std::size_t i = 0; i < part.facts.names.size() && !found.name; ++i) {
        for (const auto& [id, other] : parts_) {
          if (other.facts.rank == part.facts.rank) continue;
          for (const auto& name : other.facts.names) {
            if (name.masked_name == part.facts.names[i].masked_name) found.name = i;
          }
        }
      }
      out = found;
    } else if (const auto* group = std::get_if<DrainGroup>(&decision)) {
      DrainDone done{group->drain, {}, {}, false};
      std::vector<Event> lost;
      const bool fails = now_ < storage_fails_until_;
      const bool refused = !fails && chance(0.01);
      for (const PartId& id : group->parts) {
        WorldPart& part = parts_.at(id);
        if (chance(0.01) && part.fate == Fate::published) {
          // The program took it back or deleted it before the leader had its lock.
          part.fate = chance(0.5) ? Fate::dropped : Fate::open;
          if (answer && part.fate == Fate::dropped) lost.emplace_back(PartDropped{id});
          if (answer && part.fate == Fate::open) {
            // Seen before the leader's answer as withdrawn, or found again after it as open.
            chance(0.5) ? lost.emplace_back(PartWithdrawn{id})
                        : found_after_.emplace_back(PartBegun{part.facts});
          }
        }
        if (part.fate != Fate::published) continue;
        if (fails || refused) {
          done.failed.push_back(id);
        } else {
          done.committed.push_back(id);
          part.fate = Fate::committed;
        }
      }
      done.storage_failed = fails;
      out = done;
      tell(lost);  // seen before the answer, which names these parts in neither list
    } else if (const auto* back = std::get_if<PutBack>(&decision)) {
      WorldPart& part = parts_.at(back->part);
      const bool done = part.fate == Fate::published && chance(put_back_works_);
      if (done) part.fate = Fate::native;
      out = PutBackDone{back->part, done};
    } else if (const auto* settle = std::get_if<Settle>(&decision)) {
      // Not done: a living process has taken the dead one's part for writing.
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
    if (terminated_ || has_requests_ || !knows_local_count_ || !anybody_lives()) return false;
    if (first_join_ == 0 || now_ >= first_join_ + Patience{}.join_ms) return false;
    for (const WorldRank& rank : ranks_) {
      if (!rank.joined) return true;
    }
    return false;
  }

  void check(const Decision& decision) {
    if (const auto* group = std::get_if<DrainGroup>(&decision)) {
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
        if (!named) fail("a part in a set of another name");
      }
      if (runs.size() != 1) fail("a group over two runs of ranks");
      if (awaits_ranks() && storage_fails_until_ == 0)
        fail("drained while ranks of the node have not begun");
      for (const std::uint32_t passed : group->passed_ranks) {
        if (ranks.contains(passed)) fail("a rank wrote and passed");
      }
      check_account(*group);
    } else if (const auto* back = std::get_if<PutBack>(&decision)) {
      if (parts_.at(back->part).fate != Fate::published)
        fail("puts back a part that is not published");
      // DrainDone has been taken off the list before its parts are put back.
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
      if (mark->shape.empty()) fail("an empty shape");
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
      if (!exit->complete && now_ >= storage_fails_until_ && put_back_works_ > 0.5 &&
          !terminated_ && storage_fails_until_ == 0) {
        fail("gave up though storage works");
      }
    }
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
      if (facts.family.empty() || facts.family != first.family || facts.block != first.block)
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
          if (name.pattern == pattern(account.set.masked_name)) fail("a rank passed that writes");
        }
      }
    }
    for (const std::uint32_t failed : account.failed_ranks) {
      for (const WorldRank& rank : ranks_) {
        if (rank.rank == failed && rank.alive && !rank.ended) fail("a rank failed that may write");
      }
    }
  }

  void check_end() {
    std::size_t left = 0;
    for (const auto& [id, part] : parts_) {
      if (part.fate == Fate::open) fail("a dead writer's part was left open");
      left += part.fate == Fate::published ? 1 : 0;
    }
    if (left > 0 && complete_exit_) fail("published parts left behind");
    if (left > 0 && storage_fails_until_ != forever && storage_fails_until_ == 0 && !terminated_) {
      fail("parts left though storage works");
    }
  }

  bool finished() const {
    // An incomplete exit is the end: the parts lie in the stage for `mcr recover`.
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
      if (const auto* back = std::get_if<PutBack>(&action.decision); back && back->part == id)
        return true;
      if (const auto* settle = std::get_if<Settle>(&action.decision); settle && settle->part == id)
        return true;
    }
    return false;
  }

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
      std::printf("native %s (%s)\n", mark->shape.c_str(), mark->why.c_str());
    } else {
      static const char* const names[] = {"look",   "drain", "put back", "mark",
                                          "settle", "free",  "note",     "exit"};
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
  std::uint32_t rank_count_ = 1, group_size_ = 0, keep_ = 0, steps_ = 1, naming_ = 0;
  std::uint64_t storage_fails_until_ = 0;
  double put_back_works_ = 1;
  std::uint64_t first_join_ = 0;  ///< that the present leader has seen; 0: none
  bool shares_frames_ = false;    ///< ranks that read, whether they have joined or not
  bool knows_local_count_ = true, lone_writer_ = false, lazy_ = false, has_requests_ = false;
  std::vector<WorldRank> ranks_;
  std::map<PartId, WorldPart> parts_;
  std::vector<Action> actions_;
  std::vector<Event> found_after_;
  Decisions decisions_;
  bool exited_ = false, complete_exit_ = true, terminated_ = false, failed_ = false;
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
  std::uint64_t bad = 0;
  for (std::uint64_t seed = first; seed < first + seeds; ++seed)
    bad += Simulation(seed, verbose).run() ? 0 : 1;
  std::printf("%llu runs from seed %llu, %llu broke an invariant\n",
              static_cast<unsigned long long>(seeds), static_cast<unsigned long long>(first),
              static_cast<unsigned long long>(bad));
  return bad == 0 ? 0 : 1;
}
