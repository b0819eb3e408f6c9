// SPDX-License-Identifier: BSD-3-Clause
#include "vol/process/writing_counts.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <climits>

#include "restart/base/own_way.hpp"
#include "restart/base/path_names.hpp"

namespace mcr::vol {

namespace {

// The path of the working directory is no good name for it, because a neighbour may rename directories above it.
// Without the birth time, a new directory could be taken for a removed one with its inode number.
std::string working_directory() {
  struct statx status {};
  if (::statx(AT_FDCWD, ".", 0, STATX_INO | STATX_BTIME, &status) == 0 &&
      (status.stx_mask & STATX_BTIME) != 0) {
    std::string text;
    for (const std::uint64_t number :
         {std::uint64_t{status.stx_dev_major}, std::uint64_t{status.stx_dev_minor},
          std::uint64_t{status.stx_ino}, static_cast<std::uint64_t>(status.stx_btime.tv_sec),
          std::uint64_t{status.stx_btime.tv_nsec}}) {
      text += std::to_string(number) + ":";
    }
    return text;
  }
  std::array<char, PATH_MAX> path{};
  return ::getcwd(path.data(), path.size()) == nullptr ? "." : path.data();
}

}  // namespace

WrittenName written_name(const std::string& passed) {
  const bool is_absolute = passed.starts_with('/');
  WrittenName name;
  if (!is_absolute) name.working_directory = working_directory();
  for (const std::string& component : restart::split_path(passed)) {
    if (is_absolute || !name.passed.empty()) name.passed += '/';
    name.passed += component;
  }
  return name;
}

std::uint64_t WritingCounts::by_name(const WrittenName& name, std::uint64_t first) const {
  if (const auto known = last_.find(name); known != last_.end()) return known->second + 1;
  const auto natives = natives_before_.find(name);
  return first + (natives == natives_before_.end() ? 0 : natives->second);
}

bool WritingCounts::is_taken(const std::string& path, std::uint64_t sequence) const {
  const auto last = last_at_path_.find(path);
  return last != last_at_path_.end() && sequence <= last->second.sequence;
}

std::uint64_t WritingCounts::next(const Writing& writing,
                                  const std::function<std::uint64_t()>& first) {
  const auto& [name, path, directory] = writing;
  std::unique_lock lock(mutex_);
  // What earlier programs wrote, this process has considered when it wrote the path for the first time.
  const bool is_first = !last_.contains(name) && !last_at_path_.contains(path);
  lock.unlock();
  const bool is_misled_here = is_misled(name, path);
  const std::uint64_t first_sequence = is_first ? first() : 0;
  lock.lock();
  std::uint64_t next = by_name(name, first_sequence);
  if (is_taken(path, next) && !is_misled_here) next = last_at_path_[path].sequence + 1;
  if (!is_taken(path, next)) last_at_path_[path] = {next, name, directory};
  return last_[name] = next;
}

void WritingCounts::take_back(const Writing& writing, std::uint64_t sequence) {
  const std::lock_guard lock(mutex_);
  const auto last = last_at_path_.find(writing.path);
  const bool is_last = last != last_at_path_.end() && last->second.sequence == sequence;
  if (sequence == 0) {
    last_.erase(writing.name);
    if (is_last) last_at_path_.erase(last);
  } else {
    last_[writing.name] = sequence - 1;
    if (is_last) last->second.sequence = sequence - 1;
  }
}

void WritingCounts::count_native(const WrittenName& name) {
  const std::lock_guard lock(mutex_);
  const auto known = last_.find(name);
  ++(known == last_.end() ? natives_before_[name] : known->second);
}

bool WritingCounts::is_misled(const WrittenName& name, const std::string& path) const {
  const std::lock_guard lock(mutex_);
  if (!is_taken(path, by_name(name, 0))) return false;
  const auto is_closed = [&](const WrittenName& one) {
    return (one.working_directory.empty() || one.working_directory == name.working_directory) &&
           restart::leads_by_closed_way(one.passed, path);
  };
  return !is_closed(name) || !is_closed(last_at_path_.at(path).name);
}

std::optional<restart::FileIdentity> WritingCounts::directory_of(const std::string& path,
                                                                 std::uint64_t sequence) const {
  const std::lock_guard lock(mutex_);
  if (!is_taken(path, sequence)) return std::nullopt;
  return last_at_path_.at(path).directory;
}

}  // namespace mcr::vol
