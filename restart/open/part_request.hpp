// SPDX-License-Identifier: BSD-3-Clause
// How a rank asks for a part that another node's stage holds: by files beside the containers of the
// part's set, which both nodes see. The leader of the part's launch looks for one name only, the
// bell. If the bell exists, the leader removes it and looks for requests for its parts.
//
//   set-asked.<node>.<launch>              the bell: made after the request
//   set-request.<part>.native              the part shall become a native file: it will be written
//   set-request.<part>.container           the part shall be committed at once: it will be read
//
// While the rank waits, it makes the bell again and again; at the end it removes its request. No
// wait is longer than its bound, whichever process dies, and at worst a file of a few bytes is left.
#pragma once

#include <optional>
#include <string>

#include "restart/base/closed_directories.hpp"
#include "restart/base/file.hpp"
#include "restart/base/part_id.hpp"

namespace mcr::restart {

enum class PartWish { native, container };

class PartRequest {
 public:
  /// Creates no file yet. `directory`: where containers of the part's set go; if it is missing, the
  /// first ring() makes it, as closed as the directory `files`, in which the part's file lies. If `files`
  /// is not open, only this user may write to the new directory.
  PartRequest(std::string directory, File files, const std::string& node, const std::string& launch,
              const PartId& part, PartWish wish);
  /// Removes the request and, if this request made it, the directory.
  ~PartRequest();
  PartRequest(const PartRequest&) = delete;
  PartRequest& operator=(const PartRequest&) = delete;

  /// Creates the request if it is missing, and makes the bell. Call it repeatedly while waiting. If
  /// storage refuses the files, the part's leader commits the part in its own time.
  void ring();

 private:
  [[nodiscard]] KeptOut kept_out_of(const struct stat& above) const;
  [[nodiscard]] Result<void> close_home() const;
  void remove();

  std::string directory_;  ///< its path, used by the first ring() only
  File files_directory_;   ///< the part's file lies there; used by the first ring() only
  std::string bell_;
  std::string request_;
  // Another user may rename the directories on the path during the wait. So files are made and removed
  // only in the directories that the first ring() opened.
  File above_;  ///< the directory in which the directory of containers lies
  File home_;   ///< the directory of containers
  bool made_home_ = false;
};

/// For the leader: removes the bell; true if it existed.
bool take_bell(const std::string& directory, const std::string& node, const std::string& launch);
/// Returns the request for the part; if both kinds exist, the one for a native file.
std::optional<PartWish> find_request(const std::string& directory, const PartId& part);

}  // namespace mcr::restart
