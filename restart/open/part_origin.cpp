// SPDX-License-Identifier: BSD-3-Clause
#include "restart/open/part_origin.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "restart/base/closed_directories.hpp"
#include "restart/base/file_identity.hpp"
#include "restart/base/path_names.hpp"
#include "restart/base/trust.hpp"
#include "restart/stage/stub_file.hpp"

namespace mcr::restart {
namespace {

/// Returns the access closed by the directories from `directory` up to the one that is also above
/// `home`.
Access closed_for(const Access& access, const File& directory, const File& home) {
  constexpr int most_levels = 256;
  auto at = File::open(home.descriptor(), ".", O_PATH | O_DIRECTORY);
  FileIdentity base;
  for (int level = 0; at && level < most_levels; ++level) {
    const auto status = at->status();
    if (!status) break;
    base = FileIdentity(*status);
    if (is_at_or_above(base, directory)) break;
    at = File::open(at->descriptor(), "..", O_PATH | O_DIRECTORY);
  }
  return closed_by_directories(access, directory, base);
}

/// True if the directory of containers is closed to users only because they may not list the directory
/// above it (mode_beside()). They may know the names of files there and open them.
bool is_closed_for_names(const struct stat& containers, const struct stat& above) {
  constexpr mode_t of_readers = S_IRGRP | S_IXGRP | S_IROTH | S_IXOTH;
  return (containers.st_mode & of_readers) == (mode_beside(above) & of_readers);
}

/// Returns the access of a container, closed by the directories from `containers`, in which it lies, up to the one
/// that is also above `home`. `containers` does not count if it lies in `home` and is closed for its names only.
Result<Access> closed_for_container(const Access& access, const File& containers,
                                    const File& home) {
  const File above = MCR_TRY(File::open(containers.descriptor(), "..", O_PATH | O_DIRECTORY));
  const struct stat outer = MCR_TRY(status_with_own_group(above));
  const bool is_beside = FileIdentity(outer) == FileIdentity(MCR_TRY(home.status()));
  if (is_beside && is_closed_for_names(MCR_TRY(containers.status()), outer)) return access;
  return closed_for(access, containers, home);
}

/// Returns the access of a part in the stage: that of its stub at the path for which it was begun. If
/// the stub is not there, only the owner gets access.
Access access_in_stage(const PartBegin& begin, const File& home) {
  const Access closed{::getegid(), 0600, {}};
  const auto directory = open_begun_in(begin, O_PATH);
  if (!directory) return closed;
  const auto file =
      File::open(directory->descriptor(), name_of(begin.path), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  const auto status = file ? file->status() : Result<struct stat>(file.error());
  if (!status || !S_ISREG(status->st_mode) || status->st_uid != ::geteuid()) return closed;
  const auto stub = read_stub_file(*file);
  const auto access = access_of(*file);
  if (!stub || !access || stub->part != begin.part) return closed;
  return closed_for(*access, *directory, home);
}

}  // namespace

PartOrigin staged_origin(const PartBegin& begin) {
  PartOrigin origin;
  origin.launch = begin.launch;
  origin.sequence = begin.sequence;
  origin.rank = begin.rank;
  origin.rank_count = begin.rank_count;
  origin.masked_names = begin.masked_names;
  origin.begin = begin;
  return origin;
}

Result<PartOrigin> stored_origin(ContainerReader& container, std::size_t number, int directory) {
  const SetIdentity set = set_of_part(container.set(), number);
  PartOrigin origin;
  origin.launch = set.launch;
  origin.sequence = set.sequence;
  origin.rank = (*MCR_TRY(container.parts()))[number].entry.rank;
  origin.rank_count = set.rank_count;
  origin.masked_names = {set.masked_name};
  origin.owner = MCR_TRY(container.status()).st_uid;
  origin.access = MCR_TRY(container.access());
  origin.directory = MCR_TRY(File::open(directory, ".", O_PATH | O_DIRECTORY));
  return origin;
}

std::vector<std::string> recorded_names(const PartOrigin& origin, const Stub& stub) {
  std::vector<std::string> names;
  if (origin.rank != stub.rank || origin.launch != stub.launch || origin.sequence != stub.sequence)
    return names;
  for (const std::string& name : stub.masked_names) {
    if (std::find(origin.masked_names.begin(), origin.masked_names.end(), name) !=
        origin.masked_names.end())
      names.push_back(name);
  }
  return names;
}

Result<Access> access_of_copy(const PartOrigin& origin, const File& stub, const std::string& path,
                              const File& home) {
  const struct stat status = MCR_TRY(stub.status());
  const Access access = MCR_TRY(access_of(stub));
  const bool is_own = status.st_uid == ::geteuid();
  if (origin.begin) {
    if (is_own && is_begun_file(*origin.begin, path, status)) return access;
    return within(access, access_in_stage(*origin.begin, home));
  }
  if (!is_own && origin.owner == status.st_uid) return access;
  return within(access, MCR_TRY(closed_for_container(origin.access, origin.directory, home)));
}

}  // namespace mcr::restart
