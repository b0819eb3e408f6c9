// SPDX-License-Identifier: BSD-3-Clause
// The one card that this process uses for coding, if its settings name one.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "codecs/gpu/device/card.hpp"

namespace mcr::codecs::gpu {

/// The settings gpu= and gpu_memory=.
struct CardOptions {
  bool is_on = false;
  std::optional<int> index;                               ///< without: the driver's first card
  std::uint64_t memory_bytes = std::uint64_t{512} << 20;  ///< of the card, for all queues together

  bool operator==(const CardOptions&) const = default;
};

/// Reads the value of gpu=: "off", "auto" or the number of a card.
CardOptions card_options(std::string_view gpu, std::uint64_t memory_bytes);

/// Opens the card in a thread of its own, if that has not been done yet, and returns at once: a driver
/// that takes seconds to start, or hangs meanwhile, delays nothing. For the leader and commands only.
void begin_to_open_card(const CardOptions& options);
/// Waits until the card is open or cannot be opened, at most for `limit`.
void await_card(std::chrono::milliseconds limit);
/// Opens a card of a driver that the program has initialised, if that has not been done yet. For the
/// program's process, where mcr starts no thread.
void open_card_of_program(const CardOptions& options);

// The steps of opening a card, for the functions above.
/// True for the first caller whose options ask for a card.
bool is_first_to_ask(const CardOptions& options);
void open_card(DriverUse use, const CardOptions& options, MakeRunner make_runner);
bool is_being_opened();

/// No card is used, for this reason. If no caller has asked for a card yet, the driver is never loaded.
void decide_for_no_card(const std::string& why);
/// True if a caller has asked for a card, so that a driver may run in this process.
bool was_card_asked();

/// Returns the open card. Null if there is none or not yet, if it was given up, and in a process that was
/// forked after the card was opened: the driver does not work there.
Card* card_in_use();
/// Returns why the open card is not used any more; empty if it is used, or was never open.
std::string why_given_up();
/// Returns why the card is not used; empty if it is used, was not asked for, or has been opened for a few seconds
/// only.
std::string why_no_card();
/// Returns the one line for users about it.
std::string problem_text(const std::string& why_no_card);

}  // namespace mcr::codecs::gpu
