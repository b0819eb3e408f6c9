// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/commit/outgoing_replica.hpp"

#include <utility>

#include "restart/base/log.hpp"
#include "restart/base/path_names.hpp"
#include "restart/format/replica.hpp"

namespace mcr::aggregation {

using restart::TeamDirectory;
using Box = restart::TeamDirectory::Box;

std::optional<OutgoingReplica> OutgoingReplica::begin(const restart::LaunchDirectory& directory,
                                                      const restart::Settings& settings,
                                                      const std::string& word) {
  if (settings.text("replicas") != "1") return std::nullopt;
  auto place = TeamDirectory::find(restart::parent_of(directory.path()));
  if (!place || !*place || !(*place)->has_team()) {
    restart::log_warning_once("no team",
                              "no replica is made (replicas=1): no team runs on this node. `mcr "
                              "run` in a batch script of several "
                              "nodes starts one. Sets reach storage as without replicas");
    return std::nullopt;
  }
  return OutgoingReplica(std::move(**place), TeamDirectory::name_of_launch(directory.path(), word));
}

OutgoingReplica::OutgoingReplica(OutgoingReplica&& other) noexcept
    : place_(std::exchange(other.place_, std::nullopt)),
      name_(std::move(other.name_)),
      other_name_(std::move(other.other_name_)),
      file_(std::move(other.file_)) {}

OutgoingReplica::~OutgoingReplica() {
  if (!place_) return;
  for (const Box box : {Box::made, Box::out, Box::sent, Box::refused}) {
    for (const std::string& name : {name_, other_name_})
      if (const auto removed = place_->remove(box, name); !removed)
        restart::log_warning_once("replica", removed.error().message);
  }
}

OutgoingReplica::At OutgoingReplica::where() const {
  if (place_->has(Box::sent, name_)) return At::buddy;
  return place_->has(Box::refused, name_) ? At::refused : At::on_the_way;
}

Result<const restart::File*> OutgoingReplica::create_file() {
  // What the buddy has stays there until it has the new file, so that no moment is left in which only this node has the set.
  if (place_->has(Box::sent, name_)) std::swap(name_, other_name_);
  // The team may be sending an earlier attempt's file.
  for (const Box box : {Box::out, Box::sent, Box::refused}) MCR_TRY(place_->remove(box, name_));
  file_ = MCR_TRY(place_->create(Box::made, name_));
  return &file_;
}

Result<void> OutgoingReplica::offer(std::uint64_t container_bytes, const DrainGroup& group,
                                    const std::vector<LockedPart>& parts,
                                    std::uint64_t clock_behind_ns) const {
  restart::Replica replica;
  replica.container_bytes = container_bytes;
  replica.supplement = group.supplement;
  replica.clock_behind_ns = clock_behind_ns;
  for (const LockedPart& part : parts) replica.journals.push_back(part.journal);
  MCR_TRY(file_.write_at(container_bytes, restart::write_replica_tail(replica)));
  return place_->move(name_, Box::made, Box::out);
}

const restart::File* file_for(std::optional<OutgoingReplica>& replica) {
  if (!replica) return nullptr;
  const auto file = replica->create_file();
  if (file) return *file;
  give_up(replica, file.error());
  return nullptr;
}

void give_up(std::optional<OutgoingReplica>& replica, const Error& why) {
  restart::log_warning_once(
      "no replica",
      "no replica is made (replicas=1), and the set goes to storage at once: " + why.message);
  replica.reset();
}

}  // namespace mcr::aggregation
