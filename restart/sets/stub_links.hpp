// SPDX-License-Identifier: BSD-3-Clause
// Hard links of ours to stubs, for gc=on (docs/design/sets.md, "Old sets"):
//
//   <directory of containers>/set-stubs/<part>.<inode>
//
// The link count of such a file says for certain whether the program still has the stub under any
// name, wherever it was moved or linked to: it is 1 where only ours is left. A link is made when the
// stub lies at its path, so that nobody ever sees a count of 1 before the program gave it up. The
// inode in the name tells links from what a copy of the tree (cp -r) makes of them: copies are
// believed in nothing. A part without a link is one of which nothing is known.
#pragma once

#include <sys/stat.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "restart/base/file.hpp"
#include "restart/base/part_id.hpp"
#include "restart/format/stub.hpp"

namespace mcr::restart {

inline constexpr std::string_view stub_links_directory = "set-stubs";

/// Links the open stub, which `path` led to when it was put there. An error with EPERM, EOPNOTSUPP,
/// ENOSYS or EMLINK: this file system makes no hard links. One that is there already is none.
Result<void> link_stub(const std::string& containers, const PartId& part, const File& stub,
                       const std::string& path);

/// Takes our link to this file away, where there is one: before anything but the stub is written
/// into it.
void unlink_stub(const std::string& containers, const PartId& part, const struct stat& status);

/// Our link to the stub that lies at `path`, where that and `path` are its only names.
std::optional<std::string> our_link_to(const Stub& stub, const std::string& path,
                                       const struct stat& status);

/// The links in a directory of containers, as they were when it was listed.
class StubLinks {
 public:
  /// None where there are none.
  static Result<StubLinks> list(const std::string& containers);
  static Result<StubLinks> list(const File& containers);

  enum class Fate {
    unknown,   ///< no link that can be believed
    in_use,    ///< the program has the stub under some name
    given_up,  ///< it was deleted or overwritten, under its last name
  };
  /// Looks anew at each call, at the links that belong to `owner`, whose set the part is of.
  [[nodiscard]] Fate fate(const PartId& part, uid_t owner) const;
  /// When the last name but ours went, as far as the file system says; 0 unknown.
  [[nodiscard]] std::uint64_t changed_ns(const PartId& part) const;
  [[nodiscard]] std::vector<PartId> parts() const;
  /// Removes all links of the part.
  void remove(const PartId& part) const;

 private:
  std::optional<File> directory_;
  std::multimap<PartId, std::string> names_;
};

}  // namespace mcr::restart
