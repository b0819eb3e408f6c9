// SPDX-License-Identifier: BSD-3-Clause
// Where settings come from: mcr.conf of three places, variables, the connector's text; the weakest
// first, so that each later one replaces.
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>

#include "restart/base/configuration.hpp"
#include "restart/base/file.hpp"
#include "restart/base/settings.hpp"

namespace mcr::restart {
namespace {

constexpr std::size_t max_configuration_bytes = 64 * 1024;
constexpr std::string_view variable_prefix = "MCR_";

Result<void> load_file(Settings& settings, const std::string& path,
                       std::vector<std::string>& warnings) {
  // O_NONBLOCK: a named pipe of that name must not stop the program.
  const auto file = File::open(AT_FDCWD, path, O_RDONLY | O_NONBLOCK);
  if (!file) {
    const int number = file.error().system_error;
    if (number != ENOENT && number != ENOTDIR) warnings.push_back(file.error().message);
    return {};
  }
  const auto status = file->status();
  if (!status || !S_ISREG(status->st_mode)) {
    warnings.push_back(path + " is not a regular file and is ignored");
    return {};
  }
  if (status->st_uid != ::geteuid() && status->st_uid != 0) {
    warnings.push_back(path + " belongs to user " + std::to_string(status->st_uid) +
                       " and is ignored: it must be yours or root's");
    return {};
  }
  const auto content = file->read_all(max_configuration_bytes);
  if (!content) return Error{Cause::usage, content.error().message};
  const auto entries = parse_configuration(as_text(*content));
  if (!entries) return Error{Cause::usage, path + ", " + entries.error().message};
  for (const ConfigurationEntry& entry : *entries) {
    MCR_TRY(settings.set(entry.key, entry.value, path));
  }
  return {};
}

std::string user_configuration() {
  if (const char* place = std::getenv("XDG_CONFIG_HOME"); place != nullptr && *place == '/') {
    return std::string(place) + "/mcr/mcr.conf";
  }
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/') {
    return std::string(home) + "/.config/mcr/mcr.conf";
  }
  return {};
}

/// One character more, less, other, or two exchanged: a slip of the finger.
bool is_slip(std::string_view a, std::string_view b) {
  if (a.size() > b.size()) std::swap(a, b);
  if (b.size() - a.size() > 1) return false;
  std::size_t same = 0;
  while (same < a.size() && a[same] == b[same]) ++same;
  if (a.size() < b.size()) return a.substr(same) == b.substr(same + 1);
  if (same == a.size()) return true;
  if (a.substr(same + 1) == b.substr(same + 1)) return true;
  return same + 1 < a.size() && a[same] == b[same + 1] && a[same + 1] == b[same] &&
         a.substr(same + 2) == b.substr(same + 2);
}

/// MCR_KEEP and its like. Other programs have variables of that prefix too (MATLAB's runtime does),
/// so an unknown one is an error only where it is a slip of the finger.
Result<void> load_variables(Settings& settings) {
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    std::string_view variable = *entry;
    if (!variable.starts_with(variable_prefix)) continue;
    const std::size_t equals = variable.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view name = variable.substr(0, equals);
    const std::string_view value = variable.substr(equals + 1);
    if (value.empty()) continue;  // as unset
    std::string key;
    for (const char c : name.substr(variable_prefix.size())) {
      key.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
    }
    if (key.starts_with("codec_")) key[5] = '.';
    bool known = key.starts_with("codec.");
    for (const SettingRow& row : settings_table()) {
      if (row.name == key) known = true;
    }
    if (known) {
      MCR_TRY(settings.set(key, value, name));
      continue;
    }
    for (const SettingRow& row : settings_table()) {
      if (is_slip(key, row.name)) {
        return Error{Cause::usage, "unknown setting \"" + key + "\" (" + std::string(name) +
                                       "); is " + std::string(row.name) + " meant?"};
      }
    }
  }
  return {};
}

}  // namespace

Result<Settings> load_settings(std::string_view connector_text, const std::string& directory,
                               std::vector<std::string>& warnings, const std::string& installed) {
  Settings settings;
  if (!installed.empty()) MCR_TRY(load_file(settings, installed, warnings));
  if (const std::string user = user_configuration(); !user.empty()) {
    MCR_TRY(load_file(settings, user, warnings));
  }
  if (!directory.empty()) MCR_TRY(load_file(settings, directory + "/mcr.conf", warnings));
  MCR_TRY(load_variables(settings));
  MCR_TRY(settings.set_all(connector_text, "HDF5_VOL_CONNECTOR"));
  return settings;
}

}  // namespace mcr::restart
