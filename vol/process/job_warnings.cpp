// SPDX-License-Identifier: BSD-3-Clause
#include "vol/process/job_warnings.hpp"

#include <cstdint>
#include <ctime>
#include <mutex>
#include <string>
#include <vector>

#include "restart/base/counted.hpp"
#include "restart/base/log.hpp"
#include "restart/base/system.hpp"
#include "restart/settings/speaking_nodes.hpp"

namespace mcr::vol {

namespace {

/// A warning that this process printed as the tenth and last node.
struct LastWord {
  restart::Launcher who;
  std::string topic;
  std::uint64_t said_ns = 0;
};

struct LastWords {
  std::mutex mutex;
  std::vector<LastWord> words;
};

/// Never destroyed: HDF5 may call us after static destructors have run.
LastWords& last_words() {
  static auto* const it = new LastWords;
  return *it;
}

}  // namespace

void warn_once_in_job(const restart::Launcher& who, std::string_view topic,
                      std::string_view message) {
  if (restart::log_level() == restart::LogLevel::quiet || !restart::is_first_warning(topic)) return;
  const restart::Turn turn = restart::turn_to_speak(who, topic);
  if (!restart::is_to_print(turn)) return;
  restart::log_warning(message);
  if (turn != restart::Turn::speaks_last) return;
  LastWords& last = last_words();
  const std::lock_guard lock(last.mutex);
  last.words.push_back({who, std::string(topic), restart::clock_ns(CLOCK_MONOTONIC)});
}

void tell_of_silent_nodes() {
  constexpr std::uint64_t together_ns = 2'000'000'000;
  LastWords& last = last_words();
  const std::lock_guard lock(last.mutex);
  for (const LastWord& word : last.words) {
    const std::uint64_t now = restart::clock_ns(CLOCK_MONOTONIC);
    if (now < word.said_ns + together_ns) {
      const std::uint64_t rest_ns = word.said_ns + together_ns - now;
      const timespec pause{static_cast<time_t>(rest_ns / 1'000'000'000),
                           static_cast<long>(rest_ns % 1'000'000'000)};
      nanosleep(&pause, nullptr);
    }
    const std::size_t nodes = restart::silent_nodes(word.who, word.topic);
    if (nodes > 0)
      restart::log_warning("and " + restart::counted(nodes, "more node") + ": " + word.topic);
  }
  last.words.clear();
}

}  // namespace mcr::vol
