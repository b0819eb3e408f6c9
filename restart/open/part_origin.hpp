// SPDX-License-Identifier: BSD-3-Clause
// What is recorded about a part where its bytes lie. A stub may say something else: a user may have
// copied the stub from another user, who can write into it what he likes.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "restart/base/attributes.hpp"
#include "restart/base/file.hpp"
#include "restart/container/container_reader.hpp"
#include "restart/format/journal.hpp"
#include "restart/format/stub.hpp"

namespace mcr::restart {

struct PartOrigin {
  std::string launch;
  std::uint64_t sequence = 0;
  std::uint32_t rank = 0;
  std::uint32_t rank_count = 1;
  std::vector<std::string> masked_names;  ///< full paths
  std::optional<PartBegin> begin;         ///< if the part is in the stage
  // If it is in a container:
  uid_t owner = 0;  ///< of the container
  Access access;    ///< of the container
  File directory;   ///< the container's
};

PartOrigin staged_origin(const PartBegin& begin);
/// `number`: of the part in the container, which lies in `directory`.
Result<PartOrigin> stored_origin(ContainerReader& container, std::size_t number, int directory);

/// Returns those of the stub's masked names under which the part is recorded; nothing if the part is
/// recorded for another rank or set than the stub says.
std::vector<std::string> recorded_names(const PartOrigin& origin, const Stub& stub);

/// Returns the access for a file in `home` that takes the place of the open file `stub`, at `path`,
/// and holds the part's data: the stub's access, but no user may read the file who cannot read the
/// part. No limit is needed for the file for which the part was begun, or for the container of another
/// user who also made the stub.
Result<Access> access_of_copy(const PartOrigin& origin, const File& stub, const std::string& path,
                              const File& home);

}  // namespace mcr::restart
