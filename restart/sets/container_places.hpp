// SPDX-License-Identifier: BSD-3-Clause
// Where the containers of a stub's set may lie, and which of these places are believed.
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "restart/base/file.hpp"
#include "restart/base/trust.hpp"
#include "restart/container/container_reader.hpp"
#include "restart/format/stub.hpp"

namespace mcr::restart {

/// A directory of containers that is open.
class OpenContainers {
 public:
  /// Containers of `owner` and of root count; with `beside` also those of the users it allows.
  OpenContainers(File directory, uid_t owner, std::optional<Beside> beside)
      : directory_(std::move(directory)), owner_(owner), beside_(beside) {}
  /// All of them count: the user's own setting says so (allow=).
  explicit OpenContainers(File directory) : directory_(std::move(directory)), is_allowed_(true) {}

  [[nodiscard]] int descriptor() const { return directory_.descriptor(); }
  /// Whether what `writer` made there counts.
  [[nodiscard]] bool believes(uid_t writer) const;
  /// The container of that name. Cause::usage: it is somebody's who is not believed.
  [[nodiscard]] Result<std::shared_ptr<ContainerReader>> container(const std::string& name) const;

 private:
  File directory_;
  uid_t owner_ = 0;
  std::optional<Beside> beside_;
  bool is_allowed_ = false;
};

struct ContainerPlace {
  std::string masked_name;  ///< the stub's candidate that leads here
  std::string directory;
  std::string prefix;  ///< of the names of the generation's containers
  std::string above;   ///< the directory, above or beside the stub, from which one goes down
  std::string below;   ///< how one goes down from there; empty: by the absolute path
  /// The directory in which the stub lies, and the way from there to `above`: its path may lead to another
  /// one by now. Null where the stub was read from no file.
  std::shared_ptr<const File> from;
  std::string up;
  uid_t owner = 0;          ///< of the stub
  bool is_allowed = false;  ///< below a directory of allow=

  /// By the absolute path alone, which the stub says.
  [[nodiscard]] bool is_elsewhere() const { return below.empty() && !is_allowed; }
  /// Opens the directory, where it is there and may be believed.
  [[nodiscard]] std::optional<OpenContainers> open() const;
  [[nodiscard]] std::optional<OpenContainers> open_linked(const File& base,
                                                          const struct stat& outer) const;
};

/// First those seen from the stub's own directory (so that a tree can be moved as a whole), a link
/// to a stub standing for the stub where that one lies; then, by absolute path, where they were
/// written, but only if directory and container belong to the stub's owner, or lie below a
/// directory of `allow` (the setting: "none", or absolute paths joined by ':'). Nothing else of a
/// stub is ever used as a path. Which containers count there: restart/base/trust.
std::vector<ContainerPlace> container_places(const Stub& stub, const std::string& stub_path,
                                             const std::string& allow);

/// Whether `directory` lies in or below a directory of `allow`.
bool is_below_allowed(const std::string& directory, std::string_view allow);

/// Whose word the stub at `path` is; this user's, where nothing lies there any more.
uid_t owner_of(const Stub& stub, const std::string& path);

}  // namespace mcr::restart
