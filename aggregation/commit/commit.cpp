// SPDX-License-Identifier: BSD-3-Clause
// The steps of a group's commit. The container's rename (4) is the commit; there is no other record
// of it.
//
//  1. Lock each part's bytes, shared: its writer can no longer take it back, only copy it. A part
//     that cannot be locked was taken back and is left out.
//       crash: as before; locks die with us
//  2. Look whether a container of this set already lists the part (a leader died between 4 and 7):
//     such parts go to 5 at once. The container goes where the checkpoint's directory is now; parts
//     whose files the program removed with their directory are freed.
//       crash: as before; the next leader looks again
//  3. Make the container directory, and its name durable.
//       crash: an empty directory
//  4. Write the container, fsync, rename, fsync the directory (write_container.cpp).
//       crash before the rename: a file `….unfinished` that the next attempt replaces
//       crash after it: parts in stage and container; the next leader finds them in 2
//  5. Put stubs in place that dead writers left out.
//       crash: the next leader repeats it
//  6. Journals go from published/ to committed/, still under the lock.
//       crash: some parts count as kept; their leader's end, or an adopter, frees them
//  7. Free the parts that are not kept; their bytes become the next parts' bytes.
//       crash: as after 6
//  8. Rewrite the summary.
//       crash: it lags behind
//
// Where 3 or 4 fail, nothing was changed and the parts are reported as failed.
#include "aggregation/commit/commit.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <set>
#include <thread>

#include "aggregation/commit/commit_options.hpp"
#include "aggregation/commit/container_directory.hpp"
#include "aggregation/commit/put_back.hpp"
#include "aggregation/commit/trace_file.hpp"
#include "restart/base/log.hpp"
#include "restart/base/system.hpp"
#include "restart/container_name.hpp"
#include "restart/container_reader.hpp"

