// SPDX-License-Identifier: BSD-3-Clause
// What subcommands have in common: exit codes, what a container, stub or directory on the command
// line stands for, numbers with units.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "codecs/base/result.hpp"
#include "restart/base/file.hpp"
#include "restart/container/unpack.hpp"

namespace mcr::aggregation {

/// Exit codes; the man pages list them.
namespace exit_code {
inline constexpr int success = 0;
inline constexpr int failure = 1;  ///< the system refused, or something is not there
inline constexpr int usage = 2;    ///< wrong options or arguments
inline constexpr int damaged = 3;  ///< data is damaged; what is not was dealt with
inline constexpr int pending = 4;  ///< not finished within the time given
}  // namespace exit_code

int exit_code_of(const Error& error);

/// Whether the file begins as a container does, whatever its name.
bool is_container(const restart::File& file);

/// A container that an argument names.
struct NamedContainer {
  std::string path;
  /// Of a bundle only the sets whose own containers' names would begin so are meant; "": all of it.
  std::string sets;
  /// Of a stub's container: the one that was looked at, whatever its path leads to by now.
  std::optional<restart::FileIdentity> file;
};

/// Containers that `argument` names: a container; a stub (all containers of its set); a directory
/// (all of jobs that lie in it or in its mcr/); or the beginning of containers' paths. Sorted; none
/// is Cause::system with ENOENT, a directory that this user may not read is Cause::system with EACCES.
Result<std::vector<NamedContainer>> find_named_containers(const std::string& argument);
Result<std::vector<std::string>> find_containers(const std::string& argument);

/// Runs on so many threads (oneTBB).
restart::ParallelFor parallel_on(unsigned threads);

}  // namespace mcr::aggregation
