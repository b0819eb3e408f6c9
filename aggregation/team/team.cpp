// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/team/team.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "aggregation/team/agreements.hpp"
#include "aggregation/team/ring.hpp"
#include "aggregation/team/turns.hpp"
#include "restart/base/log.hpp"

namespace mcr::aggregation {
namespace {

using restart::File;
using restart::TeamDirectory;
using Box = restart::TeamDirectory::Box;

enum Tag : int { words_tag = 1, piece_tag, answer_tag };
/// The first byte of a message with words_tag.
enum Word : std::uint8_t { begin_word = 1, drop_word, end_word };

constexpr std::size_t piece_bytes = 4U << 20;
constexpr std::uint8_t held_answer = 1;
/// A name comes from another node's process of this build.
constexpr std::size_t max_name_bytes = 255;
constexpr std::size_t words_bytes = 1 + sizeof(std::uint64_t) + max_name_bytes;
constexpr auto shortest_pause = std::chrono::milliseconds(1);
constexpr auto longest_pause = std::chrono::milliseconds(20);

/// True if the request is complete.
bool is_complete(MPI_Request& request) {
  int done = 1;
  MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  return done != 0;
}

bool is_name(std::string_view name) {
  return !name.empty() && name.size() <= max_name_bytes && name.front() != '.' &&
         name.find('/') == std::string_view::npos;
}

}  // namespace

Sender::Sender(const TeamDirectory* place, MPI_Comm team, int buddy)
    : place_(place), team_(team), buddy_(buddy) {}

bool Sender::go_on() {
  if (request_ != MPI_REQUEST_NULL && !is_complete(request_)) return false;
  if (place_ == nullptr || has_ended_) return false;
  if (!sending_) return drop_withdrawn() || begin();
  if (sending_->done < sending_->size) {
    send_piece();
    return true;
  }
  if (!is_complete(answer_request_)) return false;
  take_answer();
  return true;
}

bool Sender::finish() {
  if (request_ != MPI_REQUEST_NULL && !is_complete(request_)) return false;
  if (has_ended_) return true;
  if (sending_) return false;
  if (place_ != nullptr && next()) return false;
  if (place_ != nullptr && drop_withdrawn()) return false;
  send(words_tag, Bytes{std::byte{end_word}});
  has_ended_ = true;
  return false;
}

std::optional<std::string> Sender::next() {
  const auto names = place_->list(Box::out);
  if (!names || names->empty()) return std::nullopt;
  return names->front();
}

bool Sender::begin() {
  const auto name = next();
  if (!name) return false;
  auto file = place_->open(Box::out, *name);
  const auto size = file ? file->size() : Result<std::uint64_t>(file.error());
  if (!size) return false;  // just withdrawn
  Bytes message;
  Writer out(message);
  out.u8(begin_word);
  out.u64(*size);
  out.bytes(as_bytes(*name));
  sending_ = Transfer{*name, *std::move(file), *size, 0, {}};
  // A further attempt replaces what the buddy holds under this name.
  held_.insert(*name);
  MPI_Irecv(&answer_, 1, MPI_BYTE, buddy_, answer_tag, team_, &answer_request_);
  send(words_tag, std::move(message));
  return true;
}

void Sender::send_piece() {
  Bytes piece(std::min<std::uint64_t>(piece_bytes, sending_->size - sending_->done));
  // The buddy waits for all pieces; it is told afterwards to drop a replica that could not be read.
  if (const auto read = sending_->file.read_at(sending_->done, piece); !read) {
    restart::log_warning_once("read", read.error().message);
    sending_->error = read.error();
  }
  sending_->done += piece.size();
  send(piece_tag, std::move(piece));
}

void Sender::take_answer() {
  const Transfer sent = *std::move(sending_);
  sending_.reset();
  // If it is not in out/ any more, its leader has withdrawn it, and drop_withdrawn() tells the buddy.
  const bool is_offered = restart::is_still_named(sent.file, place_->descriptor(),
                                                  TeamDirectory::path_in(Box::out, sent.name));
  if (answer_ == held_answer && !sent.error) {
    if (is_offered) (void)place_->move(sent.name, Box::out, Box::sent).has_value();
    return;
  }
  if (is_offered) (void)place_->move(sent.name, Box::out, Box::refused).has_value();
  if (answer_ == held_answer) return;
  held_.erase(sent.name);
  restart::log_warning_once(
      "refused",
      "another node could not take a replica (replicas=1), for example because "
      "its memory is full: such sets reach storage as without replicas");
}

bool Sender::drop_withdrawn() {
  const auto is_withdrawn = [&](const std::string& name) {
    return !place_->has(Box::sent, name) && !place_->has(Box::out, name);
  };
  const auto name = std::find_if(held_.begin(), held_.end(), is_withdrawn);
  if (name == held_.end()) return false;
  Bytes message;
  Writer out(message);
  out.u8(drop_word);
  out.bytes(as_bytes(*name));
  send(words_tag, std::move(message));
  held_.erase(name);
  return true;
}

void Sender::send(int tag, Bytes message) {
  message_ = std::move(message);
  MPI_Isend(message_.data(), static_cast<int>(message_.size()), MPI_BYTE, buddy_, tag, team_,
            &request_);
}

Receiver::Receiver(const TeamDirectory* place, MPI_Comm team, int from)
    : place_(place), team_(team), from_(from) {
  ask();
}

// A receive is always posted, because MPI may make no progress with a message that nobody has asked for.
void Receiver::ask() {
  const std::uint64_t rest = receiving_ ? receiving_->size - receiving_->done : 0;
  message_.resize(receiving_ ? std::min<std::uint64_t>(piece_bytes, rest) : words_bytes);
  MPI_Irecv(message_.data(), static_cast<int>(message_.size()), MPI_BYTE, from_,
            receiving_ ? piece_tag : words_tag, team_, &request_);
}

bool Receiver::go_on() {
  if (has_ended_) return false;
  int is_there = 0;
  MPI_Status status;
  MPI_Test(&request_, &is_there, &status);
  if (is_there == 0) return false;
  int bytes = 0;
  MPI_Get_count(&status, MPI_BYTE, &bytes);
  const ByteSpan message = ByteSpan(message_).first(static_cast<std::size_t>(bytes));
  if (receiving_) {
    take_piece(message);
  } else {
    take_words(message);
  }
  if (!has_ended_) ask();
  return true;
}

void Receiver::take_words(ByteSpan message) {
  Reader in(message);
  const auto word = in.u8();
  if (word && *word == begin_word) {
    const auto size = in.u64();
    const auto name = size ? in.bytes(in.remaining()) : Result<ByteSpan>(size.error());
    begin(size ? *size : 0, name ? std::string(as_text(*name)) : std::string());
  } else if (word && *word == end_word) {
    has_ended_ = true;
  } else if (word && *word == drop_word) {
    const auto name = in.bytes(in.remaining());
    if (place_ != nullptr && name && is_name(as_text(*name)))
      (void)place_->remove(Box::held, std::string(as_text(*name))).has_value();
  }
}

void Receiver::begin(std::uint64_t size, const std::string& name) {
  Transfer next;
  next.size = size;
  next.name = name;
  if (place_ == nullptr || !is_name(next.name)) {
    next.error = Error{Cause::usage, "no place for replicas"};
  } else if (auto file = place_->create(Box::made, next.name); !file) {
    next.error = file.error();
  } else {
    next.file = *std::move(file);
  }
  receiving_ = std::move(next);
  if (receiving_->size == 0) end();
}

void Receiver::take_piece(ByteSpan message) {
  if (!receiving_->error) {
    if (const auto written = receiving_->file.write_at(receiving_->done, message); !written)
      receiving_->error = written.error();
  }
  receiving_->done += message.size();
  if (receiving_->done >= receiving_->size) end();
}

void Receiver::end() {
  Transfer done = *std::move(receiving_);
  receiving_.reset();
  if (!done.error) {
    if (const auto moved = place_->move(done.name, Box::made, Box::held); !moved)
      done.error = moved.error();
  }
  if (done.error) {
    restart::log_debug("refuses the replica ", done.name, ": ", done.error->message);
    if (place_ != nullptr && is_name(done.name)) {
      // An older one of this name is of another attempt at the same commit.
      for (const Box box : {Box::made, Box::held}) (void)place_->remove(box, done.name).has_value();
    }
  }
  const std::uint8_t answer = done.error ? 0 : held_answer;
  // One byte does not wait for its receiver, which has asked for it before.
  MPI_Send(&answer, 1, MPI_BYTE, from_, answer_tag, team_);
}

namespace {

/// Forgets what an earlier team has sent: its buddies bring that to storage, or have done so.
void forget_sent(const TeamDirectory& place) {
  const auto names = place.list(Box::sent);
  if (!names) return;
  for (const std::string& name : *names) (void)place.remove(Box::sent, name).has_value();
}

/// Returns the texts of all processes.
std::vector<std::string> gather(const std::string& text, MPI_Comm team) {
  constexpr std::size_t most_bytes = 1024;
  int size = 1;
  MPI_Comm_size(team, &size);
  std::string own = text;
  own.resize(most_bytes);  // cut or filled with zeros
  std::string all(most_bytes * static_cast<std::size_t>(size), '\0');
  MPI_Allgather(own.data(), most_bytes, MPI_BYTE, all.data(), most_bytes, MPI_BYTE, team);
  std::vector<std::string> texts;
  for (std::size_t begin = 0; begin < all.size(); begin += most_bytes)
    texts.emplace_back(all.substr(begin, most_bytes).c_str());  // up to the first zero
  return texts;
}

}  // namespace

void serve_team(const TeamOptions& options, MPI_Comm team, const std::function<bool()>& has_ended) {
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(team, &rank);
  MPI_Comm_size(team, &size);
  if (size < 2) return;
  const Neighbours neighbours = half_a_ring_away(ring_of(gather(options.switches, team)), rank);
  const std::size_t writers = options.writers;
  const auto place = TeamDirectory::make(options.stage);
  const auto lock = place ? place->join_team() : Result<std::optional<File>>(place.error());
  if (!lock) restart::log_warning("no replicas and no turns on this node: " + lock.error().message);
  if (lock && !*lock)
    restart::log_warning("no replicas and no turns on this node: another team serves it");
  // Without the lock, this process sends and holds nothing, but still ends together with the others.
  const TeamDirectory* const own = lock && *lock ? &*place : nullptr;
  if (own != nullptr) {
    (void)own->remove_leftovers().has_value();
    forget_sent(*own);
  }
  Sender sender(own, team, neighbours.buddy);
  Receiver receiver(own, team, neighbours.from);
  constexpr int giving_rank = 0;
  std::optional<AgreementGiver> agreements;
  if (rank == giving_rank) agreements.emplace(team);
  AgreementTaker agreed(own, team, giving_rank);
  std::optional<TurnGiver> giver;
  std::optional<TurnTaker> taker;
  if (writers > 0 && rank == giving_rank) giver.emplace(team, writers);
  if (writers > 0) taker.emplace(own, team, giving_rank);
  const auto go_on_with_turns = [&] {
    const bool has_taken = taker && taker->go_on();
    const bool has_given = giver && giver->go_on();
    return has_taken || has_given;
  };
  bool is_ending = false;
  const auto go_on_with_agreements = [&] {
    const bool has_taken = agreed.go_on(!is_ending);
    const bool has_given = agreements && agreements->go_on(!is_ending);
    return has_taken || has_given;
  };
  for (auto pause = shortest_pause;;) {
    const bool has_received = receiver.go_on();
    const bool has_sent = sender.go_on();
    const bool has_turned = go_on_with_turns();
    const bool has_agreed = go_on_with_agreements();
    const bool is_at_work = has_received || has_sent || has_turned || has_agreed ||
                            receiver.is_at_work() || sender.is_at_work();
    if (!is_at_work && !is_ending) is_ending = has_ended();
    if (is_ending) {
      const bool is_sent = sender.finish();
      const bool has_no_turn = !taker || taker->finish();
      if (is_sent && has_no_turn && receiver.has_ended()) break;
    }
    if (is_at_work) {
      pause = shortest_pause;
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(pause);
      pause = std::min(pause * 2, longest_pause);
    }
  }
  // MPI_Barrier() and MPI_Finalize() would keep a core busy until the leaders of all nodes have ended.
  MPI_Request all_have_ended;
  MPI_Ibarrier(team, &all_have_ended);
  while (!is_complete(all_have_ended) || (giver && !giver->is_done())) {
    (void)go_on_with_turns();
    (void)go_on_with_agreements();
    std::this_thread::sleep_for(longest_pause);
  }
}

}  // namespace mcr::aggregation
