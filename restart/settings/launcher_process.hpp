// SPDX-License-Identifier: BSD-3-Clause
// Finds the launcher among the ancestors of this process, and reads what /proc shows of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mcr::restart {

/// True for a launcher's name, also with an extension as in mpiexec.hydra. False for names like
/// mpirun-wrapper, because each rank may have a wrapper of its own.
bool is_launcher_name(std::string_view name);

/// Returns the nearest ancestor that has a launcher's name or lacks the variable. (Shells and
/// wrappers between launcher and program inherit the variable.) Returns nothing if the ancestor
/// without it is a shell, or process 1, which exists in each Linux container. Without
/// `rank_variable` only a launcher's name counts.
std::optional<std::uint64_t> launcher_process(const char* rank_variable);

/// Returns how many processes the launcher started on this node; 0: not known. Used as the number
/// of local ranks if no variable gives it.
std::uint32_t ranks_below_launcher();

/// Identifies one process of this machine uniquely: boot, process number, start time.
std::optional<std::string> identity_of(std::uint64_t pid);

/// Returns at most 15 characters; nothing if /proc does not show the process.
std::string name_of(std::uint64_t pid);
std::optional<std::uint64_t> parent_of(std::uint64_t pid);

/// Returns the word that follows `option` on the process's command line.
std::optional<std::string> argument_of(std::uint64_t pid, std::string_view option);

/// Reads a variable of the environment with which the process was started.
std::optional<std::string> variable_of(std::uint64_t pid, std::string_view name);

}  // namespace mcr::restart
