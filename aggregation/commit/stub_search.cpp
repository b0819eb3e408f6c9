// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/commit/stub_search.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <utility>

#include "restart/base/durable_replace.hpp"
#include "restart/base/file.hpp"
#include "restart/base/log.hpp"
#include "restart/base/path_names.hpp"
#include "restart/base/system.hpp"
#include "restart/base/trust.hpp"
#include "restart/format/container_name.hpp"
#include "restart/sets/native_members.hpp"
#include "restart/sets/stub_links.hpp"
#include "restart/stage/file_at.hpp"

namespace mcr::aggregation {

using restart::File;
using restart::PartId;

namespace {

constexpr std::size_t most_names = 50'000;
constexpr std::size_t most_levels = 6;

class Search {
 public:
  Search(const std::string& root, WantedStubs wanted) : wanted_(std::move(wanted)) {
    reads_ = std::any_of(wanted_.begin(), wanted_.end(),
                         [](const auto& entry) { return entry.second.held.inode == 0; });
    struct stat status {};
    if (restart::system_calls().fstatat(AT_FDCWD, root.c_str(), &status, 0) != 0) return;
    device_ = status.st_dev;
    directories_.emplace_back(root, 0);
  }

  StubsFoundBelow run(std::uint64_t until_ms) {
    while (!directories_.empty() && !wanted_.empty() && names_ < most_names &&
           restart::monotonic_ms() < until_ms) {
      const auto [directory, level] = std::move(directories_.front());
      directories_.pop_front();
      look_into(directory, level);
    }
    if (!wanted_.empty() && !directories_.empty()) {
      restart::log_summary("stopped looking for renamed files after " + std::to_string(names_) +
                           " names");
    }
    return std::move(found_);
  }

 private:
  void look_into(const std::string& directory, std::size_t level) {
    const auto names = restart::list_directory(AT_FDCWD, directory);
    if (!names) return;
    // A directory of containers has only our files and links, none of the program's. It counts as
    // one only if a container in it is this user's, because another user can give any file the name
    // of a container.
    const bool has_containers =
        std::any_of(names->begin(), names->end(), [&](const std::string& name) {
          struct stat status {};
          return restart::is_container_name(name) &&
                 restart::system_calls().fstatat(AT_FDCWD, (directory + "/" + name).c_str(),
                                                 &status, AT_SYMLINK_NOFOLLOW) == 0 &&
                 restart::is_believed(status.st_uid, ::geteuid());
        });
    if (has_containers) return;
    for (const std::string& name : *names) {
      if (++names_ >= most_names || wanted_.empty()) return;
      const std::string path = (directory == "/" ? "" : directory) + "/" + name;
      struct stat status {};
      if (restart::system_calls().fstatat(AT_FDCWD, path.c_str(), &status, AT_SYMLINK_NOFOLLOW) !=
          0)
        continue;
      if (S_ISDIR(status.st_mode) && !has_our_links(name) && status.st_dev == device_ &&
          level + 1 < most_levels)
        directories_.emplace_back(path, level + 1);
      if (S_ISREG(status.st_mode)) look_at(path, status);
    }
  }

  /// True for the directories with our own links to stubs and native files, whose names the program
  /// does not know.
  static bool has_our_links(const std::string& directory) {
    return restart::is_links_directory_name(directory) ||
           directory == restart::native_members_directory;
  }

  void look_at(const std::string& path, const struct stat& status) {
    if (restart::name_of(path).starts_with(restart::temporary_prefix))
      return;  // a leader's temporary file
    // Another user's copy of a stub is not a file of the program.
    if (!restart::is_believed(status.st_uid, ::geteuid())) return;
    for (const auto& [part, wanted] : wanted_) {
      if (wanted.held == restart::FileIdentity(status)) return found(part, path, false);
    }
    const bool may_be_stub = reads_ &&
                             status.st_size >= static_cast<off_t>(restart::Stub::head_bytes) &&
                             status.st_size <= static_cast<off_t>(restart::Stub::max_bytes);
    if (!may_be_stub) return;
    const auto home = File::open(AT_FDCWD, restart::parent_of(path), O_PATH | O_DIRECTORY);
    if (!home) return;
    const auto there =
        restart::file_at(home->descriptor(), restart::name_of(path), restart::Links::not_followed);
    if (!there.is_stub() || !wanted_.contains(there.stub.part)) return;
    const WantedStub& wanted = wanted_.at(there.stub.part);
    const bool is_begun =
        wanted.begun.inode != 0 && wanted.begun == restart::FileIdentity(there.status);
    const auto directory = home->status();
    const bool is_at_home =
        wanted.home.inode == 0 || (directory && wanted.home == restart::FileIdentity(*directory));
    // Where other users may add files, a file of this user's may have got a stub from them.
    const uid_t author = restart::Beside::in(*home).author(there.status);
    if (is_begun || restart::is_believed(author, ::geteuid()))
      found(there.stub.part, path, !is_begun && !is_at_home);
  }

  /// A stub that may be a copy does not end the search.
  void found(PartId part, const std::string& path, bool may_be_copy) {
    if (may_be_copy) {
      found_.try_emplace(part, StubFound{path, true});
      return;
    }
    found_[part] = {path, false};
    wanted_.erase(part);
  }

  WantedStubs wanted_;
  bool reads_ = false;
  dev_t device_ = 0;
  std::size_t names_ = 0;
  std::deque<std::pair<std::string, std::size_t>> directories_;  ///< and their levels
  StubsFoundBelow found_;
};

}  // namespace

StubsFoundBelow search_stubs(const std::string& root, WantedStubs wanted, std::uint64_t until_ms) {
  return Search(root, std::move(wanted)).run(until_ms);
}

WantedStub wanted_stub(const restart::PartBegin& begin, const restart::FileIdentity& held) {
  return {held,
          {begin.directory_device, begin.file_inode},
          {begin.directory_device, begin.directory_inode}};
}

std::string nearest_directory(std::string path) {
  struct stat status {};
  while (path != "/" && path != "." &&
         restart::system_calls().fstatat(AT_FDCWD, path.c_str(), &status, 0) != 0 &&
         restart::leads_nowhere(errno)) {
    path = restart::parent_of(path);
  }
  return path;
}

std::vector<std::string> roots_of_search(const restart::PartBegin& begin) {
  constexpr std::size_t most_roots = 4;
  std::vector<std::string> roots{
      nearest_directory(restart::parent_of(restart::parent_of(begin.path)))};
  while (roots.size() < most_roots && roots.back() != "/") {
    std::string above = restart::parent_of(roots.back());
    if (::access(above.c_str(), W_OK | X_OK) != 0) break;
    roots.push_back(std::move(above));
  }
  return roots;
}

}  // namespace mcr::aggregation
