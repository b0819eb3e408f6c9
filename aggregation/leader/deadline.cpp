// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/leader/deadline.hpp"

#include <charconv>
#include <cstdlib>
#include <string_view>

namespace mcr::aggregation {
namespace {

constexpr std::uint64_t near_ms = 300'000;
/// In the last moments every drain is fast: schedulers kill some seconds before or after their time.
constexpr std::uint64_t last_ms = 60'000;
/// Drains may become slower by this factor, because the program writes to the same storage.
constexpr double margin = 2;

std::optional<std::uint64_t> end_of(const restart::Settings& settings) {
  std::string_view text = settings.text("deadline");
  if (text == "auto") {
    const char* const slurm = std::getenv("SLURM_JOB_END_TIME");
    text = slurm == nullptr ? "" : slurm;
  }
  std::uint64_t seconds = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (problem != std::errc() || end != text.data() + text.size() || seconds > UINT64_MAX / 1000)
    return std::nullopt;
  return seconds * 1000;
}

}  // namespace

Deadline::Deadline(const restart::Settings& settings) : Deadline(end_of(settings)) {}

bool Deadline::is_near(std::uint64_t now_ms) const {
  return end_ms_ && now_ms + near_ms >= *end_ms_ && now_ms < *end_ms_ + near_ms;
}

void Deadline::measure(std::uint64_t bytes, std::uint64_t ms) {
  // Short drains consist of file operations, and say nothing about large ones.
  constexpr std::uint64_t least_bytes = 1U << 20;
  if (bytes >= least_bytes && ms > 0)
    bytes_per_ms_ = static_cast<double>(bytes) / static_cast<double>(ms);
}

bool Deadline::needs_speed(std::uint64_t now_ms) {
  if (!is_near(now_ms)) return false;
  const std::uint64_t left_ms = *end_ms_ > now_ms ? *end_ms_ - now_ms : 0;
  const double needed_ms = margin * static_cast<double>(waiting_bytes_) / bytes_per_ms_;
  needs_speed_ |= left_ms <= last_ms || needed_ms > static_cast<double>(left_ms);
  return needs_speed_;
}

}  // namespace mcr::aggregation
