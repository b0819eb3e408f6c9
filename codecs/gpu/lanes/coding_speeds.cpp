// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/gpu/lanes/coding_speeds.hpp"

#include <cstdlib>

namespace mcr::codecs::gpu {
namespace {

/// The first frame also pays for what the driver does once for each kernel, so that the second one's time replaces its time.
constexpr std::uint64_t least_measurements = 2;
/// Frames that wait in several lanes for their first measurement, or whose lanes are new, must not go to both for ever.
constexpr std::uint64_t most_first_frames = 32;
constexpr std::uint64_t frames_between_measurements = 64;
/// Weight of a new measurement.
constexpr double newest = 0.25;
/// More kinds than programs have; further ones stay on the CPU.
constexpr std::size_t most_kinds = 4096;

}  // namespace

CodingSpeeds::CodingSpeeds() : is_card_only_(std::getenv("MCR_GPU_ALWAYS") != nullptr) {}

Coder CodingSpeeds::next(const std::string& kind) {
  if (is_card_only_) return Coder::card;
  const std::lock_guard lock(mutex_);
  if (speeds_.size() >= most_kinds && speeds_.find(kind) == speeds_.end()) return Coder::cpu;
  Speed& speed = speeds_[kind];
  if (speed.is_refused) return Coder::cpu;
  const std::uint64_t frame = speed.frames++;
  const bool is_measured = speed.measurements >= least_measurements || frame >= most_first_frames;
  if (!is_measured || frame % frames_between_measurements == 0) return Coder::both;
  return speed.card > 0 && speed.card <= speed.cpu ? Coder::card : Coder::cpu;
}

void CodingSpeeds::measured(const std::string& kind, Coder coder, std::size_t bytes,
                            double seconds) {
  if (bytes == 0) return;
  const double now = seconds / static_cast<double>(bytes);
  const std::lock_guard lock(mutex_);
  const auto found = speeds_.find(kind);
  if (found == speeds_.end()) return;
  double& known = coder == Coder::card ? found->second.card : found->second.cpu;
  // The CPU needs no start; the card's first frame of the kind is replaced.
  const bool is_first = coder == Coder::card && ++found->second.measurements <= least_measurements;
  known = known > 0 && !is_first ? known * (1 - newest) + now * newest : now;
}

void CodingSpeeds::refuse(const std::string& kind) {
  const std::lock_guard lock(mutex_);
  if (const auto found = speeds_.find(kind); found != speeds_.end())
    found->second.is_refused = true;
}

std::string kind_of(const Pipeline& pipeline, const Layout& layout) {
  return pipeline.print() + '/' + std::to_string(layout.type.size);
}

}  // namespace mcr::codecs::gpu
