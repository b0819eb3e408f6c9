// SPDX-License-Identifier: BSD-3-Clause
// A part's way through the stage: its bytes, its journal, the pool.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

#include "restart/base/birth_time.hpp"
#include "restart/base/lock.hpp"
#include "restart/base/system.hpp"
#include "restart/format/record.hpp"
#include "restart/stage/stage_files.hpp"

namespace mcr::restart {

using namespace stage_files;

namespace {

constexpr unsigned pool_slots = 8;
/// Longer than a tick of the kernel's clock for file times.
constexpr std::uint64_t pool_clock_ns = 50'000'000;

}  // namespace

Result<PartId> LaunchDirectory::new_part_id() const {
  PartId id = MCR_TRY(PartId::random());
  if (ids_left_of_block_ == 0) {
    ids_left_of_block_ = PartId::block_parts;
  } else {
    std::copy_n(last_id_.bytes.begin(), id.bytes.size() / 2, id.bytes.begin());
  }
  --ids_left_of_block_;
  last_id_ = id;
  return id;
}

Result<LaunchDirectory::NewPart> LaunchDirectory::create_part(std::uint32_t rank) const {
  NewPart made;
  made.part = MCR_TRY(new_part_id());
  const std::string path = bytes_path(made.part);
  // If the pool has not changed since it held nothing for this rank, it still holds nothing. So one
  // look at the directory replaces a try of each slot.
  struct stat pool {};
  const bool known = system_calls().fstatat(descriptor(), pool_directory, &pool, 0) == 0;
  const bool unchanged = known && modified_ns(pool) == pool_empty_since_ns_;
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
    // Another process still reads the file, so the bytes must not change. They are freed when that
    // process closes the file.
    MCR_TRY(unlink_if_there(descriptor(), path));
  }
  // Remember the time only if it is older than a tick of the kernel's clock: a change within the
  // same tick would not change the time.
  if (known && clock_ns(CLOCK_REALTIME) > modified_ns(pool) + pool_clock_ns)
    pool_empty_since_ns_ = modified_ns(pool);
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
  // Unusually long names may exceed a reader's limits; such a file goes native.
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
    // After thousands of flushes the journal is shortened: only the begin record is kept, and the
    // new record follows it.
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

Result<File> LaunchDirectory::open_journal(const PartId& part) const {
  return File::open(descriptor(), journal_path(State::open, part), O_RDWR | O_APPEND | O_NOFOLLOW);
}

Result<File> LaunchDirectory::publish_small(const PartBegin& begin, const PartPublish& publish,
                                            ByteSpan content) const {
  Bytes records = write_begin(begin);
  const bool readable = content.size() <= max_content_bytes && content.size() == publish.size &&
                        !publish.provisional && (records.size() <= 512 || read_journal(records));
  if (!readable) return Error{Cause::usage, begin.path + " cannot be published in one piece"};
  Writer writer(records);
  writer.bytes(write_content(content));
  writer.bytes(write_publish(publish));
  const std::string path = journal_path(State::published, begin.part);
  File journal = MCR_TRY(File::open(descriptor(), path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW));
  // Lock before the content is written, so that every process that sees the part finds it locked.
  const auto locked = try_lock(journal, LockKind::exclusive);
  auto recorded = locked ? journal.write_at(0, records) : Result<void>(locked.error());
  if (recorded && !*locked) {
    recorded = Error{Cause::system, "a new journal is locked by another process", EWOULDBLOCK};
  }
  if (!recorded) {
    (void)system_calls().unlinkat(descriptor(), path.c_str(), 0);
    return recorded.error();
  }
  return journal;
}

Result<void> LaunchDirectory::amend_publish(const File& journal, const PartPublish& publish) const {
  return journal.write_at(MCR_TRY(journal.size()), write_publish(publish));
}

// First copies the bytes from the journal into a file of their own. Until the journal is in open/,
// its lock keeps other processes away from the bytes in it. A death in between leaves the part
// published, with the same bytes in both places.
Result<std::optional<LaunchDirectory::Withdrawn>> LaunchDirectory::withdraw_small(
    const PartId& part) const {
  const std::string from = journal_path(State::published, part);
  auto journal = File::open(descriptor(), from, O_RDWR | O_APPEND | O_NOFOLLOW);
  if (!journal) {
    if (journal.error().system_error == ENOENT) return std::optional<Withdrawn>();
    return journal.error();
  }
  if (!MCR_TRY(try_lock(*journal, LockKind::exclusive))) return std::optional<Withdrawn>();
  if (!is_still_named(*journal, descriptor(), from)) return std::optional<Withdrawn>();
  const Bytes records = MCR_TRY(journal->read_all(max_journal_bytes));
  const auto content = read_content(records);
  if (!content) return std::optional<Withdrawn>();
  const std::string path = bytes_path(part);
  const std::string beginning = path + ".new";
  const auto copied = [&]() -> Result<void> {
    const File bytes =
        MCR_TRY(File::open(descriptor(), beginning, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW));
    MCR_TRY(bytes.write_at(0, *content));
    if (system_calls().renameat(descriptor(), beginning.c_str(), descriptor(), path.c_str()) == 0)
      return {};
    return system_error("cannot rename", beginning);
  }();
  if (!copied) {
    (void)system_calls().unlinkat(descriptor(), beginning.c_str(), 0);
    return copied.error();
  }
  return withdraw(part);
}

Result<std::optional<LaunchDirectory::Withdrawn>> LaunchDirectory::withdraw(
    const PartId& part) const {
  const std::string path = bytes_path(part);
  auto bytes = File::open(descriptor(), path, O_RDWR | O_NOFOLLOW);
  if (!bytes) {
    if (bytes.error().system_error == ENOENT) return withdraw_small(part);
    return bytes.error();
  }
  if (!MCR_TRY(try_lock(*bytes, LockKind::exclusive))) return std::optional<Withdrawn>();
  // Test the name only under the lock: the leader may have freed the part in between.
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
    // Undo: the part stays published with the content of its journal.
    (void)system_calls().renameat(descriptor(), to.c_str(), descriptor(), from.c_str());
    return recorded.error();
  }
  return std::optional<Withdrawn>(Withdrawn{std::move(*bytes), std::move(*journal), last});
}

