// SPDX-License-Identifier: BSD-3-Clause
#include "restart/base/access_list.hpp"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

namespace mcr::restart {
namespace {

constexpr std::size_t head_bytes = 4;
constexpr std::uint32_t list_version = 2;
constexpr std::uint32_t no_id = 0xFFFFFFFF;  ///< of an entry without a name
constexpr mode_t write_and_enter = 03;
constexpr mode_t list_and_enter = 05;

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

void write_entries(const std::vector<Entry>& entries, Bytes& list) {
  Writer writer(list);
  for (const Entry& entry : entries) {
    writer.u16(static_cast<std::uint16_t>(entry.tag));
    writer.u16(entry.rights);
    writer.u32(entry.id);
  }
}

/// The entries of the list; if it is empty, those of a list that means the same as `mode`.
std::vector<Entry> all_entries_of(ByteSpan list, mode_t mode) {
  if (!list.empty()) return entries_of(list);
  const auto rights = [&](int shift) { return static_cast<std::uint16_t>((mode >> shift) & 7); };
  return {{Tag::owner, rights(6), no_id},
          {Tag::own_group, rights(3), no_id},
          {Tag::others, rights(0), no_id}};
}

/// Returns the rights of a user who is not the owner, as the kernel finds them: acl(5), "access check
/// algorithm".
mode_t rights_of(const std::vector<Entry>& entries, gid_t owning_group, std::uint32_t user,
                 const std::set<std::uint32_t>& member_of) {
  const mode_t mask = mask_of(entries);
  const bool is_ignored = mask == 0;  // Linux then ignores named entries
  mode_t of_groups = 0;
  mode_t of_others = 0;
  bool is_member = false;
  for (const Entry& entry : entries) {
    if (entry.tag == Tag::user && entry.id == user && !is_ignored) return entry.rights & mask;
    if (entry.tag == Tag::others) of_others = entry.rights;
    const bool is_owning = entry.tag == Tag::own_group;
    if (!is_owning && (entry.tag != Tag::group || is_ignored)) continue;
    if (!member_of.contains(is_owning ? owning_group : entry.id)) continue;
    is_member = true;
    of_groups |= entry.rights & mask;
  }
  return is_member ? of_groups : of_others;
}

/// True if there is a list whose entries are not known: it may deny anything.
bool is_unreadable(ByteSpan list) { return !list.empty() && entries_of(list).empty(); }

bool may_write(mode_t rights) { return (rights & write_and_enter) == write_and_enter; }
bool may_list(mode_t rights) { return (rights & list_and_enter) == list_and_enter; }

/// True if a user or group that `list` names has `here` in it, but not `there` in the directory above.
template <typename Here, typename There>
bool lets_named_more(ByteSpan list, ByteSpan above, const struct stat& status_above, Here here,
                     There there) {
  const auto entries = entries_of(list);
  const auto entries_above = entries_of(above);
  const mode_t own_group_above =
      entries_above.empty() ? (status_above.st_mode >> 3) & 7 : rights_of_own_group(above);
  const auto may_above = [&](const Entry& entry) {
    if (entry.tag == Tag::user && entry.id == status_above.st_uid) return true;
    if (entry.tag == Tag::group && entry.id == status_above.st_gid && there(own_group_above))
      return true;
    return std::any_of(entries_above.begin(), entries_above.end(), [&](const Entry& other) {
      return other.tag == entry.tag && other.id == entry.id &&
             there(other.rights & mask_of(entries_above));
    });
  };
  return std::any_of(entries.begin(), entries.end(), [&](const Entry& entry) {
    return entry.is_named() && here(entry.rights & mask_of(entries)) && !may_above(entry);
  });
}

/// True if all but the owners who have one of the rights `used` to the inner file have all rights `needed` to the
/// directory.
bool lets_all(const struct stat& directory, ByteSpan directory_list, mode_t file_mode,
              gid_t file_group, ByteSpan file_list, mode_t used, mode_t needed) {
  constexpr std::size_t most_groups = 8;
  const auto file = all_entries_of(file_list, file_mode);
  const auto above = all_entries_of(directory_list, directory.st_mode);
  // Two users are alike if neither list names them and they are in the same of these groups.
  std::set<std::uint32_t> users{directory.st_uid};
  std::set<std::uint32_t> groups{file_group, directory.st_gid};
  for (const auto* entries : {&file, &above}) {
    for (const Entry& entry : *entries) {
      if (entry.tag == Tag::user) users.insert(entry.id);
      if (entry.tag == Tag::group) groups.insert(entry.id);
    }
  }
  if (groups.size() > most_groups) return false;
  std::uint32_t any_user = 0;
  while (users.contains(any_user)) ++any_user;
  users.insert(any_user);
  const std::vector<std::uint32_t> all_groups(groups.begin(), groups.end());
  for (unsigned subset = 0; subset < 1U << all_groups.size(); ++subset) {
    std::set<std::uint32_t> member_of;
    for (std::size_t i = 0; i < all_groups.size(); ++i)
      if ((subset >> i & 1U) != 0) member_of.insert(all_groups[i]);
    for (const std::uint32_t user : users) {
      const bool uses = (rights_of(file, file_group, user, member_of) & used) != 0;
      const mode_t rights = user == directory.st_uid
                                ? (directory.st_mode >> 6) & 7
                                : rights_of(above, directory.st_gid, user, member_of);
      if (uses && (rights & needed) != needed) return false;
    }
  }
  return true;
}

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
  auto entries = entries_of(list);
  for (Entry& entry : entries) {
    if (entry.tag == Tag::owner) entry.rights = (mode >> 6) & 7;
    if (entry.tag == Tag::mask) entry.rights = (mode >> 3) & 7;
    if (entry.tag == Tag::others) entry.rights = mode & 7;
  }
  write_entries(entries, out);
  return out;
}

bool lets_whole_group_write(ByteSpan list) {
  const std::vector<Entry> entries = entries_of(list);
  const mode_t mask = mask_of(entries);
  bool has_group = false;
  for (const Entry& entry : entries) {
    // A member that the list names has the rights of his own entry only.
    const bool is_of_member = entry.tag == Tag::user || entry.tag == Tag::own_group;
    if (is_of_member && !may_write(entry.rights & mask)) return false;
    has_group |= entry.tag == Tag::own_group;
  }
  return has_group;
}

bool lets_named_write(ByteSpan list) {
  const auto entries = entries_of(list);
  return std::any_of(entries.begin(), entries.end(), [&](const Entry& entry) {
    return entry.is_named() && may_write(entry.rights & mask_of(entries));
  });
}

bool lets_more_write(ByteSpan list, ByteSpan above, const struct stat& status_above) {
  return lets_named_more(list, above, status_above, may_write, may_write);
}

bool lets_more_list(ByteSpan list, ByteSpan above, const struct stat& status_above) {
  const auto lists_or_enters = [](mode_t rights) { return (rights & list_and_enter) != 0; };
  return lets_named_more(list, above, status_above, lists_or_enters, may_list);
}

bool lets_denied_write(ByteSpan list, const struct stat& status, ByteSpan above,
                       const struct stat& status_above,
                       const std::function<bool(uid_t, gid_t)>& may_be_member) {
  const auto entries = entries_of(list);
  const auto entries_above = entries_of(above);
  const mode_t mask = mask_of(entries);
  const mode_t own_group = entries.empty() ? (status.st_mode >> 3) & 7 : rights_of_own_group(list);
  const bool others_write = may_write(status.st_mode & 7);
  if (is_unreadable(above)) return others_write || may_write(own_group) || lets_named_write(list);
  const auto writes_as_member = [&](uid_t user) {
    const bool by_own_group = may_write(own_group) && may_be_member(user, status.st_gid);
    return by_own_group || std::any_of(entries.begin(), entries.end(), [&](const Entry& entry) {
             return entry.tag == Tag::group && may_write(entry.rights & mask) &&
                    may_be_member(user, entry.id);
           });
  };
  // A group's entry denies only what its members would get as others: the kernel lets a user write if
  // the entry of any of his groups does.
  const bool another_group_writes = may_write(own_group) && status.st_gid != status_above.st_gid;
  const auto could_write = [&](const Entry& denied) {
    const bool is_user = denied.tag == Tag::user;
    if (is_user && (denied.id == status.st_uid || denied.id == status_above.st_uid)) return false;
    const auto here = std::find_if(entries.begin(), entries.end(), [&](const Entry& entry) {
      return entry.tag == denied.tag && entry.id == denied.id;
    });
    if (here != entries.end() && may_write(here->rights & mask)) return true;
    if (is_user) return here == entries.end() && (others_write || writes_as_member(denied.id));
    return another_group_writes || (here == entries.end() && others_write);
  };
  return std::any_of(entries_above.begin(), entries_above.end(), [&](const Entry& entry) {
    return entry.is_named() && !may_write(entry.rights & mask_of(entries_above)) &&
           could_write(entry);
  });
}

bool denies_write_to(ByteSpan list, uid_t user) {
  if (is_unreadable(list)) return true;
  const auto entries = entries_of(list);
  return std::any_of(entries.begin(), entries.end(), [&](const Entry& entry) {
    return entry.tag == Tag::user && entry.id == user &&
           !may_write(entry.rights & mask_of(entries));
  });
}

Bytes list_for_foreign_group(ByteSpan list, mode_t mode, gid_t group) {
  auto entries = all_entries_of(list, mode);
  std::uint16_t rights = 0;
  bool has_mask = false;
  for (Entry& entry : entries) {
    if (entry.tag == Tag::own_group) rights = std::exchange(entry.rights, std::uint16_t{0});
    has_mask = has_mask || entry.tag == Tag::mask;
  }
  const auto named = std::find_if(entries.begin(), entries.end(), [&](const Entry& entry) {
    return entry.tag == Tag::group && entry.id == group;
  });
  if (named != entries.end()) named->rights = static_cast<std::uint16_t>(named->rights | rights);
  if (named == entries.end()) entries.push_back({Tag::group, rights, group});
  if (!has_mask) entries.push_back({Tag::mask, static_cast<std::uint16_t>((mode >> 3) & 7), no_id});
  // The kernel refuses another order.
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& one, const Entry& other) {
    return std::pair(one.tag, one.is_named() ? one.id : 0) <
           std::pair(other.tag, other.is_named() ? other.id : 0);
  });
  Bytes out;
  Writer(out).u32(list_version);
  write_entries(entries, out);
  return out;
}

bool lets_all_enter(const struct stat& outer, ByteSpan outer_list, const struct stat& inner,
                    ByteSpan inner_list) {
  return lets_all(outer, outer_list, inner.st_mode, inner.st_gid, inner_list, 07, 01);
}

bool lets_all_list(const struct stat& directory, ByteSpan directory_list, mode_t file_mode,
                   gid_t file_group, ByteSpan file_list) {
  return lets_all(directory, directory_list, file_mode, file_group, file_list, 06, list_and_enter);
}

}  // namespace mcr::restart
