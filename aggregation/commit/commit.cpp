// SPDX-License-Identifier: BSD-3-Clause
// The steps of a group's commit. The container's final name (4) is the commit; there is no other
// record of it.
//
//  1. Lock each part's bytes, shared: its writer can then only copy the part, not take it back. A
//     part that cannot be locked was taken back and is left out.
//       crash: as before, because locks end with the process
//  2. Look whether a container of this set already lists the part (a leader died between 4 and 7):
//     such parts go to 5 at once. Parts whose files the program removed are freed. The container
//     goes to the directory where its stubs are now (stub_places.hpp). If files or a directory are
//     removed during 3 or 4, step 2 is repeated.
//       crash: as before; the next leader looks again
//  3. Make the container directory, and its name durable. Close it to users whom the files' directories keep out.
//       crash: an empty directory
//  4. Write the container, fsync, give it its final name, fsync the directory (write_container.cpp).
//     With replicas=1 it is made in memory, and the team sends it to another node, before it is copied.
//       crash before it has the name: a file `.mcr-….tmp` that the next attempt replaces, and a replica
//       that held_replicas finds in a container already
//       crash after that: parts in stage and container; the next leader finds them in 2
//     If files were renamed meanwhile, the container is renamed to where they are now. If the files
//     may be being copied, the container is watched (container_watch.hpp).
//       crash before that: the parts are in the stage, and the next leader writes a second
//       container
//  5. Put stubs in place that dead writers left out, or that storage refused when the files were
//     closed. A part whose stub storage still refuses stays in published/, and the decisions try
//     again later. With gc=on, move our links to stubs beside the containers (linked_stubs.hpp).
//       crash: the next leader repeats it; a part may have two links, and its set then stays
//  6. Journals go from published/ to committed/, still under the lock.
//       crash: some parts count as kept; their leader's end, or an adopter, frees them
//  7. Free the parts that are not kept; their bytes become the next parts' bytes.
//       crash: as after 6
//  8. With gc=auto, remove superseded sets if storage runs short (short_storage.hpp).
//       crash: as in collection.cpp, 4
//
// The summary is rewritten between 4 and 5, because a rank at its end prints what the summary
// counts as soon as its parts are gone.
//
// If 3 or 4 fails because storage is full, 8 comes first and 2 follows. If 3 or 4 fails otherwise, or
// 8 has removed no set, nothing was changed and the parts are reported as failed.
#include "aggregation/commit/commit.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <map>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "aggregation/commit/commit_options.hpp"
#include "aggregation/commit/commit_place.hpp"
#include "aggregation/commit/linked_stubs.hpp"
#include "aggregation/commit/locked_parts.hpp"
#include "aggregation/commit/outgoing_replica.hpp"
#include "aggregation/commit/part_access.hpp"
#include "aggregation/commit/put_back.hpp"
#include "aggregation/commit/trace_file.hpp"
#include "aggregation/commit/writing_turn.hpp"
#include "codecs/base/checksum.hpp"
#include "restart/base/log.hpp"
#include "restart/base/name_text.hpp"
#include "restart/base/path_names.hpp"
#include "restart/base/system.hpp"
#include "restart/format/masked_name.hpp"
#include "restart/sets/stub_links.hpp"
#include "restart/settings/choices.hpp"
#include "restart/settings/launcher.hpp"
#include "restart/stage/stub_file.hpp"

