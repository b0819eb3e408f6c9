// SPDX-License-Identifier: BSD-3-Clause
#include "restart/stage/replicated_parts.hpp"

#include <sys/stat.h>

#include "restart/base/path_names.hpp"
#include "restart/format/replica.hpp"

namespace mcr::restart {

using Box = ReplicaDirectory::Box;

ReplicatedParts::ReplicatedParts(const std::string& launch_directory)
    : launch_directory_(launch_directory) {}

bool ReplicatedParts::has(const PartId& part) {
  // The team may begin after this process.
  const auto place = ReplicaDirectory::find(parent_of(launch_directory_));
  if (place && *place) read_new(**place);
  return parts_.contains(part);
}

void ReplicatedParts::read_new(const ReplicaDirectory& place) {
  const auto names = place.list(Box::sent);
  if (!names) return;
  for (const std::string& name : *names) {
    if (!name.starts_with(ReplicaDirectory::replica_name(launch_directory_, ""))) continue;
    // A replica that is gone by now has been written to storage.
    const auto file = place.open(Box::sent, name);
    const auto status = file ? file->status() : Result<struct stat>(file.error());
    if (!status || !read_.insert(status->st_ino).second) continue;
    const auto replica = read_replica(*file);
    if (!replica) continue;
    for (const Journal& journal : replica->journals) parts_.insert(journal.begin.part);
  }
}

}  // namespace mcr::restart
