// SPDX-License-Identifier: BSD-3-Clause
// POSIX access lists for tests, in the form of linux/posix_acl_xattr.h.
#pragma once

#include <sys/xattr.h>

#include <cstdint>
#include <initializer_list>
#include <string>

#include "codecs/base/bytes.hpp"
#include "restart/base/access_list.hpp"

namespace mcr::restart {

struct ListEntry {
  Tag tag;
  std::uint16_t rights;
  std::uint32_t id;  ///< of a user or group; UINT32_MAX for entries without an id
};

inline Bytes made_list(std::initializer_list<ListEntry> entries) {
  Bytes list;
  Writer out(list);
  out.u32(2);  // the version
  for (const ListEntry& entry : entries) {
    out.u16(static_cast<std::uint16_t>(entry.tag));
    out.u16(entry.rights);
    out.u32(entry.id);
  }
  return list;
}

/// Entries of owner, own group, mask and others in the kernel's order, with one named user between
/// them.
inline Bytes list_for_user(std::uint32_t user, std::uint16_t rights, std::uint16_t own_group) {
  constexpr std::uint32_t none = UINT32_MAX;
  return made_list({{Tag::owner, 7, none},
                    {Tag::user, rights, user},
                    {Tag::own_group, own_group, none},
                    {Tag::mask, 7, none},
                    {Tag::others, 5, none}});
}

/// False if the file system has no access lists.
inline bool set_list(const std::string& path, const Bytes& list) {
  return ::setxattr(path.c_str(), access_list_name, list.data(), list.size(), 0) == 0;
}

}  // namespace mcr::restart
