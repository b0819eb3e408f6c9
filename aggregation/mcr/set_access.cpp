// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/mcr/set_access.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <optional>

#include "restart/base/attributes.hpp"
#include "restart/base/closed_directories.hpp"
#include "restart/container/container_reader.hpp"
#include "restart/stage/file_at.hpp"

namespace mcr::aggregation {
namespace {

using restart::Access;
using restart::File;

constexpr mode_t readers = 044;

std::optional<Access> access_of_stub(const StoredPart& part) {
  const auto there = restart::file_at(part.open());
  if (!there.is_stub_of(part.part)) return std::nullopt;
  const auto access = restart::access_of(there.file);
  if (!access) return std::nullopt;
  const auto directory = restart::open_directory_of(part.home->base + "/" + part.below,
                                                    restart::FileIdentity(there.status));
  if (!directory) return std::nullopt;
  return restart::closed_by_directories(*access, *directory, part.home->directories.outer);
}

std::string text(mode_t mode) {
  char octal[8];
  std::snprintf(octal, sizeof octal, "%04o", static_cast<unsigned>(mode & 07777));
  return octal;
}

/// True if some users may read `container` but not `stub`.
bool is_wider(const Access& container, const Access& stub) {
  return (restart::common_access({container, stub}).mode & readers) != (container.mode & readers);
}

/// Returns the parts that this container holds. Another container may hold the same parts.
std::vector<restart::PartId> parts_in(File container, const std::string& path) {
  std::vector<restart::PartId> parts;
  const auto reader = restart::ContainerReader::read(std::move(container), path);
  const auto records =
      reader ? (*reader)->parts() : Result<const std::vector<restart::PartRecord>*>(reader.error());
  if (!records) return parts;
  for (const restart::PartRecord& record : **records) parts.push_back(record.entry.part);
  std::sort(parts.begin(), parts.end());
  return parts;
}

}  // namespace

std::vector<std::string> differing_access(const StoredSet& set) {
  std::vector<std::string> found;
  for (const std::string& container : set.containers) {
    auto file = set.open_container(container);
    const auto access = file ? restart::access_of(*file) : Result<Access>(file.error());
    if (!access) continue;
    const std::vector<restart::PartId> held = parts_in(*std::move(file), container);
    const auto name = [&](const StoredPart& part, const Access& stub, const char* who,
                          const char* remedy) {
      found.push_back(container + ": " + who + " users may read this container than the file " +
                      part.path + " (mode " + text(access->mode) + ", the file's " +
                      text(stub.mode) +
                      "). A chmod of the file does not change its container: " + remedy);
    };
    bool is_more = false;
    bool is_fewer = false;
    for (const StoredPart& part : set.parts) {
      if (!std::binary_search(held.begin(), held.end(), part.part)) continue;
      const auto stub = access_of_stub(part);
      if (!stub) continue;
      if (!is_more && is_wider(*access, *stub))
        name(part, *stub, "more", "chmod the container as well");
      if (!is_fewer && is_wider(*stub, *access))
        name(part, *stub, "fewer", "chmod the container if more users should read the data");
      is_more |= is_wider(*access, *stub);
      is_fewer |= is_wider(*stub, *access);
    }
  }
  return found;
}

}  // namespace mcr::aggregation
