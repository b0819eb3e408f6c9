// SPDX-License-Identifier: BSD-3-Clause
// Where frames of a kind are coded: on the card, if a lane to it takes less time for them than a thread
// of the CPU does. Both are measured, because it depends on the codecs, the card, its link, and what
// else the program lets card and CPU do.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "codecs/base/codec_pipeline.hpp"
#include "codecs/base/layout.hpp"

namespace mcr::codecs::gpu {

enum class Coder : std::uint8_t {
  cpu,
  card,
  both,  ///< measures both, and compares their bytes
};

/// Thread-safe.
class CodingSpeeds {
 public:
  /// If the variable MCR_GPU_ALWAYS is set (for tests and measurements), every frame goes to the card.
  CodingSpeeds();
  /// Returns which coder takes the next frame of the kind. The first frames of a kind, and some later
  /// ones, go to both.
  Coder next(const std::string& kind);
  /// True if MCR_GPU_ALWAYS is set.
  [[nodiscard]] bool is_card_only() const { return is_card_only_; }
  /// Not to be called for the first frame of a lane, which also pays for the lane's memory.
  void measured(const std::string& kind, Coder coder, std::size_t bytes, double seconds);
  /// Notes that the card does not take frames of the kind after all. They stay on the CPU.
  void refuse(const std::string& kind);

 private:
  struct Speed {
    std::uint64_t frames = 0;
    std::uint64_t measurements = 0;  ///< of the card
    double cpu = 0;                  ///< seconds per byte; 0: not measured
    double card = 0;
    bool is_refused = false;
  };
  const bool is_card_only_;
  std::mutex mutex_;
  std::map<std::string, Speed> speeds_;  // guarded by mutex_
};

/// Frames of one kind take about the same time per byte.
std::string kind_of(const Pipeline& pipeline, const Layout& layout);

}  // namespace mcr::codecs::gpu
