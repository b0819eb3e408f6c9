// SPDX-License-Identifier: BSD-3-Clause
// Where the containers of a stub's set may lie, and which of these places are believed.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "restart/base/file.hpp"
#include "restart/format/stub.hpp"

namespace mcr::restart {

struct ContainerPlace {
  std::string masked_name;  ///< the stub's candidate that leads here
  std::string directory;
  std::string prefix;          ///< of the names of the generation's containers
  std::optional<uid_t> owner;  ///< to whom directory and container must belong

  /// Opens the directory, where it is there and belongs to whom it must.
  [[nodiscard]] std::optional<File> open() const;
  /// True where a container of that name may be read.
  [[nodiscard]] bool allows(const File& directory, const std::string& name) const;
};

/// First those seen from the stub's own directory (so that a tree can be moved as a whole), a link
/// to a stub standing for the stub where that one lies; then, by absolute path, where they were
/// written, but only if directory and container belong to the stub's owner, or lie below a
/// directory of `allow` (the setting: "none", or absolute paths joined by ':'). Nothing else of a
/// stub is ever used as a path.
std::vector<ContainerPlace> container_places(const Stub& stub, const std::string& stub_path,
                                             const std::string& allow);

/// Whether `directory` lies in or below a directory of `allow`.
bool is_below_allowed(const std::string& directory, std::string_view allow);

/// Links resolved; empty where there is nothing.
std::string real_path(const std::string& path);

}  // namespace mcr::restart
