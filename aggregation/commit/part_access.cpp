// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/commit/part_access.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <optional>
#include <utility>

#include "aggregation/commit/put_back.hpp"
#include "restart/base/closed_directories.hpp"
#include "restart/base/log.hpp"
#include "restart/base/path_names.hpp"
#include "restart/base/system.hpp"
#include "restart/stage/rewrite_mark.hpp"
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

/// A part's access rights, and the stub that they come from.
struct AccessSource {
  restart::Access access;
  /// Not open if the part has no stub: a native file, or a writer that died at its close.
  restart::File stub;
};

/// Returns the access rights of this user's file at the path: the part's stub or the empty file
/// that becomes it, the file that the part replaces, or the part's own native file.
std::optional<AccessSource> find_access_at_path(const LockedPart& part) {
  const restart::PartBegin& begin = part.journal.begin;
  auto there = look_at(begin);
  if (!there || !there->is_own || !there->access) return std::nullopt;
  using Kind = AtPath::Kind;
  if (part.is_native) {
    const auto& native = *part.journal.publish->native;
    if (there->inode != native.inode || there->device != native.device) return std::nullopt;
    return AccessSource{*there->access, {}};
  }
  if (there->kind == Kind::our_stub)
    return AccessSource{for_certain(there->file, *there->access, begin), std::move(there->file)};
  // The writer died before its stub was in place, or storage refused the stub.
  if (part.journal.publish && part.journal.publish->stub_is_placed) return std::nullopt;
  const bool is_replaced =
      (there->kind == Kind::other_stub && begin.replaced_part == there->part) ||
      (there->kind == Kind::other_file && begin.replaced == restart::Replaced::native_file);
  if (there->kind != Kind::our_empty && !is_replaced) return std::nullopt;
  return AccessSource{at_most(*there->access, begin.mode), {}};
}

/// Returns the access rights of the stub as found by its descriptor, not by the part's path. `now` is where the stub is.
std::optional<AccessSource> find_access_by_descriptor(const LockedPart& part,
                                                      const StubHandles& stubs,
                                                      const StubHandles::Found& now) {
  if (now.fate != StubHandles::Fate::present) return std::nullopt;
  auto file = stubs.open_to_read(part.id);
  const bool is_held = file.is_open();
  if (!is_held) {
    auto named = restart::File::open(AT_FDCWD, now.path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    const auto status = named ? named->status() : Result<struct stat>(named.error());
    if (!status || status->st_dev != now.device || status->st_ino != now.inode) return std::nullopt;
    file = *std::move(named);
  }
  const auto access = restart::access_of(file);
  if (!access) return std::nullopt;
  // The file of H5Fcreate, whose writer died before its stub was in it.
  const auto& publish = part.journal.publish;
  if (publish && !publish->stub_is_placed && file.size().value_or(0) == 0)
    return AccessSource{at_most(*access, part.journal.begin.mode), {}};
  return AccessSource{is_held ? *access : for_certain(file, *access, part.journal.begin),
                      std::move(file)};
}

/// The access for a part that nobody can open under its name any more.
restart::Access only_owner(const restart::PartBegin& begin) {
  restart::Access access;
  access.group = ::getegid();
  access.mode = begin.mode & 0700;
  return access;
}

std::optional<AccessSource> find_access(const LockedPart& part, const StubHandles* stubs) {
  if (stubs != nullptr) {
    if (auto found = find_access_by_descriptor(part, *stubs, stubs->find(part.id))) return found;
  }
  return find_access_at_path(part);
}

}  // namespace

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
                               const std::optional<restart::FileIdentity>& outer) {
  const restart::PartBegin& begin = part.journal.begin;
  auto found = find_access(part, stubs);
  if (!found) {
    restart::log_warning_once(
        "access",
        begin.path +
            " was renamed, removed or overwritten before its commit, so its mode is not known and "
            "only its "
            "owner may read the container. Nothing is lost; chmod the container if others should "
            "read it");
    return only_owner(begin);
  }
  if (outer) {
    const auto directory = directory_of(part, stubs);
    if (!directory) return only_owner(begin);
    found->access = restart::closed_by_directories(found->access, *directory, *outer);
  }
  // Comes last, because a program marks the stub before it opens file or directory to others.
  const bool is_current = !found->stub.is_open() || restart::still_shows(found->stub, part.id);
  return is_current ? found->access : only_owner(begin);
}

}  // namespace mcr::aggregation
