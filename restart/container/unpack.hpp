// SPDX-License-Identifier: BSD-3-Clause
// Writes parts of a container as plain files. Each frame is decoded once, however many parts its
// bytes belong to. Each part is compared with its checksum before its file gets its name.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "restart/container/container_reader.hpp"

namespace mcr::restart {

/// Runs work(0) … work(count - 1) in any order, possibly in several threads. The code in restart/
/// itself starts no threads.
using ParallelFor =
    std::function<void(std::size_t count, const std::function<void(std::size_t)>& work)>;
void one_after_another(std::size_t count, const std::function<void(std::size_t)>& work);

/// May be called from several threads.
using Progress = std::function<void(std::uint64_t bytes_done, std::uint64_t bytes_in_all)>;

struct UnpackOptions {
  std::vector<std::uint32_t> ranks;  ///< empty: all
  std::set<PartId> without;          ///< parts that are left out
  bool replace = false;              ///< replace files that exist already
  ParallelFor parallel_for = one_after_another;
  Progress progress;
  /// Asked now and then by all threads; if true, the call fails and leaves no file. May be empty.
  std::function<bool()> is_interrupted;
};

struct UnpackReport {
  std::vector<std::string> files;  ///< below the directory
  std::uint64_t bytes = 0;
};

/// Writes the parts below `directory`, under the paths in the index, cleaned by path_below(). A
/// file that could not be written whole does not exist afterwards. Files are not synced.
Result<UnpackReport> unpack(ContainerReader& container, const std::string& directory,
                            const UnpackOptions& options);

/// Fails if `file`, which is being unpacked, begins as a stub. Whoever wrote the container chose its bytes, and the stub
/// would be this user's own file, so mcr would trust it.
Result<void> refuse_stub(const File& file, const std::string& container, std::uint32_t rank);

/// Returns `path` without what would lead out of a directory: no leading '/', no "..", never empty.
std::string path_below(const std::string& path, std::uint32_t rank);

}  // namespace mcr::restart
