// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/mcr/files_below.hpp"

#include <dirent.h>
#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <system_error>
#include <utility>

#include "aggregation/mcr/print.hpp"
#include "restart/base/fitting_names.hpp"
#include "restart/base/path_names.hpp"
#include "restart/base/system.hpp"
#include "restart/base/trust.hpp"
#include "restart/sets/stub_links.hpp"

namespace mcr::aggregation {
namespace {

using restart::File;
using restart::FileIdentity;

struct Directory {
  std::string below;  ///< its path relative to `top`; empty: `top` itself
  std::size_t level = 0;
};

std::string in(const std::string& directory, const std::string& name) {
  if (directory.empty()) return name;
  return directory.ends_with('/') ? directory + name : directory + "/" + name;
}

Result<File> open_directory(const File& top, const std::string& below) {
  constexpr int flags = O_RDONLY | O_DIRECTORY;
  return below.empty() ? File::open(top.descriptor(), ".", flags)
                       : restart::open_beneath(top.descriptor(), below, flags);
}

/// The names in a directory of those files that the visit needs, sorted.
struct Entries {
  std::vector<std::string> files;  ///< regular ones
  std::vector<std::string> directories;
};

Result<Entries> list(const File& directory) {
  Entries found;
  std::size_t bytes = 0;
  const auto listed = restart::for_each_entry(
      directory.descriptor(), ".", [&](std::string name, unsigned char type) {
        struct stat status {};
        if (type == DT_UNKNOWN &&
            restart::system_calls().fstatat(directory.descriptor(), name.c_str(), &status,
                                            AT_SYMLINK_NOFOLLOW) == 0)
          type = S_ISREG(status.st_mode) ? DT_REG : S_ISDIR(status.st_mode) ? DT_DIR : DT_UNKNOWN;
        if (type != DT_REG && type != DT_DIR) return true;
        bytes += sizeof(name) + name.size();
        (type == DT_REG ? found.files : found.directories).push_back(std::move(name));
        return bytes <= restart::most_kept_bytes;
      });
  if (!listed) return listed.error();
  if (bytes > restart::most_kept_bytes)
    return Error{Cause::system, "", EOVERFLOW};  // the caller names the directory
  std::sort(found.files.begin(), found.files.end());
  std::sort(found.directories.begin(), found.directories.end());
  return found;
}

class Visit {
 public:
  using Look = std::function<void(const FileBelow& file)>;
  using Enter = std::function<void(const DirectoryBelow& directory)>;

  Visit(const File& top, std::string root, const Look& look, const Enter& enter)
      : top_(top), root_(root == "." ? "" : std::move(root)), look_(look), enter_(enter) {}

  NotLookedAt run() {
    ProgressBar bar("searching");
    waiting_.push_back({});
    for (std::size_t entered = 0; !waiting_.empty(); ++entered) {
      bar.show("directories: " + std::to_string(entered));
      const Directory here = std::move(waiting_.front());
      waiting_.pop_front();
      enter(here);
    }
    return std::move(left_);
  }

 private:
  [[nodiscard]] std::string path_of(const std::string& below) const {
    if (below.empty()) return root_.empty() ? "." : root_;
    return in(root_, below);
  }

  void leave_out(const std::string& below, const std::string& why) {
    left_.directories.push_back(path_of(below) + ": " + why);
  }

  void enter(const Directory& here) {
    const auto directory = open_directory(top_, here.below);
    const auto status = directory ? directory->status() : Result<struct stat>(directory.error());
    if (status && here.below.empty()) device_ = status->st_dev;
    if (status && status->st_dev != device_)
      return leave_out(here.below, "it is on another file system");
    const auto entries = status ? list(*directory) : Result<Entries>(status.error());
    if (!entries) {
      const int problem = entries.error().system_error;
      if (problem == ENOENT) return;  // the directory was removed meanwhile
      const bool is_closed = problem == EACCES;
      if (is_closed && restart::is_links_directory_name(restart::name_of(here.below))) return;
      return leave_out(here.below, problem == EOVERFLOW ? "it has more names than are read at once"
                                                        : std::generic_category().message(problem));
    }
    if (enter_) enter_({path_of(here.below), *directory, *status});
    const FileIdentity home(*status);
    for (const std::string& name : entries->files)
      look_({path_of(in(here.below, name)), home, *directory});
    for (const std::string& name : entries->directories) add(in(here.below, name), here.level + 1);
  }

  void add(std::string below, std::size_t level) {
    if (seen_ == most_directories) {
      if (left_.beyond++ == 0) left_.first_beyond = path_of(below);
      return;
    }
    ++seen_;
    if (level > most_levels)
      return leave_out(below,
                       "it is nested deeper than " + std::to_string(most_levels) + " directories");
    waiting_.push_back({std::move(below), level});
  }

  const File& top_;
  std::string root_;
  const Look& look_;
  const Enter& enter_;
  dev_t device_ = 0;
  std::deque<Directory> waiting_;
  std::size_t seen_ = 0;
  NotLookedAt left_;
};

}  // namespace

restart::FileAt file_at(const FileBelow& file) {
  return restart::file_at(file.directory.descriptor(), restart::name_of(file.path),
                          restart::Links::not_followed);
}

NotLookedAt look_below(const File& top, const std::string& root,
                       const std::function<void(const FileBelow& file)>& look,
                       const std::function<void(const DirectoryBelow& directory)>& enter) {
  return Visit(top, root, look, enter).run();
}

void print_not_looked_at(const NotLookedAt& left, const char* command) {
  constexpr std::size_t most_lines = 10;
  const std::size_t count = left.directories.size();
  for (std::size_t i = 0; i < std::min(count, most_lines); ++i)
    print_line(stderr, "mcr %s: a directory was not looked at: %s", command,
               left.directories[i].c_str());
  if (count > most_lines)
    print_line(stderr, "mcr %s: %zu more directories were not looked at", command,
               count - most_lines);
  if (left.beyond > 0)
    print_line(stderr,
               "mcr %s: only %zu directories were looked at; %s and %zu more were not. Name a "
               "directory further below",
               command, most_directories, left.first_beyond.c_str(), left.beyond - 1);
}

}  // namespace mcr::aggregation
