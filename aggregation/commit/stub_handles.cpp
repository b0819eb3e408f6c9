// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/commit/stub_handles.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <string_view>

#include "aggregation/commit/put_back.hpp"
#include "restart/base/path_names.hpp"
#include "restart/base/system.hpp"
#include "restart/format/stub.hpp"

namespace mcr::aggregation {

using restart::File;
using restart::parent_of;
using restart::PartBegin;
using restart::PartId;

namespace {

bool is_directory(const struct stat& status, const PartBegin& begin) {
  return S_ISDIR(status.st_mode) && status.st_dev == begin.directory_device &&
         status.st_ino == begin.directory_inode;
}

/// Handles are a help, parts are not: they get what is left.
bool is_in_first_quarter(const File& file) {
  struct rlimit limit {};
  return ::getrlimit(RLIMIT_NOFILE, &limit) != 0 ||
         static_cast<rlim_t>(file.descriptor()) < limit.rlim_cur / 4;
}

/// Storage that does not answer has not lost anything: writing there will say what is wrong.
bool means_gone(int number) { return number == ENOENT || number == ENOTDIR; }

bool is_gone(const std::string& path) {
  struct stat status {};
  return restart::system_calls().fstatat(AT_FDCWD, path.c_str(), &status, AT_SYMLINK_NOFOLLOW) !=
             0 &&
         means_gone(errno);
}

bool is_there(const std::string& directory, const PartBegin& begin, bool by_identity) {
  struct stat status {};
  if (restart::system_calls().fstatat(AT_FDCWD, directory.c_str(), &status, 0) != 0)
    return !means_gone(errno);
  return by_identity ? is_directory(status, begin) : S_ISDIR(status.st_mode);
}

/// The directory of the part's path under another name beside the old one; empty where there is
/// none.
std::string renamed_beside(const PartBegin& begin) {
  const std::string parent = parent_of(parent_of(begin.path));
  const auto names = restart::list_directory(AT_FDCWD, parent);
  if (!names) return {};
  for (const std::string& name : *names) {
    const std::string path = (parent == "/" ? "" : parent) + "/" + name;
    struct stat status {};
    if (::lstat(path.c_str(), &status) == 0 && is_directory(status, begin)) return path;
  }
  return {};
}

}  // namespace

void StubHandles::remember(const PartBegin& begin) {
  const std::lock_guard lock(mutex_);
  if (stubs_.contains(begin.part) || stubs_.size() >= most_handles) return;
  auto file = File::open(AT_FDCWD, begin.path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if (!file || !is_in_first_quarter(*file)) return;
  const auto status = file->status();
  if (status && is_our_empty_file(begin, *status)) {  // the stub comes with the flush or the close
    stubs_.emplace(begin.part, *std::move(file));
    return;
  }
  const auto bytes = file->read_all(restart::Stub::max_bytes);
  if (!bytes) return;
  const auto stub = restart::read_stub(*bytes);
  if (stub && stub->part == begin.part) stubs_.emplace(begin.part, *std::move(file));
}

void StubHandles::forget(const PartId& part) {
  const std::lock_guard lock(mutex_);
  stubs_.erase(part);
}

StubHandles::Found StubHandles::find(const PartId& part) const {
  const std::lock_guard lock(mutex_);
  const auto known = stubs_.find(part);
  if (known == stubs_.end()) return {};
  const auto status = known->second.status();
  if (!status) return {};
  std::array<char, PATH_MAX> path{};
  const std::string link = "/proc/self/fd/" + std::to_string(known->second.descriptor());
  const ssize_t length = ::readlink(link.c_str(), path.data(), path.size());
  const bool is_named = length > 0 && static_cast<std::size_t>(length) < path.size();
  if (status->st_nlink == 0) {
    std::string last = is_named ? std::string(path.data(), static_cast<std::size_t>(length)) : "";
    constexpr std::string_view mark = " (deleted)";
    if (last.ends_with(mark)) last.resize(last.size() - mark.size());
    return {Fate::removed, last};
  }
  if (!is_named) return {};
  return {Fate::present, std::string(path.data(), static_cast<std::size_t>(length))};
}

BaseNow find_base(const restart::ContainerName& where, const PartBegin& begin,
                  const StubHandles* stubs) {
  // Where the rank stands in a directory's name, the shared directory above it has no identity in
  // the journal: it is believed where it exists.
  const bool by_identity = begin.directory_inode != 0 && parent_of(begin.path) == where.base;
  const auto found = stubs == nullptr ? StubHandles::Found{} : stubs->find(begin.part);
  // A stub that a newer one replaced is gone too, but its part may belong to the last whole set:
  // at the path itself, or, where programs write `tmp` and rename it, at the last name it had.
  if (found.fate == StubHandles::Fate::removed && is_gone(begin.path) &&
      (found.path.empty() || is_gone(found.path))) {
    return {true, {}};
  }
  if (is_there(where.base, begin, by_identity)) return {false, where.base};
  if (found.fate == StubHandles::Fate::present) {
    std::string base = parent_of(found.path);
    for (std::uint32_t i = 0; i < where.depth; ++i) base = parent_of(base);
    return {false, base};
  }
  return {false, by_identity ? renamed_beside(begin) : std::string()};
}

}  // namespace mcr::aggregation
