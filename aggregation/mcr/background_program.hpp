// SPDX-License-Identifier: BSD-3-Clause
// A program that runs beside the user's: the scheduler's client, or the team's launcher.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "aggregation/mcr/time_limit.hpp"
#include "restart/base/file.hpp"

namespace mcr::aggregation {

/// The program's standard input is a pipe that ends with this object, or empty. Its output goes to files in
/// memory, not to pipes: it may outlive this process, and must not be stopped by a pipe.
class BackgroundProgram {
 public:
  enum class Input : std::uint8_t { none, ends_with_us };
  enum class Errors : std::uint8_t { kept, ours };  ///< ours: they go to our standard error
  /// Starts it in a session of its own: ^C is for the user's program.
  static Result<BackgroundProgram> start(const std::vector<std::string>& words,
                                         const std::vector<std::string>& variables, Input input,
                                         Errors errors);

  void end_input() { input_ = restart::File(); }
  /// Looks whether it has ended. Returns its status, as a shell gives it; nothing if it runs.
  std::optional<int> status();
  /// False if it still runs at the limit.
  bool wait_for_end(const TimeLimit& limit);
  /// Ends it, and what it has started in its session, by SIGTERM, at last by SIGKILL.
  void kill();

  /// Returns what it has written to its standard output since the last call.
  std::string take_output();
  /// Returns its standard error so far; empty if that goes to ours.
  [[nodiscard]] std::string errors() const;

 private:
  pid_t pid_ = -1;
  std::optional<int> status_;
  restart::File input_;
  restart::File output_, errors_;
  std::uint64_t taken_ = 0;  ///< bytes of the output
};

}  // namespace mcr::aggregation