namespace mcr::aggregation {

using restart::ContainerName;
using restart::File;
using restart::Journal;
using restart::LaunchDirectory;
using restart::system_calls;
using restart::system_error;

namespace {

constexpr int lock_turns = 2000;  // a writer may wait for slow storage with its stub
constexpr std::size_t remembered_places = 4096;
constexpr auto lock_pause = std::chrono::milliseconds(5);

struct LockedPart {
  PartId id;
  Journal journal;
  File bytes;  ///< not open for a native file
  std::uint64_t size = 0;
  bool is_native = false;
};

/// The bytes, locked. Between publish and the stub's rename the writer still has its lock, for as
/// long as storage takes for a rename; who takes a part back has it too, but then it is not
/// published any more.
Result<File> lock_bytes(const LaunchDirectory& directory, const PartId& id) {
  for (int turn = 0;; ++turn) {
    auto bytes = directory.open_bytes(id);
    const bool busy = !bytes && bytes.error().system_error == EWOULDBLOCK;
    if (!busy || turn == lock_turns || !directory.is_in(LaunchDirectory::State::published, id)) {
      return bytes;
    }
    std::this_thread::sleep_for(lock_pause);
  }
}

/// Step 1. Those that are gone or taken back are left out.
std::vector<LockedPart> lock_parts(const LaunchDirectory& directory,
                                   const std::vector<PartId>& ids) {
  std::vector<LockedPart> parts;
  for (const PartId& id : ids) {
    LockedPart part;
    part.id = id;
    // Lock, then read the journal: before the lock it may still move.
    auto bytes = lock_bytes(directory, id);
    auto journal = directory.journal(LaunchDirectory::State::published, id);
    if (!journal) continue;
    part.is_native = journal->publish && journal->publish->native;
    if (!part.is_native) {
      if (!bytes) continue;
      const auto size = bytes->size();
      if (!size) continue;
      part.size = *size;
      part.bytes = std::move(*bytes);
    }
    part.journal = std::move(*journal);
    parts.push_back(std::move(part));
  }
  return parts;
}

/// Step 2. Ids that some container of the set already lists, and the numbers of supplements in use.
struct Present {
  std::set<PartId> parts;
  std::set<std::string> names;
};
Present find_present(const ContainerName& where) {
  Present present;
  const auto names = restart::list_directory(AT_FDCWD, where.directory);
  if (!names) return present;
  for (const std::string& name : *names) {
    if (!name.starts_with(where.prefix) || !name.ends_with(".h5")) continue;
    present.names.insert(name);
    const auto reader = restart::ContainerReader::open(AT_FDCWD, where.directory + "/" + name);
    if (!reader) continue;
    const auto parts = (*reader)->parts();
    if (!parts) continue;
    for (const auto& record : **parts) present.parts.insert(record.entry.part);
  }
  return present;
}

/// A name of this group that no container has yet.
std::string free_name(const ContainerName& where, const Present& present, std::uint32_t first,
                      std::uint32_t last, std::uint32_t supplement) {
  std::optional<std::uint32_t> number;
  if (supplement > 0) number = supplement;
  for (;;) {
    std::string name = where.prefix + restart::container_suffix(first, last, number);
    if (!present.names.contains(name)) return name;
    number = number.value_or(0) + 1;
  }
}

/// As the program named it, relative to the directory that all parts share (or shared then).
std::string index_path(const Journal& journal, const std::string& base) {
  const std::string& path = journal.begin.path;
  return path.starts_with(base + "/") ? path.substr(base.size() + 1) : path;
}

restart::SetIdentity identity_of(const DrainGroup& group) {
  restart::SetIdentity identity;
  identity.masked_name = group.set.masked_name;
  identity.launch = group.set.launch;
  identity.sequence = group.set.sequence;
  identity.rank_count = group.rank_count;
  identity.passed_ranks = group.passed_ranks;
  identity.failed_ranks = group.failed_ranks;
  identity.drifted = group.drifted;
  identity.begun_ns = group.begun_ns;
  return identity;
}

/// Members of the set whose bytes lie at their paths natively.
std::vector<restart::NativeMember> natives_among(const std::vector<LockedPart>& parts,
                                                 const ContainerName& where) {
  std::vector<restart::NativeMember> natives;
  for (const LockedPart& part : parts) {
    if (!part.is_native) continue;
    const restart::PartPublish& publish = *part.journal.publish;
    natives.push_back({part.journal.begin.rank, index_path(part.journal, where.base),
                       publish.native->device, publish.native->inode, publish.size});
  }
  return natives;
}

/// A leader leads one launch, whose steps have the same variables.
const std::shared_ptr<ChoiceMemory>& choices_of_this_leader() {
  static const auto memory = std::make_shared<ChoiceMemory>();
  return memory;
}

/// Steps 3 and 4.
Result<CommitReport> write(const DrainGroup& group, const ContainerName& where,
                           const Present& present, const std::vector<LockedPart*>& parts,
                           std::vector<restart::NativeMember> natives,
                           const restart::Settings& settings) {
  MCR_TRY(make_container_directory(where.directory));
  SetToCommit set;
  set.set = identity_of(group);
  set.set.natives = std::move(natives);
  set.directory = where.directory;
  for (const LockedPart* part : parts) {
    set.parts.push_back({part->id, part->journal.begin.rank, index_path(part->journal, where.base),
                         &part->bytes, part->size, part->journal.begin.mode});
  }
  const std::uint32_t first =
      set.parts.empty() ? set.set.natives.front().rank : set.parts.front().rank;
  const std::uint32_t last =
      set.parts.empty() ? set.set.natives.back().rank : set.parts.back().rank;
  MergeOptions options = MCR_TRY(merge_options(settings, group.fast));
  options.memory = choices_of_this_leader();
  // Another node's leader may be quicker with the same name: ranks that take turns write for one
  // another.
  constexpr int name_turns = 20;
  Present there = present;
  for (int turn = 0;; ++turn) {
    set.name = free_name(where, there, first, last, group.supplement);
    auto written = write_container(set, options);
    if (written || written.error().system_error != EEXIST || turn == name_turns) return written;
    there.names.insert(set.name);
  }
}

bool is_alive(const LaunchDirectory& directory, const std::string& presence) {
  const auto presences = directory.presences();
  if (!presences) return true;
  return std::any_of(presences->begin(), presences->end(),
                     [&](const auto& it) { return it.name == presence && it.alive; });
}

/// Steps 5 to 7 for one part.
Result<void> leave_stage(const LaunchDirectory& directory, LockedPart& part, bool keep) {
  const restart::PartBegin& begin = part.journal.begin;
  const bool writer_alive = is_alive(directory, begin.presence);
  if (!writer_alive && !part.is_native) {
    const auto repaired = repair_stub(directory, begin);
    if (repaired && *repaired)
      restart::log_summary("put in place the stub that a dead writer left out: " + begin.path);
    if (!repaired) restart::log_warning(begin.path + ": " + repaired.error().message);
  }
  MCR_TRY(directory.committed(part.id, true, {}));
  part.bytes = File();
  if (keep && !part.is_native) return {};
  return directory.committed(
      part.id, false, writer_alive ? std::optional(begin.rank) : std::optional<std::uint32_t>());
}

/// The container's place, if the program has renamed the directory since; parts whose files went
/// with it leave the stage and the list. What has no place any more goes into the nearest directory
/// above that there is: nothing that was closed is dropped on a guess.
void follow_directory(const LaunchDirectory& directory, const restart::Settings& settings,
                      const StubHandles* stubs, ContainerName& where,
                      std::vector<LockedPart>& parts, std::vector<PartId>& left) {
  std::string base;
  std::erase_if(parts, [&](LockedPart& part) {
    const BaseNow now = find_base(where, part.journal.begin, stubs);
    if (base.empty()) base = now.base;
    if (!now.removed) return false;
    restart::log_summary("the program removed " + part.journal.begin.path + " before its commit");
    part.bytes = File();
    if (!directory.committed(part.id, false, {})) return false;
    left.push_back(part.id);
    return true;
  });
  if (parts.empty() || base == where.base) return;
  if (base.empty()) {
    base = where.base;
    struct stat status {};
    while (base != "/" && base != "." && ::stat(base.c_str(), &status) != 0) {
      const std::size_t slash = base.rfind('/');
      base = slash == std::string::npos ? "." : slash == 0 ? "/" : base.substr(0, slash);
    }
    if (base == where.base) return;
    restart::log_warning(where.base + " is gone; its container goes below " + base +
                         ": `mcr unpack` gives the files back");
  }
  where.base = base;
  where.directory = (base == "/" ? "/" : base + "/") + std::string(settings.text("container_dir"));
}

std::string describe(const DrainGroup& group) {
  return group.set.masked_name + " (launch " + group.set.launch + ", sequence " +
         std::to_string(group.set.sequence) + ", " + std::to_string(group.parts.size()) + " parts)";
}

/// For `mcr trace`: no drain fails for it, and nobody misses it.
void leave_trace(const LaunchDirectory& directory, const restart::Settings& settings,
                 const ContainerName& where, const CommitReport& report, std::uint64_t number) {
  (void)write_trace(directory.descriptor(), trace_name(number), report).has_value();
  const auto wanted = settings.text("trace");
  if (wanted.empty() || wanted == "none") return;
  const std::string name = report.path.substr(report.path.rfind('/') + 1) + ".trace";
  const auto written = [&]() -> Result<void> {
    const bool is_absolute = wanted.starts_with('/');
    const File target = MCR_TRY(File::open(
        AT_FDCWD, is_absolute ? std::string(wanted) : where.base + "/" + std::string(wanted),
        O_RDONLY | O_DIRECTORY));
    return write_trace(target.descriptor(), name, report);
  }();
  if (!written) restart::log_warning_once("trace", "no trace: " + written.error().message);
}

}  // namespace

DrainDone commit_group(const LaunchDirectory& directory, const DrainGroup& group, Summary& summary,
                       const StubHandles* stubs, SetPlaces* places) {
  DrainDone done;
  done.drain = group.drain;
  std::vector<LockedPart> locked = lock_parts(directory, group.parts);
  if (locked.empty()) return done;

  const restart::Settings settings = settings_of(locked.front().journal.begin);
  ContainerName where = restart::container_name(
      group.set.masked_name, settings.text("container_dir"), group.set.launch, group.set.sequence);
  follow_directory(directory, settings, stubs, where, locked, done.committed);
  if (locked.empty()) return done;
  const Present present = find_present(where);
  std::vector<LockedPart*> to_write;
  for (LockedPart& part : locked) {
    if (!part.is_native && !present.parts.contains(part.id)) to_write.push_back(&part);
  }
  std::vector<restart::NativeMember> natives = natives_among(locked, where);
  if (!to_write.empty() || !natives.empty()) {
    const auto written = write(group, where, present, to_write, std::move(natives), settings);
    if (!written) {
      done.storage_failed =
          written.error().cause == Cause::full || written.error().cause == Cause::system;
      for (const LockedPart& part : locked) done.failed.push_back(part.id);
      summary.failed(written.error().message);
      report_trouble(
          where.directory,
          "the set " + describe(group) +
              " could not be written as a container: " + written.error().message +
              "; its parts are put at their paths as plain files where that is possible, "
              "later files are written natively, and what remains stays in " +
              directory.path() + " for `mcr recover`");
      return done;
    }
    for (const std::string& reason : written->unreadable) {
      restart::log_summary("merged as plain bytes, because HDF5 cannot read it: " + reason);
    }
    const std::uint64_t number =
        summary.committed(group.set, to_write.size(), written->raw_bytes, written->container_bytes);
    leave_trace(directory, settings, where, *written, number);
    restart::log_summary("committed " + written->path + ": " + std::to_string(written->raw_bytes) +
                         " B in " + std::to_string(to_write.size()) + " parts -> " +
                         std::to_string(written->container_bytes) + " B");
  }
  if (places != nullptr) {
    (*places)[group.set] = {where, settings, locked.front().journal.begin.rank,
                            locked.back().journal.begin.rank};
    if (places->size() > remembered_places) places->erase(places->begin());
  }
  for (LockedPart& part : locked) {
    if (const auto left = leave_stage(directory, part, group.keep); !left) {
      // It is in the container; at worst its memory stays taken until the launch's end.
      restart::log_warning("part " + part.id.text() + ": " + left.error().message);
    }
    done.committed.push_back(part.id);
  }
  return done;
}

Result<void> note_account(const DrainGroup& account, const SetPlaces& places) {
  const auto place = places.find(account.set);
  if (place == places.end()) return {};
  const ContainerName& where = place->second.where;
  const Present present = find_present(where);
  if (present.names.empty()) return {};
  SetToCommit set;
  set.set = identity_of(account);
  set.directory = where.directory;
  set.name = free_name(where, present, place->second.first_rank, place->second.last_rank, 1);
  const auto written =
      MCR_TRY(write_container(set, MCR_TRY(merge_options(place->second.settings, false))));
  restart::log_debug("noted in " + written.path + " what is known of the set by now");
  return {};
}

void report_trouble(const std::string& container_directory, const std::string& message) {
  restart::log_warning(message);
  struct timespec now {};
  system_calls().clock_gettime(CLOCK_REALTIME, &now);
  char stamp[32] = {};
  struct tm calendar {};
  ::gmtime_r(&now.tv_sec, &calendar);
  std::strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%SZ ", &calendar);
  const auto log = File::open(AT_FDCWD, container_directory + "/set-trouble.log",
                              O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW, 0666);
  if (log) (void)log->append(as_bytes(stamp + message + "\n")).has_value();
}

// --- summary ------------------------------------------------------------------------------------

std::uint64_t Summary::committed(const SetName& set, std::size_t parts, std::uint64_t raw_bytes,
                                 std::uint64_t container_bytes) {
  const std::lock_guard lock(mutex_);
  if (std::find(recent_.begin(), recent_.end(), set) == recent_.end()) {
    ++sets_;
    recent_.push_back(set);
    if (recent_.size() > 64) recent_.pop_front();
  }
  parts_ += parts;
  largest_set_ = std::max(largest_set_, parts);
  raw_bytes_ += raw_bytes;
  stored_bytes_ += container_bytes;
  changed_ = true;
  return containers_++;
}

void Summary::put_back(std::size_t parts) {
  const std::lock_guard lock(mutex_);
  put_back_ += parts;
  changed_ = true;
}

void Summary::failed(const std::string& why) {
  const std::lock_guard lock(mutex_);
  ++failures_;
  last_failure_ = why;
  std::replace(last_failure_.begin(), last_failure_.end(), '\n', ' ');
  changed_ = true;
}

void Summary::write(std::size_t pending, const Busy& busy) {
  constexpr std::uint64_t beat_ns = 1'000'000'000;
  const std::lock_guard lock(mutex_);
  const std::uint64_t now = restart::clock_ns(CLOCK_MONOTONIC);
  if (!changed_ && pending == pending_ && (pending == 0 || now < written_ns_ + beat_ns)) return;
  pending_ = pending;
  written_ns_ = now;
  const auto line = [](const char* key, std::uint64_t value) {
    return std::string(key) + "=" + std::to_string(value) + "\n";
  };
  std::string text = line("sets", sets_) + line("parts", parts_) +
                     line("largest_group", largest_set_) + line("containers", containers_) +
                     line("raw_bytes", raw_bytes_) + line("stored_bytes", stored_bytes_) +
                     line("put_back", put_back_) + line("failed_commits", failures_) +
                     line("pending", pending_);
  if (!busy.what.empty()) {
    std::string what = busy.what;
    std::replace(what.begin(), what.end(), '\n', ' ');
    text += "draining=" + what + "\n" + line("drain_seconds", busy.seconds);
  }
  if (!last_failure_.empty()) text += "last_failure=" + last_failure_ + "\n";
  const auto written = [&]() -> Result<void> {
    const File file = MCR_TRY(File::open(directory_.descriptor(), "summary.new",
                                         O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW));
    MCR_TRY(file.write_at(0, as_bytes(text)));
    if (system_calls().renameat(directory_.descriptor(), "summary.new", directory_.descriptor(),
                                "summary") != 0) {
      return system_error("cannot rename", "summary");
    }
    return {};
  }();
  if (written) changed_ = false;
}

}  // namespace mcr::aggregation
