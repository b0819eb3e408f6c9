// SPDX-License-Identifier: BSD-3-Clause
// Settings that are one of a few words, as types: nothing else compares their texts.
#pragma once

#include <cstdint>

#include "restart/base/log.hpp"
#include "restart/settings/settings.hpp"

namespace mcr::restart {

/// What becomes of a set that only some of its ranks have written.
enum class Mix : std::uint8_t { previous, refuse, native };
inline Mix mix_of(const Settings& settings) {
  const auto word = settings.text("mix");
  return word == "refuse" ? Mix::refuse : word == "native" ? Mix::native : Mix::previous;
}

/// When a close returns: the part is in the stage, or in storage.
enum class Close : std::uint8_t { staged, durable };
inline Close close_of(const Settings& settings) {
  return settings.text("close") == "durable" ? Close::durable : Close::staged;
}

/// What becomes of files that are appended to.
enum class Appended : std::uint8_t { native, capture };
inline Appended appended_of(const Settings& settings) {
  return settings.text("appended") == "native" ? Appended::native : Appended::capture;
}

/// Whether a rank's end waits for the commit of what it closed.
enum class Exit : std::uint8_t { wait, leave };
inline Exit exit_of(const Settings& settings) {
  return settings.text("exit") == "wait" ? Exit::wait : Exit::leave;
}

inline LogLevel log_level_of(const Settings& settings) {
  const auto word = settings.text("log");
  return word == "quiet" ? LogLevel::quiet : word == "debug" ? LogLevel::debug : LogLevel::summary;
}

}  // namespace mcr::restart
