// SPDX-License-Identifier: BSD-3-Clause
// Typed values of settings that are one of a few words. Only this file compares their texts.
#pragma once

#include <cstdint>
#include <string_view>

#include "restart/base/log.hpp"
#include "restart/settings/settings.hpp"

namespace mcr::restart {

/// What an open gives if only some ranks have written the set.
enum class Mix : std::uint8_t { previous, refuse, native };
inline Mix mix_of(const Settings& settings) {
  const auto word = settings.text("mix");
  return word == "refuse" ? Mix::refuse : word == "native" ? Mix::native : Mix::previous;
}

/// When a close returns: once the part is in the stage, once another node keeps it too, or once it is in storage.
enum class Close : std::uint8_t { staged, replicated, durable };
inline Close close_of(const Settings& settings) {
  const std::string_view close = settings.text("close");
  if (close == "replicated") return Close::replicated;
  return close == "durable" ? Close::durable : Close::staged;
}

/// How files that are appended to are treated.
enum class Appended : std::uint8_t { native, capture };
inline Appended appended_of(const Settings& settings) {
  return settings.text("appended") == "native" ? Appended::native : Appended::capture;
}

/// Whether a rank's end waits until the parts that it closed are committed.
enum class Exit : std::uint8_t { wait, leave };
inline Exit exit_of(const Settings& settings) {
  return settings.text("exit") == "wait" ? Exit::wait : Exit::leave;
}

/// When containers of superseded sets are removed.
enum class Gc : std::uint8_t { when_short, always, never };
inline Gc gc_of(const Settings& settings) {
  const auto word = settings.text("gc");
  return word == "on" ? Gc::always : word == "off" ? Gc::never : Gc::when_short;
}

inline LogLevel log_level_of(const Settings& settings) {
  const auto word = settings.text("log");
  return word == "quiet" ? LogLevel::quiet : word == "debug" ? LogLevel::debug : LogLevel::summary;
}

}  // namespace mcr::restart
