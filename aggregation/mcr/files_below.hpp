// SPDX-License-Identifier: BSD-3-Clause
// Visits every file below a directory that may also hold files and directories of other users. If a
// directory cannot be read, the visit goes on with the others. All commands that search below a
// directory use this visit.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "restart/base/file.hpp"
#include "restart/base/file_identity.hpp"
#include "restart/stage/file_at.hpp"

namespace mcr::aggregation {

/// How many levels down a visit goes, and how many directories it enters. Limits are needed because
/// users can nest directories and make new ones without limit.
inline constexpr std::size_t most_levels = 64;
inline constexpr std::size_t most_directories = 100'000;

struct NotLookedAt {
  /// Directories that cannot be read, lie too deep or are on another file system, each with the
  /// reason.
  std::vector<std::string> directories;
  std::size_t beyond = 0;    ///< how many more there were after `most_directories`
  std::string first_beyond;  ///< the first of them
};

/// A regular file, and the directory in which it was found, which is open. A file that is read is opened there: another user
/// may exchange a directory on the path during the visit.
struct FileBelow {
  const std::string& path;
  const restart::FileIdentity& home;
  const restart::File& directory;
};
/// Returns what lies there.
restart::FileAt file_at(const FileBelow& file);

/// A directory that is open for the visit.
struct DirectoryBelow {
  const std::string& path;
  const restart::File& directory;
  const struct stat& status;
};

/// Calls `look` for each regular file in `top` and below it, level by level, so that the directories
/// near `top` are entered first. `root` is the path of `top`; "." is left out of the paths. Links are
/// not followed, and no other file system is entered. Directories of other users' links to stubs are left out. One
/// directory is open at a time. Shows on a terminal how many directories were entered.
/// Before the files of a directory, calls `enter` for the directory itself, `top` included.
NotLookedAt look_below(const restart::File& top, const std::string& root,
                       const std::function<void(const FileBelow& file)>& look,
                       const std::function<void(const DirectoryBelow& directory)>& enter = {});

/// Prints to stderr, as lines of `command`, what was not looked at: only the first few directories,
/// because a shared directory may contain many that only their owners can read.
void print_not_looked_at(const NotLookedAt& left, const char* command);

}  // namespace mcr::aggregation
