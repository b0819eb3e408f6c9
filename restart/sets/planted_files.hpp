// SPDX-License-Identifier: BSD-3-Clause
// Tells which files a neighbour may have put at other ranks' names, in a directory to which others may add files but from
// which they may not remove any (docs/design/restart.md, "Planted files").
#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>

#include "restart/format/stub.hpp"

namespace mcr::restart {

class PlantedFiles {
 public:
  /// An open of `path`, which was written at `written_as`. All ranks share the directory `base`, and their files lie
  /// `components` components below it. Files of `owner` count. The strings must outlive the object.
  PlantedFiles(const std::string& path, const std::string& written_as, uid_t owner,
               const std::string& base, std::size_t components);

  /// True if the file lies in `base`, and belongs to a user who is not believed there. Such files do not count. They are not
  /// opened, because there may be many.
  bool is_of_another_user(const std::string& path);
  /// True if the file was not written below `base`, but the opened one was. Of a native file without a note (no stub)
  /// nobody knows where it was written.
  bool may_include(const std::string& path, const std::optional<Stub>& stub);

 private:
  bool others_may_add(const std::string& directory);

  const std::string& base_;
  std::size_t components_;
  std::string here_;
  bool is_possible_;
  uid_t owner_;
  std::map<std::string, bool> may_add_;  ///< by directory
  std::map<uid_t, bool> believed_;       ///< about files in `base`
};

}  // namespace mcr::restart
