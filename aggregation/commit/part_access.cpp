// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/commit/part_access.hpp"

#include <unistd.h>

#include <optional>

#include "aggregation/commit/put_back.hpp"
#include "restart/base/log.hpp"

namespace mcr::aggregation {
namespace {

/// A file of another kind at the path is no longer this part's, unless the part is to replace it or
/// is such a file itself.
std::optional<restart::Access> access_at(const restart::PartBegin& begin, bool is_native) {
  const auto there = look_at(begin);
  if (!there || !there->access) return std::nullopt;
  const bool is_other = there->kind == AtPath::Kind::other_file;
  if (is_other && !is_native && begin.replaced != restart::Replaced::native_file)
    return std::nullopt;
  return there->access;
}

}  // namespace

restart::Access access_of_part(const LockedPart& part, const StubHandles* stubs) {
  restart::PartBegin begin = part.journal.begin;
  if (const auto found = access_at(begin, part.is_native)) return *found;
  restart::Access access;
  access.group = ::getegid();
  if (stubs != nullptr) {
    const auto now = stubs->find(part.id);
    if (now.fate == StubHandles::Fate::removed) {  // nobody reads it, whoever reads the others
      access.mode = begin.mode;
      return access;
    }
    if (now.fate == StubHandles::Fate::present) {
      begin.path = now.path;
      begin.directory_device = begin.directory_inode = 0;  // it is known by the stub
      if (const auto found = access_at(begin, part.is_native)) return *found;
    }
  }
  restart::log_warning_once(
      "access", part.journal.begin.path +
                    " was renamed or removed before its commit: its container can be read by its "
                    "owner alone; nothing is lost, and `chmod` of the container opens it");
  access.mode = begin.mode & 0700;
  return access;
}

}  // namespace mcr::aggregation