Result<void> LaunchDirectory::drop(const PartId& part) const {
  // Remove the journal first: without it no process looks for the bytes.
  MCR_TRY(unlink_if_there(descriptor(), journal_path(State::open, part)));
  MCR_TRY(unlink_if_there(descriptor(), journal_path(State::published, part)));
  MCR_TRY(unlink_if_there(descriptor(), journal_path(State::committed, part)));
  return unlink_if_there(descriptor(), bytes_path(part));
}

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
  const Bytes records = MCR_TRY(file.read_all(max_journal_bytes));
  if (state == State::published && !has_publish(records)) {
    errno = ENOENT;
    return system_error("cannot use a journal that is not published yet:", path_ + "/" + path);
  }
  auto content = read_journal(records);
  if (!content) {
    return Error{content.error().cause, path_ + "/" + path + ": " + content.error().message};
  }
  if (content->begin.part != part) {
    return Error{Cause::damaged, path_ + "/" + path + " is the journal of another part"};
  }
  // The launch's directory is older than each of its parts.
  constexpr std::uint64_t tick_ns = 1'000'000'000;
  content->begin.has_slow_clock = was_made_after(directory_, content->begin.begin_ns + tick_ns);
  return content;
}

bool LaunchDirectory::is_in(State state, const PartId& part) const {
  return exists(descriptor(), journal_path(state, part));
}

Result<File> LaunchDirectory::open_small_bytes(const PartId& part) const {
  // Look into published/ twice, because a leader may move the journal in between.
  for (const State state : {State::published, State::committed, State::published}) {
    const std::string path = journal_path(state, part);
    auto journal = File::open(descriptor(), path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    if (!journal) {
      if (journal.error().system_error == ENOENT) continue;
      return journal.error();
    }
    if (!MCR_TRY(try_lock(*journal, LockKind::shared))) {
      errno = EWOULDBLOCK;
      return system_error("cannot read a part that is being written:", path_ + "/" + path);
    }
    // The writer may have withdrawn the part since: then its bytes are in a file of their own by
    // now.
    if (exists(descriptor(), bytes_path(part))) {
      errno = EWOULDBLOCK;
      return system_error("cannot read a part that its rank has just reopened for writing:",
                          path_ + "/" + path);
    }
    const Bytes records = MCR_TRY(journal->read_all(max_journal_bytes));
    const auto content = read_content(records);
    if (!content || !has_publish(records)) continue;
    const Journal read = MCR_TRY(read_journal(records));
    if (read.begin.part != part || read.publish->size != content->size()) {
      return Error{Cause::damaged, path_ + "/" + path + " and its bytes do not belong together"};
    }
    File file = MCR_TRY(File::without_name(path_ + "/" + path));
    MCR_TRY(file.write_at(0, *content));
    file.hold(std::move(*journal));
    return file;
  }
  errno = ENOENT;
  return system_error("cannot open", path_ + "/" + bytes_path(part));
}

Result<File> LaunchDirectory::open_bytes(const PartId& part) const {
  const std::string path = bytes_path(part);
  auto opened = File::open(descriptor(), path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if (!opened) {
    if (opened.error().system_error == ENOENT) return open_small_bytes(part);
    return opened.error();
  }
  File file = std::move(*opened);
  if (!MCR_TRY(try_lock(file, LockKind::shared))) {
    errno = EWOULDBLOCK;
    return system_error("cannot read a part that is being written:", path_ + "/" + path);
  }
  // Between open and lock the file may have been freed and reused for another part.
  if (!is_still_named(file, descriptor(), path)) {
    errno = ENOENT;
    return system_error("cannot open", path_ + "/" + path);
  }
  return file;
}

Result<File> LaunchDirectory::open_unpublished(const PartId& part) const {
  return File::open(descriptor(), bytes_path(part), O_RDONLY | O_NOFOLLOW);
}

Result<void> LaunchDirectory::mark_committed(const PartId& part) const {
  const std::string from = journal_path(State::published, part);
  const std::string to = journal_path(State::committed, part);
  if (system_calls().renameat(descriptor(), from.c_str(), descriptor(), to.c_str()) == 0) return {};
  return system_error("cannot move to committed/ the journal", from);
}

Result<void> LaunchDirectory::free_part(const PartId& part,
                                        std::optional<std::uint32_t> pool_rank) const {
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

Result<bool> LaunchDirectory::takes_memory() const {
  for (const char* place : {parts_directory, pool_directory})
    if (!MCR_TRY(list_directory(descriptor(), place)).empty()) return true;
  return false;
}

Result<std::uint64_t> LaunchDirectory::shrink_pool(std::uint64_t bytes) const {
  std::uint64_t given_back = 0;
  for (const std::string& name : MCR_TRY(list_directory(descriptor(), pool_directory))) {
    if (given_back >= bytes) break;
    const std::string path = std::string(pool_directory) + "/" + name;
    struct stat status {};
    if (system_calls().fstatat(descriptor(), path.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
      continue;  // a rank has just taken it from the pool
    }
    if (system_calls().unlinkat(descriptor(), path.c_str(), 0) == 0) {
      given_back += static_cast<std::uint64_t>(status.st_blocks) * 512;
    }
  }
  return given_back;
}

}  // namespace mcr::restart
