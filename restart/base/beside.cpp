// SPDX-License-Identifier: BSD-3-Clause
// Reads from directories what the rules in trust.hpp need.
#include <fcntl.h>
#include <sys/xattr.h>

#include <algorithm>
#include <array>

#include "codecs/base/bytes.hpp"
#include "restart/base/path_names.hpp"
#include "restart/base/system.hpp"
#include "restart/base/trust.hpp"

namespace mcr::restart {
namespace {

constexpr const char* list_name = "system.posix_acl_access";
constexpr const char* default_list_name = "system.posix_acl_default";
constexpr std::size_t most_list_bytes = 4096;

/// Returns the rights of the owning group in a POSIX access list as the kernel gives it: a version,
/// then entries of tag, rights and id, all little-endian (linux/posix_acl_xattr.h). Returns 0 if the
/// list has no such entry.
mode_t rights_of_own_group(ByteSpan list) {
  constexpr std::size_t head_bytes = 4;
  constexpr std::uint16_t own_group = 0x04;
  mode_t rights = 0;
  Reader entries(list.subspan(std::min(head_bytes, list.size())));
  for (;;) {
    const auto tag = entries.u16();
    const auto mode = entries.u16();
    const auto id = entries.u32();
    if (!tag || !mode || !id) return rights;
    if (*tag == own_group) rights = *mode & 7U;
  }
}

Result<struct stat> status_of(const std::string& directory) {
  struct stat status {};
  if (system_calls().fstatat(AT_FDCWD, directory.c_str(), &status, 0) != 0)
    return system_error("cannot look at", directory);
  return status;
}

bool has_access_list_at(const std::string& path) {
  return ::getxattr(path.c_str(), list_name, nullptr, 0) > 0;
}

}  // namespace

Result<struct stat> status_with_own_group(const File& directory) {
  struct stat status = MCR_TRY(directory.status());
  // By path, because fgetxattr() refuses a descriptor opened with O_PATH.
  std::array<std::byte, most_list_bytes> list{};
  const ssize_t got =
      ::getxattr(link_path(directory.descriptor()).c_str(), list_name, list.data(), list.size());
  if (got > 0 || errno == ERANGE) {
    const auto bytes = static_cast<std::size_t>(std::max<ssize_t>(got, 0));
    const mode_t group = rights_of_own_group(ByteSpan(list).first(bytes));
    status.st_mode &= ~mode_t{S_IRWXG} | (group << 3);
  }
  return status;
}

bool is_believed_in(const std::string& directory, const struct stat& file, uid_t owner) {
  return is_believed(file.st_uid, owner) || Beside::in(directory).believes(file.st_uid, owner);
}

bool has_access_list(const File& directory) {
  return has_access_list_at(link_path(directory.descriptor()));
}

bool has_default_list(const File& directory) {
  return ::getxattr(link_path(directory.descriptor()).c_str(), default_list_name, nullptr, 0) > 0;
}

Result<Beside> Beside::of(const File& outer, const File& inner) {
  Beside beside(MCR_TRY(outer.status()), MCR_TRY(inner.status()));
  beside.outer_group_ = MCR_TRY(status_with_own_group(outer)).st_mode & S_IRWXG;
  beside.inner_group_ = MCR_TRY(status_with_own_group(inner)).st_mode & S_IRWXG;
  beside.has_outer_list_ = has_access_list(outer);
  return beside;
}

Beside Beside::below(const std::string& outer, const Result<struct stat>& inner) {
  const auto status = status_of(outer);
  if (!status || !inner) return {};
  Beside beside(*status, *inner);
  beside.has_outer_list_ = has_access_list_at(outer);
  return beside;
}

Beside Beside::of(const std::string& directory) {
  return below(parent_of(directory), status_of(directory));
}

Beside Beside::of(const File& inner, const std::string& directory) {
  return below(parent_of(directory), inner.status());
}

Beside Beside::in(const std::string& directory) { return below(directory, status_of(directory)); }

}  // namespace mcr::restart
