// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/commit/put_back.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>

#include "aggregation/commit/commit_options.hpp"
#include "aggregation/commit/commit_place.hpp"
#include "aggregation/commit/container_directory.hpp"
#include "aggregation/commit/stub_search.hpp"
#include "restart/base/birth_time.hpp"
#include "restart/base/closed_directories.hpp"
#include "restart/base/copy_data.hpp"
#include "restart/base/durable_replace.hpp"
#include "restart/base/name_text.hpp"
#include "restart/base/path_names.hpp"
#include "restart/base/read_marks.hpp"
#include "restart/base/system.hpp"
#include "restart/format/container_name.hpp"
#include "restart/sets/native_members.hpp"
#include "restart/sets/own_containers.hpp"
#include "restart/sets/stub_links.hpp"
#include "restart/settings/settings.hpp"
#include "restart/stage/file_at.hpp"
#include "restart/stage/put_back_mark.hpp"
#include "restart/stage/refused_stubs.hpp"
#include "restart/stage/rewrite_mark.hpp"
#include "restart/stage/stub_file.hpp"

namespace mcr::aggregation {

using restart::File;
using restart::FileIdentity;
using restart::Journal;
using restart::LaunchDirectory;
using restart::name_of;
using restart::parent_of;
using restart::PartBegin;
using restart::PartId;
using restart::RefusedStubs;
using restart::system_calls;
using restart::system_error;

namespace {

/// Returns the directory in which the part was begun; nothing if another one lies at its path now.
Result<std::optional<File>> open_home(const PartBegin& begin) {
  auto home = restart::open_begun_in(begin, O_RDONLY);
  if (home) return std::optional<File>(*std::move(home));
  const int number = home.error().system_error;
  if (restart::means_gone(number) || number == ESTALE) return std::optional<File>();
  return home.error();
}

Result<AtPath> look_at(const File& home, const PartBegin& begin) {
  AtPath found;
  using Kind = restart::FileAt::Kind;
  auto there =
      restart::file_at(home.descriptor(), name_of(begin.path), restart::Links::not_followed);
  if (there.kind == Kind::closed) return there.error;
  if (there.kind == Kind::nothing) return found;
  found.kind = AtPath::Kind::other_file;
  if (!there.file.is_open()) return found;
  found.file = std::move(there.file);
  const struct stat& status = there.status;
  found.links = status.st_nlink;
  found.modified_ns = restart::modified_ns(status);
  found.device = status.st_dev;
  found.inode = status.st_ino;
  found.is_own = is_own_file(begin, status);
  if (there.kind == Kind::other) return found;
  found.access = MCR_TRY(restart::access_of(found.file));
  if (is_our_empty_file(begin, status)) {
    found.kind = AtPath::Kind::our_empty;
    return found;
  }
  if (there.kind == Kind::damaged_stub && there.error.cause == Cause::damaged)
    found.kind = AtPath::Kind::damaged_stub;
  if (!there.is_stub()) return found;
  const restart::Stub& stub = there.stub;
  found.kind = stub.part == begin.part ? AtPath::Kind::our_stub : AtPath::Kind::other_stub;
  found.part = stub.part;
  found.is_older_writing = restart::is_of_same_path(stub, begin) && stub.sequence < begin.sequence;
  found.is_rewritten = stub.is_rewritten;
  if (auto link = restart::our_link_to(stub, begin.path, status)) {
    found.our_link = std::move(*link);
    found.links = 1;
  }
  return found;
}

/// Makes a file that will be renamed to `name` in `directory`. If the leader dies, the next attempt
/// removes it: a launch has one leader on a node at a time.
Result<restart::PendingFile> prepare(const File& directory, const std::string& name,
                                     const PartBegin& begin) {
  return restart::PendingFile::create(directory.descriptor(), name, 0600, begin.part.text());
}

/// Sets the modification time to the time of the file's close (0: not known), because programs that
/// rotate files compare these times.
void set_modified(const File& file, std::uint64_t modified_ns) {
  if (modified_ns == 0) return;
  struct timespec times[2]{};
  times[0].tv_nsec = UTIME_OMIT;
  times[1].tv_sec = static_cast<time_t>(modified_ns / 1'000'000'000);
  times[1].tv_nsec = static_cast<long>(modified_ns % 1'000'000'000);
  (void)::futimens(file.descriptor(), times);
}

/// Fills the prepared file with the part's `bytes` and gives it the rights in `access`. `old`, if
/// given, is this user's file whose attributes are copied.
Result<void> fill(const File& made, const File& bytes, const restart::Access& access,
                  const File* old, std::uint64_t modified_ns) {
  MCR_TRY(restart::copy_data(bytes, made, 0, MCR_TRY(bytes.size())));
  const bool goes_on =
      old != nullptr && MCR_TRY(old->status()).st_uid == MCR_TRY(made.status()).st_uid;
  MCR_TRY(goes_on ? restart::copy_attributes(*old, made) : restart::give_access(made, access));
  set_modified(made, modified_ns);
  return {};
}

/// Opens the directory of containers of `names` for a part whose own directory is gone, or the one in the nearest
/// directory above that may be used. A directory that was made since the part was begun belongs to another run; one that other
/// users can take away is not safe.
Result<File> open_nearest(const std::string& masked, const std::string& container_dir,
                          const PartBegin& begin, restart::ContainerName& names) {
  const auto go_up = [&] {
    names = restart::far_container_name(parent_of(names.base), masked, container_dir, begin.launch,
                                        begin.sequence);
  };
  const auto is_unsafe = [&] {
    return names.base == parent_of(begin.path) ||
           restart::is_gone_or_made_after(names.base, begin.begin_for_files_ns()) ||
           restart::others_may_move(names.base);
  };
  while (names.base != "/" && is_unsafe()) go_up();
  for (;; go_up()) {
    auto place = open_place_by_path(names, &begin);
    if (place) return std::move(place->directory);
    const int number = place.error().system_error;
    const bool is_next_tried = restart::means_gone(number) || number == EPERM || number == EACCES;
    if (!is_next_tried || names.base == "/") return place.error();
  }
}

/// Writes a file that cannot go to its path beside the containers of its set; returns its path.
Result<std::string> set_aside(const PartBegin& begin, const File& bytes,
                              std::uint64_t modified_ns) {
  const std::string masked = begin.masked_names.empty() ? begin.path : begin.masked_names.front();
  const std::string container_dir(settings_of(begin).text("container_dir"));
  auto names = restart::container_name(masked, container_dir, begin.launch, begin.sequence);
  const auto home = MCR_TRY(open_home(begin));
  const File directory =
      home ? std::move(
                 MCR_TRY(make_container_directory(*home, names.directory_from_stub(container_dir)))
                     .directory)
           : MCR_TRY(open_nearest(masked, container_dir, begin, names));
  const File outer = MCR_TRY(File::open(directory.descriptor(), "..", O_PATH | O_DIRECTORY));
  const restart::KeptOut kept =
      home ? restart::kept_out(*home, MCR_TRY(outer.status())) : restart::KeptOut::all();
  MCR_TRY(restart::close_to(kept, directory, names.directory));
  // The file at the path stays. Its access rights say which users may read the part that was to
  // replace it.
  const auto there = aggregation::look_at(begin);
  restart::Access access;
  access.group = MCR_TRY(directory.status()).st_gid;
  access.mode = begin.mode & 0700;
  const restart::Access closed = access;
  if (home && there && there->is_own && there->access) {
    access = restart::closed_by_directories(*there->access, *home,
                                            restart::FileIdentity(MCR_TRY(outer.status())));
    access.mode &= begin.mode;
    access = restart::common_access({access});
  }
  // Comes last, because a program marks the stub before it opens file or directory to others.
  if (there && there->kind == AtPath::Kind::our_stub &&
      !restart::still_shows(there->file, begin.part))
    access = closed;
  const auto write_as = [&](const std::string& id) -> Result<std::string> {
    const std::string name =
        restart::cut_text("unfinished-" + name_of(begin.path), NAME_MAX - id.size()) + id;
    auto pending = MCR_TRY(prepare(directory, name, begin));
    MCR_TRY(fill(pending.file(), bytes, access, nullptr, modified_ns));
    struct stat left {};
    const bool is_ours = system_calls().fstatat(directory.descriptor(), name.c_str(), &left,
                                                AT_SYMLINK_NOFOLLOW) == 0 &&
                         left.st_uid == ::geteuid();
    // Errors that storage reports late must come while the stage still has the part.
    MCR_TRY(pending.finish(restart::Durability::durable,
                           is_ours ? restart::Existing::replaced : restart::Existing::kept));
    return names.directory + "/" + name;
  };
  // A file under that name may be ours, from a leader that died.
  auto done = write_as("." + begin.part.text().substr(0, 8));
  // The name may be taken by another user: stubs of the same process show the beginning of the
  // part's id.
  if (!done && done.error().system_error == EEXIST)
    done = write_as("." + MCR_TRY(restart::PartId::random()).text());
  return done;
}

/// The part's own file at its present place.
struct OwnFile {
  File home;
  std::string path;
  File file;
  std::string our_link;
  bool is_empty = false;      ///< the writer died before it filled in the stub
  bool is_rewritten = false;  ///< a program has begun to write the file anew
  bool has_one_name = false;  ///< except our_link
};
/// How many names the part's own file may have. A file with several names is put back only if its
/// writer is dead.
enum class Names : std::uint8_t { one, any };
Result<std::optional<OwnFile>> own_file_at(const PartBegin& begin, Names names) {
  auto home = MCR_TRY(open_home(begin));
  if (!home) return std::optional<OwnFile>();
  AtPath there = MCR_TRY(look_at(*home, begin));
  // A leader may have died while it filled the file that H5Fcreate made. Another user's file is
  // never filled, even if it has the same inode number.
  const auto status = there.file.is_open() ? there.file.status() : Result<struct stat>(Error{});
  const bool is_this_users = status && status->st_uid == ::geteuid();
  const bool is_half_filled = is_this_users && there.kind == AtPath::Kind::damaged_stub &&
                              begin.replaced == restart::Replaced::nothing &&
                              begin.file_inode != 0 && there.inode == begin.file_inode;
  const bool is_taken =
      there.is_ours_alone() ||
      (names == Names::any && ((is_this_users && there.is_ours()) || is_half_filled));
  if (!is_taken) return std::optional<OwnFile>();
  return std::optional<OwnFile>(
      OwnFile{*std::move(home), begin.path, std::move(there.file), std::move(there.our_link),
              there.kind == AtPath::Kind::our_empty, there.is_rewritten, there.is_ours_alone()});
}
/// Returns `begin` as if the part had been begun at `path`. The part is then known by its stub, not
/// by its directory.
PartBegin moved_to(const std::string& path, PartBegin begin) {
  begin.path = path;
  begin.directory_device = begin.directory_inode = 0;
  begin.above.clear();
  return begin;
}
Result<std::optional<OwnFile>> find_own_file(const PartBegin& begin, const StubHandles* stubs,
                                             Names names) {
  auto own = MCR_TRY(own_file_at(begin, names));
  const StubHandles::Found found =
      stubs == nullptr ? StubHandles::Found() : stubs->find(begin.part);
  if (own && names == Names::one) {
    // What lies at the path may be a copy, and the stub itself may have another name by now. Both lead
    // to the part, so it must go into a container.
    const struct stat there = MCR_TRY(own->file.status());
    const std::uint64_t known = found.inode != 0 ? found.inode : begin.file_inode;
    if (known != 0 && known != there.st_ino && !own->is_empty) return std::optional<OwnFile>();
  }
  if (own || found.fate != StubHandles::Fate::present) return own;
  return own_file_at(moved_to(found.path, begin), names);
}

/// As find_own_file(), for a dead writer. Also searches directories, because the program may have
/// renamed the file after a flush, and the descriptor of its stub may be lost.
Result<std::optional<OwnFile>> search_own_file(const PartBegin& begin, const StubHandles* stubs) {
  auto own = MCR_TRY(find_own_file(begin, stubs, Names::any));
  // A file that the part was to replace at the close has no stub of the part yet.
  if (own || begin.replaced != restart::Replaced::nothing) return own;
  const std::uint64_t until_ms = restart::monotonic_ms() + longest_search_ms;
  std::string copy;  // of the stub, or the stub itself in another directory
  for (const std::string& root : roots_of_search(begin)) {
    const auto found = search_stubs(root, {{begin.part, wanted_stub(begin, {})}}, until_ms);
    if (found.empty()) continue;
    const StubFound& stub = found.begin()->second;
    if (!stub.may_be_copy) return own_file_at(moved_to(stub.path, begin), Names::any);
    if (copy.empty()) copy = stub.path;
  }
  if (copy.empty()) return std::optional<OwnFile>();
  return own_file_at(moved_to(copy, begin), Names::any);
}

/// True if the stub was read since its rank wrote it, and so may have been copied: a copy of the
/// stub would lead nowhere once the part is a plain file. False if reads leave no trace
/// (restart/base/read_marks.hpp).
bool stub_was_read(const OwnFile& own) {
  return restart::shows_reads(own.file) && restart::may_have_been_read(own.file);
}

/// Puts the part's bytes in place of its stub, and removes our link to the stub. Marks the old
/// stub, so that a rank that has it open to rewrite the file finds the plain file. Returns false if
/// the path or the stub was replaced meanwhile. Returns false as well if the part should go into a
/// container instead, because the stub cannot be marked or may have been copied meanwhile; and if a
/// newer part's stub waits to replace this very stub.
Result<bool> place_in(const LaunchDirectory& directory, const OwnFile& own, const PartBegin& begin,
                      const File& bytes, std::uint64_t modified_ns, MayDrain may_drain) {
  if (own.is_rewritten && may_drain == MayDrain::yes) return false;
  const restart::Access closed{MCR_TRY(own.home.status()).st_gid, begin.mode & 0700, {}};
  auto pending = MCR_TRY(prepare(own.home, name_of(own.path), begin));
  const bool is_marked = !own.is_empty && restart::may_be_marked(own.file);
  if (!own.is_empty && !is_marked && may_drain == MayDrain::yes) return false;
  File stub;
  restart::PutBackMark mark;
  mark.stub_bytes = MCR_TRY(own.file.size());
  if (is_marked) {
    auto opened = File::open(AT_FDCWD, restart::link_path(own.file.descriptor()), O_RDWR);
    if (!opened)
      return false;  // read-only: without a mark, a rank with the stub open would lose the file
    stub = *std::move(opened);
    const FileIdentity native(MCR_TRY(pending.file().status()));
    // A rank may be about to write a newer part's stub into this very file.
    const auto refused = RefusedStubs::lock(directory, RefusedStubs::Wait::briefly);
    if (!refused) return false;
    const auto marked = restart::mark_put_back(stub, begin.part, native);
    if (!marked && marked.error().system_error == ESTALE) return false;
    mark = MCR_TRY(marked);
  }
  // A chmod of the stub after its rights were copied and before the exchange must not be lost.
  const auto before =
      own.is_empty ? Result<restart::Access>(Error{}) : restart::access_of(own.file);
  const auto is_unchanged = [&] {
    const auto now = own.file.size();
    if (!now || *now != mark.stub_bytes) return false;
    const auto access = before ? restart::access_of(own.file) : before;
    if (before && (!access || *access != *before)) return false;
    const auto there =
        own.is_empty ? Result<restart::Stub>(Error{}) : restart::read_stub_file(own.file);
    return own.is_empty ||
           (there && there->part == begin.part && there->is_rewritten == own.is_rewritten);
  };
  const auto place = [&]() -> Result<bool> {
    MCR_TRY(fill(pending.file(), bytes, closed, &own.file, modified_ns));
    if (may_drain == MayDrain::yes && stub_was_read(own)) return false;
    std::optional<RefusedStubs> refused;  // locked from the first look until the exchange is done
    return pending.finish_over(own.file, [&] {
      if (!refused) {
        auto locked = RefusedStubs::lock(directory, RefusedStubs::Wait::briefly);
        if (!locked) return false;
        refused = *std::move(locked);
      }
      return !refused->keeps(begin, own.path) && is_unchanged();
    });
  };
  const auto placed = place();
  const bool is_done = placed && *placed;
  if (stub.is_open() && !is_done) {
    // If the lock is not free, the mark stays. It names a file that came to no path, and the next mark
    // replaces it.
    const auto refused = RefusedStubs::lock(directory, RefusedStubs::Wait::long_enough);
    if (refused) (void)restart::unmark_put_back(stub, mark).has_value();
  }
  if (is_done && !own.our_link.empty())
    (void)system_calls().unlinkat(AT_FDCWD, own.our_link.c_str(), 0);
  return placed;
}

/// Writes a dead writer's bytes into the file that the writer made, so that all names of the file
/// show them, as with native HDF5. The stub at the file's beginning is overwritten last, because
/// the next leader recognises the file by it.
Result<bool> fill_own(const OwnFile& own, const PartBegin& begin, const File& bytes,
                      std::uint64_t modified_ns) {
  const File file =
      MCR_TRY(File::open(AT_FDCWD, restart::link_path(own.file.descriptor()), O_RDWR | O_NONBLOCK));
  if (!begin.masked_names.empty()) {
    const auto names = restart::container_name(begin.masked_names.front(),
                                               settings_of(begin).text("container_dir"),
                                               begin.launch, begin.sequence);
    restart::unlink_stub(names.directory, begin.part, MCR_TRY(file.status()));
  }
  Bytes head(std::min<std::uint64_t>(restart::Stub::max_bytes, MCR_TRY(bytes.size())));
  MCR_TRY(bytes.read_at(0, head));
  MCR_TRY(restart::copy_data(bytes, file, head.size(), MCR_TRY(bytes.size())));
  MCR_TRY(file.sync());
  MCR_TRY(file.write_at(0, head));
  set_modified(file, modified_ns);
  MCR_TRY(file.sync());
  return true;
}

Result<bool> put_flushed(const LaunchDirectory& directory, const OwnFile& own,
                         const PartBegin& begin, const File& bytes, std::uint64_t modified_ns) {
  if (own.has_one_name) return place_in(directory, own, begin, bytes, modified_ns, MayDrain::no);
  if (own.is_rewritten) return false;
  const auto refused = MCR_TRY(RefusedStubs::lock(directory, RefusedStubs::Wait::briefly));
  return refused.keeps(begin, own.path) ? false : fill_own(own, begin, bytes, modified_ns);
}

/// Completes an exchange of names (PendingFile::finish_over) after which a leader died: the plain
/// file is at its path, and the stub has the temporary name. Returns true if there was such an
/// exchange.
Result<bool> finish_exchange(const PartBegin& begin) {
  const auto home = MCR_TRY(open_home(begin));
  if (!home) return false;
  const std::string temporary = restart::temporary_name(begin.part.text());
  const auto stub = File::open(home->descriptor(), temporary, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  const auto native = stub ? restart::put_back_as(*stub) : std::optional<FileIdentity>();
  struct stat there {};
  // In a shared directory other users make files of any name: both files must be this user's.
  if (!native ||
      system_calls().fstatat(home->descriptor(), name_of(begin.path).c_str(), &there,
                             AT_SYMLINK_NOFOLLOW) != 0 ||
      FileIdentity(there) != *native || there.st_uid != ::geteuid())
    return false;
  const auto old = restart::read_stub_file(*stub);
  const auto status = stub->status();
  const auto link = old && status ? restart::our_link_to(*old, begin.path, *status)
                                  : std::optional<std::string>();
  if (link) (void)system_calls().unlinkat(AT_FDCWD, link->c_str(), 0);
  (void)system_calls().unlinkat(home->descriptor(), temporary.c_str(), 0);
  MCR_TRY(restart::sync_directory(home->descriptor()));
  return true;
}

/// Takes the part out of the stage. Our shared lock keeps the writer from taking the part back, so
/// the removed bytes are the same as those that were put at the path.
Result<void> take_out(const LaunchDirectory& directory, const PartId& part, File bytes,
                      LaunchDirectory::State state, std::optional<std::uint32_t> pool_rank) {
  if (state == LaunchDirectory::State::published) MCR_TRY(directory.mark_committed(part));
  bytes = File();
  return directory.free_part(part, pool_rank);
}

using OlderFile = restart::PartPublish::OlderFile;

/// True if the file at the path is the one that the part's stub is to replace.
bool gives_way_to(const AtPath& there, const PartBegin& begin,
                  const std::optional<OlderFile>& older) {
  if (!there.is_own || !there.file.is_open()) return false;
  if (older && (older->device != there.device || older->inode != there.inode)) return false;
  if (there.kind == AtPath::Kind::other_stub) {
    // The time of a stub says nothing: the leader changes it while it tries to put the part back.
    return there.is_older_writing || (begin.replaced_part && begin.replaced_part == there.part);
  }
  // The writer may have died while it wrote the stub over the older file.
  if (older && there.kind == AtPath::Kind::damaged_stub) return true;
  if (older) return older->modified_ns == there.modified_ns;
  // The native file that lay there when the part was begun, if it was not written since.
  if (there.kind == AtPath::Kind::other_file)
    return begin.replaced == restart::Replaced::native_file && there.modified_ns < begin.begin_ns;
  return there.kind == AtPath::Kind::our_empty;
}

/// Returns false if another file came to the path, if the old file was written meanwhile, or if a newer
/// part's stub waits for the same file.
Result<bool> put_stub_over(const AtPath& there, const File& home, const LaunchDirectory& directory,
                           const PartBegin& begin) {
  auto pending = MCR_TRY(prepare(home, name_of(begin.path), begin));
  MCR_TRY(restart::write_stub_file(pending.file(), stub_of(begin, directory.path())));
  MCR_TRY(restart::copy_attributes(there.file, pending.file()));
  // Keeps the native file that the previous set needs. The writer may not have done so.
  if (there.kind == AtPath::Kind::other_file)
    MCR_TRY(restart::keep_member_aside(home, begin.path, settings_of(begin).text("container_dir")));
  MCR_TRY(pending.file().sync());  // before the lock, which a rank may need
  const auto refused = MCR_TRY(RefusedStubs::lock(directory, RefusedStubs::Wait::briefly));
  if (refused.keeps(begin, begin.path)) return false;
  return pending.finish_over(there.file, [&] {
    const auto status = there.file.status();
    return status && restart::modified_ns(*status) == there.modified_ns;
  });
}

}  // namespace

restart::Stub stub_of(const PartBegin& begin, const std::string& launch_directory) {
  return restart::stub_of(begin, std::string(settings_of(begin).text("container_dir")),
                          launch_directory);
}

bool is_own_file(const PartBegin& begin, const struct stat& status) {
  return status.st_uid == ::geteuid() ||
         (begin.file_inode != 0 && status.st_ino == begin.file_inode &&
          (begin.directory_device == 0 || status.st_dev == begin.directory_device));
}

bool is_our_empty_file(const PartBegin& begin, const struct stat& status) {
  // The size alone is not enough: a file that the program truncated later has a later modification
  // time. The inode is compared as well, because a program may close, rename and create again
  // within one tick of the file system's clock.
  const bool is_same = begin.file_inode == 0 || status.st_ino == begin.file_inode;
  return begin.replaced == restart::Replaced::nothing && is_same && S_ISREG(status.st_mode) &&
         status.st_size == 0 && restart::modified_ns(status) <= begin.begin_ns;
}

Result<AtPath> look_at(const PartBegin& begin) {
  const auto home = MCR_TRY(open_home(begin));
  if (!home) return AtPath{};
  return look_at(*home, begin);
}

Result<PutBackEnd> put_back(const LaunchDirectory& directory, const PartId& part,
                            std::optional<std::uint32_t> pool_rank, const StubHandles* stubs,
                            MayDrain may_drain) {
  // Lock first, then look into published/: if a writer took the part back and died, the part's
  // bytes are half-written, but its journal is no longer there.
  auto bytes = directory.open_bytes(part);
  if (!bytes && bytes.error().system_error == EWOULDBLOCK) return PutBackEnd::taken_back;
  const auto found = directory.journal(LaunchDirectory::State::published, part);
  if (!found && restart::means_gone(found.error().system_error)) return PutBackEnd::taken_back;
  const Journal journal = MCR_TRY(found);
  if (journal.publish && journal.publish->native) {  // its bytes are at the path already
    MCR_TRY(directory.free_part(part, pool_rank));
    return PutBackEnd::done;
  }
  if (!bytes) return bytes.error();
  const std::uint64_t publish_ns = journal.publish ? journal.publish->publish_ns : 0;
  const auto own = MCR_TRY(find_own_file(journal.begin, stubs, Names::one));
  // Only under the part's lock: stub_was_read() changes the stub's access time, and a rank that takes the part
  // back goes on with the same stub. place_in() asks again after its mark, which resets the access time.
  if (own && may_drain == MayDrain::yes && stub_was_read(*own)) return PutBackEnd::not_possible;
  const bool is_there =
      own ? MCR_TRY(place_in(directory, *own, journal.begin, *bytes, publish_ns, may_drain))
          : MCR_TRY(finish_exchange(journal.begin));
  if (!is_there) return PutBackEnd::not_possible;
  MCR_TRY(
      take_out(directory, part, std::move(*bytes), LaunchDirectory::State::published, pool_rank));
  return PutBackEnd::done;
}

void remove_leftover(const PartBegin& begin) {
  const auto home = open_home(begin);
  if (!home || !*home) return;
  const int at = (*home)->descriptor();
  const std::string temporary = restart::temporary_name(begin.part.text());
  const auto file = File::open(at, temporary, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  const auto status = file ? file->status() : Result<struct stat>(file.error());
  // After the exchange of names the stub lies there: finish_exchange().
  const bool is_leftover = status && S_ISREG(status->st_mode) && status->st_uid == ::geteuid() &&
                           !restart::begins_as_stub(*file).value_or(true);
  if (is_leftover) (void)system_calls().unlinkat(at, temporary.c_str(), 0);
}

Result<std::string> settle(const LaunchDirectory& directory, const PartId& part,
                           const StubHandles* stubs) {
  const Journal journal = MCR_TRY(directory.journal(LaunchDirectory::State::open, part));
  const std::string& path = journal.begin.path;
  if (journal.publish && journal.publish->native) {
    // Its writer may have died before the spilled file was renamed to its path (StagedFile::spill).
    const std::string temporary = std::string(restart::temporary_prefix) + part.text();
    if (const auto home = MCR_TRY(open_home(journal.begin)))
      (void)system_calls().unlinkat(home->descriptor(), temporary.c_str(), 0);
    MCR_TRY(directory.drop(part));
    return path + " is a native file";
  }
  if (!journal.publish) {
    // The file was neither flushed nor closed: with native HDF5 it could not be opened either. At
    // the path lies the empty file of H5Fcreate, or what the part would have replaced. The stage
    // file is not used: it may hold older bytes where nothing was written yet.
    MCR_TRY(directory.drop(part));
    return path +
           ": its writer died before it flushed or closed the file, so the data is lost, as with "
           "native HDF5";
  }
  auto bytes = MCR_TRY(directory.open_bytes(part));
  const bool is_there = MCR_TRY(finish_exchange(journal.begin));
  const auto own =
      is_there ? std::optional<OwnFile>() : MCR_TRY(search_own_file(journal.begin, stubs));
  std::string said;
  if (is_there) {
    said = path +
           ": its writer died after a flush; the flushed data is at this path already, as a plain "
           "file";
  } else if (own && MCR_TRY(put_flushed(directory, *own, journal.begin, bytes,
                                        journal.publish->publish_ns))) {
    said = own->path +
           ": its writer died after a flush; the flushed data is at this path now, as native HDF5 "
           "would have left it";
  } else {
    const std::string aside = MCR_TRY(set_aside(journal.begin, bytes, journal.publish->publish_ns));
    const bool had_file = journal.begin.replaced != restart::Replaced::nothing;
    said = path + ": its writer died after a flush; " +
           (had_file ? "the older file stays at this path, and " : "") +
           "the flushed data is kept in " + aside;
  }
  MCR_TRY(take_out(directory, part, std::move(bytes), LaunchDirectory::State::open, {}));
  return said;
}

Result<bool> repair_stub(const LaunchDirectory& directory, const PartBegin& begin,
                         const std::optional<OlderFile>& older) {
  const auto home = MCR_TRY(open_home(begin));
  if (!home) return false;
  // The program, or a rank that closes a newer version, may replace the file at any moment: look
  // again then. The newest file stays.
  constexpr int looks = 3;
  for (int look = 0; look < looks; ++look) {
    const AtPath there = MCR_TRY(look_at(*home, begin));
    if (!gives_way_to(there, begin, older)) return false;
    if (MCR_TRY(put_stub_over(there, *home, directory, begin))) return true;
  }
  return false;
}

}  // namespace mcr::aggregation
