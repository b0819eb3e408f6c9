// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/gpu/lanes/open_card.hpp"

#include <unistd.h>

#include <charconv>
#include <mutex>
#include <new>
#include <utility>

#include "codecs/gpu/kernels/kernel_names.hpp"
#include "codecs/gpu/kernels/module_text.hpp"

namespace mcr::codecs::gpu {
namespace {

using Clock = std::chrono::steady_clock;

/// A driver that takes longer to start is named as the reason why the card is not used.
constexpr std::chrono::seconds opening_patience{10};

struct State {
  std::mutex mutex;
  bool was_asked = false;
  Clock::time_point asked_at;
  bool is_decided = false;
  pid_t process = 0;           ///< that opened the card
  std::shared_ptr<Card> card;  ///< set once
  std::string problem;
};

/// Never destroyed: a thread that opens the card may still run when the process ends.
State& state() {
  alignas(State) static std::byte place[sizeof(State)];
  static State* const made = new (place) State;
  return *made;
}

}  // namespace

bool is_first_to_ask(const CardOptions& options) {
  if (!options.is_on) return false;
  State& now = state();
  const std::lock_guard lock(now.mutex);
  if (now.is_decided || std::exchange(now.was_asked, true)) return false;
  now.asked_at = Clock::now();
  return true;
}

void open_card(DriverUse use, const CardOptions& options, MakeRunner make_runner) {
  auto opened = Card::open(use, options.index, {module_text(), kernel_names()}, make_runner);
  if (!opened) return decide_for_no_card(opened.error().message);
  State& now = state();
  const std::lock_guard lock(now.mutex);
  now.card = *std::move(opened);
  now.process = ::getpid();
  now.is_decided = true;
}

void decide_for_no_card(const std::string& why) {
  State& now = state();
  const std::lock_guard lock(now.mutex);
  now.problem = why;
  now.is_decided = true;
}

bool was_card_asked() {
  State& now = state();
  const std::lock_guard lock(now.mutex);
  return now.was_asked;
}

bool is_being_opened() {
  State& now = state();
  const std::lock_guard lock(now.mutex);
  return now.was_asked && !now.is_decided;
}

CardOptions card_options(std::string_view gpu, std::uint64_t memory_bytes) {
  CardOptions options;
  options.is_on = !gpu.empty() && gpu != "off";
  if (options.is_on && gpu != "auto") {
    int index = 0;
    (void)std::from_chars(gpu.data(), gpu.data() + gpu.size(), index);
    options.index = index;
  }
  options.memory_bytes = memory_bytes;
  return options;
}

void open_card_of_program(const CardOptions& options) {
  if (is_first_to_ask(options)) open_card(DriverUse::program_process, options, &make_direct_runner);
}

Card* card_in_use() {
  State& now = state();
  const std::lock_guard lock(now.mutex);
  if (!now.card || now.card->is_given_up() || now.process != ::getpid()) return nullptr;
  return now.card.get();
}

std::string why_given_up() {
  State& now = state();
  const std::lock_guard lock(now.mutex);
  return now.card ? now.card->why_given_up() : std::string();
}

std::string why_no_card() {
  State& now = state();
  const std::lock_guard lock(now.mutex);
  if (now.card) return now.card->why_given_up();
  if (!now.was_asked || now.is_decided) return now.problem;
  const auto waited = std::chrono::floor<std::chrono::seconds>(Clock::now() - now.asked_at);
  if (waited < opening_patience) return {};
  return "NVIDIA's driver has not answered for " + std::to_string(waited.count()) + " s";
}

std::string problem_text(const std::string& why_no_card) {
  return "the GPU (gpu=) is not used, and the CPU does its work: " + why_no_card;
}

}  // namespace mcr::codecs::gpu
