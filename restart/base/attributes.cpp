// SPDX-License-Identifier: BSD-3-Clause
#include "restart/base/attributes.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

#include "restart/base/access_list.hpp"
#include "restart/base/mapped_ids.hpp"
#include "restart/base/system.hpp"
#include "restart/base/trust.hpp"

namespace mcr::restart {
namespace {

constexpr const char* label_name = "security.selinux";
constexpr std::string_view program_prefix = "user.";
constexpr std::size_t most_attribute_bytes = 64 * 1024;  // of one value, or of the list of names

/// True if the error number means that the file system has no such attributes, or the file has not
/// set this one.
bool is_none(int number) {
  return number == ENODATA || number == EOPNOTSUPP || number == ENOTSUP || number == ENOSYS;
}

/// Returns the attribute's value; empty if the file has no such attribute.
Result<Bytes> attribute(const File& file, const char* name) {
  Bytes value(256);
  for (;;) {
    const ssize_t got =
        system_calls().fgetxattr(file.descriptor(), name, value.data(), value.size());
    if (got >= 0) {
      value.resize(static_cast<std::size_t>(got));
      return value;
    }
    if (is_none(errno)) return Bytes();
    if (errno != ERANGE || value.size() == most_attribute_bytes)
      return system_error("cannot read " + std::string(name) + " of", file.name());
    value.resize(most_attribute_bytes);
  }
}

Result<void> set_attribute(const File& file, const char* name, ByteSpan value) {
  if (system_calls().fsetxattr(file.descriptor(), name, value.data(), value.size(), 0) == 0)
    return {};
  return system_error("cannot set " + std::string(name) + " of", file.name());
}

Result<std::vector<std::string>> attribute_names(const File& file) {
  std::string names(1024, '\0');
  ssize_t got = system_calls().flistxattr(file.descriptor(), names.data(), names.size());
  if (got < 0 && errno == ERANGE) {
    names.resize(most_attribute_bytes);
    got = system_calls().flistxattr(file.descriptor(), names.data(), names.size());
  }
  if (got < 0 && !is_none(errno)) return system_error("cannot list attributes of", file.name());
  names.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  std::vector<std::string> found;
  for (std::size_t begin = 0; begin < names.size(); begin += found.back().size() + 1)
    found.emplace_back(names.c_str() + begin);
  return found;
}

constexpr mode_t group_bits(mode_t mode) { return (mode >> 3) & 7; }
constexpr mode_t other_bits(mode_t mode) { return mode & 7; }
constexpr mode_t with(mode_t mode, mode_t group, mode_t other) {
  return (mode & ~mode_t{077}) | (group << 3) | other;
}

/// Returns the umask of this process, or 077 if the kernel does not show it. umask() is not used,
/// because it would change the mask for a moment for the program's other threads too.
mode_t present_umask() {
  constexpr mode_t closed = 077;
  constexpr std::string_view word = "\nUmask:";
  const auto status = File::open(AT_FDCWD, "/proc/self/status", O_RDONLY);
  if (!status) return closed;
  std::string text(4096, '\0');
  const auto got = status->read_some_at(0, std::as_writable_bytes(std::span(text)));
  const std::size_t place = got ? text.find(word) : std::string::npos;
  if (place == std::string::npos) return closed;
  return static_cast<mode_t>(std::strtoul(text.c_str() + place + word.size(), nullptr, 8)) & 0777;
}

Result<void> set_mode(const File& file, mode_t mode) {
  if (system_calls().fchmod(file.descriptor(), mode) == 0) return {};
  return system_error("cannot set the mode of", file.name());
}

/// Gives `file` the mode of a new file of this user. `old` belongs to another user: its mode can
/// only narrow that mode, because another user must not decide who may use this file.
Result<void> open_as_new(const File& file, const Access& old) {
  const struct stat now = MCR_TRY(file.status());
  const mode_t mode = old.mode & 0666;
  // If the file inherited an access list from its directory, the list applies instead of the umask.
  // The group bits then hold the list's mask.
  if (!MCR_TRY(attribute(file, access_list_name)).empty())
    return set_mode(file, with(0600, group_bits(mode), 0));
  mode_t group = group_bits(mode);
  mode_t other = other_bits(mode);
  if (!old.list.empty()) group = other = 0;
  if (now.st_gid != old.group || is_unmapped_group(old.group)) group = other = group & other;
  return set_mode(file, with(0600, group, other) & ~(present_umask() & 077));
}

}  // namespace

Result<Access> access_of(const File& file) {
  const struct stat status = MCR_TRY(file.status());
  return Access{status.st_gid, status.st_mode & 0777, MCR_TRY(attribute(file, access_list_name))};
}

Access common_access(const std::vector<Access>& all) {
  if (all.empty()) return {};
  Access common = all.front();
  const bool is_one_list = std::all_of(all.begin(), all.end(), [&](const Access& one) {
    return one.list == common.list && (one.list.empty() || one.group == common.group);
  });
  // Access lists that differ are not merged: only the owner may use the file.
  if (!is_one_list) return {common.group, 0600, {}};
  mode_t group = 06;
  mode_t other = 06;
  for (const Access& one : all) {
    mode_t for_group = group_bits(one.mode);
    mode_t for_other = other_bits(one.mode);
    // Members of another file's group belong to our group or to the others, and the kernel checks
    // the group bits first. So group and others get only what that file grants to both.
    if (one.group != common.group) for_group = for_other = for_group & for_other;
    group &= for_group;
    other &= for_other;
  }
  common.mode = with(0600, group, other);
  // The kernel ignores a list whose mask is empty. Users whom the list shuts out would then get the
  // rights of others.
  if (!common.list.empty() && group == 0) return {common.group, 0600, {}};
  return common;
}

Access readers_of(const std::vector<Access>& all) {
  Access access = common_access(all);
  access.mode &= ~static_cast<mode_t>(S_IWGRP | S_IWOTH);
  return access;
}

Access within(const Access& access, const Access& limit) {
  // Containers have no write permission for others, so only readers are compared.
  const auto readers = [](Access one) {
    one.mode = (one.mode & 0044) | 0600;
    if (!one.list.empty()) one.list = list_with_mode(one.list, one.mode);
    return one;
  };
  const Access own = readers(access);
  if (common_access({own, readers(limit)}) == own) return access;
  Access narrowed = common_access({access, limit});
  // The list stays, so that a later chmod() lets nobody in whom it shuts out. Until then nobody but the owner has
  // rights.
  if (narrowed.list.empty() && !access.list.empty())
    narrowed.list = list_with_mode(access.list, narrowed.mode);
  return narrowed;
}

Access without_list(Access access) {
  if (access.list.empty()) return access;
  access.mode = with(access.mode, group_bits(access.mode) & rights_of_all_groups(access.list), 0);
  access.list.clear();
  return access;
}

mode_t mode_within(mode_t mode, const Access& container) {
  // A container has no write permission for others. Users who may read it may write a file from it
  // if its own mode says so.
  const mode_t readers = container.list.empty() ? container.mode & 0044 : 0;
  return (mode == 0 ? 0644 : mode) & (0700 | readers | readers >> 1);
}

Result<void> give_access(const File& file, const Access& access) {
  const struct stat now = MCR_TRY(file.status());
  mode_t mode = access.mode & 0777;
  Bytes list = access.list;
  const bool has_group =
      (now.st_gid == access.group && !is_unmapped_group(access.group)) ||
      system_calls().fchown(file.descriptor(), static_cast<uid_t>(-1), access.group) == 0;
  if (!has_group) {
    // The kernel ignores a list whose mask is empty, and the file's own group is another one: members of
    // `access.group` would count as others.
    if (group_bits(mode) == 0) mode = with(mode, 0, 0);
    const Bytes foreign = list_for_foreign_group(list, mode, access.group);
    if (set_attribute(file, access_list_name, list_with_mode(foreign, mode)))
      return set_mode(file, mode);
    const mode_t both = list.empty() ? group_bits(mode) & other_bits(mode) : 0;
    mode = with(mode, both, both);
    list.clear();
  }
  // The list already contains the mode, so that no other user can open the file before set_mode().
  if (!list.empty() && !set_attribute(file, access_list_name, list_with_mode(list, mode))) {
    mode = with(mode, 0, 0);
    list.clear();
  }
  // A list that the file inherited from its directory may name users whom `access` shuts out.
  if (list.empty() && !MCR_TRY(attribute(file, access_list_name)).empty() &&
      system_calls().fremovexattr(file.descriptor(), access_list_name) != 0) {
    return system_error("cannot remove the inherited access list of", file.name());
  }
  return set_mode(file, mode);
}

bool is_own_group(gid_t group) {
  if (group == ::getegid()) return true;
  const int count = ::getgroups(0, nullptr);
  std::vector<gid_t> groups(static_cast<std::size_t>(std::max(count, 0)));
  if (::getgroups(count, groups.data()) < 0) return false;
  return std::find(groups.begin(), groups.end(), group) != groups.end();
}

bool is_own_or_projects(const struct stat& directory) {
  if (is_believed(directory.st_uid, ::geteuid())) return true;
  return (directory.st_mode & S_IWGRP) != 0 && is_own_group(directory.st_gid);
}

bool can_have_group(const File& directory, gid_t group) {
  if (is_unmapped_group(group)) return false;
  if (::geteuid() == 0 || is_own_group(group)) return true;
  const auto status = directory.status();
  return status && (status->st_mode & S_ISGID) != 0 && status->st_gid == group;
}

Result<void> copy_attributes(const File& from, const File& to) {
  return copy_attributes(from, to, MCR_TRY(access_of(from)));
}

Result<void> copy_attributes(const File& from, const File& to, const Access& access) {
  if (MCR_TRY(from.status()).st_uid != MCR_TRY(to.status()).st_uid) {
    const bool is_limited = access != MCR_TRY(access_of(from));
    // The other user may have chosen whom the inherited list names.
    if (is_limited && !MCR_TRY(attribute(to, access_list_name)).empty()) return set_mode(to, 0600);
    return open_as_new(to, access);
  }
  for (const std::string& name : MCR_TRY(attribute_names(from))) {
    const bool is_label = name == label_name;
    if (!is_label && !name.starts_with(program_prefix)) continue;
    const auto value = attribute(from, name.c_str());
    const auto set = value ? set_attribute(to, name.c_str(), *value) : Result<void>(value.error());
    // A policy may forbid setting a security label; then the file keeps the label that it got from
    // its directory.
    if (!set && !is_label) return set;
  }
  return give_access(to, access);
}

Result<void> open_as_parent(const File& directory, const File& parent) {
  const struct stat inner = MCR_TRY(directory.status());
  const bool inherits = has_access_list(directory);
  const struct stat outer = MCR_TRY(inherits ? parent.status() : status_with_own_group(parent));
  constexpr mode_t list_and_enter = 05;
  const auto only_whole = [](mode_t bits) {
    return (bits & list_and_enter) == list_and_enter ? list_and_enter : 0;
  };
  mode_t group = only_whole(group_bits(outer.st_mode));
  mode_t other = only_whole(other_bits(outer.st_mode));
  // Members of the group of `parent` may count as others in a directory of another group.
  const bool group_only_enters = group == 0 && (group_bits(outer.st_mode) & 01) != 0;
  if (inner.st_gid != outer.st_gid) group &= other;
  if (inner.st_gid != outer.st_gid && group_only_enters) other = 0;
  const mode_t wanted = (inner.st_mode & 07777) | (group << 3) | other;
  if (wanted == (inner.st_mode & 07777)) return {};
  if (system_calls().fchmod(directory.descriptor(), wanted) != 0)
    return system_error("cannot set the mode of", directory.name());
  return {};
}

}  // namespace mcr::restart
