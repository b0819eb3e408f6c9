// SPDX-License-Identifier: BSD-3-Clause
// Tries HDF5 calls in a child process first. A program can close a checkpoint with any bytes in it,
// and HDF5's library may crash, spin or exhaust memory when it reads them. The child does with the
// parts what the leader will do, in the same order. If the child survives a call, the leader
// survives it too, because the bytes no longer change. While the leader repeats a step, the child
// is already at the next one, so that the trial costs processor time but hardly any waiting.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

#include "codecs/base/result.hpp"

namespace mcr::aggregation {

class Rehearsal {
 public:
  static constexpr int patience_factor = 20;

  /// `step(i)` does in the child what the caller is about to do for item `i` of `count`. It returns
  /// the error (empty: no error), and changes only the child's copy of the memory. The child does
  /// the items in order: those that passes() asks for, and at most one item ahead.
  using Step = std::function<std::string(std::size_t)>;
  /// The child may use `memory_bytes` more memory than this process uses now.
  Rehearsal(std::size_t count, Step step, std::size_t memory_bytes = std::size_t{2} << 30)
      : count_(count), step_(std::move(step)), memory_bytes_(memory_bytes) {}
  /// Ends the child.
  ~Rehearsal();
  Rehearsal(const Rehearsal&) = delete;
  Rehearsal& operator=(const Rehearsal&) = delete;

  /// Waits until the child has done `item`. Waits at most until the child has used `limit` of
  /// processor time, or patience_factor times `limit` has passed by the clock. Cause::damaged:
  /// `step` failed, or the child crashed or took too long; the next call, for a later item, then
  /// starts a new child. Call it for items in order; items may be left out. If no child can be
  /// made, succeeds without a trial.
  Result<void> passes(std::size_t item, std::chrono::milliseconds limit);

 private:
  void begin(std::size_t item);
  [[noreturn]] void run(std::size_t first, int parent);
  void end(int* status);
  enum class Heard { answer, end, nothing };
  struct Bound {
    std::chrono::nanoseconds processor_time;
    std::chrono::steady_clock::time_point time;
  };
  Heard hear(const Bound& bound, std::size_t item, std::string& answer);
  Heard read_exactly(const Bound& bound, void* out, std::size_t bytes);
  [[nodiscard]] std::chrono::nanoseconds processor_time() const;

  std::size_t count_;
  Step step_;
  std::size_t memory_bytes_;
  pid_t child_ = -1;
  int child_end_ = -1;  ///< our end of the socket to the child
};

}  // namespace mcr::aggregation
