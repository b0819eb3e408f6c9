// SPDX-License-Identifier: BSD-3-Clause
// What a launch wrote before this process began: a launcher may start several programs in turn in each
// rank (`mpiexec sh -c "a; b"`), all of them in one launch. Two writings of a name must not become one
// generation, or a set of which only some ranks wrote the second would pass for whole.
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

/// Of one process. Stage and directories of containers are each read once, when first asked for: who
/// wrote before had ended by then. Programs that give each step a name of its own ask at each step.
class EarlierWritings {
 public:
  /// The sequence with which the launch's count for begin.path goes on in this rank, by what is in the
  /// stage and beside the checkpoints; 0 where nothing was written. Where the program renames its files
  /// nothing at the path itself tells. `begin` says launch, rank, path and masked names.
  std::uint64_t next_sequence(const LaunchDirectory& directory, const PartBegin& begin,
                              std::string_view container_dir);

 private:
  std::uint64_t after_staged(const LaunchDirectory& directory, const PartBegin& begin);
  std::uint64_t after_stored(const ContainerName& first, const PartBegin& begin);
  void read_bundles(const std::string& directory, const std::string& launch,
                    const std::vector<std::string>& names);

  std::optional<std::map<std::string, std::uint64_t>> staged_;  ///< by path, of this rank
  std::map<std::string, std::vector<std::string>> stored_;      ///< names, by directory
  std::map<std::string, std::uint64_t> bundled_;                ///< by path, of bundles
};

}  // namespace mcr::restart
