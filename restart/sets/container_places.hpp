// SPDX-License-Identifier: BSD-3-Clause
// Where the containers of a stub's set may lie, and which of these places are believed.
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "restart/base/file.hpp"
#include "restart/base/file_identity.hpp"
#include "restart/base/trust.hpp"
#include "restart/container/container_reader.hpp"
#include "restart/format/index.hpp"
#include "restart/format/stub.hpp"

namespace mcr::restart {

/// An open directory of containers.
class OpenContainers {
 public:
  /// Containers of `owner` and of root count. If there is a `beside`, containers of the users that
  /// `beside` believes count too.
  OpenContainers(File directory, uid_t owner, std::optional<Beside> beside)
      : directory_(std::move(directory)), owner_(owner), beside_(beside) {}
  /// All containers count, because the user's own setting allows the directory (allow=).
  explicit OpenContainers(File directory) : directory_(std::move(directory)), is_allowed_(true) {}

  [[nodiscard]] int descriptor() const { return directory_.descriptor(); }
  [[nodiscard]] const File& directory() const { return directory_; }
  /// Equal for two objects of the same directory in which the same containers count.
  using Key = std::tuple<FileIdentity, uid_t, bool, std::optional<FileIdentity>, bool>;
  [[nodiscard]] Result<Key> key() const;
  /// True if a container that `writer` made in this directory counts.
  [[nodiscard]] bool believes(uid_t writer) const;
  /// This directory, and the one above it.
  [[nodiscard]] Result<Beside> beside() const;
  /// True if the open file counts, which lies in this directory: believes() is true for its author.
  [[nodiscard]] Result<bool> believes_author_of(const File& file) const;
  /// Opens the container `name` of this directory. Cause::usage if believes() is false for the
  /// container's owner.
  [[nodiscard]] Result<std::shared_ptr<ContainerReader>> container(const std::string& name) const;

 private:
  File directory_;
  uid_t owner_ = 0;
  std::optional<Beside> beside_;
  bool is_allowed_ = false;
};

struct ContainerPlace {
  std::string masked_name;    ///< the stub's candidate that leads here
  std::string container_dir;  ///< the setting with which the stub was written
  std::string directory;
  std::string prefix;           ///< the beginning of the names of the generation's containers
  std::string distinct_prefix;  ///< `prefix` as the log of removed sets has it (ContainerName)
  std::string above;  ///< the directory, above or beside the stub, that `below` starts from
  std::string below;  ///< the path from `above` to the containers; empty: use the absolute path
  /// The directory in which the stub lies. `up` leads from it to `above`; it is used instead of the
  /// path of `above`, which may lead elsewhere by now. Null if the stub was not read from a file.
  std::shared_ptr<const File> from;
  std::string up;
  std::optional<Error> problem;  ///< why `from` could not be opened
  uid_t owner = 0;               ///< of the stub
  bool is_allowed = false;       ///< below a directory of allow=

  /// True if only the absolute path in the stub leads to this place.
  [[nodiscard]] bool is_elsewhere() const { return below.empty() && !is_allowed; }
  /// False if the set's containers have the same names, but its files lie in another directory
  /// (ContainerName::distinct_prefix).
  [[nodiscard]] bool fits(const SetIdentity& set) const;
  /// Opens the directory if it exists and may be believed. An error means that this is not known, for
  /// example because storage does not answer, or because the process has no descriptor left.
  [[nodiscard]] Result<std::optional<OpenContainers>> open() const;
  /// True if users may put files into this open place, or exchange it or a directory above it, who could not replace
  /// the stub at `stub_path`. Asked before bytes are read from it. A file of the owner's proves nothing there: they may have
  /// moved it there from elsewhere, and its owner may have copied it from them. Never true for a place beside the stub,
  /// of which OpenContainers knows more, for one that a link of the owner's names, and for one below allow=.
  [[nodiscard]] Result<bool> is_open_to_strangers(const OpenContainers& place,
                                                  const std::string& stub_path) const;

 private:
  [[nodiscard]] Result<std::optional<OpenContainers>> open_linked(const File& base,
                                                                  const struct stat& outer) const;
};

/// Returns the places in the order in which to look. First come the places relative to the stub's
/// own directory, so that a tree can be moved as a whole; a link to a stub counts as a stub where
/// the link lies. Then comes the absolute path where the containers were written, but only if
/// directory and container belong to the stub's owner, or lie below a directory of `allow` (the
/// setting: "none", or absolute paths joined by ':'); see also is_open_to_strangers(). Nothing else of a stub is ever used as a
/// path. restart/base/trust decides which containers in these places count.
std::vector<ContainerPlace> container_places(const Stub& stub, const std::string& stub_path,
                                             const std::string& allow);

/// True if `directory` lies in or below a directory of `allow`.
bool is_below_allowed(const std::string& directory, std::string_view allow);

/// Returns the owner of the stub at `path`, whose content is believed only as far as that owner is;
/// this user if the file is gone.
uid_t owner_of(const Stub& stub, const std::string& path);

}  // namespace mcr::restart
