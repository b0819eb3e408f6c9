// SPDX-License-Identifier: BSD-3-Clause
// The ranks of a node, and what a leader decides for them: for the tests of decisions.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "aggregation/leader/decisions.hpp"

namespace mcr::aggregation {

/// Eight ranks (or so) of one launch on one node, and what the leader decides for them.
struct Node {
  /// `joining`: the ranks that join; 0: all `local` ones.
  explicit Node(std::uint32_t ranks, std::uint32_t local = 0, std::uint32_t joining = 0)
      : count(ranks), here(local ? local : ranks) {
    for (std::uint32_t r = 0; r < (joining ? joining : here); ++r)
      tell(RankJoined{"p" + std::to_string(r), r});
  }

  std::vector<Decision> tell(const Event& event) {
    auto decided = decisions.on({event}, now);
    all.insert(all.end(), decided.begin(), decided.end());
    return decided;
  }
  std::vector<Decision> wait(std::uint64_t ms) {
    now += ms;
    return tell(Tick{});
  }

  PartFacts facts(std::uint32_t rank, std::vector<std::string> names, std::uint64_t sequence = 0) {
    PartFacts it;
    it.part.bytes[0] = ++last_id;
    it.launch = "L";
    it.sequence = sequence;
    it.rank = rank;
    it.rank_count = count;
    it.writers = count;
    it.may_be_lone = count > 1;
    it.path = names.front() + "#" + std::to_string(rank);
    it.local_rank_count = here;
    for (auto& name : names) {
      std::string pattern = name;
      for (char& c : pattern) c = c >= '0' && c <= '9' ? '#' : c;
      it.names.push_back({name, pattern});
    }
    it.presence = "p" + std::to_string(rank);
    it.begin_ns = now * 1'000'000;
    it.group_size = group_size;
    it.keep = keep;
    it.flush = flush;
    it.is_replicated = is_replicated;
    it.waits_for_replica = waits_for_replica;
    return it;
  }
  PartFacts begin(std::uint32_t rank, const std::string& name, std::uint64_t sequence = 0) {
    const PartFacts it = facts(rank, {name}, sequence);
    tell(PartBegun{it});
    return it;
  }
  std::vector<Decision> publish(const PartFacts& facts, bool durable = false) {
    return tell(PartPublished{facts, now * 1'000'000, durable, false});
  }
  std::vector<Decision> write(std::uint32_t rank, const std::string& name,
                              std::uint64_t sequence = 0) {
    return publish(facts(rank, {name}, sequence));
  }
  std::vector<Decision> commit(const DrainGroup& group) {
    return tell(DrainDone{group.drain, group.parts, {}});
  }
  /// The group's container is in storage, but storage takes none of its stubs.
  void refuse_stubs(const DrainGroup& group) {
    DrainDone done{group.drain, {}, {}};
    done.without_stub = group.parts;
    tell(done);
  }
  /// Storage takes neither the group's container nor the plain file of any of its parts.
  void refuse(const DrainGroup& group) {
    tell(DrainDone{group.drain, {}, group.parts, true});
    for (const PartId& part : group.parts) tell(PutBackDone{part, PutBackEnd::not_possible});
  }
  /// Calls `answer` with the newest drain and lets a minute pass, until the leader exits, but at
  /// most 20 times.
  template <typename Answer>
  void answer_until_exit(const Answer& answer) {
    for (int round = 0; round < 20 && of<Exit>().empty(); ++round) {
      answer(of<DrainGroup>().back());
      wait(60'000);
    }
  }

  template <typename T>
  std::vector<T> of() const {
    std::vector<T> found;
    for (const Decision& decision : all) {
      if (const T* it = std::get_if<T>(&decision)) found.push_back(*it);
    }
    return found;
  }

  Decisions decisions{Patience{.calm_ms = 0}};
  std::vector<Decision> all;
  std::uint64_t now = 1000;
  std::uint32_t count, here, group_size = 0, keep = 0, flush = 1;
  bool is_replicated = false, waits_for_replica = false;
  std::uint8_t last_id = 0;
};

template <typename T>
std::vector<T> only(const std::vector<Decision>& decided) {
  std::vector<T> found;
  for (const Decision& decision : decided) {
    if (const T* it = std::get_if<T>(&decision)) found.push_back(*it);
  }
  return found;
}

/// All ranks write the file again. Returns what the leader drains at once.
inline std::vector<DrainGroup> write_all(Node& node, std::uint64_t sequence) {
  std::vector<PartFacts> begun;
  for (std::uint32_t rank = 0; rank < node.count; ++rank)
    begun.push_back(node.begin(rank, "a.{rank}", sequence));
  node.wait(10);
  std::vector<DrainGroup> groups;
  for (const PartFacts& facts : begun) {
    const auto decided = only<DrainGroup>(node.publish(facts));
    groups.insert(groups.end(), decided.begin(), decided.end());
  }
  node.wait(1);
  return groups;
}

/// A group that the leader has dropped, because a newer set has replaced it.
inline DrainDone dropped(const DrainGroup& group) {
  DrainDone done{group.drain, group.parts, {}};
  done.is_dropped = true;
  return done;
}

}  // namespace mcr::aggregation
