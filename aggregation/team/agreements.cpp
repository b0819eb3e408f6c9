// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/team/agreements.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>
#include <vector>

#include "codecs/base/checksum.hpp"

namespace mcr::aggregation {
namespace {

using Box = restart::TeamDirectory::Box;

// Other numbers than those of team.cpp and turns.cpp.
enum Tag : int { safe_tag = 21, agreed_tag };

/// Sets about which process 0 remembers what was said. Some never become safe on all nodes.
constexpr std::size_t most_sets = 10'000;

/// Takes the last word off the name.
std::optional<std::uint64_t> take_number(std::string_view& name, int base) {
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const std::string_view word = name.substr(dot + 1);
  name = name.substr(0, dot);
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number, base);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return number;
}

}  // namespace

std::optional<SafeParts> read_safe_name(const std::string& name) {
  std::string_view left = name;
  const auto all = take_number(left, 10);
  const auto parts = all ? take_number(left, 10) : std::nullopt;
  const auto set = parts ? take_number(left, 16) : std::nullopt;
  if (!set) return std::nullopt;
  return SafeParts{*set, checksum(as_bytes(left)), *parts, *all};
}

SafeMessages::SafeMessages(MPI_Comm team, int tag) : team_(team), tag_(tag) { ask(); }

SafeMessages::~SafeMessages() {
  for (Sent& sent : sent_) MPI_Wait(&sent.request, MPI_STATUS_IGNORE);
  MPI_Cancel(&request_);
  MPI_Wait(&request_, MPI_STATUS_IGNORE);
}

void SafeMessages::ask() {
  MPI_Irecv(words_.data(), sizeof words_, MPI_BYTE, MPI_ANY_SOURCE, tag_, team_, &request_);
}

void SafeMessages::send(int to, int tag, const SafeWords& words) {
  sent_.remove_if([](Sent& sent) {
    int done = 0;
    MPI_Test(&sent.request, &done, MPI_STATUS_IGNORE);
    return done != 0;
  });
  Sent& sent = sent_.emplace_back();
  sent.words = words;
  MPI_Isend(sent.words.data(), sizeof sent.words, MPI_BYTE, to, tag, team_, &sent.request);
}

std::optional<SafeMessages::Received> SafeMessages::take() {
  int is_there = 0;
  MPI_Status status;
  MPI_Test(&request_, &is_there, &status);
  if (is_there == 0) return std::nullopt;
  const Received received{status.MPI_SOURCE, words_};
  int bytes = 0;
  MPI_Get_count(&status, MPI_BYTE, &bytes);
  ask();
  if (bytes != static_cast<int>(sizeof words_)) return std::nullopt;
  return received;
}

AgreementGiver::AgreementGiver(MPI_Comm team) : messages_(team, safe_tag) {}

bool AgreementGiver::go_on(bool answers) {
  bool has_happened = false;
  while (const auto received = messages_.take()) {
    has_happened = true;
    const auto [set, leader, parts, all] = received->words;
    if (parts == 0 && !sets_.contains(set)) continue;  // taken back too late, or never said
    const auto [known, is_new] = sets_.try_emplace(set);
    Said& said = known->second;
    if (is_new) said.order = ++last_order_;
    if (is_new) said.all = all;
    said.parts[{received->from, leader}] = parts;
    std::uint64_t safe = 0;
    std::vector<int> processes;
    for (const auto& [who, count] : said.parts) {
      safe += count;
      // They are sorted by process, which may have several leaders.
      if (processes.empty() || processes.back() != who.first) processes.push_back(who.first);
    }
    // Nobody may drop anything for a set about which the leaders do not say the same.
    if (said.all != all || safe > all) {
      sets_.erase(known);
      continue;
    }
    if (safe < all || all == 0) {
      forget_oldest();
      continue;
    }
    sets_.erase(known);
    if (!answers) continue;
    for (const int process : processes) messages_.send(process, agreed_tag, {set, 0, 0, 0});
  }
  return has_happened;
}

void AgreementGiver::forget_oldest() {
  if (sets_.size() <= most_sets) return;
  sets_.erase(std::min_element(sets_.begin(), sets_.end(), [](const auto& a, const auto& b) {
    return a.second.order < b.second.order;
  }));
}

AgreementTaker::AgreementTaker(const restart::TeamDirectory* place, MPI_Comm team, int giver)
    : place_(place), giver_(giver), messages_(team, agreed_tag) {
  if (place_ == nullptr) return;
  // What was told to an earlier team may not be true any more: its buddies have other replicas.
  const auto names = place_->list(Box::safe);
  if (!names) return;
  for (const std::string& name : *names) (void)place_->remove(Box::safe, name).has_value();
}

bool AgreementTaker::go_on(bool asks) {
  bool has_happened = false;
  while (const auto received = messages_.take()) {
    has_happened = true;
    const std::uint64_t set = received->words.front();
    for (auto it = asked_.begin(); it != asked_.end();) {
      const bool is_agreed = it->second.set == set;
      // If the file is gone, its leader does not need the agreement any more.
      if (is_agreed) (void)place_->move(it->first, Box::safe, Box::agreed).has_value();
      it = is_agreed ? asked_.erase(it) : std::next(it);
    }
  }
  if (place_ == nullptr || !asks) return has_happened;
  const auto names = place_->list(Box::safe);
  if (!names) return has_happened;
  std::erase_if(asked_, [&](const auto& entry) {
    return std::find(names->begin(), names->end(), entry.first) == names->end();
  });
  for (const std::string& name : *names) {
    const auto said = read_safe_name(name);
    if (!said || !asked_.try_emplace(name, *said).second) continue;
    has_happened = true;
    messages_.send(giver_, safe_tag, {said->set, said->leader, said->parts, said->all});
  }
  return has_happened;
}

}  // namespace mcr::aggregation
