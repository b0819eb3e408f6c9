// SPDX-License-Identifier: BSD-3-Clause
#include "vol/process/writing_counts.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <filesystem>
#include <system_error>

#include "codecs/base/bytes.hpp"
#include "codecs/base/checksum.hpp"
#include "codecs/base/integers.hpp"
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

/// Returns the path to which the name leads, as far as that can be found: the rest of the name may be missing now.
std::string path_of(const WrittenName& name) {
  std::error_code none;
  const std::filesystem::path path = std::filesystem::absolute(name.passed, none);
  const std::filesystem::path known = std::filesystem::weakly_canonical(path, none);
  return (none ? path : known).string();
}

/// Returns the hash of the attempts that have failed, with one more: of the writing number `position`.
std::uint64_t with_failed(std::uint64_t failed, std::uint64_t position) {
  std::array<std::byte, 2 * sizeof(std::uint64_t)> both{};
  store(both.data(), little_endian(failed));
  store(both.data() + sizeof failed, little_endian(position));
  return (checksum(both) & 0xffffffffU) | 1U;  // never zero
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

std::uint64_t WritingCounts::by_name(const Writing& writing, std::uint64_t first) const {
  if (const auto known = last_.find(writing.name); known != last_.end())
    return known->second.sequence + 1;
  const auto natives = natives_before_.find(writing.name);
  const auto at_path = natives_at_path_.find(writing.path);
  const bool counts_path = at_path != natives_at_path_.end() && writing.is_by_trusted_links;
  return first + std::max(natives == natives_before_.end() ? 0 : natives->second,
                          counts_path ? at_path->second : 0);
}

bool WritingCounts::is_taken(const std::string& path, std::uint64_t sequence) const {
  const auto last = last_at_path_.find(path);
  return last != last_at_path_.end() && sequence <= last->second.sequence;
}

bool WritingCounts::is_repeated(const Writing& writing, std::uint64_t sequence) const {
  return is_taken(writing.path, sequence) &&
         !(writing.is_by_trusted_links &&
           last_at_path_.at(writing.path).writing.is_by_trusted_links);
}

std::uint64_t WritingCounts::count(const Writing& writing, std::uint64_t by_name) {
  std::uint64_t sequence = by_name;
  if (is_taken(writing.path, sequence) && !is_repeated(writing, sequence))
    sequence = last_at_path_[writing.path].sequence + 1;
  if (!is_taken(writing.path, sequence)) last_at_path_[writing.path] = {sequence, writing};
  last_[writing.name] = {sequence, writing.path};
  return sequence;
}

std::uint64_t WritingCounts::next(const Writing& writing,
                                  const std::function<std::uint64_t()>& first) {
  std::unique_lock lock(mutex_);
  // The first writing of the path has already asked for the writings of earlier programs.
  const bool is_first = !last_.contains(writing.name) && !last_at_path_.contains(writing.path);
  lock.unlock();
  const std::uint64_t first_sequence = is_first ? first() : 0;
  lock.lock();
  return count(writing, by_name(writing, first_sequence));
}

void WritingCounts::take_back(const Writing& writing, std::uint64_t sequence) {
  const std::lock_guard lock(mutex_);
  const auto last = last_at_path_.find(writing.path);
  const bool is_last = last != last_at_path_.end() && last->second.sequence == sequence &&
                       last->second.writing.name == writing.name;
  if (sequence == 0) {
    last_.erase(writing.name);
    if (is_last) last_at_path_.erase(last);
  } else {
    last_[writing.name].sequence = sequence - 1;
    if (is_last) last->second.sequence = sequence - 1;
  }
}

void WritingCounts::count_native(const Writing& writing) {
  const std::lock_guard lock(mutex_);
  if (last_.contains(writing.name) || last_at_path_.contains(writing.path))
    return (void)count(writing, by_name(writing, 0));
  ++natives_before_[writing.name];
  if (writing.is_by_trusted_links) ++natives_at_path_[writing.path];
}

void WritingCounts::count_failed(const WrittenName& name) {
  const std::lock_guard lock(mutex_);
  const auto last = last_.find(name);
  const bool is_known = last != last_.end();
  const auto natives = natives_before_.find(name);
  const std::uint64_t before = natives == natives_before_.end() ? 0 : natives->second;
  const std::uint64_t position = is_known ? last->second.sequence + 1 : before;
  std::uint64_t& failed = failed_[name];
  failed = with_failed(failed, position);
  // A name that was not written yet may be another name of a path that was.
  std::uint64_t& at_path = failed_at_path_[is_known ? last->second.path : path_of(name)];
  at_path = with_failed(at_path, position);
}

std::uint64_t WritingCounts::failed(const Writing& writing) const {
  const std::lock_guard lock(mutex_);
  const auto under_name = failed_.find(writing.name);
  const auto at_path = failed_at_path_.find(writing.path);
  const std::uint64_t by_name = under_name == failed_.end() ? 0 : under_name->second;
  const std::uint64_t by_path = at_path == failed_at_path_.end() ? 0 : at_path->second;
  return by_name == 0 && by_path == 0 ? 0 : with_failed(by_name, by_path);
}

bool WritingCounts::would_repeat(const Writing& writing) const {
  const std::lock_guard lock(mutex_);
  return is_repeated(writing, by_name(writing, 0));
}

std::optional<restart::FileIdentity> WritingCounts::directory_of(const std::string& path,
                                                                 std::uint64_t sequence) const {
  const std::lock_guard lock(mutex_);
  if (!is_taken(path, sequence)) return std::nullopt;
  return last_at_path_.at(path).writing.directory;
}

}  // namespace mcr::vol
