// SPDX-License-Identifier: BSD-3-Clause
// The containers that an argument of a command names. If it is a directory, also those in all
// directories below it: programs such as Enzo and SAMRAI make a directory for each step.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "aggregation/mcr/named_containers.hpp"
#include "restart/base/file_identity.hpp"

namespace mcr::aggregation {

/// Containers that may belong to one set: those of one directory, or of a directory and its mcr/.
struct ContainersTogether {
  std::vector<NamedContainer> containers;
  /// The directory that the user named, if the argument is a directory.
  std::optional<restart::FileIdentity> top;
  /// Their directory, if it was found below the named one. The paths may lead to another directory
  /// by now.
  std::optional<restart::FileIdentity> directory;
};

/// As find_named_containers(), and searches the directories below a directory. Prints to stderr, as
/// lines of `command`, which directories were not looked at.
Result<std::vector<ContainersTogether>> find_containers_below(const std::string& argument,
                                                              const char* command);

/// Returns the paths of all these containers.
Result<std::vector<std::string>> paths_below(const std::string& argument, const char* command);

/// True if a directory is at the path, or a link to one.
bool is_directory(const std::string& path);

/// Returns the path as the containers' paths begin with it: without slashes at its end.
std::string without_last_slashes(std::string path);

/// True if every directory on the way from `top` to `directory` belongs to a user who could have
/// replaced a directory of `user` there (restart/base/trust), and if that way leads to the directory
/// `reached`. True if `directory` is not below `top`. `top` has no slash at its end.
bool is_way_believed(const std::string& top, const std::string& directory,
                     const restart::FileIdentity& reached, uid_t user);

}  // namespace mcr::aggregation
