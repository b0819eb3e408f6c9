// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/gpu/device/card_stream.hpp"

#include <algorithm>
#include <exception>
#include <thread>

namespace mcr::codecs::gpu {
namespace {

/// What a call returns that an abandoned stream does not make. None of the driver's values.
constexpr DriverStatus status_abandoned = -1;

const char* what_failed(CardStream::Command::Kind kind) {
  using Kind = CardStream::Command::Kind;
  switch (kind) {
    case Kind::upload:
      return "a copy to the card failed";
    case Kind::download:
      return "a copy from the card failed";
    case Kind::fill_zero:
      return "memory cannot be cleared";
    case Kind::launch:
      break;
  }
  return "a kernel cannot be started";
}

}  // namespace

void CardStream::begin_call(const char* name) {
  call_name_ = name;
  call_began_ = Clock::now().time_since_epoch().count();
}

void CardStream::perform(Operation operation) noexcept {
  try {
    outcome = (this->*operation)();
  } catch (const std::exception&) {
    outcome = Error{Cause::system, "memory ran out"};  // short enough to need none
  }
}

template <typename... Parameters, typename... Arguments>
DriverStatus CardStream::call(const char* name, DriverStatus (*function)(Parameters...),
                              Arguments... arguments) {
  if (is_abandoned_) return status_abandoned;
  begin_call(name);
  return function(arguments...);
}

Result<void> CardStream::check(DriverStatus status, const char* what) {
  if (status == status_success) return {};
  if (is_abandoned_) return Error{Cause::system, {}};
  begin_call("cuGetErrorString");
  const std::string message = std::string(what) + ": " + status_text(handles_->driver, status);
  return Error{status == status_out_of_memory ? Cause::full : Cause::system, message};
}

template <typename Work>
Result<void> CardStream::in_context(const Work& work) {
  const Driver& driver = handles_->driver;
  MCR_TRY(check(call("cuCtxPushCurrent", driver.CtxPushCurrent_v2, handles_->context),
                "its context cannot be used"));
  const auto pop = [&] {
    DriverContext context = nullptr;
    return call("cuCtxPopCurrent", driver.CtxPopCurrent_v2, &context);
  };
  try {
    auto done = work();
    const DriverStatus status = pop();
    return done ? check(status, "its context cannot be left") : done;
  } catch (...) {
    pop();
    throw;
  }
}

Result<void> CardStream::open() {
  return in_context([&]() -> Result<void> {
    const Driver& driver = handles_->driver;
    MCR_TRY(check(call("cuStreamCreateWithPriority", driver.StreamCreateWithPriority, &stream_,
                       stream_non_blocking, handles_->lowest_priority),
                  "no stream can be made"));
    void* made = nullptr;
    MCR_TRY(check(call("cuMemHostAlloc", driver.MemHostAlloc, &made, pinned_bytes, 0U),
                  "no pinned memory can be had"));
    if (made == nullptr) return Error{Cause::unsupported, "no pinned memory can be had"};
    pinned = static_cast<std::byte*>(made);
    return {};
  });
}

Result<void> CardStream::make_chunk() {
  chunks.reserve(chunks.size() + 1);
  DriverAddress begin = 0;
  MCR_TRY(
      check(call("cuMemAlloc", handles_->driver.MemAlloc_v2, &begin, wanted_bytes), "no memory"));
  chunks.push_back({begin, wanted_bytes});
  return {};
}

Result<void> CardStream::free_chunks() {
  while (!chunks.empty()) {
    const DriverAddress begin = chunks.back().begin;
    chunks.pop_back();
    MCR_TRY(check(call("cuMemFree", handles_->driver.MemFree_v2, begin), "memory cannot be freed"));
  }
  return {};
}

Result<void> CardStream::add_chunk() {
  return in_context([&] { return make_chunk(); });
}

Result<void> CardStream::replace_chunks() {
  return in_context([&]() -> Result<void> {
    MCR_TRY(free_chunks());
    return make_chunk();
  });
}

DriverStatus CardStream::give(const Command& command) {
  const Driver& driver = handles_->driver;
  switch (command.kind) {
    case Command::Kind::upload:
      return call("cuMemcpyHtoDAsync", driver.MemcpyHtoDAsync_v2, command.address,
                  pinned + command.pinned_at, command.bytes, stream_);
    case Command::Kind::download:
      return call("cuMemcpyDtoHAsync", driver.MemcpyDtoHAsync_v2, pinned + command.pinned_at,
                  command.address, command.bytes, stream_);
    case Command::Kind::fill_zero:
      return call("cuMemsetD8Async", driver.MemsetD8Async, command.address,
                  static_cast<unsigned char>(0), command.bytes, stream_);
    case Command::Kind::launch:
      break;
  }
  KernelArguments arguments = command.arguments;  // the driver takes a pointer to mutable memory
  void* parameters[] = {&arguments};
  return call("cuLaunchKernel", driver.LaunchKernel, handles_->kernels[command.kernel],
              command.blocks, 1U, 1U, k_block_threads, 1U, 1U, 0U, stream_,
              static_cast<void**>(parameters), static_cast<void**>(nullptr));
}

Result<void> CardStream::execute_commands() {
  return in_context([&]() -> Result<void> {
    Result<void> given;
    for (const Command& command : commands) {
      given = check(give(command), what_failed(command.kind));
      if (!given) break;
    }
    commands.clear();
    // The commands before one for which no memory was left still use the buffer.
    if (given || given.error().cause == Cause::full) MCR_TRY(wait());
    return given;
  });
}

/// Asks again and again instead of calling the driver's own wait, which spins on a core that the program
/// may need, and which does not return if the card hangs.
Result<void> CardStream::wait() {
  const Clock::time_point end = Clock::now() + card_patience;
  auto pause = std::chrono::microseconds(10);
  constexpr auto longest_pause = std::chrono::microseconds(200);
  for (;;) {
    const DriverStatus status = call("cuStreamQuery", handles_->driver.StreamQuery, stream_);
    if (status != status_not_ready) return check(status, "its work failed");
    if (Clock::now() >= end) {
      return Error{Cause::system,
                   "it did not answer for " + std::to_string(card_patience.count()) + " s"};
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, longest_pause);
  }
}

Result<void> CardStream::close() {
  return in_context([&]() -> Result<void> {
    const Driver& driver = handles_->driver;
    MCR_TRY(free_chunks());
    if (pinned != nullptr)
      MCR_TRY(check(call("cuMemFreeHost", driver.MemFreeHost, static_cast<void*>(pinned)),
                    "pinned memory cannot be freed"));
    pinned = nullptr;
    if (stream_ != nullptr)
      MCR_TRY(check(call("cuStreamDestroy", driver.StreamDestroy_v2, stream_),
                    "a stream cannot be ended"));
    stream_ = nullptr;
    return {};
  });
}

}  // namespace mcr::codecs::gpu