namespace mcr::aggregation {

using restart::ContainerName;
using restart::File;
using restart::FileIdentity;
using restart::Journal;
using restart::LaunchDirectory;

namespace {

constexpr std::size_t remembered_places = 4096;
/// Frames of a bundle are small, because each of its parts is read alone.
constexpr std::uint64_t bundle_frame_bytes = 64 * 1024;
/// The most attempts to write a group whose directory is removed meanwhile.
constexpr int directory_turns = 4;
/// Pause between these attempts: another process is removing the directory, file after file.
constexpr auto directory_pause = std::chrono::milliseconds(50);

/// Returns the part's path relative to `base`, or, if `base` is "", as the program named it.
std::string index_path(const Journal& journal, const std::string& base) {
  const std::string& path = journal.begin.path;
  return !base.empty() && path.starts_with(base + "/") ? path.substr(base.size() + 1) : path;
}

restart::SetIdentity identity_of(const DrainGroup& group, std::uint64_t clock_behind_ns) {
  restart::SetIdentity identity;
  identity.masked_name = group.set.masked_name;
  identity.launch = group.set.launch;
  identity.sequence = group.set.sequence;
  identity.rank_count = group.rank_count;
  identity.passed_ranks = group.passed_ranks;
  identity.failed_ranks = group.failed_ranks;
  identity.drifted = group.drifted;
  identity.failed_attempts = group.failed_attempts;
  identity.begun_ns = group.begun_ns;
  identity.order_ns = group.begun_ns + clock_behind_ns;
  return identity;
}

/// Returns what the sets of a bundle have in common, and the set of each part.
restart::SetIdentity identity_of_bundle(const DrainGroup& group,
                                        const std::vector<const LockedPart*>& parts,
                                        std::uint64_t clock_behind_ns) {
  std::map<restart::PartId, const SetOfPart*> sets;
  for (std::size_t i = 0; i < group.parts.size(); ++i) sets[group.parts[i]] = &group.bundle[i];
  restart::SetIdentity identity = identity_of(group, clock_behind_ns);
  const std::string& name = group.set.masked_name;
  const std::size_t slash = name.rfind('/') + 1;  // npos + 1 is the beginning
  identity.masked_name = name.substr(0, slash) + restart::pattern_of(name.substr(slash));
  identity.sequence = 0;
  for (const LockedPart* part : parts) {
    const SetOfPart& one = *sets.at(part->id);
    identity.bundled.push_back(
        {one.set.masked_name, one.set.sequence, one.begun_ns, one.begun_ns + clock_behind_ns});
    identity.begun_ns = std::min(identity.begun_ns, one.begun_ns);
  }
  identity.order_ns = identity.begun_ns + clock_behind_ns;
  return identity;
}

/// Returns where the group's container goes.
ContainerName place_of(const DrainGroup& group, const restart::Settings& settings) {
  const std::string_view container_dir = settings.text("container_dir");
  if (!group.bundle.empty())
    return restart::bundle_name(group.set.masked_name, container_dir, group.set.launch,
                                group.parts.front());
  return restart::container_name(group.set.masked_name, container_dir, group.set.launch,
                                 group.set.sequence);
}

PlaceByNames names_of(const DrainGroup& group, const restart::Settings& settings,
                      const restart::PartBegin& begin) {
  const ContainerName where = place_of(group, settings);
  if (!group.bundle.empty())
    return {where, begin, where.prefix, std::string(settings.text("container_dir"))};
  const auto far = restart::far_container_name("/", group.set.masked_name, "mcr", group.set.launch,
                                               group.set.sequence);
  return {where, begin, far.prefix, std::string(settings.text("container_dir"))};
}

/// Returns the parts of the group that some container lists, and the names that are taken. A leader
/// that died may have put a part of one rank into a container of its own or into a bundle.
Present present_of(const DrainGroup& group, const restart::Settings& settings,
                   const ContainerName& where, KnownContainers* known) {
  Present present = find_present(where, known);
  if (group.rank_count > 1) return present;
  const std::string_view container_dir = settings.text("container_dir");
  std::set<std::string> looked{where.prefix};
  const auto look = [&](ContainerName other) {
    other.directory = where.directory;
    if (looked.insert(other.prefix).second) present.parts.merge(find_present(other, known).parts);
  };
  for (std::size_t i = 0; i < group.parts.size(); ++i) {
    const SetName& set = group.bundle.empty() ? group.set : group.bundle[i].set;
    look(restart::container_name(set.masked_name, container_dir, set.launch, set.sequence));
    look(restart::bundle_name(set.masked_name, container_dir, set.launch, group.parts[i]));
  }
  return present;
}

/// Returns the members of the set whose bytes lie at their paths natively.
std::vector<restart::NativeMember> natives_among(const std::vector<LockedPart>& parts,
                                                 const std::string& base) {
  std::vector<restart::NativeMember> natives;
  for (const LockedPart& part : parts) {
    if (!part.is_native) continue;
    const restart::PartPublish& publish = *part.journal.publish;
    natives.push_back({part.journal.begin.rank, index_path(part.journal, base),
                       publish.native->device, publish.native->inode, publish.size});
  }
  return natives;
}

/// Returns the parts that are in no container yet.
std::vector<const LockedPart*> parts_to_write(const std::vector<LockedPart>& locked,
                                              const Present& present) {
  std::vector<const LockedPart*> parts;
  for (const LockedPart& part : locked) {
    if (!part.is_native && !present.parts.contains(part.id)) parts.push_back(&part);
  }
  return parts;
}

/// Shared by all sets of this process: a leader leads one launch, whose steps have the same
/// variables.
const std::shared_ptr<ChoiceMemory>& choices_of_this_leader() {
  static const auto memory = std::make_shared<ChoiceMemory>();
  return memory;
}

const std::shared_ptr<WrittenSince>& directories_of_this_leader() {
  static const auto since = std::make_shared<WrittenSince>();
  return since;
}

/// Never destroyed: HDF5 ends before statics are destroyed.
LayoutMemory& layouts_of_this_leader() {
  static LayoutMemory& memory = *new LayoutMemory;
  return memory;
}

/// Returns the same word for each attempt at a group. No other process uses it: a launch has one leader on a
/// node at a time, and another node, which brings a replica back, has another name.
std::string temporary_word(const LaunchDirectory& directory, const ContainerName& where,
                           std::uint32_t first_rank) {
  const std::string text = restart::host_name() + "\n" + directory.path() + "\n" + where.prefix +
                           "\n" + std::to_string(first_rank);
  return restart::hexadecimal(checksum(as_bytes(text)));
}

/// Steps 3 and 4. If `kept` is given, only the replica is made, and goes there.
Result<CommitReport> write(const LaunchDirectory& directory, const DrainGroup& group,
                           const Followed& followed, const Present& present,
                           const std::vector<LockedPart>& locked, const restart::Settings& settings,
                           const StubHandles* stubs, std::function<bool()> is_wanted,
                           std::optional<OutgoingReplica>* kept = nullptr) {
  const ContainerName& where = followed.placement.where;
  const std::vector<const LockedPart*> parts = parts_to_write(locked, present);
  const Place place = MCR_TRY(open_place(followed, locked, stubs));
  // Making the directory may have waited for storage, so a removal may have begun meanwhile.
  if (place.is_new && is_wanted && !is_wanted()) {
    remove_if_new(place, where);
    errno = ENOENT;
    return restart::system_error("the checkpoint files are being removed in", where.base);
  }
  MCR_TRY(close_as_files(place, where, locked, stubs));
  SetToCommit set;
  set.set = group.bundle.empty() ? identity_of(group, directory.clock_behind_ns())
                                 : identity_of_bundle(group, parts, directory.clock_behind_ns());
  // All parts of a group come from the directory of one launch.
  set.set.amended_by = locked.front().journal.begin.amended_by;
  // A container in a directory above lies where no value of container_dir= leads.
  if (!followed.placement.is_far)
    set.set.steps_up = restart::steps_up_of(settings.text("container_dir"));
  set.set.natives = natives_among(locked, place_of(group, settings).base);
  set.directory = where.directory;
  set.home = &place.directory;
  set.is_wanted = std::move(is_wanted);
  // In a directory above, the paths stay absolute: relative ones would be resolved against the
  // wrong directory.
  const std::string base = followed.placement.is_far ? "" : place_of(group, settings).base;
  for (const LockedPart* part : parts) {
    set.parts.push_back({part->id, part->journal.begin.rank, index_path(part->journal, base),
                         &part->bytes, part->size, part->journal.begin.mode});
  }
  const std::uint32_t first =
      set.parts.empty() ? set.set.natives.front().rank : set.parts.front().rank;
  const std::uint32_t last =
      set.parts.empty() ? set.set.natives.back().rank : set.parts.back().rank;
  set.temporary_word = temporary_word(directory, where, first);
  set.look_at_access = [&parts, &locked, stubs, &place] {
    std::vector<restart::Access> all;
    for (const LockedPart* part : parts) all.push_back(access_of_part(*part, stubs, place.shared));
    for (const LockedPart& part : locked) {
      if (part.is_native) all.push_back(access_of_part(part, stubs, place.shared));
    }
    return all;
  };
  MergeOptions options = MCR_TRY(merge_options(settings, group.fast));
  options.memory = choices_of_this_leader();
  options.since = directories_of_this_leader();
  options.layouts = &layouts_of_this_leader();
  if (!group.bundle.empty()) options.frame_bytes = bundle_frame_bytes;
  // A leader on another node may take the same name first if ranks of both nodes write the same
  // file in turn.
  constexpr int name_turns = 20;
  auto replica = group.is_brought_back || group.held != nullptr
                     ? std::nullopt
                     : OutgoingReplica::begin(directory, settings, set.temporary_word);
  bool is_offered = false;
  set.is_held_back = kept != nullptr;
  set.replica_is_made = [&](std::uint64_t bytes) -> Result<void> {
    MCR_TRY(replica->offer(bytes, group, locked, directory.clock_behind_ns()));
    is_offered = true;
    if (set.is_held_back) return {};
    if (group.turn_to_write != nullptr) group.turn_to_write->wait();
    return {};
  };
  Present there = present;
  for (int turn = 0;; ++turn) {
    set.name = group.bundle.empty() ? free_name(where, there, first, last, group.supplement)
                                    : free_bundle_name(where, there);
    set.replica = file_for(replica);
    if (set.is_held_back && set.replica == nullptr) return Error{Cause::usage, "no replica"};
    if (set.replica == nullptr && group.turn_to_write != nullptr) group.turn_to_write->wait();
    auto written = write_container(set, options);
    // The program may be removing this directory: rmdir fails if our directory is in it.
    if (!written) remove_if_new(place, where);
    if (written && set.is_held_back) kept->emplace(*std::move(replica));
    if (written || set.is_held_back) return written;
    if (set.replica != nullptr && !std::exchange(is_offered, false)) {
      // Storage was not asked yet.
      give_up(replica, written.error());
      continue;
    }
    if (written.error().system_error != EEXIST || turn == name_turns) return written;
    there.names.insert(set.name);
  }
}

/// True if the directory of the container, or one above it, does not exist any more.
bool is_gone(const Error& error) { return restart::leads_nowhere(error.system_error); }

/// Steps 2 to 5. Returns no report if all parts were in storage already. Sets `followed` to where
/// the container was to go in the last attempt. Moves parts that the program removed from `locked`
/// to `removed`.
Result<std::optional<CommitReport>> bring_to_storage(
    const LaunchDirectory& directory, const DrainGroup& group, const restart::Settings& settings,
    StubHandles* stubs, KnownContainers* known, ShortStorage* short_storage, Followed& followed,
    std::vector<LockedPart>& locked, std::vector<restart::PartId>& removed) {
  const PlaceByNames names = names_of(group, settings, locked.front().journal.begin);
  for (int turn = 1;; ++turn) {
    followed = follow_stubs(directory, stubs, names, locked, removed);
    if (locked.empty()) return std::optional<CommitReport>();
    const ContainerName where = followed.placement.where;
    const restart::PartBegin& begin = locked.front().journal.begin;
    if (begin.local_rank_count < begin.rank_count && begin.rank_count > 1) known = nullptr;
    const Present present = present_of(group, settings, where, known);
    if (parts_to_write(locked, present).empty() && natives_among(locked, names.where.base).empty())
      return std::optional<CommitReport>();
    // If other files of this directory are being removed, the whole directory may be about to go.
    const auto is_wanted = [&] {
      return wait_for_removal(locked, stubs) && count_removed(locked, stubs) == 0;
    };
    if (!is_wanted() && turn < directory_turns) continue;
    auto written = write(directory, group, followed, present, locked, settings, stubs,
                         turn < directory_turns ? is_wanted : std::function<bool()>());
    if (!written && is_gone(written.error()) && turn < directory_turns) {
      std::this_thread::sleep_for(directory_pause);
      continue;
    }
    if (!written && written.error().cause == Cause::full && short_storage != nullptr &&
        short_storage->make_room(where.directory)) {
      --turn;
      continue;
    }
    if (!written) return written.error();
    const auto reached = follow_container(stubs, names, locked, followed, *written);
    // The container is not where it belongs, and may have been removed: write it again.
    if (!reached && turn < directory_turns) continue;
    if (!reached) return reached.error();
    if (known != nullptr) known->add(followed.placement.where, restart::name_of(written->path));
    return std::optional<CommitReport>(std::move(*written));
  }
}

/// Reports the files that may not find their container. Nothing is lost, but only the user knows
/// where these files are.
void report_astray(const std::vector<LockedPart>& parts, const Followed& followed,
                   const std::string& container, Summary& summary) {
  std::string first;
  std::size_t count = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (followed.placement.is_reached[i]) continue;
    if (count++ == 0) first = parts[i].journal.begin.path;
  }
  if (count == 0) return;
  summary.astray(count, container);
  const std::string more = count > 1 ? " and " + std::to_string(count - 1) + " more" : "";
  report_trouble(
      followed.placement.where.directory,
      first + more +
          " renamed or removed before the commit, and not found. Nothing is lost: the data is in " +
          container +
          ". If a renamed file does not open, run `mcr recover DIR` with a directory DIR above the "
          "file and the container");
}

/// Returns the presences of the processes that live. A writer that dies after this call has put the
/// stub of its locked part in place.
Result<std::set<std::string>> living_processes(const LaunchDirectory& directory) {
  std::set<std::string> living;
  for (const auto& presence : MCR_TRY(directory.presences())) {
    if (presence.alive) living.insert(presence.name);
  }
  return living;
}

/// Step 5 for one part. If it fails, the path still shows what lay there before, and the part stays
/// in the stage, because only its journal is up to date.
Result<void> complete_stub(const LaunchDirectory& directory, const LockedPart& part,
                           bool writer_alive) {
  const auto older = part.journal.publish ? part.journal.publish->shows_older : std::nullopt;
  const bool is_placed = part.journal.publish && part.journal.publish->stub_is_placed;
  if (part.is_native || is_placed || (writer_alive && !older)) return {};
  const restart::PartBegin& begin = part.journal.begin;
  if (!MCR_TRY(repair_stub(directory, begin, older))) return {};
  link_repaired_stub(begin);
  restart::log_summary((older ? "storage refused this file's stub at its close"
                              : "a writer died before it wrote its file's stub") +
                       std::string("; the stub is at its path now: ") + begin.path);
  return {};
}

/// Steps 6 and 7 for one part.
Result<void> leave_stage(const LaunchDirectory& directory, LockedPart& part, bool writer_alive,
                         bool keep) {
  const restart::PartBegin& begin = part.journal.begin;
  MCR_TRY(directory.mark_committed(part.id));
  part.bytes = File();
  if (keep && !part.is_native) return {};
  return directory.free_part(
      part.id, writer_alive ? std::optional(begin.rank) : std::optional<std::uint32_t>());
}

std::string describe(const DrainGroup& group) {
  const std::string others =
      group.bundle.size() < 2
          ? ""
          : ", and " + std::to_string(group.bundle.size() - 1) + " others of its kind";
  return group.set.masked_name + others + " (launch " + group.set.launch + ", sequence " +
         std::to_string(group.set.sequence) + ", " + std::to_string(group.parts.size()) + " parts)";
}

/// A container may be read by the users who may read all of its files. The files of a bundle are
/// unrelated, so one file must not restrict the readers of another: parts whose access differs from
/// that of most stay in the stage and get a container of their own later.
void keep_equally_open(std::vector<LockedPart>& locked, const StubHandles* stubs) {
  std::vector<std::pair<restart::Access, std::size_t>> kinds;
  std::vector<std::size_t> kind_of;
  for (const LockedPart& part : locked) {
    const restart::Access access = access_of_part(part, stubs, {});
    const auto known = std::find_if(kinds.begin(), kinds.end(),
                                    [&](const auto& kind) { return kind.first == access; });
    kind_of.push_back(static_cast<std::size_t>(known - kinds.begin()));
    if (known == kinds.end()) kinds.emplace_back(access, 0);
    ++kinds[kind_of.back()].second;
  }
  const auto most = std::max_element(
      kinds.begin(), kinds.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  const auto chosen = static_cast<std::size_t>(most - kinds.begin());
  std::size_t number = 0;
  std::erase_if(locked, [&](const LockedPart&) { return kind_of[number++] != chosen; });
}

/// Writes the trace for `mcr trace`. A failure is ignored: a drain must not fail for it.
void leave_trace(const LaunchDirectory& directory, const restart::Settings& settings,
                 const ContainerName& where, const CommitReport& report, std::uint64_t number) {
  (void)write_trace(directory.descriptor(), trace_name(number), report).has_value();
  const auto wanted = settings.text("trace");
  if (wanted.empty() || wanted == "none") return;
  const std::string name = restart::name_of(report.path) + ".trace";
  const auto written = [&]() -> Result<void> {
    const bool is_absolute = wanted.starts_with('/');
    const std::string path = (is_absolute ? "" : where.base + "/") + std::string(wanted);
    (void)restart::system_calls().mkdirat(AT_FDCWD, path.c_str(), 0777);
    const File target = MCR_TRY(File::open(AT_FDCWD, path, O_RDONLY | O_DIRECTORY));
    return write_users_trace(target.descriptor(), name, report);
  }();
  if (!written)
    restart::log_warning_once(
        "trace",
        "the trace of this drain could not be written (trace=); nothing else is affected: " +
            written.error().message);
}

/// Returns a zero identity if the directory is not known.
FileIdentity directory_of_containers(const ContainerName& where,
                                     const std::optional<CommitReport>& report) {
  if (report) return report->directory;
  const auto directory = File::open(AT_FDCWD, where.directory, O_PATH | O_DIRECTORY);
  const auto status = directory ? directory->status() : Result<struct stat>(directory.error());
  return status ? FileIdentity(*status) : FileIdentity();
}

/// Says why no container was written, and what becomes of the parts.
void tell_failure(const LaunchDirectory& directory, const DrainGroup& group, const Error& error,
                  const std::string& containers, Summary& summary, DrainDone& done) {
  // Only ENOENT is certain: ENOTDIR may also mean that a file has the name of the directory of
  // containers.
  done.place_went_away = error.system_error == ENOENT;
  if (done.place_went_away) {
    const std::string why = "directories were removed or renamed while the container of " +
                            describe(group) + " was made: " + error.message;
    restart::log_summary("the parts of this set are put back as plain files: " + why);
    summary.failed(why);
    return;
  }
  done.storage_failed = error.cause == Cause::full || error.cause == Cause::system;
  summary.failed(error.message);
  report_trouble(containers, "the set " + describe(group) +
                                 " could not be written into a container: " + error.message +
                                 ". Its parts are put back as plain files if possible; later files "
                                 "are written natively. Parts that cannot be put back stay in " +
                                 directory.path() +
                                 "; `mcr recover` tries again to bring them to storage");
}

/// Counts the container in the summary. Returns the summary's number of the set.
std::uint64_t count(const DrainGroup& group, const CommitReport& report, Summary& summary) {
  const std::size_t parts = report.checksums.size();
  summary.encoded(report.drain.encoded_bytes, report.drain.card_bytes, report.drain.card_problem);
  if (!group.bundle.empty())
    return summary.committed_bundle(parts, report.raw_bytes, report.container_bytes);
  return summary.committed(group.set, parts, report.raw_bytes, report.container_bytes);
}

void tell_committed(const CommitReport& report) {
  for (const std::string& reason : report.unreadable) {
    restart::log_summary(
        "a file is stored as plain bytes (a restart gives it back unchanged), because HDF5 cannot "
        "read it: " +
        reason);
  }
  restart::log_summary("committed " + report.path + ": " + std::to_string(report.raw_bytes) +
                       " B in " + std::to_string(report.checksums.size()) + " parts -> " +
                       std::to_string(report.container_bytes) + " B");
  if (const std::string& problem = report.drain.card_problem; !problem.empty())
    restart::log_warning_once("gpu", codecs::gpu::problem_text(problem));
}

std::vector<restart::PartId> ids_of(const std::vector<LockedPart>& parts) {
  std::vector<restart::PartId> ids;
  for (const LockedPart& part : parts) ids.push_back(part.id);
  return ids;
}

void remember_place(const SetName& set, SetPlace place, SetPlaces& places) {
  if (places.size() >= remembered_places) places.erase(places.begin());
  places[set] = std::move(place);
}

/// Completes the stubs of parts that are in storage, and takes the parts out of the stage.
void complete_parts(const LaunchDirectory& directory, const ContainerName& where,
                    const StubHandles* stubs, std::vector<LockedPart>& parts, bool keep,
                    DrainDone& done) {
  const auto living = living_processes(directory);
  for (LockedPart& part : parts) {
    const bool writer_alive = living && living->contains(part.journal.begin.presence);
    const auto put =
        living ? complete_stub(directory, part, writer_alive) : Result<void>(living.error());
    if (!put) {
      restart::log_warning_once(
          "stub of " + part.id.text(),
          part.journal.begin.path +
              " is in its container, but its stub is not known to be in place yet, so the path may "
              "show older content. Nothing is lost: the leader tries again, and if the job ends "
              "before, `mcr recover` puts the stub there: " +
              put.error().message);
      done.without_stub.push_back(part.id);
      continue;
    }
    if (!part.is_native) move_stub_link(part.journal.begin, where, stubs);
    if (const auto left = leave_stage(directory, part, writer_alive, keep); !left) {
      restart::log_warning(part.journal.begin.path +
                           " is in its container, but its copy in the stage could not be freed and "
                           "may use memory until the launch ends: " +
                           left.error().message);
    }
    done.committed.push_back(part.id);
  }
}

}  // namespace

DrainDone commit_group(const LaunchDirectory& directory, const DrainGroup& group, Summary& summary,
                       StubHandles* stubs, SetPlaces* places, KnownContainers* known,
                       ContainerWatch* watch, ShortStorage* short_storage) {
  DrainDone done;
  done.drain = group.drain;
  std::vector<LockedPart> locked = lock_parts(directory, group.parts);
  if (group.held != nullptr) group.held->unlock();
  if (locked.empty()) return done;
  // A writer sends its stub's descriptor before it gives its lock back.
  if (stubs != nullptr) stubs->receive();
  if (!group.bundle.empty()) keep_equally_open(locked, stubs);

  const restart::Settings settings = settings_of(locked.front().journal.begin);
  if (restart::gc_of(settings) != restart::Gc::when_short) short_storage = nullptr;
  Followed followed;
  auto written = bring_to_storage(directory, group, settings, stubs, known, short_storage, followed,
                                  locked, done.removed);
  if (group.turn_to_write != nullptr) group.turn_to_write->end();
  summary.removed(done.removed.size());
  const ContainerName& where = followed.placement.where;
  if (!written) {
    for (const LockedPart& part : locked) done.failed.push_back(part.id);
    tell_failure(directory, group, written.error(), where.directory, summary, done);
    return done;
  }
  if (locked.empty()) return done;
  if (auto& report = *written) {
    const std::uint64_t number = count(group, *report, summary);
    report_astray(locked, followed, report->path, summary);
    // Before the watch, which may take the stubs.
    if (short_storage != nullptr && stubs != nullptr && group.bundle.empty())
      short_storage->committed(
          {group.set, report->directory, report->container_bytes, ids_of(locked)}, *stubs,
          where.directory);
    if (watch != nullptr && stubs != nullptr)
      watch->add(*report, names_of(group, settings, locked.front().journal.begin), followed, locked,
                 *stubs);
    summary.write();
    leave_trace(directory, settings, where, *report, number);
    tell_committed(*report);
  }
  if (places != nullptr && group.bundle.empty())
    remember_place(group.set,
                   {where, directory_of_containers(where, *written), settings,
                    locked.front().journal.begin.rank, locked.back().journal.begin.rank},
                   *places);
  complete_parts(directory, where, stubs, locked, group.keep, done);
  if (short_storage != nullptr && *written)
    short_storage->keep_room(where.directory, group.set, group.parts.size());
  return done;
}

std::unique_ptr<HeldSet> hold_group(const LaunchDirectory& directory, const DrainGroup& group,
                                    StubHandles& stubs) {
  std::vector<LockedPart> locked = lock_parts(directory, group.parts);
  if (locked.size() != group.parts.size() || !leaves_descriptors(locked)) return nullptr;
  stubs.receive();
  const restart::Settings settings = settings_of(locked.front().journal.begin);
  const PlaceByNames names = names_of(group, settings, locked.front().journal.begin);
  Followed followed;
  followed.places = find_stub_places(locked, &stubs);
  const bool is_removed =
      std::any_of(followed.places.begin(), followed.places.end(),
                  [](const StubPlace& it) { return it.kind == StubPlace::Kind::removed; });
  if (is_removed) return nullptr;
  followed.placement = choose_place(names, followed.places);
  std::optional<OutgoingReplica> replica;
  const auto made = write(directory, group, followed, {}, locked, settings, &stubs, {}, &replica);
  if (!made || !replica) return nullptr;
  restart::log_summary(
      "kept on two nodes, and not brought to storage for now (flush=): " + describe(group) + ": " +
      std::to_string(made->raw_bytes) + " B -> " + std::to_string(made->container_bytes) + " B");
  return std::make_unique<HeldSet>(*std::move(replica), std::move(locked));
}

Result<void> note_account(const LaunchDirectory& directory, const DrainGroup& account,
                          const SetPlaces& places) {
  const auto place = places.find(account.set);
  if (place == places.end()) return {};
  const ContainerName& where = place->second.where;
  const Present present = find_present(where);
  if (present.names.empty()) return {};
  const auto home = File::open(AT_FDCWD, where.directory, O_RDONLY | O_DIRECTORY);
  const auto identity = home ? home->status() : Result<struct stat>(home.error());
  if (!identity || FileIdentity(*identity) != place->second.directory) return {};
  SetToCommit set;
  set.set = identity_of(account, directory.clock_behind_ns());
  set.directory = where.directory;
  set.home = &*home;
  set.name = free_name(where, present, place->second.first_rank, place->second.last_rank, 1);
  // The note about the set's wholeness gets the access rights of the set's own containers.
  std::vector<restart::Access> accesses;
  for (const std::string& name : present.names) {
    const auto sibling = File::open(home->descriptor(), name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    const auto status = sibling ? sibling->status() : Result<struct stat>(sibling.error());
    if (!status || status->st_uid != ::geteuid()) continue;
    if (auto access = restart::access_of(*sibling)) accesses.push_back(*std::move(access));
  }
  set.look_at_access = [&accesses] { return accesses; };
  const auto written =
      MCR_TRY(write_container(set, MCR_TRY(merge_options(place->second.settings, false))));
  restart::log_debug("noted in " + written.path + " what is known of the set by now");
  return {};
}

}  // namespace mcr::aggregation
