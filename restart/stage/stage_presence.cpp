// SPDX-License-Identifier: BSD-3-Clause
// Which processes of a launch live: files below ranks/, locked by their processes.

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>

#include "restart/base/lock.hpp"
#include "restart/base/system.hpp"
#include "restart/format/record.hpp"
#include "restart/stage/stage_files.hpp"

namespace mcr::restart {

using namespace stage_files;

namespace {

constexpr std::uint8_t presence_begin_kind = 1;
constexpr std::uint8_t presence_end_kind = 2;
constexpr std::uint8_t presence_natives_kind = 3;
constexpr std::uint8_t presence_native_pattern_kind = 4;
constexpr std::size_t max_presence_bytes = 64 * 1024;
/// Number of tries to lock the stage. A leader that removes a directory holds the stage's lock for
/// less than a millisecond, unless the leader was stopped.
constexpr int entering_turns = 500;

Result<std::string> random_word() {
  const PartId id = MCR_TRY(PartId::random());
  return id.text().substr(0, 16);
}

/// True if a presence and the leader's files would not fit. No launch directory is made then, because commands
/// take it as a sign that files were captured.
bool is_full(const File& stage) {
  constexpr std::uint64_t least_bytes = 32 * 1024;
  struct statvfs status {};
  return system_calls().fstatvfs(stage.descriptor(), &status) == 0 && status.f_blocks > 0 &&
         static_cast<std::uint64_t>(status.f_bavail) * status.f_frsize < least_bytes;
}

std::optional<std::uint32_t> rank_of_presence(std::string_view name) {
  const std::size_t dot = name.find('.');
  std::uint32_t rank = 0;
  if (dot == 0 || dot == std::string_view::npos) return std::nullopt;
  const auto [end, problem] = std::from_chars(name.data(), name.data() + dot, rank);
  if (problem != std::errc() || end != name.data() + dot) return std::nullopt;
  return rank;
}

}  // namespace

Result<LaunchDirectory::Presence> LaunchDirectory::join(std::uint32_t rank,
                                                        std::uint32_t rank_count) const {
  for (int turn = 0; turn < turns; ++turn) {
    const std::string word = MCR_TRY(random_word());
    const std::string name = std::to_string(rank) + "." + word;
    const std::string path = std::string(ranks_directory) + "/" + name;
    // The file is locked and has its record before it gets the name under which others look for it.
    const std::string beginning = std::string(ranks_directory) + "/.new-" + word;
    File file = MCR_TRY(
        File::open(descriptor(), beginning, O_RDWR | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW));
    // If the lock is taken, a leader is removing the directory with all its files.
    if (!MCR_TRY(try_lock(file, LockKind::exclusive))) continue;
    Bytes payload;
    Writer writer(payload);
    writer.u32(rank);
    writer.u32(rank_count);
    writer.u32(static_cast<std::uint32_t>(::getpid()));
    const auto recorded = file.append(write_record(presence_begin_kind, payload));
    if (!recorded) {
      (void)system_calls().unlinkat(descriptor(), beginning.c_str(), 0);
      return recorded.error();
    }
    if (system_calls().renameat(descriptor(), beginning.c_str(), descriptor(), path.c_str()) != 0) {
      if (errno == ENOENT) continue;
      return system_error("cannot rename", beginning);
    }
    if (!is_still_named(file, descriptor(), path)) continue;
    return Presence{std::move(file), name};
  }
  return Error{Cause::system, "the stage " + path_ + " is being removed by a leader", EWOULDBLOCK};
}

Result<LaunchDirectory::Entered> LaunchDirectory::enter(const std::string& stage,
                                                        const std::string& node,
                                                        const std::string& launch,
                                                        std::uint32_t rank,
                                                        std::uint32_t rank_count, Entering how) {
  // A leader that removes a directory holds the stage's lock exclusively, see remove_if_done().
  const File parent = MCR_TRY(open_stage(stage));
  const int most_turns = how == Entering::waits ? entering_turns : 1;
  const bool shared = MCR_TRY(lock_in_turns(parent, LockKind::shared, most_turns));
  if (!shared) return Error{Cause::system, "the stage " + stage + " stays locked", EWOULDBLOCK};
  if (is_full(parent)) return Error{Cause::full, "no space is left in the stage " + stage, ENOSPC};
  LaunchDirectory directory = MCR_TRY(create(stage, node, launch));
  Presence presence = MCR_TRY(directory.join(rank, rank_count));
  return Entered{std::move(directory), std::move(presence)};
}

Result<void> LaunchDirectory::record_native_pattern(const Presence& presence,
                                                    const std::string& pattern) {
  Bytes payload;
  Writer writer(payload);
  writer.text(pattern);
  return presence.file.append(write_record(presence_native_pattern_kind, payload));
}

Result<void> LaunchDirectory::end_presence(const Presence& presence, int status,
                                           const NativeCounts& natives, bool all_have_begun) const {
  if (total_of(natives) > 0) {
    Bytes counts;
    Writer numbers(counts);
    for (const std::uint64_t number : natives.numbers) numbers.u64(number);
    MCR_TRY(presence.file.append(write_record(presence_natives_kind, counts)));
  }
  Bytes payload;
  Writer writer(payload);
  writer.u32(static_cast<std::uint32_t>(status));
  writer.u8(all_have_begun ? 1 : 0);
  return presence.file.append(write_record(presence_end_kind, payload));
}

Result<File> LaunchDirectory::open_presence(const std::string& name) const {
  return File::open(descriptor(), std::string(ranks_directory) + "/" + name, O_RDONLY | O_NOFOLLOW);
}

Result<std::vector<LaunchDirectory::RankPresence>> LaunchDirectory::presences() const {
  std::vector<RankPresence> found;
  for (const std::string& name : MCR_TRY(list_directory(descriptor(), ranks_directory))) {
    const auto rank = rank_of_presence(name);
    if (!rank) continue;
    auto file = File::open(descriptor(), std::string(ranks_directory) + "/" + name,
                           O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    if (!file) {
      if (file.error().system_error == ENOENT) continue;
      return file.error();
    }
    RankPresence presence;
    presence.name = name;
    presence.rank = *rank;
    // The test uses a shared lock, so that two processes that test at the same time do not take
    // each other for the rank.
    presence.alive = !MCR_TRY(try_lock(*file, LockKind::shared));
    const Bytes content = MCR_TRY(file->read_all(max_presence_bytes));
    RecordReader records(content);
    while (const auto record = records.next()) {
      Reader reader(record->payload);
      if (record->kind == presence_natives_kind) {
        for (std::uint64_t& number : presence.natives.numbers) number = reader.u64().value_or(0);
      }
      if (record->kind == presence_native_pattern_kind)
        presence.native_patterns.insert(MCR_TRY(reader.text(max_presence_bytes)));
      if (record->kind != presence_end_kind) continue;
      presence.ended = true;
      presence.status = static_cast<int>(MCR_TRY(reader.u32()));
      // Version 0.1 ends the record here.
      presence.all_have_begun = reader.remaining() > 0 && MCR_TRY(reader.u8()) != 0;
    }
    found.push_back(std::move(presence));
  }
  return found;
}

Result<bool> LaunchDirectory::anybody_lives() const {
  const auto all = MCR_TRY(presences());
  return std::any_of(all.begin(), all.end(), [](const auto& it) { return it.alive; });
}

Result<bool> LaunchDirectory::anybody_goes_on() const {
  const auto all = MCR_TRY(presences());
  return std::any_of(all.begin(), all.end(), [](const auto& it) { return it.alive && !it.ended; });
}

}  // namespace mcr::restart
