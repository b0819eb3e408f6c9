// SPDX-License-Identifier: BSD-3-Clause
// Which thread calls the driver for a queue: a thread of its own, which can be left alone if a call never returns, or
// the calling thread in the program's process, where mcr starts no thread.
#pragma once

#include <memory>

#include "codecs/gpu/device/card_stream.hpp"

namespace mcr::codecs::gpu {

/// Used by one thread at a time.
class CallRunner {
 public:
  CallRunner() = default;
  virtual ~CallRunner() = default;
  CallRunner(const CallRunner&) = delete;
  CallRunner& operator=(const CallRunner&) = delete;

  /// Performs the operation. Returns false if the driver does not return from a call within card_patience: the stream
  /// then belongs to the operation, which may never end, and neither it nor this runner may be used again.
  [[nodiscard]] virtual bool run(const std::shared_ptr<CardStream>& stream,
                                 CardStream::Operation operation) noexcept = 0;
};

/// Returns null if no thread can be started.
using MakeRunner = std::unique_ptr<CallRunner> (*)();

/// In the calling thread; not bounded.
std::unique_ptr<CallRunner> make_direct_runner();
/// In a thread of its own. Not linked into the plugin.
std::unique_ptr<CallRunner> make_thread_runner();

}  // namespace mcr::codecs::gpu
