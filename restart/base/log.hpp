// SPDX-License-Identifier: BSD-3-Clause
// Messages: to stderr in the application's process (one line each, "mcr: …"), to the log file in
// the leader. Levels follow `log=`.
#pragma once

#include <string>
#include <string_view>

namespace mcr::restart {

enum class LogLevel { quiet, summary, debug };

void set_log_level(LogLevel level);
[[nodiscard]] LogLevel log_level();
/// Sends all later messages to this descriptor; the default is stderr.
void set_log_descriptor(int descriptor);
/// Disables logging if stderr is closed: descriptor 2 may soon belong to a file of the program.
void look_for_stderr();

void log_summary(std::string_view message);  ///< at log=summary and debug
void log_warning(std::string_view message);  ///< always, unless log=quiet
/// Like log_warning(), but only the first time for `topic` in this process. For a warning that many ranks
/// have, use warn_once_in_job().
void log_warning_once(std::string_view topic, std::string_view message);

/// True the first time for `topic` in this process, also with respect to log_warning_once(). False if
/// more topics were asked than can be remembered.
bool is_first_warning(std::string_view topic);

/// Logs at log=debug only; the message is put together only then.
template <typename... Pieces>
void log_debug(const Pieces&... pieces) {
  if (log_level() != LogLevel::debug) return;
  std::string message;
  (message.append(pieces), ...);
  log_summary(message);
}

}  // namespace mcr::restart
