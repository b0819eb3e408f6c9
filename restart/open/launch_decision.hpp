// SPDX-License-Identifier: BSD-3-Clause
// Where a launch records which generation all its ranks open (sets/decision), and whether it may: for one opened file.
#pragma once

#include <optional>
#include <string>

#include "restart/open/open_generation.hpp"
#include "restart/sets/decision.hpp"
#include "restart/sets/names_here.hpp"

namespace mcr::restart {

class LaunchDecision {
 public:
  LaunchDecision() = default;
  /// `path`: of the opened file, links resolved.
  LaunchDecision(const Stub& stub, const std::string& path, const Opener& opener,
                 const NamesHere& here);

  /// The directory of the decision. The program's own container_dir= names it, and not the stub's text: who wrote that text must
  /// not decide in which directory our files are made.
  [[nodiscard]] const std::string& directory() const { return directory_; }

  /// Returns the decision of this launch; nothing if there is none, or if the process has no launch.
  [[nodiscard]] std::optional<Decision> find() const;
  /// Records the decision for the other ranks of the launch. Without a launch, there is no other rank.
  [[nodiscard]] Result<Recorded> record(const Decision& decision) const;

 private:
  /// True if the stub was written with the program's own container_dir=.
  [[nodiscard]] bool has_own_container_dir() const;
  [[nodiscard]] bool is_in_its_place() const;
  [[nodiscard]] bool is_allowed() const;
  [[nodiscard]] Result<void> make_place() const;

  bool has_launch_ = false;
  std::string path_;
  std::string written_with_;    ///< container_dir= of the stub
  std::string containers_;      ///< the directory of the set's containers
  std::size_t components_ = 1;  ///< NamesHere::components
  uid_t owner_ = 0;             ///< of the opened file
  std::string directory_;
  std::string name_;
  DecidedFiles files_;
  std::string base_;  ///< the files that the decision is about lie in it or below
};

/// True if ranks of a launch open files together.
bool is_of_launch(const Opener& opener);

}  // namespace mcr::restart
