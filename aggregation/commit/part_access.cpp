// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/commit/part_access.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include "aggregation/commit/put_back.hpp"
#include "restart/base/closed_directories.hpp"
#include "restart/base/log.hpp"
#include "restart/base/path_names.hpp"
#include "restart/base/system.hpp"
#include "restart/stage/stub_file.hpp"

namespace mcr::aggregation {
namespace {

/// Limits a file's access rights to those that the program gave the part.
restart::Access at_most(restart::Access access, std::uint32_t mode) {
  access.mode &= mode;
  return access;
}

/// Limits the access to the part's if the file belongs to another user: its inode number may have
/// been reused, so it may be another file.
restart::Access for_certain(const restart::File& file, const restart::Access& access,
                            const restart::PartBegin& begin) {
  const auto status = file.status();
  return status && status->st_uid == ::geteuid() ? access : at_most(access, begin.mode);
}

/// Returns the access rights of this user's file at the path: the part's stub or the empty file
/// that becomes it, the file that the part replaces, or the part's own native file.
std::optional<restart::Access> access_at(const LockedPart& part) {
  const restart::PartBegin& begin = part.journal.begin;
  const auto there = look_at(begin);
  if (!there || !there->is_own || !there->access) return std::nullopt;
  using Kind = AtPath::Kind;
  if (part.is_native) {
    const auto& native = *part.journal.publish->native;
    if (there->inode != native.inode || there->device != native.device) return std::nullopt;
    return there->access;
  }
  if (there->kind == Kind::our_stub || there->kind == Kind::our_empty)
    return for_certain(there->file, *there->access, begin);
  const bool is_replaced =
      (there->kind == Kind::other_stub && begin.replaced_part == there->part) ||
      (there->kind == Kind::other_file && begin.replaced == restart::Replaced::native_file);
  if (!is_replaced) return std::nullopt;
  return at_most(*there->access, begin.mode);
}

/// Returns the access rights of the stub as found by its descriptor, not by the part's path. `now` is where the stub is.
std::optional<restart::Access> access_of_stub(const LockedPart& part, const StubHandles* stubs,
                                              const StubHandles::Found& now) {
  if (now.fate != StubHandles::Fate::present) return std::nullopt;
  if (auto access = stubs->access(part.id)) return access;
  const auto file = restart::File::open(AT_FDCWD, now.path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  const auto status = file ? file->status() : Result<struct stat>(file.error());
  if (!status || status->st_dev != now.device || status->st_ino != now.inode) return std::nullopt;
  const auto access = restart::access_of(*file);
  return access ? std::optional(for_certain(*file, *access, part.journal.begin)) : std::nullopt;
}

/// The access for a part that nobody can open under its name any more.
restart::Access only_owner(const restart::PartBegin& begin) {
  restart::Access access;
  access.group = ::getegid();
  access.mode = begin.mode & 0700;
  return access;
}

bool is_written_again(const LockedPart& part, const StubHandles::Found& now,
                      const BeingWritten& written) {
  if (part.is_native) return false;
  if (written.replaced.contains(part.id)) return true;
  const bool is_present = now.fate == StubHandles::Fate::present;
  const auto [begin, end] =
      written.paths.equal_range(is_present ? now.path : part.journal.begin.path);
  return std::any_of(begin, end, [&](const auto& other) { return other.second != part.id; });
}

restart::Access open_access(const LockedPart& part, const StubHandles* stubs,
                            const BeingWritten& written) {
  const auto now = stubs != nullptr ? stubs->find(part.id) : StubHandles::Found{};
  if (is_written_again(part, now, written)) return only_owner(part.journal.begin);
  if (const auto access = access_of_stub(part, stubs, now)) return *access;
  if (const auto access = access_at(part)) return *access;
  const restart::PartBegin& begin = part.journal.begin;
  restart::log_warning_once(
      "access",
      begin.path +
          " was renamed or removed before its commit, so its mode is not known and only its owner "
          "may read the container. Nothing is lost; chmod the container if others should read it");
  return only_owner(begin);
}

}  // namespace

BeingWritten being_written(const restart::LaunchDirectory& directory) {
  using State = restart::LaunchDirectory::State;
  BeingWritten found;
  const auto open = directory.list(State::open);
  if (!open) return found;
  for (const restart::PartId& part : *open) {
    const auto journal = directory.journal(State::open, part);
    if (!journal) continue;
    found.paths.emplace(journal->begin.path, part);
    if (journal->begin.replaced_part) found.replaced.insert(*journal->begin.replaced_part);
  }
  return found;
}

std::optional<restart::File> directory_of(const LockedPart& part, const StubHandles* stubs) {
  constexpr int most_renames = 4;
  for (int turn = 0; stubs != nullptr && turn < most_renames; ++turn) {
    const auto found = stubs->find(part.id);
    if (found.fate != StubHandles::Fate::present) break;
    auto directory = restart::open_directory_of(found.path, {found.device, found.inode});
    if (directory) return *std::move(directory);
  }
  auto directory = restart::open_begun_in(part.journal.begin, O_PATH);
  return directory ? std::optional(*std::move(directory)) : std::nullopt;
}

restart::Access access_of_part(const LockedPart& part, const StubHandles* stubs,
                               const std::optional<restart::FileIdentity>& outer,
                               const BeingWritten& written) {
  restart::Access access = open_access(part, stubs, written);
  if (!outer) return access;
  if (const auto directory = directory_of(part, stubs))
    return restart::closed_by_directories(access, *directory, *outer);
  access.mode &= 0700;
  access.list.clear();
  return access;
}

}  // namespace mcr::aggregation
