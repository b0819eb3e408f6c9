// SPDX-License-Identifier: BSD-3-Clause
// A commit's replica (replicas=1): the container is made in the node's memory, the team sends it to the buddy,
// and meanwhile it is copied to storage.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "aggregation/commit/drain_group.hpp"
#include "aggregation/commit/locked_parts.hpp"
#include "restart/settings/settings.hpp"
#include "restart/stage/team_directory.hpp"

namespace mcr::aggregation {

/// The node's own replica of a container. It is withdrawn, here and at the buddy, with this object: when the
/// container is in storage, or when the commit has failed and the parts take another way.
class OutgoingReplica {
 public:
  /// Returns nothing if replicas= asks for none, or if none can be made; the latter is said once. `word` is the
  /// same for each attempt at a group.
  static std::optional<OutgoingReplica> begin(const restart::LaunchDirectory& directory,
                                              const restart::Settings& settings,
                                              const std::string& word);
  OutgoingReplica(OutgoingReplica&& other) noexcept;
  OutgoingReplica& operator=(OutgoingReplica&&) = delete;
  ~OutgoingReplica();

  /// What was made or sent stays, also when this object ends.
  void leave() { place_.reset(); }

  enum class At { on_the_way, buddy, refused };
  [[nodiscard]] At where() const;

  /// Makes an empty file, for another attempt, too. What an earlier attempt, or a leader that has died, has sent stays at the buddy.
  [[nodiscard]] Result<const restart::File*> create_file();
  /// Hands the file, which holds a container of that size, to the team. `parts`: the group's.
  [[nodiscard]] Result<void> offer(std::uint64_t container_bytes, const DrainGroup& group,
                                   const std::vector<LockedPart>& parts,
                                   std::uint64_t clock_behind_ns) const;

 private:
  OutgoingReplica(restart::TeamDirectory place, std::string name)
      : place_(std::move(place)), name_(std::move(name)), other_name_(name_ + "-") {}

  std::optional<restart::TeamDirectory> place_;  ///< nothing: moved away
  std::string name_;                             ///< of the file that this attempt makes
  std::string other_name_;                       ///< of an earlier attempt's file
  restart::File file_;
};

/// Returns a new file for the replica. Null if there is no replica, or no file can be made; the replica is then given up.
const restart::File* file_for(std::optional<OutgoingReplica>& replica);
/// Says once why the set goes to storage alone, and withdraws the replica.
void give_up(std::optional<OutgoingReplica>& replica, const Error& why);

}  // namespace mcr::aggregation
