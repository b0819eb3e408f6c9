// SPDX-License-Identifier: BSD-3-Clause
// Since when mcr has written into directories of containers (FileMark::since_ns), so that a leader that writes many containers into
// one directory looks for it only once.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "restart/base/file.hpp"
#include "restart/base/file_identity.hpp"

namespace mcr::aggregation {

/// Thread-safe. A leader has one for its whole life.
class WrittenSince {
 public:
  /// Returns the moment, by the file system's clock; 0: not known.
  std::uint64_t of(const restart::File& directory);
  /// Remembers the moment for further containers, as long as the directory has the container `name`: a user may empty the directory
  /// and copy another run into it.
  void note(const restart::File& directory, std::uint64_t since_ns, const std::string& name);

 private:
  struct Known {
    std::uint64_t since_ns = 0;
    std::string container;
  };
  std::mutex mutex_;
  std::map<restart::FileIdentity, Known> known_;
};

}  // namespace mcr::aggregation
