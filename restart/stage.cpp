// SPDX-License-Identifier: BSD-3-Clause
#include "restart/stage.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <ctime>

#include "restart/base/lock.hpp"
#include "restart/base/system.hpp"
#include "restart/container_name.hpp"
#include "restart/format/record.hpp"

namespace mcr::restart {
namespace {

constexpr const char* ranks_directory = "ranks";
constexpr const char* parts_directory = "parts";
constexpr const char* pool_directory = "pool";
constexpr const char* native_directory = "native";
constexpr const char* lock_name = "lock";
constexpr const char* notice_name = "notice";
/// In the order in which they are made; ranks/ comes last, so that who can join finds all the
/// others.
constexpr const char* subdirectories[] = {"open",          "published",    "committed",
                                          parts_directory, pool_directory, native_directory,
                                          ranks_directory};
constexpr std::string_view journal_suffix = ".journal";
constexpr unsigned pool_slots = 8;
/// More than a tick of the kernel's clock.
constexpr std::uint64_t pool_clock_ns = 50'000'000;

constexpr std::uint8_t presence_begin_kind = 1;
constexpr std::uint8_t presence_end_kind = 2;
constexpr std::size_t max_presence_bytes = 4096;

/// Races with somebody who looks at a lock for a moment resolve in one more turn; more of them mean
/// that something else is wrong.
constexpr int turns = 8;
/// A leader that clears up holds the stage for less than a millisecond, unless it was stopped.
constexpr int entering_turns = 500;

const char* state_name(LaunchDirectory::State state) {
  switch (state) {
    case LaunchDirectory::State::open:
      return "open";
    case LaunchDirectory::State::published:
      return "published";
    case LaunchDirectory::State::committed:
      return "committed";
  }
  return "open";
}

std::string journal_path(const char* state, const PartId& part) {
  return std::string(state) + "/" + part.text() + std::string(journal_suffix);
}
std::string journal_path(LaunchDirectory::State state, const PartId& part) {
  return journal_path(state_name(state), part);
}
std::string bytes_path(const PartId& part) {
  return std::string(parts_directory) + "/" + part.text();
}
std::string pool_path(std::uint32_t rank, unsigned slot) {
  return std::string(pool_directory) + "/" + std::to_string(rank) + "." + std::to_string(slot);
}

/// This user's, and closed to everybody else.
Result<void> check_private(const File& directory, const std::string& name) {
  const struct stat status = MCR_TRY(directory.status());
  if (!S_ISDIR(status.st_mode)) {
    return Error{Cause::usage, "the stage " + name + " is not a directory"};
  }
  if (status.st_uid != ::geteuid()) {
    return Error{Cause::usage, "the stage " + name + " belongs to user " +
                                   std::to_string(status.st_uid) +
                                   "; name one of your own with stage=DIRECTORY"};
  }
  if ((status.st_mode & 0777) != 0700) {
    return Error{Cause::usage, "the stage " + name + " is open to others; `chmod 700 " + name +
                                   "`, or name another one with stage=DIRECTORY"};
  }
  return {};
}

Result<void> make_directory(int parent, const std::string& name) {
  if (system_calls().mkdirat(parent, name.c_str(), 0700) == 0) {
    // Whatever umask took away. That it was made here means that nobody else could replace it
    // since.
    if (system_calls().fchmodat(parent, name.c_str(), 0700, 0) == 0) return {};
    return system_error("cannot set the mode of", name);
  }
  if (errno == EEXIST) return {};
  return system_error("cannot make directory", name);
}

Result<File> open_directory(int parent, const std::string& name) {
  auto opened = File::open(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (!opened && (opened.error().system_error == ELOOP || opened.error().system_error == ENOTDIR)) {
    return Error{Cause::usage, "the stage " + name + " is not a directory", ENOTDIR};
  }
  return opened;
}

Result<File> make_and_open(int parent, const std::string& name) {
  MCR_TRY(make_directory(parent, name));
  return open_directory(parent, name);
}

/// The stage itself, made where it is missing.
Result<File> open_stage(const std::string& stage) {
  File opened = MCR_TRY(make_and_open(AT_FDCWD, stage));
  MCR_TRY(check_private(opened, stage));
  return opened;
}

Result<void> unlink_if_there(int directory, const std::string& name) {
  if (system_calls().unlinkat(directory, name.c_str(), 0) == 0 || errno == ENOENT) return {};
  return system_error("cannot remove", name);
}

bool exists(int directory, const std::string& name) {
  struct stat status {};
  return system_calls().fstatat(directory, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
}

/// True while `name` still leads to the very file that is open.
bool is_still_named(const File& file, int directory, const std::string& name) {
  struct stat by_name {};
  if (system_calls().fstatat(directory, name.c_str(), &by_name, AT_SYMLINK_NOFOLLOW) != 0) {
    return false;
  }
  const auto by_descriptor = file.status();
  return by_descriptor && by_descriptor->st_ino == by_name.st_ino &&
         by_descriptor->st_dev == by_name.st_dev;
}

Result<std::string> random_word() {
  const PartId id = MCR_TRY(PartId::random());
  return id.text().substr(0, 16);
}

std::optional<PartId> part_of_journal(std::string_view name) {
  if (!name.ends_with(journal_suffix)) return std::nullopt;
  return PartId::parse(name.substr(0, name.size() - journal_suffix.size()));
}

std::optional<std::uint32_t> rank_of_presence(std::string_view name) {
  const std::size_t dot = name.find('.');
  std::uint32_t rank = 0;
  if (dot == 0 || dot == std::string_view::npos) return std::nullopt;
  const auto [end, problem] = std::from_chars(name.data(), name.data() + dot, rank);
  if (problem != std::errc() || end != name.data() + dot) return std::nullopt;
  return rank;
}

std::uint64_t nanoseconds(const timespec& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(time.tv_nsec);
}
std::uint64_t changed_ns(const struct stat& status) { return nanoseconds(status.st_mtim); }
std::uint64_t now_ns() {
  timespec now{};
  system_calls().clock_gettime(CLOCK_REALTIME, &now);
  return nanoseconds(now);
}

void pause_briefly() {
  const timespec pause{.tv_sec = 0, .tv_nsec = 2'000'000};
  ::nanosleep(&pause, nullptr);
}

}  // namespace

// --- the directory
// ---------------------------------------------------------------------------------------

LaunchDirectory::LaunchDirectory(std::string path, File directory)
    : path_(std::move(path)), directory_(std::move(directory)) {}

Result<LaunchDirectory> LaunchDirectory::create(const std::string& stage, const std::string& node,
                                                const std::string& launch) {
  if (!stage.starts_with('/')) {
    return Error{Cause::usage, "stage=" + stage + " is not an absolute path"};
  }
  const std::string name = safe_name(node, 80) + "." + safe_name(launch, 80);
  const File parent = MCR_TRY(open_stage(stage));
  File made = MCR_TRY(make_and_open(parent.descriptor(), name));
  MCR_TRY(check_private(made, stage + "/" + name));
  for (const char* part : subdirectories) MCR_TRY(make_directory(made.descriptor(), part));
  return LaunchDirectory(stage + "/" + name, std::move(made));
}

Result<LaunchDirectory> LaunchDirectory::open(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos || slash == 0 || slash + 1 == path.size()) {
    return Error{Cause::usage, path + " is not a directory in a stage"};
  }
  const std::string stage = path.substr(0, slash);
  const File parent = MCR_TRY(open_directory(AT_FDCWD, stage));
  MCR_TRY(check_private(parent, stage));
  File directory = MCR_TRY(open_directory(parent.descriptor(), path.substr(slash + 1)));
  MCR_TRY(check_private(directory, path));
  return LaunchDirectory(path, std::move(directory));
}

Result<std::vector<std::string>> launch_directories(const std::string& stage) {
  auto opened = open_directory(AT_FDCWD, stage);
  if (!opened) {
    if (opened.error().system_error == ENOENT) return std::vector<std::string>{};
    return opened.error();
  }
  MCR_TRY(check_private(*opened, stage));
  std::vector<std::string> paths;
  for (const std::string& name : MCR_TRY(list_directory(opened->descriptor(), "."))) {
    struct stat status {};
    if (system_calls().fstatat(opened->descriptor(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) ==
            0 &&
        S_ISDIR(status.st_mode) && name.find('.') != std::string::npos) {
      paths.push_back(stage + "/" + name);
    }
  }
  return paths;
}

// --- presence
// --------------------------------------------------------------------------------------------

Result<LaunchDirectory::Presence> LaunchDirectory::join(std::uint32_t rank,
                                                        std::uint32_t rank_count) const {
  for (int turn = 0; turn < turns; ++turn) {
    const std::string word = MCR_TRY(random_word());
    const std::string name = std::to_string(rank) + "." + word;
    const std::string path = std::string(ranks_directory) + "/" + name;
    // Locked and with its record before it gets the name under which others look for it.
    const std::string beginning = std::string(ranks_directory) + "/.new-" + word;
    File file = MCR_TRY(
        File::open(descriptor(), beginning, O_RDWR | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW));
    if (!MCR_TRY(try_lock(file, LockKind::exclusive))) continue;  // a leader is clearing up
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
  return Error{Cause::system, "the stage " + path_ + " is being cleared up", EWOULDBLOCK};
}

Result<LaunchDirectory::Entered> LaunchDirectory::enter(const std::string& stage,
                                                        const std::string& node,
                                                        const std::string& launch,
                                                        std::uint32_t rank,
                                                        std::uint32_t rank_count) {
  // A leader that removes a directory has the whole stage for itself, see remove_if_done().
  const File parent = MCR_TRY(open_stage(stage));
  bool shared = false;
  for (int turn = 0; !shared && turn < entering_turns; ++turn) {
    if (turn > 0) pause_briefly();
    shared = MCR_TRY(try_lock(parent, LockKind::shared));
  }
  if (!shared) return Error{Cause::system, "the stage " + stage + " stays locked", EWOULDBLOCK};
  LaunchDirectory directory = MCR_TRY(create(stage, node, launch));
  Presence presence = MCR_TRY(directory.join(rank, rank_count));
  return Entered{std::move(directory), std::move(presence)};
}

Result<void> LaunchDirectory::end_presence(const Presence& presence, int status) const {
  Bytes payload;
  Writer writer(payload);
  writer.u32(static_cast<std::uint32_t>(status));
  return presence.file.append(write_record(presence_end_kind, payload));
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
    // Shared, so that several who look at the same time do not take one another for the rank.
    presence.alive = !MCR_TRY(try_lock(*file, LockKind::shared));
    const Bytes content = MCR_TRY(file->read_all(max_presence_bytes));
    RecordReader records(content);
    while (const auto record = records.next()) {
      if (record->kind != presence_end_kind) continue;
      Reader reader(record->payload);
      presence.ended = true;
      presence.status = static_cast<int>(MCR_TRY(reader.u32()));
    }
    found.push_back(std::move(presence));
  }
  return found;
}

// --- parts, rank's side
// ----------------------------------------------------------------------------------

Result<LaunchDirectory::NewPart> LaunchDirectory::create_part(std::uint32_t rank) const {
  NewPart made;
  made.part = MCR_TRY(PartId::random());
  const std::string path = bytes_path(made.part);
  // One look instead of eight: a directory that has not changed since it held nothing for us still
  // does.
  struct stat pool {};
  const bool known = system_calls().fstatat(descriptor(), pool_directory, &pool, 0) == 0;
  const bool unchanged = known && changed_ns(pool) == pool_empty_since_ns_;
  for (unsigned slot = 0; !unchanged && slot < pool_slots; ++slot) {
    const std::string pooled = pool_path(rank, slot);
    if (system_calls().renameat(descriptor(), pooled.c_str(), descriptor(), path.c_str()) != 0) {
      continue;
    }
    auto file = File::open(descriptor(), path, O_RDWR | O_NOFOLLOW);
    const auto locked = file ? try_lock(*file, LockKind::exclusive) : Result<bool>(false);
    const auto size = file ? file->size() : Result<std::uint64_t>(0);
    if (locked && *locked && size) {
      made.bytes = std::move(*file);
      made.reused_bytes = *size;
      return made;
    }
    // Somebody reads it still, so it must not change: it goes when he closes it.
    MCR_TRY(unlink_if_there(descriptor(), path));
  }
  // Only once the clock of the directory's times has moved on: it is a coarse one.
  if (known && now_ns() > changed_ns(pool) + pool_clock_ns) pool_empty_since_ns_ = changed_ns(pool);
  made.bytes = MCR_TRY(File::open(descriptor(), path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW));
  const auto locked = try_lock(made.bytes, LockKind::exclusive);
  if (!locked || !*locked) {
    MCR_TRY(unlink_if_there(descriptor(), path));
    if (!locked) return locked.error();
    return Error{Cause::system, "a new file in the stage is locked by another process",
                 EWOULDBLOCK};
  }
  return made;
}

Result<File> LaunchDirectory::begin(const PartBegin& begin) const {
  const Bytes record = write_begin(begin);
  // Only names of unusual length can pass a reader's limits; such a file had better go native.
  if (record.size() > 512) {
    const auto readable = read_journal(record);
    if (!readable) return Error{Cause::usage, begin.path + ": " + readable.error().message};
  }
  const std::string path = journal_path(State::open, begin.part);
  File journal =
      MCR_TRY(File::open(descriptor(), path, O_RDWR | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW));
  const auto recorded = journal.append(record);
  if (!recorded) {
    (void)system_calls().unlinkat(descriptor(), path.c_str(), 0);
    return recorded.error();
  }
  return journal;
}

Result<void> LaunchDirectory::publish(const PartId& part, const File& journal,
                                      const PartPublish& publish) const {
  const Bytes record = write_publish(publish);
  const std::uint64_t before = MCR_TRY(journal.size());
  if (before + record.size() > max_journal_bytes) {
    // Thousands of flushes. The begin record is all that must stay in front of the new one.
    const Bytes content = MCR_TRY(journal.read_all(max_journal_bytes));
    RecordReader records(content);
    if (!records.next()) return Error{Cause::damaged, journal.name() + " has no begin record"};
    MCR_TRY(journal.truncate(content.size() - records.remaining()));
  }
  MCR_TRY(journal.append(record));
  if (publish.provisional) return {};
  const std::string from = journal_path(State::open, part);
  const std::string to = journal_path(State::published, part);
  if (system_calls().renameat(descriptor(), from.c_str(), descriptor(), to.c_str()) != 0) {
    const Error error = system_error("cannot publish", from);
    (void)journal.truncate(std::min<std::uint64_t>(before, max_journal_bytes)).has_value();
    return error;
  }
  return {};
}

Result<std::optional<LaunchDirectory::Withdrawn>> LaunchDirectory::withdraw(
    const PartId& part) const {
  const std::string path = bytes_path(part);
  auto bytes = File::open(descriptor(), path, O_RDWR | O_NOFOLLOW);
  if (!bytes) {
    if (bytes.error().system_error == ENOENT) return std::optional<Withdrawn>();
    return bytes.error();
  }
  if (!MCR_TRY(try_lock(*bytes, LockKind::exclusive))) return std::optional<Withdrawn>();
  // Only with the lock: the leader may have freed it in between.
  if (!is_still_named(*bytes, descriptor(), path)) return std::optional<Withdrawn>();
  const std::string from = journal_path(State::published, part);
  auto journal = File::open(descriptor(), from, O_RDWR | O_APPEND | O_NOFOLLOW);
  if (!journal) {
    if (journal.error().system_error == ENOENT) return std::optional<Withdrawn>();
    return journal.error();
  }
  const Journal content = MCR_TRY(read_journal(MCR_TRY(journal->read_all(max_journal_bytes))));
  PartPublish last = content.publish.value_or(PartPublish{});
  last.provisional = true;
  const std::string to = journal_path(State::open, part);
  if (system_calls().renameat(descriptor(), from.c_str(), descriptor(), to.c_str()) != 0) {
    if (errno == ENOENT) return std::optional<Withdrawn>();
    return system_error("cannot withdraw", from);
  }
  const auto recorded = publish(part, *journal, last);
  if (!recorded) {
    // As before: published, with what its journal said.
    (void)system_calls().renameat(descriptor(), to.c_str(), descriptor(), from.c_str());
    return recorded.error();
  }
  return std::optional<Withdrawn>(Withdrawn{std::move(*bytes), std::move(*journal), last});
}

Result<void> LaunchDirectory::drop(const PartId& part) const {
  // The journal first: without it nobody looks for the bytes.
  MCR_TRY(unlink_if_there(descriptor(), journal_path(State::open, part)));
  MCR_TRY(unlink_if_there(descriptor(), journal_path(State::published, part)));
  MCR_TRY(unlink_if_there(descriptor(), journal_path(State::committed, part)));
  return unlink_if_there(descriptor(), bytes_path(part));
}

Result<void> LaunchDirectory::mark_native(const std::string& shape) const {
  const std::string path = std::string(native_directory) + "/" + safe_name(shape, 60);
  const File file = MCR_TRY(File::open(descriptor(), path, O_WRONLY | O_CREAT | O_NOFOLLOW));
  return file.write_at(0, as_bytes(shape));  // for people who look
}

bool LaunchDirectory::is_marked_native(const std::string& shape) const {
  return exists(descriptor(), std::string(native_directory) + "/" + safe_name(shape, 60));
}

// --- leader's side and readers
// ---------------------------------------------------------------------------

Result<std::vector<PartId>> LaunchDirectory::list(State state) const {
  std::vector<PartId> parts;
  for (const std::string& name : MCR_TRY(list_directory(descriptor(), state_name(state)))) {
    if (const auto part = part_of_journal(name)) parts.push_back(*part);
  }
  return parts;
}

Result<Journal> LaunchDirectory::journal(State state, const PartId& part) const {
  const std::string path = journal_path(state, part);
  const File file = MCR_TRY(File::open(descriptor(), path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
  auto content = read_journal(MCR_TRY(file.read_all(max_journal_bytes)));
  if (!content) {
    return Error{content.error().cause, path_ + "/" + path + ": " + content.error().message};
  }
  if (content->begin.part != part) {
    return Error{Cause::damaged, path_ + "/" + path + " is the journal of another part"};
  }
  return content;
}

bool LaunchDirectory::is_in(State state, const PartId& part) const {
  return exists(descriptor(), journal_path(state, part));
}

Result<File> LaunchDirectory::open_bytes(const PartId& part) const {
  const std::string path = bytes_path(part);
  File file = MCR_TRY(File::open(descriptor(), path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
  if (!MCR_TRY(try_lock(file, LockKind::shared))) {
    errno = EWOULDBLOCK;
    return system_error("is being written:", path_ + "/" + path);
  }
  // Between open and lock the file may have been freed and become another part.
  if (!is_still_named(file, descriptor(), path)) {
    errno = ENOENT;
    return system_error("cannot open", path_ + "/" + path);
  }
  return file;
}

Result<void> LaunchDirectory::committed(const PartId& part, bool keep,
                                        std::optional<std::uint32_t> pool_rank) const {
  if (keep) {
    const std::string from = journal_path(State::published, part);
    const std::string to = journal_path(State::committed, part);
    if (system_calls().renameat(descriptor(), from.c_str(), descriptor(), to.c_str()) != 0) {
      return system_error("cannot keep", from);
    }
    return {};
  }
  const std::string path = bytes_path(part);
  auto bytes = File::open(descriptor(), path, O_RDWR | O_NOFOLLOW);
  const bool pooled = pool_rank && bytes && try_lock(*bytes, LockKind::exclusive).value_or(false);
  for (const State state : {State::open, State::published, State::committed}) {
    MCR_TRY(unlink_if_there(descriptor(), journal_path(state, part)));
  }
  if (pooled) {
    for (unsigned slot = 0; slot < pool_slots; ++slot) {
      const std::string free_slot = pool_path(*pool_rank, slot);
      if (system_calls().rename_new(descriptor(), path.c_str(), descriptor(), free_slot.c_str()) ==
          0) {
        return {};
      }
      if (errno != EEXIST) break;
    }
  }
  return unlink_if_there(descriptor(), path);
}

Result<std::optional<File>> LaunchDirectory::try_lead() const {
  File file = MCR_TRY(File::open(descriptor(), lock_name, O_RDWR | O_CREAT | O_NOFOLLOW));
  for (int turn = 0; turn < turns; ++turn) {
    if (MCR_TRY(try_lock(file, LockKind::exclusive))) {
      // A last leader may have removed the directory, and the lock with it, in between.
      if (!is_still_named(file, descriptor(), lock_name)) return std::optional<File>();
      return std::optional<File>(std::move(file));
    }
    pause_briefly();  // has_leader() of some rank holds it for a moment
  }
  return std::optional<File>();
}

bool LaunchDirectory::has_leader() const {
  const auto file = File::open(descriptor(), lock_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  return file && !try_lock(*file, LockKind::shared).value_or(true);
}

Result<std::uint64_t> LaunchDirectory::used_bytes() const {
  std::uint64_t sum = 0;
  for (const char* place : {parts_directory, pool_directory}) {
    for (const std::string& name : MCR_TRY(list_directory(descriptor(), place))) {
      struct stat status {};
      const std::string path = std::string(place) + "/" + name;
      if (system_calls().fstatat(descriptor(), path.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) {
        sum += static_cast<std::uint64_t>(status.st_blocks) * 512;
      }
    }
  }
  return sum;
}

Result<void> LaunchDirectory::write_notice(const Notice& notice) const {
  const File file = MCR_TRY(File::open(descriptor(), notice_name, O_WRONLY | O_CREAT | O_NOFOLLOW));
  Bytes content;
  Writer writer(content);
  writer.u64(notice.stage_bytes);
  writer.u64(notice.commit_failed ? 1 : 0);
  return file.write_at(0, content);
}

LaunchDirectory::Notice LaunchDirectory::notice() const {
  const auto content = read_file(descriptor(), notice_name, 64);
  if (!content || content->size() < 16) return {};
  return {little_endian(load<std::uint64_t>(content->data())),
          load<std::uint64_t>(content->data() + 8) != 0};
}

Result<std::uint64_t> LaunchDirectory::shrink_pool(std::uint64_t bytes) const {
  std::uint64_t given_back = 0;
  for (const std::string& name : MCR_TRY(list_directory(descriptor(), pool_directory))) {
    if (given_back >= bytes) break;
    const std::string path = std::string(pool_directory) + "/" + name;
    struct stat status {};
    if (system_calls().fstatat(descriptor(), path.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
      continue;  // a rank has just taken it
    }
    if (system_calls().unlinkat(descriptor(), path.c_str(), 0) == 0) {
      given_back += static_cast<std::uint64_t>(status.st_blocks) * 512;
    }
  }
  return given_back;
}

Result<bool> LaunchDirectory::remove_if_done() const {
  // 1. The stage for this leader alone: nobody is between create() and join() now, and whoever
  // wants to enter
  //    waits until this is over. No wait here: there is a next time.
  const std::size_t slash = path_.rfind('/');
  const std::string name = path_.substr(slash + 1);
  const File stage = MCR_TRY(open_directory(AT_FDCWD, path_.substr(0, slash)));
  if (!MCR_TRY(try_lock(stage, LockKind::exclusive))) return false;
  for (const State state : {State::open, State::published, State::committed}) {
    if (!MCR_TRY(list(state)).empty()) return false;
  }
  // 2. Who has died goes from ranks/. Who lives keeps the directory.
  for (const std::string& presence : MCR_TRY(list_directory(descriptor(), ranks_directory))) {
    const std::string path = std::string(ranks_directory) + "/" + presence;
    const auto file = File::open(descriptor(), path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    if (!file) {
      if (file.error().system_error == ENOENT) continue;
      return file.error();
    }
    if (!MCR_TRY(try_lock(*file, LockKind::exclusive))) return false;
    MCR_TRY(unlink_if_there(descriptor(), path));
  }
  // 3. Nothing can be begun without having entered, so what is left belongs to nobody.
  for (const char* place : subdirectories) {
    const auto names = list_directory(descriptor(), place);
    if (!names) continue;
    for (const std::string& left : *names) {
      MCR_TRY(unlink_if_there(descriptor(), std::string(place) + "/" + left));
    }
    (void)system_calls().unlinkat(descriptor(), place, AT_REMOVEDIR);
  }
  for (const std::string& left : MCR_TRY(list_directory(descriptor(), "."))) {
    (void)system_calls().unlinkat(descriptor(), left.c_str(), 0);
  }
  if (system_calls().unlinkat(stage.descriptor(), name.c_str(), AT_REMOVEDIR) != 0) {
    if (errno != ENOENT) return system_error("cannot remove", path_);
  }
  return true;
}

}  // namespace mcr::restart
