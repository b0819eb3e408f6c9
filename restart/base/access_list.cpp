// SPDX-License-Identifier: BSD-3-Clause
#include "restart/base/access_list.hpp"

#include <algorithm>
#include <vector>

namespace mcr::restart {
namespace {

constexpr std::size_t head_bytes = 4;
constexpr mode_t write_and_enter = 03;

struct Entry {
  Tag tag;
  std::uint16_t rights = 0;
  std::uint32_t id = 0;

  [[nodiscard]] bool is_named() const { return tag == Tag::user || tag == Tag::group; }
};

std::vector<Entry> entries_of(ByteSpan list) {
  std::vector<Entry> entries;
  Reader reader(list.subspan(std::min(head_bytes, list.size())));
  for (;;) {
    const auto tag = reader.u16();
    const auto rights = reader.u16();
    const auto id = reader.u32();
    if (!tag || !rights || !id) return entries;
    entries.push_back({static_cast<Tag>(*tag), static_cast<std::uint16_t>(*rights & 7U), *id});
  }
}

mode_t mask_of(const std::vector<Entry>& entries) {
  for (const Entry& entry : entries)
    if (entry.tag == Tag::mask) return entry.rights;
  return 07;
}

bool may_write(mode_t rights) { return (rights & write_and_enter) == write_and_enter; }

}  // namespace

mode_t rights_of_own_group(ByteSpan list) {
  const auto entries = entries_of(list);
  for (const Entry& entry : entries)
    if (entry.tag == Tag::own_group) return entry.rights & mask_of(entries);
  return 0;
}

mode_t rights_of_all_groups(ByteSpan list) {
  mode_t common = rights_of_own_group(list);
  for (const Entry& entry : entries_of(list))
    if (entry.is_named()) common &= entry.rights;
  return common;
}

Bytes list_with_mode(ByteSpan list, mode_t mode) {
  Bytes out(list.begin(),
            list.begin() + static_cast<std::ptrdiff_t>(std::min(head_bytes, list.size())));
  Writer writer(out);
  for (const Entry& entry : entries_of(list)) {
    mode_t rights = entry.rights;
    if (entry.tag == Tag::owner) rights = (mode >> 6) & 7;
    if (entry.tag == Tag::mask) rights = (mode >> 3) & 7;
    if (entry.tag == Tag::others) rights = mode & 7;
    writer.u16(static_cast<std::uint16_t>(entry.tag));
    writer.u16(static_cast<std::uint16_t>(rights));
    writer.u32(entry.id);
  }
  return out;
}

bool lets_named_write(ByteSpan list) {
  const auto entries = entries_of(list);
  return std::any_of(entries.begin(), entries.end(), [&](const Entry& entry) {
    return entry.is_named() && may_write(entry.rights & mask_of(entries));
  });
}

bool lets_more_write(ByteSpan list, ByteSpan above, const struct stat& status_above) {
  const auto entries = entries_of(list);
  const auto entries_above = entries_of(above);
  const mode_t own_group_above =
      entries_above.empty() ? (status_above.st_mode >> 3) & 7 : rights_of_own_group(above);
  const auto may_above = [&](const Entry& entry) {
    if (entry.tag == Tag::user && entry.id == status_above.st_uid) return true;
    if (entry.tag == Tag::group && entry.id == status_above.st_gid && may_write(own_group_above))
      return true;
    return std::any_of(entries_above.begin(), entries_above.end(), [&](const Entry& other) {
      return other.tag == entry.tag && other.id == entry.id &&
             may_write(other.rights & mask_of(entries_above));
    });
  };
  return std::any_of(entries.begin(), entries.end(), [&](const Entry& entry) {
    return entry.is_named() && may_write(entry.rights & mask_of(entries)) && !may_above(entry);
  });
}

bool lets_shut_out_write(ByteSpan list, const struct stat& status, ByteSpan above,
                         const struct stat& status_above) {
  const auto entries = entries_of(list);
  const auto entries_above = entries_of(above);
  const mode_t own_group = entries.empty() ? (status.st_mode >> 3) & 7 : rights_of_own_group(list);
  const bool others_write = may_write(status.st_mode & 7);
  const bool any_group_writes =
      may_write(own_group) || std::any_of(entries.begin(), entries.end(), [&](const Entry& entry) {
        return entry.tag == Tag::group && may_write(entry.rights & mask_of(entries));
      });
  // A group's entry shuts its members out of others only: the kernel lets a user write whom the entry of any of
  // his groups lets write.
  const bool group_is_another = may_write(own_group) && status.st_gid != status_above.st_gid;
  const auto could_write = [&](const Entry& shut_out) {
    const bool is_user = shut_out.tag == Tag::user;
    if (is_user && (shut_out.id == status.st_uid || shut_out.id == status_above.st_uid))
      return false;  // the entry of an owner has no effect
    const auto same = std::find_if(entries.begin(), entries.end(), [&](const Entry& entry) {
      return entry.tag == shut_out.tag && entry.id == shut_out.id;
    });
    const bool is_named_here = same != entries.end();
    if (is_named_here && may_write(same->rights & mask_of(entries))) return true;
    if (is_user) return !is_named_here && (any_group_writes || others_write);
    return group_is_another || (!is_named_here && others_write);
  };
  return std::any_of(entries_above.begin(), entries_above.end(), [&](const Entry& entry) {
    return entry.is_named() && !may_write(entry.rights & mask_of(entries_above)) &&
           could_write(entry);
  });
}

}  // namespace mcr::restart
