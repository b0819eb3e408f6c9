// SPDX-License-Identifier: BSD-3-Clause
// Our hard links to stubs, for gc=on (docs/design/sets.md, "Old sets"):
//
//   <directory of containers>/set-stubs/<part>.<inode>
//
// A link gives access to a file even if the directories above the file do not. So only its owner may enter a directory
// of links. If `set-stubs` belongs to another user, this user's links lie in `set-stubs.<user>`.
// The link count of such a file tells whether the program still has the stub under any name,
// wherever it was moved or linked to: the count is 1 if only our link is left. A link is made when
// the stub lies at its path already, so the count is never 1 before the program has given the stub
// up. A copy of the tree (cp -r) changes inodes, so copied links do not match the inode in their
// name and are ignored. If a part has no link, nothing is known about its stub.
#pragma once

#include <sys/stat.h>

#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "restart/base/file.hpp"
#include "restart/base/part_id.hpp"
#include "restart/base/trust.hpp"
#include "restart/format/stub.hpp"

namespace mcr::restart {

/// True for the name of a directory of links: `set-stubs`, `set-stubs.<user>`.
bool is_links_directory_name(std::string_view name);

/// True if the file at `path` lies in a directory of that name.
bool is_link_to_stub(const std::string& path);

/// Links the open stub, which `path` led to when the stub was put there. EOPNOTSUPP, ENOSYS and EMLINK mean that the
/// file system does not support hard links. EPERM: this user can have no directory of links. An existing link
/// is not an error.
Result<void> link_stub(const std::string& containers, const PartId& part, const File& stub,
                       const std::string& path);
/// The same for an open directory of containers.
Result<void> link_stub(const File& containers, const PartId& part, const File& stub,
                       const std::string& path);

/// Removes our link to this file, if there is one. Call it before other data than the stub is
/// written into the file.
void unlink_stub(const std::string& containers, const PartId& part, const struct stat& status);
/// The same for an open directory of containers.
void unlink_stub(const File& containers, const PartId& part, const struct stat& status);

/// Removes this user's directories of links if they are empty.
void remove_empty_links_directories(const File& containers);

/// Returns our link to the stub at `path`, if the stub has no other names than that link and `path`. The program may have
/// removed `path`.
std::optional<std::string> our_link_to(const Stub& stub, const std::string& path,
                                       const struct stat& status);

/// Returns how many names the program has for the stub that was opened at `path`: all but our link. With more than two
/// names, our link is counted too. The program may have removed `path`.
nlink_t names_of_program(const Stub& stub, const std::string& path, const struct stat& status);

/// The links in a directory of containers, as they were when it was listed.
class StubLinks {
 public:
  /// Lists the links of all users. The list may be empty.
  static Result<StubLinks> list(const std::string& containers);
  static Result<StubLinks> list(const File& containers);

  /// True if this user may not see the owner's links.
  [[nodiscard]] bool is_hidden(uid_t owner) const { return hidden_.contains(owner); }

  enum class Fate {
    unknown,  ///< there is no link that can be believed
    in_use,  ///< the program has the stub under some name, or this user may not see the owner's links
    given_up,  ///< the program deleted or overwrote it under its last name
  };
  /// Looks anew at each call. A link counts only if it belongs to `owner`, the owner of the part's set, and
  /// if every user who could have added it may also remove the set's containers. A part is given up only
  /// if the link is a stub of that part. `written_ns`: when the set's newest container was written; a file that was made after that is
  /// not the part's stub but a copy of it.
  [[nodiscard]] Fate fate(
      const PartId& part, uid_t owner,
      std::uint64_t written_ns = std::numeric_limits<std::uint64_t>::max()) const;
  /// Returns the newest change time (ctime) of our links to the stub; 0: not known. This is when
  /// the program removed its last name of the stub, unless mode or owner changed later.
  [[nodiscard]] std::uint64_t changed_ns(const PartId& part) const;
  [[nodiscard]] std::vector<PartId> parts() const;
  /// Removes all our links to the part's stub.
  void remove(const PartId& part) const;

 private:
  struct LinksDirectory {
    File file;
    Beside beside;  ///< that directory, in the directory of containers
  };
  struct Link {
    std::size_t directory;  ///< index in `directories_`
    std::string name;
  };
  /// Returns the link's status; nothing if it is gone.
  [[nodiscard]] std::optional<struct stat> status_of(const Link& link) const;

  std::vector<LinksDirectory> directories_;
  std::multimap<PartId, Link> links_;
  std::set<uid_t> hidden_;  ///< the users whose links this user may not see
};

}  // namespace mcr::restart
