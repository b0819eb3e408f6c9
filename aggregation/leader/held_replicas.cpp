// SPDX-License-Identifier: BSD-3-Clause
// What a crash after each step leaves: (1) the parts' bytes in made/, which the next call removes; (2) some parts
// published, and the replica, so that the next call adds the others; (3) parts in a container and the replica: the
// next call's commit finds that container.
#include "aggregation/leader/held_replicas.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "aggregation/commit/commit.hpp"
#include "restart/base/log.hpp"
#include "restart/base/remove_tree.hpp"
#include "restart/base/system.hpp"
#include "restart/container/container_reader.hpp"
#include "restart/container/unpack.hpp"
#include "restart/format/replica.hpp"
#include "restart/stage/stage_files.hpp"
#include "restart/stage/team_directory.hpp"

namespace mcr::aggregation {
namespace {

using restart::ContainerReader;
using restart::File;
using restart::Journal;
using restart::LaunchDirectory;
using restart::PartId;
using restart::Replica;
using restart::TeamDirectory;
using State = restart::LaunchDirectory::State;
using Box = restart::TeamDirectory::Box;

/// Returns the group of parts that the replica's leader committed, as that leader knew it.
DrainGroup group_of(const restart::SetIdentity& set, const std::vector<restart::PartRecord>& parts,
                    const Replica& replica) {
  DrainGroup group;
  group.set = {set.launch, set.masked_name, set.sequence};
  group.rank_count = set.rank_count;
  group.passed_ranks = set.passed_ranks;
  group.failed_ranks = set.failed_ranks;
  group.drifted = set.drifted;
  group.failed_attempts = set.failed_attempts;
  group.begun_ns = set.begun_ns;
  group.supplement = replica.supplement;
  group.is_brought_back = true;
  for (const restart::PartRecord& part : parts) {
    group.parts.push_back(part.entry.part);
    group.ranks.push_back(part.entry.rank);
  }
  for (std::size_t i = 0; i < set.bundled.size() && i < parts.size(); ++i) {
    const restart::BundledSet& one = set.bundled[i];
    group.bundle.push_back({{set.launch, one.masked_name, one.sequence}, one.begun_ns});
  }
  if (!group.bundle.empty()) group.set = group.bundle.front().set;
  for (const Journal& journal : replica.journals) {
    if (!journal.publish || !journal.publish->native) continue;
    group.parts.push_back(journal.begin.part);
    group.ranks.push_back(journal.begin.rank);
  }
  return group;
}

bool is_there(const LaunchDirectory& directory, const PartId& part) {
  return directory.is_in(State::published, part) || directory.is_in(State::committed, part);
}

/// A directory in made/ for the parts of a replica, which is removed with this object.
class UnpackedParts {
 public:
  UnpackedParts(const TeamDirectory& place, const std::string& name)
      : place_(place), path_(TeamDirectory::path_in(Box::made, name + ".parts")) {}
  ~UnpackedParts() { (void)restart::remove_tree(place_.descriptor(), path_).has_value(); }
  UnpackedParts(const UnpackedParts&) = delete;
  UnpackedParts& operator=(const UnpackedParts&) = delete;

  /// Removes what an earlier call, which was killed, has left.
  [[nodiscard]] Result<File> make() const {
    MCR_TRY(restart::remove_tree(place_.descriptor(), path_));
    MCR_TRY(restart::stage_files::make_directory(place_.descriptor(), path_, path_));
    return restart::stage_files::open_directory(place_.descriptor(), path_);
  }

 private:
  const TeamDirectory& place_;
  std::string path_;
};

class Returning {
 public:
  Returning(const std::string& stage, const TeamDirectory& place, std::string name)
      : stage_(stage), place_(place), name_(std::move(name)) {}

  Result<void> run() {
    File file = MCR_TRY(place_.open(Box::held, name_));
    const Replica replica = MCR_TRY(restart::read_replica(file));
    if (replica.journals.empty()) return Error{Cause::damaged, file.name() + " names no part"};
    const restart::PartBegin& begin = replica.journals.front().begin;
    const auto container = MCR_TRY(ContainerReader::read(std::move(file), name_));
    const auto* const parts = MCR_TRY(container->parts());

    const LaunchDirectory directory =
        MCR_TRY(LaunchDirectory::create(stage_, begin.node, begin.launch));
    const auto leads = MCR_TRY(directory.try_lead());
    if (!leads)
      return Error{Cause::system, "a leader is at work in " + directory.path(), EWOULDBLOCK};
    MCR_TRY(directory.write_clock_behind(replica.clock_behind_ns));
    {
      const UnpackedParts unpacked(place_, name_);
      MCR_TRY(publish_parts(directory, *container, *parts, replica, MCR_TRY(unpacked.make())));
    }

    Summary summary(directory);
    const DrainDone done =
        commit_group(directory, group_of(container->set(), *parts, replica), summary);
    // What is not committed is published in the stage now, and is drained like all that dead leaders leave.
    restart::log_debug("replica ", name_, ": ", std::to_string(done.committed.size()),
                       " parts committed, ", std::to_string(done.failed.size()), " not");
    MCR_TRY(place_.remove(Box::held, name_));
    if (done.failed.empty() && done.without_stub.empty()) (void)directory.remove_if_done();
    return {};
  }

