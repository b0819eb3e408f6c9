// SPDX-License-Identifier: BSD-3-Clause
// Reads owners, modes and access lists of directories for the rules in trust.hpp.
#include <fcntl.h>
#include <sys/xattr.h>

#include <algorithm>
#include <cerrno>

#include "restart/base/access_list.hpp"
#include "restart/base/membership.hpp"
#include "restart/base/path_names.hpp"
#include "restart/base/system.hpp"
#include "restart/base/trust.hpp"

namespace mcr::restart {
namespace {

constexpr std::size_t most_list_bytes = 4096;

Result<File> open_to_look(const std::string& directory) {
  return File::open(AT_FDCWD, directory, O_PATH | O_DIRECTORY);
}

}  // namespace

Bytes access_list_of(const File& directory) {
  Bytes list(most_list_bytes);
  // fgetxattr() refuses a descriptor that was opened with O_PATH.
  const ssize_t got = ::getxattr(link_path(directory.descriptor()).c_str(), access_list_name,
                                 list.data(), list.size());
  // If the list is too long, one byte stands for it: a list without readable entries.
  list.resize(got < 0 && errno == ERANGE ? 1 : static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return list;
}

Result<struct stat> status_with_own_group(const File& directory) {
  struct stat status = MCR_TRY(directory.status());
  if (const Bytes list = access_list_of(directory); !list.empty())
    status.st_mode &= ~mode_t{S_IRWXG} | (rights_of_own_group(list) << 3);
  return status;
}

bool is_believed_in(const File& directory, const struct stat& file, uid_t owner) {
  return is_believed(file.st_uid, owner) || Beside::in(directory).believes(file.st_uid, owner);
}

bool is_believed_among(const std::string& path, const std::string& base, const struct stat& file,
                       uid_t owner) {
  if (is_believed(file.st_uid, owner)) return true;
  const auto home = open_to_look(parent_of(path));
  const auto status = home ? home->status() : Result<struct stat>(home.error());
  const bool is_in_own = status && is_believed(status->st_uid, owner);
  if (is_in_own && is_believed_in(*home, file, owner)) return true;
  const auto shared = open_to_look(base);
  return shared && is_believed_in(*shared, file, owner);
}

bool has_access_list(const File& directory) { return !access_list_of(directory).empty(); }

bool has_default_list(const File& directory) {
  return ::getxattr(link_path(directory.descriptor()).c_str(), default_list_name, nullptr, 0) > 0;
}

Result<Beside> Beside::of(const File& outer, const File& inner) {
  Beside beside(MCR_TRY(outer.status()), MCR_TRY(inner.status()));
  const Bytes outer_list = access_list_of(outer);
  beside.has_outer_list_ = !outer_list.empty();
  if (beside.has_outer_list_) beside.outer_group_ = rights_of_own_group(outer_list) << 3;
  const Bytes inner_list = access_list_of(inner);
  if (!inner_list.empty()) beside.inner_group_ = rights_of_own_group(inner_list) << 3;
  beside.lets_more_write_ = lets_more_write(inner_list, outer_list, beside.outer_);
  beside.lets_more_list_ = lets_more_list(inner_list, outer_list, beside.outer_);
  beside.lets_denied_write_ =
      lets_denied_write(inner_list, beside.inner_, outer_list, beside.outer_, may_be_member);
  beside.is_owner_denied_ = beside.inner_.st_uid != beside.outer_.st_uid &&
                            denies_write_to(outer_list, beside.inner_.st_uid);
  beside.lets_named_write_ = lets_named_write(inner_list);
  beside.lets_all_enter_ =
      mcr::restart::lets_all_enter(beside.outer_, outer_list, beside.inner_, inner_list);
  return beside;
}

Beside Beside::in(const File& directory) {
  const auto beside = of(directory, directory);
  return beside ? *beside : Beside();
}

}  // namespace mcr::restart
