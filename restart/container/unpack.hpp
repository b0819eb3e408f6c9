// SPDX-License-Identifier: BSD-3-Clause
// Parts of a container as plain files again. Each frame is decoded once, whatever number of parts
// its bytes belong to; the whole part is then compared with its checksum before the file gets its
// name.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "restart/container/container_reader.hpp"

namespace mcr::restart {

/// Runs work(0) … work(count - 1), in any order, at once where it can. This folder starts no
/// threads.
using ParallelFor =
    std::function<void(std::size_t count, const std::function<void(std::size_t)>& work)>;
void one_after_another(std::size_t count, const std::function<void(std::size_t)>& work);

/// May be called from several threads.
using Progress = std::function<void(std::uint64_t bytes_done, std::uint64_t bytes_in_all)>;

struct UnpackOptions {
  std::vector<std::uint32_t> ranks;  ///< empty: all
  std::set<PartId> without;          ///< parts that are left out
  bool replace = false;              ///< files that are there already
  ParallelFor parallel_for = one_after_another;
  Progress progress;
};

struct UnpackReport {
  std::vector<std::string> files;  ///< below the directory
  std::uint64_t bytes = 0;
};

/// Writes the parts below `directory`, under the paths that the index says; one that would lead out
/// of it is taken without what leads out. Files that could not be written whole do not exist
/// afterwards. Not synced.
Result<UnpackReport> unpack(ContainerReader& container, const std::string& directory,
                            const UnpackOptions& options);

/// `path` without what would lead out of a directory: no leading '/', no "..", never empty.
std::string path_below(const std::string& path, std::uint32_t rank);

}  // namespace mcr::restart
