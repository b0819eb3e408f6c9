// SPDX-License-Identifier: BSD-3-Clause
// The table of settings: name, default, purpose, allowed values. It is printed by `mcr config`, by
// the error for an unknown key, in docs/settings.md and by --help. Sources from strongest to
// weakest: the text after the connector's name, MCR_<KEY> variables, mcr.conf in the checkpoint's
// directory, in the user's configuration directory, and of the installation.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "codecs/base/result.hpp"

namespace mcr::restart {

enum class SettingKind { text, choice, size, duration, count, flag };

struct SettingRow {
  std::string_view name;
  std::string_view
      default_value;  ///< in the notation of the setting ("256 MiB", "10 s"); empty: none
  SettingKind kind;
  std::string_view allowed;  ///< words, and names of forms in capitals, joined by '|': "auto|SIZE"
  std::string_view help;     ///< one or two sentences
};
std::span<const SettingRow> settings_table();

/// "1.5 GiB", "100" (bytes), "64k"; KB, MB, GB are powers of ten, KiB (and K) powers of two.
Result<std::uint64_t> parse_size(std::string_view text);
/// "250 ms", "10 s", "10" (seconds), "5 min", "1 h"; in milliseconds.
Result<std::uint64_t> parse_duration(std::string_view text);

/// Returns docs/settings.md, generated from the table.
std::string settings_page();

/// The effective values, each with its source.
class Settings {
 public:
  Settings();

  /// Sets one `key=value`. An unknown key or a bad value is Cause::usage; the message names it and
  /// lists what is allowed.
  Result<void> set(std::string_view key, std::string_view value, std::string_view source);
  /// Sets "key=value;key=value;…", as after the connector's name. A value with ';' must stand in
  /// braces, except in files=: a piece without '=' there is a further glob.
  Result<void> set_all(std::string_view text, std::string_view source);

  [[nodiscard]] std::string_view text(
      std::string_view key) const;  ///< also codec.<name> keys; "" if unset
  /// 0 if the value is a word instead of a number ("auto", "node") or the setting is unset.
  [[nodiscard]] std::uint64_t bytes(std::string_view key) const;
  [[nodiscard]] std::uint64_t milliseconds(std::string_view key) const;
  [[nodiscard]] std::uint64_t count(std::string_view key) const;
  [[nodiscard]] bool flag(std::string_view key) const;
  [[nodiscard]] bool is_set(std::string_view key) const;              ///< by any source
  [[nodiscard]] std::string_view source(std::string_view key) const;  ///< "default" if by none

  /// Returns "key=value;…" of all settings that some source set, except rank, ranks, launch and
  /// node, for journals. set_all() can read the text.
  [[nodiscard]] std::string changed() const;
  /// Returns all codec.<name> keys and values.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> codec_overrides() const;

 private:
  struct Value {
    std::string text;
    std::string source;
  };
  std::map<std::string, Value, std::less<>> values_;
  std::string default_stage_;  ///< /dev/shm/mcr-<uid>
};

/// Loads the settings for files in `directory`  (empty: no checkpoint directory). `connector_text`
/// is the text after the connector's name, without under_vol and under_info. `installed` is the
/// file that an administrator or the installation provides (empty: none). A configuration file that
/// belongs to neither this user nor root is ignored and named in `warnings`.
Result<Settings> load_settings(std::string_view connector_text, const std::string& directory,
                               std::vector<std::string>& warnings,
                               const std::string& installed = {});

}  // namespace mcr::restart
