// SPDX-License-Identifier: BSD-3-Clause
// A program can close any bytes as a checkpoint, and HDF5's library may crash, spin or take all
// memory over them. So what HDF5 does with parts is done in a child process first, in the same
// order: what the child survives, the leader does too, because the bytes no longer change. The
// child goes on with the next step while the leader repeats the first; it costs a second look, not
// a second wait.
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

  /// `step(i)` does in the child what the caller is about to do for item `i` of `count`, in order,
  /// and says what went wrong (nothing: empty). It may change the child's copy of everything;
  /// nothing of that is seen here. Items that nobody asks for are left out, but for one behind each
  /// that was asked for.
  using Step = std::function<std::string(std::size_t)>;
  /// The child may take `memory_bytes` beyond what is in use.
  Rehearsal(std::size_t count, Step step, std::size_t memory_bytes = std::size_t{2} << 30)
      : count_(count), step_(std::move(step)), memory_bytes_(memory_bytes) {}
  /// Ends the child.
  ~Rehearsal();
  Rehearsal(const Rehearsal&) = delete;
  Rehearsal& operator=(const Rehearsal&) = delete;

  /// Waits until the child has done `item`, for as much of its processor time as `limit` says, and
  /// patience_factor times that by the clock. Cause::damaged: what went wrong, or that it crashed
  /// or took too long over it; then the next call begins anew with a later item. Items are asked
  /// for in order, not necessarily all. Where no child can be made nothing is tried out, and the
  /// answer is good.
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
  int child_end_ = -1;  ///< of a socket: wishes go there, answers come from there
};

}  // namespace mcr::aggregation
