// SPDX-License-Identifier: BSD-3-Clause
// What earlier programs of the launch wrote: a launcher may start several programs in turn in each rank
// (`mpiexec sh -c "a; b"`), all in one launch. If both write a file of the same name, these are two
// generations. If they counted as one, and only some ranks came to the second, that generation would seem
// to be whole, with files of both.
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

/// There is one object per process. Stage and directories of containers are each read once, when first
/// needed, because all earlier programs of the rank had ended by then. Programs that name each step
/// differently ask at each step.
class EarlierWritings {
 public:
  /// Returns the sequence with which this rank goes on for begin.path, from the stage and the
  /// containers beside the checkpoints; 0 if nothing was written. The path itself does not tell,
  /// because the program may have renamed its files. `begin` holds launch, rank, path and masked names.
  std::uint64_t next_sequence(const LaunchDirectory& directory, const PartBegin& begin,
                              std::string_view container_dir);

 private:
  std::uint64_t after_staged(const LaunchDirectory& directory, const PartBegin& begin);
  std::uint64_t after_stored(const ContainerName& first, const PartBegin& begin);
  void read_bundles(const std::string& directory, const std::string& launch,
                    const std::vector<std::string>& names);

  std::optional<std::map<std::string, std::uint64_t>> staged_;  ///< by path; parts of this rank
  std::map<std::string, std::vector<std::string>> stored_;      ///< container names, by directory
  std::map<std::string, std::uint64_t> bundled_;                ///< by path; from bundles
};

}  // namespace mcr::restart
