// SPDX-License-Identifier: BSD-3-Clause
// What a crash after each step of publish() leaves:
//  1. complete_bytes: the part is open and its writer dead, as if the program had died before
//     H5Fclose. If nothing lay at the path before, the leader puts the last flushed image there.
//  2. the journal's record, then its rename into published/ (for a small part: one write of its
//     journal, bytes included, in published/): the part is safe. At the path lies the old file, or
//     the empty file of H5Fcreate. The leader, or a leader that adopts the launch (`mcr recover`
//     too), puts the stub there.
//  3. the stub: done. Only this step replaces the old file. If storage refuses a new file for the stub, the
//     journal gets a record of that, and the stub is written over the old file. The same is done if the old file
//     is a stub with other names, which show the new data too. If that is not possible either, the leader
//     puts the stub there. If the journal cannot get the record, the close fails, as a native close
//     would, and the part is dropped. After this step the leader gets a descriptor of the stub; without
//     the descriptor, the leader searches for a stub that the program has renamed. With gc=on our link to the stub follows; without the link, the part's container is
//     never removed automatically. The journal gets a record that the stub is in place: from then on
//     the leader puts it nowhere, because the program may have moved it and put an older file back.
//  4. the locks are released, and the leader may drain the part. Closing the file releases them;
//     they are released before that if a fork's child may hold the file too.
#include "vol/capture/publish.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <utility>
#include <vector>

#include "restart/base/attributes.hpp"
#include "restart/base/durable_replace.hpp"
#include "restart/base/lock.hpp"
#include "restart/base/log.hpp"
#include "restart/base/path_names.hpp"
#include "restart/base/system.hpp"
#include "restart/base/trust.hpp"
#include "restart/format/container_name.hpp"
#include "restart/sets/own_containers.hpp"
#include "restart/sets/stub_links.hpp"
#include "restart/settings/choices.hpp"
#include "restart/stage/refused_stubs.hpp"
#include "restart/stage/stub_file.hpp"
#include "vol/capture/replaced_member.hpp"
#include "vol/capture/stub_in_place.hpp"
#include "vol/process/job_warnings.hpp"
#include "vol/process/lag.hpp"
#include "vol/process/stub_handover.hpp"

