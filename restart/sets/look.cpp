// SPDX-License-Identifier: BSD-3-Clause
#include "restart/sets/look.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "restart/base/file.hpp"
#include "restart/base/fitting_names.hpp"
#include "restart/base/system.hpp"
#include "restart/format/container_name.hpp"

namespace mcr::restart {

Result<std::vector<std::string>> list_containers(int directory,
                                                 const std::function<bool(uid_t)>& believes) {
  auto names = list_fitting_names(directory, ".",
                                  [](const std::string& name) { return is_container_name(name); });
  if (names || names.error().system_error != EOVERFLOW) return names;
  return list_fitting_names(directory, ".", [&](const std::string& name) {
    struct stat status {};
    if (!is_container_name(name)) return false;
    if (system_calls().fstatat(directory, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0)
      return !means_gone(errno);
    return believes(status.st_uid);
  });
}

bool Look::is_over() {
  if (monotonic_ms() < until_ms_) return false;
  if (!problem_) {
    problem_ = Error{Cause::system,
                     "the files and containers of the set could not all be examined in time (ten "
                     "times read_wait=, at least a minute); a longer read_wait= gives more time",
                     ETIMEDOUT};
  }
  return true;
}

void Look::note(const Error& error) {
  if (!means_no_way(error.system_error) && !problem_) problem_ = error;
}

const Error& Look::incomplete(const Error& error) {
  note(error);
  return error;
}

std::optional<OpenContainers> Look::open(const ContainerPlace& place) {
  auto opened = place.open();
  if (opened) return *std::move(opened);
  note(opened.error());
  return std::nullopt;
}

Result<std::span<const std::string>> Look::containers(const OpenContainers& directory,
                                                      const std::string& prefix) {
  const auto key = directory.key();
  if (!key) return incomplete(key.error());
  auto listed = listed_.find(*key);
  if (listed == listed_.end()) {
    auto names = list_containers(directory.descriptor(),
                                 [&](uid_t writer) { return directory.believes(writer); });
    listed = listed_.emplace(*key, std::move(names)).first;
  }
  if (!listed->second) return incomplete(listed->second.error());
  const std::vector<std::string>& names = *listed->second;
  const auto begin = std::lower_bound(names.begin(), names.end(), prefix);
  const auto end = std::partition_point(
      begin, names.end(), [&](const std::string& name) { return name.starts_with(prefix); });
  return std::span<const std::string>(begin, end);
}

const std::vector<Generation>& Look::answer(Question question,
                                            const std::function<std::vector<Generation>()>& find) {
  const auto [known, is_new] = answers_.try_emplace(std::move(question));
  if (is_new) known->second = find();
  return known->second;
}

}  // namespace mcr::restart
