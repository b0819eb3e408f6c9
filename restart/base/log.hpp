// SPDX-License-Identifier: BSD-3-Clause
// Messages: to stderr in the application's process (one line each, "mcr: …"), to the log file in the
// leader. Levels follow `log=`.
#pragma once

#include <string>
#include <string_view>

namespace mcr::restart {

enum class LogLevel { quiet, summary, debug };

void set_log_level(LogLevel level);
[[nodiscard]] LogLevel log_level();
/// Messages go to this descriptor from now on (stderr until then).
void set_log_descriptor(int descriptor);
/// For a program that may have been started without stderr: the number is some file's of its own soon,
/// so nothing is said to it.
void look_for_stderr();

void log_summary(std::string_view message);  ///< at log=summary and debug
void log_warning(std::string_view message);  ///< always, unless log=quiet
/// The same, but only the first time for `topic` in this process (promise 2: one warning per process).
void log_warning_once(std::string_view topic, std::string_view message);

/// At log=debug only; the pieces of the message are put together only then.
template <typename... Pieces>
void log_debug(const Pieces&... pieces) {
  if (log_level() != LogLevel::debug) return;
  std::string message;
  (message.append(pieces), ...);
  log_summary(message);
}

}  // namespace mcr::restart