namespace mcr::vol {

namespace {

/// Gaps up to this size are overwritten with zeros; larger ones are cheaper to punch out.
constexpr std::uint64_t punch_threshold = 64 * 1024;

Result<void> write_zeros(const restart::File& file, std::uint64_t begin, std::uint64_t end) {
  const std::vector<std::byte> zeros(
      static_cast<std::size_t>(std::min<std::uint64_t>(end - begin, 1 << 20)));
  while (begin < end) {
    const auto step = std::min<std::uint64_t>(end - begin, zeros.size());
    MCR_TRY(file.write_at(begin, ByteSpan(zeros).first(static_cast<std::size_t>(step))));
    begin += step;
  }
  return {};
}

Result<void> clear(const restart::File& file, std::uint64_t begin, std::uint64_t end) {
  if (end - begin > punch_threshold &&
      restart::system_calls().fallocate(
          file.descriptor(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(begin),
          static_cast<off_t>(end - begin)) == 0) {
    return {};
  }
  return write_zeros(file, begin, end);
}

restart::PartPublish record_of(const StagedPart& part, bool provisional) {
  restart::PartPublish record;
  record.size = part.size;
  record.publish_ns = realtime_ns();
  record.provisional = provisional;
  // With flush=, a leader may hold the part back from storage, unless the rank waits for storage.
  const bool is_replica_enough =
      part.close == restart::Close::replicated && part.settings->count("flush") > 1;
  record.durable = part.close != restart::Close::staged && !is_replica_enough;
  record.stub_is_placed = part.has_stub;
  return record;
}

std::string containers_of(const StagedPart& part, const std::string& masked_name) {
  const restart::PartBegin& begin = part.begin;
  return restart::container_name(masked_name, part.settings->text("container_dir"), begin.launch,
                                 begin.sequence)
      .directory;
}

// Makes and opens the directory of containers, which is as closed as the file's directory from the beginning.
Result<restart::File> make_containers(const StagedPart& part, const std::string& containers) {
  const auto kept_out = [&](const struct stat& above) {
    const auto files = restart::open_begun_in(part.begin, O_PATH);
    return files ? restart::kept_out(*files, above) : restart::KeptOut::all();
  };
  auto made = MCR_TRY(restart::make_own_containers(containers, kept_out));
  if (restart::is_ours_alone(MCR_TRY(made.status()))) return made;
  const auto above = restart::File::open(made.descriptor(), "..", O_PATH | O_DIRECTORY);
  const auto outer = above ? above->status() : Result<struct stat>(above.error());
  MCR_TRY(restart::close_to(outer ? kept_out(*outer) : restart::KeptOut::all(), made, containers));
  return made;
}

// Opens the directory of containers, in which a new file waits until it replaces the file at the
// path, so that no file of ours appears in the program's own directories. Returns nothing if other
// users could replace the waiting file.
std::optional<restart::File> waiting_directory(const StagedPart& part) {
  const std::string containers = containers_of(part);
  if (containers.empty()) return std::nullopt;
  auto waiting = make_containers(part, containers);
  const auto status = waiting ? waiting->status() : Result<struct stat>(waiting.error());
  return status && restart::is_ours_alone(*status) ? std::optional(*std::move(waiting))
                                                   : std::nullopt;
}

// Replaces the file at the path, completely or not at all, and keeps its mode, group, access list
// and attributes.
Result<void> replace_old(StagedPart& part, const restart::File& home) {
  const std::string last = restart::name_of(part.begin.path);
  bool is_kept = part.begin.replaced != restart::Replaced::native_file;
  // Call this after the old file's attributes have been copied, because keeping the file aside may
  // reduce its mode.
  const auto keep_old = [&] {
    if (!std::exchange(is_kept, true))
      keep_replaced_member(home, part.begin.path, part.settings->text("container_dir"));
  };
  const auto attempt = [&](int waiting, const std::string& temporary) -> Result<void> {
    restart::File file = MCR_TRY(
        restart::File::open(waiting, temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600));
    auto written = restart::write_stub_file(file, stub_of(part));
    if (written) written = restart::copy_attributes(part.at_path, file);
    if (written) keep_old();
    if (written) written = restart::put_in_place(waiting, temporary, home.descriptor(), last);
    if (written) {
      part.at_path = std::move(file);
    } else {
      restart::system_calls().unlinkat(waiting, temporary.c_str(), 0);
    }
    return written;
  };
  const std::string word = part.begin.part.text();
  const auto waiting = waiting_directory(part);
  // A new file in mcr/ cannot always get the old file's group, and without the group it loses the access list.
  const auto old = part.at_path.status();
  const bool loses_group = waiting && old && !restart::can_have_group(*waiting, old->st_gid) &&
                           restart::can_have_group(home, old->st_gid);
  if (waiting && !loses_group) {
    if (auto done = attempt(waiting->descriptor(), "set-new." + word)) return done;
  }
  auto done = attempt(home.descriptor(), std::string(restart::temporary_prefix) + word);
  if (done || done.error().system_error != EEXIST) return done;
  // Another process's file has that name: leave it, and use a random name.
  return attempt(home.descriptor(), std::string(restart::temporary_prefix) +
                                        MCR_TRY(restart::PartId::random()).text());
}

// Storage refused a new file for the stub, or a new file would part the file's names. Records that the stub is not in
// place, so that the leader puts it there if this process dies. Then writes the stub over the old file if possible.
// Returns an error if the record cannot be made.
Result<void> put_stub_over_old(StagedPart& part) {
  const restart::LaunchDirectory& directory = part.stage->directory;
  // While this is locked, the leader neither exchanges a file at any path nor marks a stub. Afterwards it
  // leaves the file that the record names.
  const auto refused =
      MCR_TRY(restart::RefusedStubs::lock(directory, restart::RefusedStubs::Wait::long_enough));
  MCR_TRY(refused.add(part.begin));
  (void)home_of(part);  // follows an exchange since the create
  const struct stat status = MCR_TRY(part.at_path.status());
  restart::PartPublish record = record_of(part, false);
  record.shows_older = {status.st_dev, status.st_ino, restart::modified_ns(status)};
  MCR_TRY(directory.amend_publish(part.journal, record));
  (void)write_stub_over_old(part);
  return {};
}

// Puts the stub in the old file's place. If storage refuses this, the leader puts the stub there later.
Result<void> put_stub(StagedPart& part) {
  const auto home = home_of(part);
  if (!home) return put_stub_into_moved(part);
  Error refused{Cause::system, "the file has other names, and storage refused a write into it"};
  if (!has_other_names(part)) {
    const auto replaced = replace_old(part, *home);
    part.has_stub = replaced.has_value();
    if (replaced) return {};
    refused = replaced.error();
  }
  if (!put_stub_over_old(part)) return refused;
  if (part.has_stub) return {};
  warn_once_in_job(part.stage->launcher, "stubs could not be put in place",
                   part.begin.path +
                       " still shows its older content, because the new stub could "
                       "not be put there: " +
                       refused.message +
                       "; the leader puts the new stub there as soon as storage takes it, and if "
                       "the job ends before, `mcr recover` does. A program that renames or changes "
                       "the file before that handles the older content");
  return {};
}

// Writes the stub into the empty file that H5Fcreate made, wherever the program has moved it since.
Result<void> fill_stub(StagedPart& part) {
  if (part.has_stub || part.begin.replaced != restart::Replaced::nothing) return {};
  const auto written = restart::write_stub_file(part.at_path, stub_of(part));
  if (!written) (void)part.at_path.truncate(0).has_value();
  part.has_stub = written.has_value();
  return written;
}

// With gc=on, makes the link that later shows whether the program has deleted the stub. Without a
// link the set's containers stay, so a failure here loses nothing.
void link_for_gc(const StagedPart& part) {
  if (restart::gc_of(*part.settings) != restart::Gc::always) return;
  const std::string containers = containers_of(part);
  if (containers.empty()) return;
  const auto link = [&]() -> Result<void> {
    return restart::link_stub(MCR_TRY(make_containers(part, containers)), part.begin.part,
                              part.at_path, part.begin.path);
  };
  const auto linked = link();
  if (linked || part.begin.rank != 0) return;
  const int number = linked.error().system_error;
  if (number == EPERM) {
    warn_once_in_job(part.stage->launcher, "gc=on has no effect",
                     "gc=on cannot remove old containers here: " + linked.error().message);
  } else if (number == EOPNOTSUPP || number == ENOSYS || number == EMLINK) {
    warn_once_in_job(part.stage->launcher, "gc=on has no effect",
                     "gc=on cannot remove old containers here, because the file system of " +
                         containers + " has no hard links; `mcr gc DIR --remove` removes old sets");
  }
}

}  // namespace

// Our temporary files go into the directory of containers, too, so that no file of ours appears in the program's
// own directories.
std::string containers_of(const StagedPart& part) {
  const auto& masked_names = part.begin.masked_names;
  return masked_names.empty() ? std::string() : containers_of(part, masked_names.front());
}

void unlink_stub(const StagedPart& part, const restart::PartId& of, const struct stat& status) {
  // The leader may have moved the link beside the containers.
  for (const std::string& masked_name : part.begin.masked_names)
    restart::unlink_stub(containers_of(part, masked_name), of, status);
}

restart::Stub stub_of(const StagedPart& part) {
  return restart::stub_of(part.begin, std::string(part.settings->text("container_dir")),
                          part.stage->directory.path());
}

Result<void> complete_bytes(StagedPart& part) {
  // Collect the gaps first, because zeroing one changes the ranges.
  std::vector<WrittenRanges::Range> gaps;
  part.written.for_gaps(0, std::min(part.size, part.stale_bytes),
                        [&](std::uint64_t begin, std::uint64_t end) {
                          gaps.push_back({begin, end});
                          return true;
                        });
  for (const auto& gap : gaps) {
    MCR_TRY(clear(part.bytes, gap.begin, gap.end));
    part.written.add(gap.begin, gap.end);
  }
  MCR_TRY(part.bytes.truncate(part.size));
  part.stale_bytes = std::min(part.stale_bytes, part.size);
  return {};
}

Result<void> publish_provisionally(StagedPart& part) {
  MCR_TRY(complete_bytes(part));
  MCR_TRY(part.stage->directory.publish(part.begin.part, part.journal, record_of(part, true)));
  return fill_stub(part);
}

Result<void> publish(StagedPart& part) {
  const restart::LaunchDirectory& directory = part.stage->directory;
  if (part.is_begun()) MCR_TRY(complete_bytes(part));  // 1
  restart::PartPublish record = record_of(part, false);
  if (part.is_begun()) {
    MCR_TRY(directory.publish(part.begin.part, part.journal, record));  // 2
  } else {
    part.begin.part = MCR_TRY(directory.new_part_id());
    part.journal = MCR_TRY(directory.publish_small(part.begin, record, part.image));  // 2
  }
  const std::uint64_t published_ns = realtime_ns();
  const bool had_file = part.begin.replaced != restart::Replaced::nothing;
  if (const auto put = had_file ? put_stub(part) : fill_stub(part); !put) {  // 3
    // Native HDF5 would have failed too, on full storage for example: report the error.
    (void)directory.drop(part.begin.part).has_value();
    // The bytes of a small part are still in memory. Close its journal, so that the part counts
    // as not begun.
    if (!part.bytes.is_open()) part.journal = restart::File();
    return put;
  }
  if (part.has_stub) {
    // Without this record the leader takes the rank, once it is dead, for one that died before step 3.
    if (!std::exchange(record.stub_is_placed, true))
      (void)directory.amend_publish(part.journal, record).has_value();
    hand_over_stub(*part.stage, part.begin.part, part.at_path);
    link_for_gc(part);
  }
  part.published = true;
  restart::log_debug(part.begin.path, " is published: part ", part.begin.part.text(), ", ",
                     std::to_string(part.size), " bytes");
  Process::get().add_published(*part.stage, part.begin);
  note_uncommitted(*part.stage, part.begin, part.size, published_ns);
  if (Process::has_forked()) unlock_published(part);  // 4
  return {};
}

void unlock_published(const StagedPart& part) {
  if (part.bytes.is_open()) restart::unlock(part.bytes);
  restart::unlock(part.journal);
}

}  // namespace mcr::vol
