// SPDX-License-Identifier: BSD-3-Clause
// One stream of a card and the memory that belongs to it. All calls of the driver for a queue are made here, and
// every call is noted before it is made. A CardStream touches nothing but itself and its pinned buffer. So a
// thread in which a call never returns can be left alone with its CardStream.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "codecs/base/result.hpp"
#include "codecs/gpu/device/driver.hpp"
#include "codecs/gpu/kernel_arguments.hpp"

namespace mcr::codecs::gpu {

/// Pinned memory of each stream.
inline constexpr std::size_t pinned_bytes = std::size_t{4} << 20;
/// The card has failed if it does not end a stream's work in this time, or if its driver does not return from a call.
/// The program's own work comes first on the card, so that this must be longer than the program's kernels.
inline constexpr std::chrono::seconds card_patience{5};

/// What the calls of an open card's driver need. Never changed.
struct CardHandles {
  Driver driver{};
  DriverContext context = nullptr;
  int lowest_priority = 0;
  std::vector<DriverFunction> kernels;  ///< by KernelNumber
};

class CardStream {
 public:
  /// Work for the card. Host memory is the pinned buffer.
  struct Command {
    enum class Kind : std::uint8_t { upload, download, fill_zero, launch };
    Kind kind = Kind::upload;
    DriverAddress address = 0;  ///< on the card
    std::size_t pinned_at = 0;
    std::size_t bytes = 0;
    KernelNumber kernel = 0;
    unsigned blocks = 0;
    KernelArguments arguments = {};
  };
  struct Chunk {
    DriverAddress begin = 0;
    std::size_t bytes = 0;
  };
  /// A function below that calls the driver.
  using Operation = Result<void> (CardStream::*)();

  explicit CardStream(std::shared_ptr<const CardHandles> handles) : handles_(std::move(handles)) {}
  CardStream(const CardStream&) = delete;
  CardStream& operator=(const CardStream&) = delete;

  /// Calls the operation, and keeps what it returns in `outcome`.
  void perform(Operation operation) noexcept;

  // The operations. Cause::full: no memory is left, and the stream stays usable. Cause::system: any other error.
  /// Makes the stream and its pinned buffer.
  Result<void> open();
  /// Adds a chunk of `wanted_bytes`.
  Result<void> add_chunk();
  /// Replaces all chunks by one of `wanted_bytes`.
  Result<void> replace_chunks();
  /// Gives `commands` to the card and waits until they are done. Forgets them.
  Result<void> execute_commands();
  /// Frees all.
  Result<void> close();

  // An operation's input and output. The caller of an operation uses them while none runs.
  std::vector<Command> commands;
  std::size_t wanted_bytes = 0;
  std::vector<Chunk> chunks;
  std::byte* pinned = nullptr;
  Result<void> outcome;

  // For another thread, while an operation runs.
  using Clock = std::chrono::steady_clock;
  /// Notes that an operation begins, as if it were a call.
  void begin_call(const char* name);
  /// Returns when the latest call began, and which one it is.
  [[nodiscard]] Clock::time_point call_began() const {
    return Clock::time_point(Clock::duration(call_began_.load()));
  }
  [[nodiscard]] const char* call_name() const { return call_name_; }
  /// Ends the operation before its next call.
  void abandon() { is_abandoned_ = true; }

 private:
  template <typename... Parameters, typename... Arguments>
  DriverStatus call(const char* name, DriverStatus (*function)(Parameters...),
                    Arguments... arguments);
  /// Calls `work` in the card's context.
  template <typename Work>
  Result<void> in_context(const Work& work);
  Result<void> check(DriverStatus status, const char* what);
  DriverStatus give(const Command& command);
  Result<void> make_chunk();
  Result<void> free_chunks();
  Result<void> wait();

  const std::shared_ptr<const CardHandles> handles_;
  DriverStream stream_ = nullptr;
  std::atomic<Clock::rep> call_began_{0};
  std::atomic<const char*> call_name_{""};
  std::atomic<bool> is_abandoned_{false};
};

}  // namespace mcr::codecs::gpu
