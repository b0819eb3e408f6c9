// SPDX-License-Identifier: BSD-3-Clause
#include "restart/stage/replicated_parts.hpp"

#include <sys/stat.h>

#include "restart/base/path_names.hpp"
#include "restart/base/system.hpp"
#include "restart/format/replica.hpp"

namespace mcr::restart {

using Box = TeamDirectory::Box;

ReplicatedParts::ReplicatedParts(const std::string& launch_directory)
    : launch_directory_(launch_directory) {}

bool ReplicatedParts::has(const PartId& part, std::uint64_t publish_ns) {
  // The team may begin after this process.
  if (!place_) place_ = TeamDirectory::find(parent_of(launch_directory_)).value_or(std::nullopt);
  if (place_) read_new();
  return parts_.contains({part, publish_ns});
}

void ReplicatedParts::read_new() {
  const auto names = place_->list(Box::sent);
  if (!names) return;
  for (const std::string& name : *names) {
    if (!name.starts_with(TeamDirectory::name_of_launch(launch_directory_, ""))) continue;
    // A replica that is gone by now has been written to storage.
    const auto file = place_->open(Box::sent, name);
    const auto status = file ? file->status() : Result<struct stat>(file.error());
    if (!status) continue;
    const std::pair<std::uint64_t, std::uint64_t> key(status->st_ino, modified_ns(*status));
    if (read_.contains(key)) continue;
    const auto replica = read_replica(*file);
    if (!replica && replica.error().cause != Cause::damaged) continue;
    read_.insert(key);
    if (!replica) continue;
    for (const Journal& journal : replica->journals)
      if (journal.publish) parts_.emplace(journal.begin.part, journal.publish->publish_ns);
  }
}

}  // namespace mcr::restart
