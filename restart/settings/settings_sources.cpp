// SPDX-License-Identifier: BSD-3-Clause
// The sources of settings: three mcr.conf files, environment variables, the connector's text. The
// weakest source is read first; values of a later source replace those of earlier ones.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "restart/base/file.hpp"
#include "restart/base/own_way.hpp"
#include "restart/base/replacers.hpp"
#include "restart/base/system.hpp"
#include "restart/base/trust.hpp"
#include "restart/settings/configuration.hpp"
#include "restart/settings/settings.hpp"

namespace mcr::restart {
namespace {

constexpr std::size_t max_configuration_bytes = 64 * 1024;
constexpr std::string_view variable_prefix = "MCR_";
constexpr const char* others_may =
    "other users may write to the file or to its directory, or may rename the directory or one "
    "above it";

bool is_own(uid_t owner) { return is_believed(owner, ::geteuid()); }

Result<File> open_through_links(int directory, const std::string& path) {
  // O_NONBLOCK: opening a named pipe of that name must not block the program.
  return File::open(directory, path, O_RDONLY | O_NONBLOCK);
}

/// The directory of a checkpoint. Other users may be able to put a file of the name mcr.conf there:
/// a symbolic link to any file, or a hard link to a file of this user.
class CheckpointDirectory {
 public:
  explicit CheckpointDirectory(const std::string& path)
      : path_(path), directory_(File::open(AT_FDCWD, path, O_PATH | O_DIRECTORY)) {
    if (directory_) consider(*directory_);
  }

  [[nodiscard]] std::string file() const { return path_ + "/mcr.conf"; }
  /// True if only this user, root and the directory's group decide which file is called mcr.conf. In
  /// any other directory a name proves nothing, because other users can move this user's files there.
  [[nodiscard]] bool is_ours() const { return is_ours_; }
  /// True if other users may write to the directory, could put a file there, or may exchange the directory.
  [[nodiscard]] bool may_hold_others() const { return may_hold_others_; }
  /// True if other users may move this user's files into the directory, but not replace them there.
  [[nodiscard]] bool is_sticky() const { return is_sticky_; }

  /// Opens the file. An error is the reason why the file is ignored. If the file is a link, the directories of all links on
  /// the way, and of the target, count from then on, too.
  [[nodiscard]] Result<File> open() {
    if (!directory_) return directory_.error();
    auto opened = open_in(*directory_, "mcr.conf");
    if (!opened && opened.error().system_error == ELOOP) opened = open_linked();
    if (!opened || !may_hold_others_) return opened;
    const struct stat status = MCR_TRY(opened->status());
    if (S_ISREG(status.st_mode) && status.st_nlink > 1)
      return Error{Cause::usage, file() + " has more than one hard link and is ignored, because " +
                                     others_may + ": replace it by a copy"};
    return opened;
  }

