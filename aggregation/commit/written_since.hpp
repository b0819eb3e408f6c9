// SPDX-License-Identifier: BSD-3-Clause
// Since when mcr has written into directories of containers (FileMark::since_ns), so that a leader that writes many containers into
// one directory looks for it only once.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

#include "restart/base/file.hpp"
#include "restart/base/file_identity.hpp"

namespace mcr::aggregation {

/// Thread-safe. A leader has one for its whole life.
class WrittenSince {
 public:
  /// Returns the moment, by the file system's clock; 0: not known.
  std::uint64_t of(const restart::File& directory);
  /// Remembers the moment for further containers.
  void note(const restart::File& directory, std::uint64_t since_ns);

 private:
  /// With the birth time: a new directory may get the inode number of a removed one.
  using Key = std::pair<restart::FileIdentity, std::uint64_t>;
  static Key key_of(const restart::File& directory);

  std::mutex mutex_;
  std::map<Key, std::uint64_t> known_;
};

}  // namespace mcr::aggregation
