// SPDX-License-Identifier: BSD-3-Clause
// Where a leader and the node's process of the team communicate, by names alone: about replicas (format/replica.hpp), and
// about turns to write (writers=).
//
//   <stage>/replicas/team        locked by the node's process of the team while it lives
//                    made/NAME   a leader writes the file, or a replica comes from another node
//                    out/NAME    the replica waits for the team, which sends it to the node's buddy
//                    sent/NAME   the same file: the buddy holds the replica, too
//                    refused/NAME the same file: the buddy has no room for it
//                    held/NAME   the replica of another node
//                    turns       locked by the node's process of the team while it gives turns
//                    asked/NAME  a leader waits for a turn to write; the file is locked while the leader lives
//                    given/NAME  the same file: the leader has a turn until it removes the name
//                    safe/NAME   an empty file: this node's part of a set is safe (flush=): in storage, or at the buddy, too
//                    agreed/NAME the same file: the other nodes' parts are safe, too
//
// When a container is in storage, its leader removes NAME from out/ and sent/; the team then tells the buddy,
// which removes NAME from held/. What is left in held/ after the team's end belongs to nodes that have died, or
// whose leaders have: `mcr recover`, and the next job's leaders, bring it to storage.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "restart/base/file.hpp"

namespace mcr::restart {

class TeamDirectory {
 public:
  enum class Box { made, out, sent, refused, held, asked, given, safe, agreed };

  /// Makes what is missing. `stage` as for LaunchDirectory::create().
  static Result<TeamDirectory> make(const std::string& stage);
  /// Returns nothing if the stage has no replicas.
  static Result<std::optional<TeamDirectory>> find(const std::string& stage);

  /// Makes this process the node's process of the team as long as the file is open; nothing if there is one.
  [[nodiscard]] Result<std::optional<File>> join_team() const;
  [[nodiscard]] bool has_team() const;
  /// Gives turns on this node as long as the file is open; nothing if another process does.
  [[nodiscard]] Result<std::optional<File>> give_turns() const;
  [[nodiscard]] bool gives_turns() const;

  /// Returns the names in the box.
  [[nodiscard]] Result<std::vector<std::string>> list(Box box) const;
  /// Makes an empty file, instead of an older one of that name, for writing and reading.
  [[nodiscard]] Result<File> create(Box box, const std::string& name) const;
  [[nodiscard]] Result<File> open(Box box, const std::string& name) const;
  /// Replaces a file of that name in the box `to`.
  [[nodiscard]] Result<void> move(const std::string& name, Box from, Box to) const;
  /// A name that is not there is no error.
  [[nodiscard]] Result<void> remove(Box box, const std::string& name) const;
  [[nodiscard]] bool has(Box box, const std::string& name) const;
  /// True if a process holds a lock on the file, as a leader does that waits for a turn or has one.
  [[nodiscard]] bool is_locked(Box box, const std::string& name) const;
  /// Removes what dead leaders and teams have left: files that nobody has locked in asked/ and given/, and files of no launch in the
  /// stage in all other boxes but held/.
  [[nodiscard]] Result<void> remove_leftovers() const;

  /// The name of a file that a leader of the launch in this directory makes. `word` tells it from the launch's other files.
  static std::string name_of_launch(const std::string& launch_directory, const std::string& word);

  /// Returns the path of a file of that name below descriptor().
  static std::string path_in(Box box, const std::string& name);
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] int descriptor() const { return directory_.descriptor(); }

 private:
  TeamDirectory(std::string path, File directory)
      : path_(std::move(path)), directory_(std::move(directory)) {}

  std::string path_;
  File directory_;
};

}  // namespace mcr::restart
