// SPDX-License-Identifier: BSD-3-Clause
// How much memory and how many cores the machine and the control groups of this process leave.
// Every level of the groups counts, because a solver that grows in its group must not be killed
// because of the stage.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "codecs/base/result.hpp"

namespace mcr::restart {

/// The directories that are read; a test passes its own.
struct SystemPlaces {
  std::string proc = "/proc";
  std::string cgroup = "/sys/fs/cgroup";
};

struct MemoryLimits {
  std::uint64_t limit = 0;      ///< the smallest of physical memory and the groups' limits
  std::uint64_t available = 0;  ///< bytes that can be allocated now without swapping or killing
};
/// Reads a few small files; cheap enough for each create of a part, or once a second. Both numbers
/// are 0 if nothing can be read (no /proc).
MemoryLimits memory_limits(const SystemPlaces& places = {});

/// CPUs on which this process may run (affinity).
std::vector<unsigned> allowed_cpus();
/// Returns the number of allowed CPUs, or less if a control group grants less CPU time; at least 1.
unsigned usable_cpu_count(const SystemPlaces& places = {});

/// Bytes that a process without privileges may still write to the file system of an open file.
Result<std::uint64_t> free_space(int descriptor);

/// Returns what stage_limit=auto means for a stage on the file system of `descriptor` that already
/// holds `stage_bytes` of this user. It is the smaller of half of the file system and half of the
/// memory that would be available without the stage.
std::uint64_t automatic_stage_limit(int descriptor, std::uint64_t stage_bytes,
                                    const SystemPlaces& places = {});

}  // namespace mcr::restart
