// SPDX-License-Identifier: BSD-3-Clause
// One accelerator as this process uses it: its primary context, which the card's other users in this
// process and NVIDIA's MPS share too, and the kernels. A card is never closed:
// the driver frees all at the process's end, and no destructor runs then.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "codecs/base/result.hpp"
#include "codecs/gpu/device/call_runner.hpp"
#include "codecs/gpu/device/driver.hpp"
#include "codecs/gpu/queue.hpp"

namespace mcr::codecs::gpu {

/// The kernels for a card, as text (PTX) that its driver compiles.
struct KernelModule {
  std::string_view text;               ///< a zero byte follows; empty: this build has none
  std::span<const char* const> names;  ///< by KernelNumber
};

/// What is known of a card before it is used.
struct CardFacts {
  int index = 0;
  std::string name;
  int capability_major = 0;
  int capability_minor = 0;
  bool is_shared_by_mps = false;
  /// Why mcr leaves the card alone; empty: it does not.
  std::string refusal;
};

/// Returns the cards that this process sees (CUDA_VISIBLE_DEVICES counts). Uses no card.
Result<std::vector<CardFacts>> list_cards(const Driver& driver);

class Card {
 public:
  /// Opens card `index` (without: the first that may be used; in the program's process, the first that
  /// the program uses). Cause::unsupported, with the reason, if no such card can be used. `make_runner`: which
  /// threads call the driver for queues.
  static Result<std::shared_ptr<Card>> open(DriverUse use, std::optional<int> index,
                                            const KernelModule& kernels, MakeRunner make_runner);
  Card(const Card&) = delete;
  Card& operator=(const Card&) = delete;

  /// Makes a queue on a stream of the lowest priority. Its memory on the card is at most
  /// `memory_bytes`. The card must outlive it.
  Result<std::unique_ptr<Queue>> make_queue(std::size_t memory_bytes);

  [[nodiscard]] const CardFacts& facts() const { return facts_; }

  /// Notes an error after which the card is not used again. The first reason is kept.
  void give_up(std::string_view why) noexcept;
  [[nodiscard]] bool is_given_up() const { return given_up_; }
  /// Empty if the card is not given up.
  [[nodiscard]] std::string why_given_up() const;

 private:
  friend class CudaQueue;
  Card(CardFacts facts, MakeRunner make_runner)
      : facts_(std::move(facts)), make_runner_(make_runner) {}

  const CardFacts facts_;
  const MakeRunner make_runner_;
  std::shared_ptr<const CardHandles> handles_;  ///< set by open()
  std::atomic<bool> given_up_{false};
  mutable std::mutex mutex_;
  std::string why_given_up_;  // guarded by mutex_
};

/// Makes the card's context the calling thread's, and the earlier one again at its end.
class ContextScope {
 public:
  ContextScope(const Driver& driver, DriverContext context);
  ~ContextScope();
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;
  [[nodiscard]] DriverStatus status() const { return status_; }

 private:
  const Driver& driver_;
  DriverStatus status_;
};

}  // namespace mcr::codecs::gpu
