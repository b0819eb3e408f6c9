// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/team/turns.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "restart/base/log.hpp"

namespace mcr::aggregation {
namespace {

using Box = restart::TeamDirectory::Box;

// Other numbers than those of team.cpp.
enum Tag : int { request_tag = 11, turn_tag };
enum Word : std::uint8_t { want_word = 1, done_word, turn_word };

/// Each word in memory that lives until its message is sent.
constexpr std::array<std::uint8_t, 4> words{0, want_word, done_word, turn_word};

}  // namespace

MessageSender::~MessageSender() {
  MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
}

void MessageSender::send(int to, int tag, std::uint8_t word) {
  std::erase_if(requests_, [](MPI_Request& request) {
    int done = 0;
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    return done != 0;
  });
  MPI_Isend(&words.at(word), 1, MPI_BYTE, to, tag, team_, &requests_.emplace_back());
}

MessageReceiver::MessageReceiver(MPI_Comm team, int from, int tag)
    : team_(team), from_(from), tag_(tag) {
  ask();
}

MessageReceiver::~MessageReceiver() {
  MPI_Cancel(&request_);
  MPI_Wait(&request_, MPI_STATUS_IGNORE);
}

void MessageReceiver::ask() { MPI_Irecv(&word_, 1, MPI_BYTE, from_, tag_, team_, &request_); }

std::optional<MessageReceiver::Word> MessageReceiver::take() {
  int is_there = 0;
  MPI_Status status;
  MPI_Test(&request_, &is_there, &status);
  if (is_there == 0) return std::nullopt;
  const Word taken{status.MPI_SOURCE, word_};
  ask();
  return taken;
}

TurnGiver::TurnGiver(MPI_Comm team, std::size_t turns, Clock::duration longest)
    : turns_(turns),
      longest_(longest),
      answers_(team),
      request_(team, MPI_ANY_SOURCE, request_tag) {}

bool TurnGiver::go_on() {
  bool has_happened = drop_overdue();
  while (const auto request = request_.take()) {
    has_happened = true;
    if (request->word == want_word) waiting_.push_back(request->from);
    if (request->word == done_word) take_back(request->from);
  }
  for (; out_.size() < turns_ && !waiting_.empty(); waiting_.pop_front()) {
    has_happened = true;
    answers_.send(waiting_.front(), turn_tag, turn_word);
    out_.push_back({waiting_.front(), Clock::now()});
  }
  return has_happened;
}

void TurnGiver::take_back(int process) {
  if (const auto overdue = overdue_.find(process); overdue != overdue_.end()) {
    if (--overdue->second == 0) overdue_.erase(overdue);
    return;
  }
  const auto turn =
      std::find_if(out_.begin(), out_.end(), [&](const Turn& it) { return it.process == process; });
  if (turn != out_.end()) out_.erase(turn);
}

bool TurnGiver::drop_overdue() {
  const auto last = Clock::now() - longest_;
  const std::size_t dropped = std::erase_if(out_, [&](const Turn& turn) {
    if (turn.begin > last) return false;
    ++overdue_[turn.process];
    return true;
  });
  if (dropped > 0)
    restart::log_warning_once("long turn",
                              "a leader has written for ten minutes (writers=), so another one "
                              "writes at the same time; storage may hang there");
  return dropped > 0;
}

TurnTaker::TurnTaker(const restart::TeamDirectory* place, MPI_Comm team, int giver)
    : place_(place), giver_(giver), words_(team), turn_(team, giver, turn_tag) {
  if (place_ == nullptr) return;
  auto lock = place_->give_turns();
  if (!lock) restart::log_warning("no turns to write on this node: " + lock.error().message);
  if (lock) lock_ = *std::move(lock);
}

bool TurnTaker::go_on() {
  bool has_happened = false;
  while (turn_.take()) {
    has_happened = true;
    --on_the_way_;
    take_turn();
  }
  if (!lock_) return has_happened;
  // In this order: a leader that asks again has removed its last turn's name before, so give_back() sees that.
  const bool has_asked = ask();
  const bool has_given_back = give_back();
  return has_happened || has_asked || has_given_back;
}

void TurnTaker::take_turn() {
  while (lock_ && !asked_.empty()) {
    const std::string name = std::move(asked_.front());
    asked_.erase(asked_.begin());
    // The lock is on the file, and so goes with it.
    const bool waits = place_->is_locked(Box::asked, name);
    if (waits && place_->move(name, Box::asked, Box::given)) {
      given_.insert(name);
      return;
    }
    (void)place_->remove(Box::asked, name).has_value();  // of a leader that died
  }
  words_.send(giver_, request_tag, done_word);
}

bool TurnTaker::ask() {
  const auto names = place_->list(Box::asked);
  if (!names) return false;
  bool has_asked = false;
  for (const std::string& name : *names) {
    if (std::find(asked_.begin(), asked_.end(), name) != asked_.end()) continue;
    asked_.push_back(name);
    has_asked = true;
    ++on_the_way_;
    words_.send(giver_, request_tag, want_word);
  }
  return has_asked;
}

bool TurnTaker::give_back() {
  const std::size_t over = std::erase_if(given_, [&](const std::string& name) {
    if (place_->is_locked(Box::given, name)) return false;
    (void)place_->remove(Box::given, name).has_value();  // if its leader died
    words_.send(giver_, request_tag, done_word);
    return true;
  });
  return over > 0;
}

bool TurnTaker::finish() {
  if (lock_) {
    lock_.reset();
    for (std::size_t i = 0; i < given_.size(); ++i) words_.send(giver_, request_tag, done_word);
    given_.clear();
    asked_.clear();
  }
  return on_the_way_ == 0;
}

}  // namespace mcr::aggregation