 private:
  /// Step 1. Returns the path of each part's bytes below `unpacked`; parts that the directory has already are left out.
  Result<std::map<PartId, std::string>> unpack_parts(const LaunchDirectory& directory,
                                                     ContainerReader& container,
                                                     const std::vector<restart::PartRecord>& parts,
                                                     const File& unpacked) {
    std::map<PartId, std::string> files;
    std::set<PartId> done;
    for (const restart::PartRecord& part : parts)
      if (is_there(directory, part.entry.part)) done.insert(part.entry.part);
    // A bundle may hold several parts of one path; these are unpacked one after another.
    for (std::size_t turn = 0; done.size() < parts.size(); ++turn) {
      restart::UnpackOptions options;
      options.without = done;
      std::set<std::string> paths;
      std::vector<PartId> wanted;
      for (const restart::PartRecord& part : parts) {
        const restart::PartEntry& entry = part.entry;
        if (done.contains(entry.part)) continue;
        if (paths.insert(restart::path_below(entry.path, entry.rank)).second) {
          wanted.push_back(entry.part);
          done.insert(entry.part);
        } else {
          options.without.insert(entry.part);
        }
      }
      const std::string place = std::to_string(turn);
      MCR_TRY(restart::stage_files::make_directory(unpacked.descriptor(), place, place));
      // By the open directory: another user may exchange directories above the stage.
      const std::string path = restart::link_path(unpacked.descriptor()) + "/" + place;
      const auto report = MCR_TRY(restart::unpack(container, path, options));
      for (std::size_t i = 0; i < wanted.size(); ++i)
        files[wanted[i]] = place + "/" + report.files.at(i);
    }
    return files;
  }

  /// Steps 1 and 2.
  Result<void> publish_parts(const LaunchDirectory& directory, ContainerReader& container,
                             const std::vector<restart::PartRecord>& parts, const Replica& replica,
                             const File& unpacked) {
    const std::map<PartId, std::string> files =
        MCR_TRY(unpack_parts(directory, container, parts, unpacked));
    for (const Journal& journal : replica.journals) {
      const PartId& part = journal.begin.part;
      const bool is_native = journal.publish && journal.publish->native;
      const auto file = files.find(part);
      if (!journal.publish || is_there(directory, part) || (!is_native && file == files.end()))
        continue;
      if (directory.is_in(State::open, part)) MCR_TRY(directory.drop(part));
      if (!is_native) {
        const std::string bytes = restart::stage_files::bytes_path(part);
        // Files in a stage are for their owner to read and write, whatever mode the program's files have.
        if (::fchmodat(unpacked.descriptor(), file->second.c_str(), 0600, 0) != 0 ||
            restart::system_calls().renameat(unpacked.descriptor(), file->second.c_str(),
                                             directory.descriptor(), bytes.c_str()) != 0)
          return restart::system_error("cannot move", file->second);
      }
      const File records = MCR_TRY(directory.begin(journal.begin));
      MCR_TRY(directory.publish(part, records, *journal.publish));
    }
    return {};
  }

  const std::string& stage_;
  const TeamDirectory& place_;
  std::string name_;
};

struct HeldReplica {
  std::string name;
  std::uint64_t publish_ns = 0;
  std::vector<PartId> parts;
};

/// A part may be in several replicas: the program wrote into its file again after one had been sent. The newest one is committed
/// first; the commit of an older one then finds the part in storage.
std::vector<HeldReplica> newest_first(const TeamDirectory& place,
                                      const std::vector<std::string>& names) {
  std::vector<HeldReplica> all;
  for (const std::string& name : names) {
    HeldReplica& one = all.emplace_back();
    one.name = name;
    const auto file = place.open(Box::held, name);
    const auto replica = file ? restart::read_replica(*file) : Result<Replica>(file.error());
    if (!replica) continue;  // Returning says why
    for (const Journal& journal : replica->journals) {
      one.parts.push_back(journal.begin.part);
      if (journal.publish) one.publish_ns = std::max(one.publish_ns, journal.publish->publish_ns);
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const HeldReplica& a, const HeldReplica& b) {
    return a.publish_ns > b.publish_ns;
  });
  return all;
}

}  // namespace

Result<std::size_t> count_held_replicas(const std::string& stage) {
  const auto place = MCR_TRY(TeamDirectory::find(stage));
  if (!place || place->has_team()) return std::size_t{0};
  return MCR_TRY(place->list(Box::held)).size();
}

Result<BroughtBack> bring_back_replicas(const std::string& stage, std::uint64_t wait_ms) {
  BroughtBack brought;
  const auto place = MCR_TRY(TeamDirectory::find(stage));
  if (!place) return brought;
  const std::uint64_t begin_ms = restart::monotonic_ms();
  while (place->has_team()) {
    if (restart::monotonic_ms() >= begin_ms + wait_ms) return brought;
    constexpr int look_ms = 50;
    ::poll(nullptr, 0, look_ms);
  }
  MCR_TRY(place->remove_leftovers());
  std::set<PartId> waiting;  // parts whose newest replica could not be brought back now
  for (const HeldReplica& replica : newest_first(*place, MCR_TRY(place->list(Box::held)))) {
    const std::string& name = replica.name;
    const bool has_newer = std::any_of(replica.parts.begin(), replica.parts.end(),
                                       [&](const PartId& it) { return waiting.contains(it); });
    const Result<void> done = has_newer ? Error{Cause::system, "a newer replica of its files waits"}
                                        : Returning(stage, *place, name).run();
    if (done) {
      ++brought.replicas;
    } else {
      if (done.error().cause != Cause::damaged)
        waiting.insert(replica.parts.begin(), replica.parts.end());
      brought.kept.push_back("the replica " + name + " stays in " + place->path() +
                             "/held: " + done.error().message);
    }
  }
  return brought;
}

}  // namespace mcr::aggregation