 private:
  static Result<File> open_in(const File& directory, const std::string& name) {
    return File::open(directory.descriptor(), name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
  }

  Result<File> open_linked() {
    struct stat link {};
    if (system_calls().fstatat(directory_->descriptor(), "mcr.conf", &link, AT_SYMLINK_NOFOLLOW) !=
        0)
      return system_error("cannot look at", file());
    if (!is_own(link.st_uid))
      return Error{Cause::usage, file() + " is a symbolic link that belongs to " +
                                     user_text(link.st_uid) +
                                     " and is ignored: it must belong to you or to root"};
    const auto end = follow_trusted_links(*directory_, "mcr.conf");
    if (!end && end.error().system_error == ELOOP)
      return Error{
          Cause::usage,
          file() +
              " is a symbolic link and is ignored, because other users may have put it there, "
              "or another one on the way to its target: replace it by a copy"};
    if (!end) return end.error();
    for (const File& directory : end->links) consider(directory);
    consider(end->directory);
    return open_in(end->directory, end->name);
  }

  void consider(const File& directory) {
    const auto status = directory.status();
    const bool is_own_directory = status && is_own(status->st_uid);
    const bool others_write = !is_own_directory || others_may_write(*status);
    is_ours_ = is_ours_ && is_own_directory && (status->st_mode & S_IWOTH) == 0;
    may_hold_others_ = may_hold_others_ || others_write ||
                       others_may_rename(directory, ::geteuid()).value_or(true);
    is_sticky_ = is_sticky_ || (others_write && status && (status->st_mode & S_ISVTX) != 0);
  }

  std::string path_;
  /// Held open, because a user who may write to the directory above may replace it by another one.
  Result<File> directory_;
  bool is_ours_ = true;
  bool may_hold_others_ = false;
  bool is_sticky_ = false;
};

/// True if no mcr.conf beside checkpoints may give the setting, because it leads to other directories, decides about other launches, or
/// removes files: with gc=on or flush=, copies in the user's own directories may lose their data. The user may have copied the file with another user's results, and owner, mode and directory do not tell.
bool is_never_beside(const ConfigurationEntry& entry) {
  constexpr std::array<std::string_view, 12> keys{"stage",  "trace", "allow",      "match",
                                                  "launch", "rank",  "ranks",      "node",
                                                  "gc",     "flush", "team_start", "container_dir"};
  return std::find(keys.begin(), keys.end(), entry.key) != keys.end();
}

/// True if the setting reaches further than the files beside mcr.conf: to the whole process, for example. Users give one
/// another no such settings.
bool is_far_reaching(const ConfigurationEntry& entry) {
  constexpr std::array<std::string_view, 6> keys{"gpu",       "gpu_memory", "exit",
                                                 "exit_wait", "log",        "mix"};
  return is_never_beside(entry) || std::find(keys.begin(), keys.end(), entry.key) != keys.end();
}

/// In a file to which other users may write, a longer duration counts as this one.
constexpr std::string_view longest_wait = "10 min";
bool is_longer_wait(const ConfigurationEntry& entry) {
  const auto table = settings_table();
  const auto row = std::find_if(table.begin(), table.end(),
                                [&](const SettingRow& one) { return one.name == entry.key; });
  if (row == table.end() || row->kind != SettingKind::duration) return false;
  const auto wait = parse_duration(entry.value);
  return wait && *wait > *parse_duration(longest_wait);
}

/// Which users may have written a configuration file.
enum class Writers {
  this_user,
  copied,  ///< this user put it there, but may have copied it from another user: beside checkpoints
  others,
};

/// Sets what the file says. A mistake in it is an error. Settings that reach far, and long waits, do
/// not count if other users may have written them.
Result<void> set_all_of(Settings& settings, const std::string& path, const File& file,
                        Writers writers, std::vector<std::string>& warnings) {
  const auto content = file.read_all(max_configuration_bytes);
  if (!content) return Error{Cause::usage, content.error().message};
  const auto entries = parse_configuration(as_text(*content));
  if (!entries) return Error{Cause::usage, path + ", " + entries.error().message};
  for (const ConfigurationEntry& entry : *entries) {
    if (writers == Writers::copied && is_never_beside(entry)) {
      warnings.push_back(path + ": " + entry.key +
                         " is ignored, because you may have copied the file from another user; set "
                         "it by a variable or in ~/.config/mcr/mcr.conf");
    } else if (writers != Writers::others) {
      MCR_TRY(settings.set(entry.key, entry.value, path));
    } else if (is_far_reaching(entry)) {
      warnings.push_back(path + ": " + entry.key + " is ignored, because " + others_may +
                         "; set it by a variable or in ~/.config/mcr/mcr.conf");
    } else if (is_longer_wait(entry)) {
      warnings.push_back(path + ": " + entry.key + " counts as " + std::string(longest_wait) +
                         ", because " + others_may +
                         "; set it by a variable or in ~/.config/mcr/mcr.conf");
      MCR_TRY(settings.set(entry.key, longest_wait, path));
    } else {
      MCR_TRY(settings.set(entry.key, entry.value, path));
    }
  }
  return {};
}

/// Reads the file, if it is a regular file of this user or root. A mistake in it is an error. If other
/// users may have written the file, a mistake is a warning, and the file is ignored.
Result<void> load_file(Settings& settings, const std::string& path, const Result<File>& file,
                       Writers writers, std::vector<std::string>& warnings) {
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
  if (!is_own(status->st_uid)) {
    warnings.push_back(path + " belongs to " + user_text(status->st_uid) +
                       " and is ignored: it must belong to you or to root");
    return {};
  }
  if (writers != Writers::others) return set_all_of(settings, path, *file, writers, warnings);
  Settings tried = settings;
  std::vector<std::string> left_out;
  if (!set_all_of(tried, path, *file, writers, left_out)) {
    // The message may have words of the file, which may be a private one that others have moved there.
    warnings.push_back(
        path + " has a mistake and is ignored. Its text is not shown, because " + others_may +
        "; `mcr config DIR` on a copy in a directory that only you may write to or rename shows "
        "the mistake");
    return {};
  }
  settings = std::move(tried);
  warnings.insert(warnings.end(), left_out.begin(), left_out.end());
  return {};
}

/// The file in a directory of checkpoints.
Result<void> load_beside(Settings& settings, CheckpointDirectory place,
                         std::vector<std::string>& warnings) {
  auto file = place.open();
  const struct stat status =
      (file ? file->status() : Result<struct stat>(file.error())).value_or({});
  Writers writers = Writers::copied;
  if (place.may_hold_others() || others_may_write(status)) writers = Writers::others;
  if (file && is_own(status.st_uid) && !place.is_ours()) {
    file = Error{Cause::usage, place.file() +
                                   " is ignored, because other users may write to its directory "
                                   "and can move any file of yours there; set variables, or use "
                                   "~/.config/mcr/mcr.conf"};
  } else if (file && is_own(status.st_uid) && place.is_sticky()) {
    file = Error{Cause::usage,
                 place.file() +
                     " is ignored, because other users could have moved it into its directory; set "
                     "variables, or use ~/.config/mcr/mcr.conf"};
  }
  return load_file(settings, place.file(), file, writers, warnings);
}

Result<void> load_file(Settings& settings, const std::string& path,
                       std::vector<std::string>& warnings) {
  return load_file(settings, path, open_through_links(AT_FDCWD, path), Writers::this_user,
                   warnings);
}

/// The user's own file.
Result<void> load_user(Settings& settings, std::vector<std::string>& warnings) {
  constexpr const char* variable = "XDG_CONFIG_HOME";
  const std::string place = own_place(variable, ".config");
  if (place.empty()) return {};
  const std::string path = place + "/mcr/mcr.conf";
  const auto directory = open_by_own_way(place + "/mcr");
  if (!directory && directory.error().system_error == ELOOP) {
    warnings.push_back(path +
                       " is ignored, because another user's symbolic link lies on the way; "
                       "set XDG_CONFIG_HOME to the directory itself");
    return {};
  }
  if (!directory) return load_file(settings, path, directory.error(), Writers::this_user, warnings);
  const auto file = open_through_links(directory->descriptor(), "mcr.conf");
  if (file && !is_own_place(variable)) {
    warnings.push_back(path + " is ignored, because another user owns " +
                       (std::getenv(variable) == nullptr ? "HOME" : variable) +
                       " or may write to it; set HOME to a directory of your own");
    return {};
  }
  return load_file(settings, path, file, Writers::this_user, warnings);
}

/// True if the texts differ by a typing error: one character more, less or other, or two exchanged.
bool is_slip(std::string_view a, std::string_view b) {
  while (!a.empty() && !b.empty() && a.front() == b.front()) {
    a.remove_prefix(1);
    b.remove_prefix(1);
  }
  while (!a.empty() && !b.empty() && a.back() == b.back()) {
    a.remove_suffix(1);
    b.remove_suffix(1);
  }
  if (a.size() <= 1 && b.size() <= 1) return true;
  return a.size() == 2 && b.size() == 2 && a[0] == b[1] && a[1] == b[0];
}

/// Reads MCR_KEEP and the other MCR_ variables. Other programs use that prefix too (MATLAB's
/// runtime), so an unknown variable is an error only if it looks like a typing error.
Result<void> load_variables(Settings& settings) {
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    std::string_view variable = *entry;
    if (!variable.starts_with(variable_prefix)) continue;
    const std::size_t equals = variable.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view name = variable.substr(0, equals);
    const std::string_view value = variable.substr(equals + 1);
    if (value.empty()) continue;  // an empty value counts as unset
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
  MCR_TRY(load_user(settings, warnings));
  if (!directory.empty()) {
    MCR_TRY(load_beside(settings, CheckpointDirectory(directory), warnings));
  }
  MCR_TRY(load_variables(settings));
  MCR_TRY(settings.set_all(connector_text, "HDF5_VOL_CONNECTOR"));
  return settings;
}

}  // namespace mcr::restart
