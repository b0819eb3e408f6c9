// SPDX-License-Identifier: BSD-3-Clause
// The containers that an argument of a subcommand names.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "codecs/base/result.hpp"
#include "restart/base/file.hpp"

namespace mcr::aggregation {

/// True if the file begins like a container; its name does not matter.
bool is_container(const restart::File& file);

/// A container that an argument names.
struct NamedContainer {
  std::string path;
  /// For a bundle: which of its sets are meant, by the beginning of the name that a container of
  /// the set alone would have; "": all sets.
  std::string sets;
  /// For a stub's container: the file that was found; `path` may lead to another file by now.
  std::optional<restart::FileIdentity> file;
};

/// Returns the sorted containers that `argument` names. It may be a container, a stub (for all
/// containers of its set), a directory (for all containers that jobs wrote in it or in its mcr/),
/// the beginning of containers' paths, or a short name (short_name.hpp). Cause::system with ENOENT: there is no such container;
/// with EACCES: this user may not read the directory.
Result<std::vector<NamedContainer>> find_named_containers(const std::string& argument);

/// What an argument names.
struct NamedByArgument {
  std::vector<NamedContainer> containers;
  restart::File stub;  ///< if the argument is a stub: the stub that was read, open
};
/// As find_named_containers(). The argument may lead to another file by now than to the stub that was read.
Result<NamedByArgument> look_up_argument(const std::string& argument);

/// Returns the finished containers in `directory` of sets whose names begin with `prefix`; none if
/// the directory cannot be listed.
std::vector<NamedContainer> containers_in(const std::string& directory, const std::string& prefix);

/// Returns the path of a file in a directory; "." is left out.
std::string in_directory(const std::string& directory, const std::string& name);
/// True if the path is a regular file, a directory, or a link that no other user can have put there
/// (restart::follow_links_no_weaker_than_target()). For paths that were found, not for paths that the user gave.
bool leads_nowhere_else(const std::string& path);

}  // namespace mcr::aggregation
