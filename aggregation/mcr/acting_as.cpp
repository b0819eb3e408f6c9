// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/mcr/acting_as.hpp"

#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <utility>

#include "restart/base/file.hpp"
#include "restart/base/membership.hpp"
#include "restart/base/trust.hpp"

namespace mcr::aggregation {
namespace {

/// The kernel's overflowgid, a group that owns no files.
constexpr gid_t nobodys_group = 65534;

Error cannot_act(uid_t user) {
  return restart::system_error("cannot act for", restart::user_text(user));
}

}  // namespace

ActingAs::ActingAs(ActingAs&& other) noexcept
    : is_changed_(std::exchange(other.is_changed_, false)),
      user_(other.user_),
      group_(other.group_),
      umask_(other.umask_),
      groups_(std::move(other.groups_)) {}

ActingAs::~ActingAs() {
  if (!is_changed_) return;
  ::umask(umask_);
  // Ends the process if it cannot get its own rights back: it must not go on with another user's.
  if (::seteuid(user_) != 0 || ::setegid(group_) != 0 ||
      ::setgroups(groups_.size(), groups_.data()) != 0)
    std::abort();
}

Result<ActingAs> ActingAs::begin(uid_t user) {
  ActingAs acting;
  if (::geteuid() == user) return acting;
  if (user == restart::unknown_user)
    return Error{Cause::system, "it is not known for which user to act", EPERM};
  const restart::UserGroups groups =
      restart::groups_of(user).value_or(restart::UserGroups{nobodys_group, {}, {}});
  const int count = ::getgroups(0, nullptr);
  if (count < 0) return cannot_act(user);
  acting.groups_.resize(static_cast<std::size_t>(count));
  if (::getgroups(count, acting.groups_.data()) < 0) return cannot_act(user);
  acting.user_ = ::geteuid();
  acting.group_ = ::getegid();
  if (::setgroups(groups.all.size(), groups.all.data()) != 0) return cannot_act(user);
  acting.is_changed_ = true;
  // Root's umask may let others write: it was set for root's own files.
  acting.umask_ = ::umask(S_IRWXG | S_IRWXO);
  ::umask(acting.umask_ | S_IWGRP | S_IWOTH);
  if (::setegid(groups.first) != 0 || ::seteuid(user) != 0) return cannot_act(user);
  return acting;
}

}  // namespace mcr::aggregation
