// SPDX-License-Identifier: BSD-3-Clause
// Finds out what earlier programs of the same launch wrote. A launcher may start several programs
// in turn in each rank (`mpiexec sh -c "a; b"`), all in one launch. If two of them write a file of
// the same name, these are two generations. If both counted as one generation, and only some ranks
// had written the second time, that generation would seem whole although its files are of two
// steps.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "restart/format/container_name.hpp"
#include "restart/format/journal.hpp"
#include "restart/stage/stage.hpp"

namespace mcr::restart {

/// There is one object per process. It reads the stage, and each directory of containers, only
/// once, when first needed. That suffices, because all earlier programs of the rank have ended
/// before this one began. A program that names each step differently asks at each step.
class EarlierWritings {
 public:
  /// Returns the sequence of this rank's next writing of `begin.path` in this launch; 0 if this
  /// rank has not written it before. Looks in the stage, in the containers beside the checkpoints, and
  /// in the notes about native files. The stub at the path is no evidence, because the program may have
  /// renamed its files. `begin` holds launch, rank, path and masked names.
  std::uint64_t next_sequence(const LaunchDirectory& directory, const PartBegin& begin,
                              std::string_view container_dir);

 private:
  std::uint64_t after_staged(const LaunchDirectory& directory, const PartBegin& begin);
  std::uint64_t after_stored(const ContainerName& first, const PartBegin& begin);
  std::uint64_t after_noted(const std::string& containers, const PartBegin& begin);
  void read_bundles(const std::string& directory, const std::string& launch,
                    const std::vector<std::string>& names);

  std::optional<std::map<std::string, std::uint64_t>> staged_;  ///< by path; parts of this rank
  std::map<std::string, std::vector<std::string>> stored_;      ///< container names, by directory
  std::map<std::string, std::uint64_t> bundled_;                ///< by path; from bundles
  /// By directory of containers and path; from notes about native files of this rank.
  std::map<std::string, std::map<std::string, std::uint64_t>> noted_;
};

}  // namespace mcr::restart
