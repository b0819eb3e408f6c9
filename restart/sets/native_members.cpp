// SPDX-License-Identifier: BSD-3-Clause
#include "restart/sets/native_members.hpp"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <memory>
#include <utility>
#include <vector>

#include "restart/base/access_list.hpp"
#include "restart/base/attributes.hpp"
#include "restart/base/birth_time.hpp"
#include "restart/base/closed_directories.hpp"
#include "restart/base/durable_replace.hpp"
#include "restart/base/path_names.hpp"
#include "restart/base/system.hpp"
#include "restart/base/trust.hpp"
#include "restart/format/container_name.hpp"
#include "restart/sets/own_containers.hpp"
#include "restart/stage/stub_file.hpp"

namespace mcr::restart {

std::string aside_name(std::uint64_t inode) {
  std::array<char, 17> text{};
  const auto [end, problem] = std::to_chars(text.data(), text.data() + text.size(), inode, 16);
  return std::string(text.data(), end);
}

namespace {

constexpr int most_levels = 2;  ///< number of directories above a file that may be a rank's

std::string directory_of(const std::string& containers) {
  return containers + "/" + std::string(native_members_directory);
}

std::string aside_path(const std::string& containers, std::uint64_t inode) {
  return directory_of(containers) + "/" + aside_name(inode);
}

std::string note_name(std::uint64_t inode) {
  return aside_name(inode) + std::string(native_note_ending);
}

/// Opens the directory with notes and kept files, as a place for this user's own files.
Result<File> open_home(const std::string& containers) {
  const File above = MCR_TRY(open_own_containers(containers));
  return open_own_containers(above, std::string(native_members_directory));
}

/// The same, for the note that find_native_note() returned about a file in `directory`.
Result<File> open_home(const NativeNote& note, const File& directory) {
  const File above = MCR_TRY(open_own_containers_to_write(directory, note.below));
  return open_own_containers(above, std::string(native_members_directory));
}

/// A file whose access was reduced, and its access before that. A file that is kept aside leaves directories
/// that restricted access to it. Its own mode must then restrict access as those did that are not above
/// `home`.
struct Closed {
  File file;
  Access before;

  void undo() const { (void)give_access(file, before).has_value(); }
};
Result<std::optional<Closed>> close_as_its_directories(const File& home, const File& directory,
                                                       const std::string& name) {
  File file = MCR_TRY(open_file_beneath(directory.descriptor(), name));
  const Access access = MCR_TRY(access_of(file));
  const Access closed =
      closed_by_directories(access, directory, MCR_TRY(deepest_above(directory, home)));
  if (closed == access) return std::optional<Closed>();
  if (!access.list.empty() && closed.list.empty()) {
    // Nobody but the owner may open the file while its list goes.
    (void)system_calls().fchmod(file.descriptor(), 0600);
    if (system_calls().fremovexattr(file.descriptor(), access_list_name) != 0)
      return system_error("cannot remove the access list of", name);
  }
  MCR_TRY(give_access(file, closed));
  return std::optional(Closed{std::move(file), access});
}

bool is_unfinished(const struct stat& note) {
  return note.st_mtim.tv_sec == 0 && note.st_mtim.tv_nsec == 0;
}

bool is_as_closed(const struct stat& note, const struct stat& file) {
  return note.st_mtim.tv_sec == file.st_mtim.tv_sec && note.st_mtim.tv_nsec == file.st_mtim.tv_nsec;
}

/// True if the file was born after the note was made: then another file has got the inode number.
/// False if the file system does not record birth times.
bool is_younger(const std::string& path, const struct stat& note) {
  struct statx file {};
  if (::statx(AT_FDCWD, path.c_str(), AT_SYMLINK_NOFOLLOW, STATX_BTIME, &file) != 0 ||
      (file.stx_mask & STATX_BTIME) == 0) {
    return false;
  }
  return std::pair<std::int64_t, std::int64_t>(file.stx_btime.tv_sec, file.stx_btime.tv_nsec) >
         std::pair<std::int64_t, std::int64_t>(note.st_ctim.tv_sec, note.st_ctim.tv_nsec);
}

class NativeSource final : public PartSource {
 public:
  NativeSource(File file, std::uint64_t size) : file_(std::move(file)), size_(size) {}
  [[nodiscard]] std::uint64_t size() const override { return size_; }
  Result<void> read_at(std::uint64_t offset, MutableByteSpan out) override {
    if (offset > size_ || out.size() > size_ - offset)
      return Error{Cause::usage, file_.name() + ": a read ends behind the end of the file"};
    return file_.read_at(offset, out);
  }

 private:
  File file_;
  std::uint64_t size_;
};

}  // namespace

Result<void> note_native(const File& directory, const std::string& below, const Stub& stub,
                         ino_t inode) {
  const File above = MCR_TRY(make_own_containers(directory, below));
  const File home = MCR_TRY(make_in_own_containers(above, std::string(native_members_directory)));
  PendingFile pending = MCR_TRY(PendingFile::create(home.descriptor(), note_name(inode), 0644));
  MCR_TRY(pending.file().write_at(0, write_stub(stub)));
  const struct timespec never[2]{};
  if (::futimens(pending.file().descriptor(), never) != 0)
    return system_error("cannot set the time of", note_name(inode));
  return pending.finish(Durability::none);
}

Result<std::string> note_native(const File& directory, const Stub& stub, ino_t inode) {
  ContainerName where = container_name(stub.masked_names.front(), stub.container_directory,
                                       stub.launch, stub.sequence);
  MCR_TRY(note_native(directory, where.directory_from_stub(stub.container_directory), stub, inode));
  return std::move(where.directory);
}

void remove_note(const File& directory, const std::string& below, ino_t inode) {
  const auto above = open_own_containers(directory, below);
  const auto home = above ? open_own_containers(*above, std::string(native_members_directory))
                          : Result<File>(above.error());
  if (home) (void)system_calls().unlinkat(home->descriptor(), note_name(inode).c_str(), 0);
}

namespace {

/// Sets the access and modification time of the note about the file with this `status`, if the note is about
/// `part`.
void set_note_time(const std::string& containers, const PartId& part, const struct stat& status,
                   const struct timespec& time) {
  const auto home = open_home(containers);
  const auto note = home ? open_file_beneath(home->descriptor(), note_name(status.st_ino))
                         : Result<File>(home.error());
  const auto stub = note ? read_stub_file(*note) : Result<Stub>(note.error());
  if (!stub || stub->part != part) return;
  const struct timespec times[2]{time, time};
  (void)::futimens(note->descriptor(), times);
}

}  // namespace

void complete_note(const std::string& containers, const PartId& part, const struct stat& status) {
  set_note_time(containers, part, status, status.st_mtim);
}

void make_note_unfinished(const std::string& containers, const PartId& part,
                          const struct stat& status) {
  set_note_time(containers, part, status, {});
}

void for_each_note(const std::string& containers, const std::function<void(const Stub&)>& look) {
  const auto home = open_home(containers);
  const auto names = home ? list_directory(home->descriptor(), ".")
                          : Result<std::vector<std::string>>(home.error());
  if (!names) return;
  for (const std::string& name : *names) {
    if (!name.ends_with(native_note_ending)) continue;
    const auto note = open_file_beneath(home->descriptor(), name);
    const auto status = note ? note->status() : Result<struct stat>(note.error());
    if (!status || status->st_uid != ::geteuid()) continue;
    if (const auto stub = read_stub_file(*note)) look(*stub);
  }
}

namespace {

/// False if another user may have moved the note into its directory `home` from the place of another
/// file. That user cannot give it a file's time, so only unfinished notes need this test.
bool lies_where_it_was_made(const Stub& stub, const File& home, const std::string& path) {
  const auto status = home.status();
  if (!status) return false;
  return !others_may_only_add(*status) || parent_of(stub.path) == real_path(parent_of(path));
}

/// Returns the author of a note in the open directory `home` of notes: unknown_user if users may add files
/// there who could not replace the files beside the directory of containers.
uid_t author_of_note(const File& home, const struct stat& note) {
  constexpr int to_look = O_PATH | O_DIRECTORY;
  const auto containers = File::open(home.descriptor(), "..", to_look);
  const auto outer = containers ? File::open(containers->descriptor(), "..", to_look)
                                : Result<File>(containers.error());
  if (!outer) return unknown_user;
  const auto beside = Beside::of(*outer, *containers);
  const auto inner = Beside::of(*containers, home);
  if (!beside || !inner || beside->author(note) == unknown_user) return unknown_user;
  return inner->author(note);
}

/// False if the note was made more than a minute after the last change of the native file's content. Then the note is a copy, perhaps
/// of another user's: mcr makes it while it writes the native file. True if the file system does not record birth times.
bool is_as_old_as_content(const File& note, const struct stat& file) {
  constexpr std::uint64_t longest_write_ns = 60'000'000'000;
  return birth_time_of(note) <= modified_ns(file) + longest_write_ns;
}

/// Reads the note about the file at `path`; `containers` leads from `directory` to the directory of
/// containers.
std::optional<NativeNote> read_note(int directory, const std::string& containers,
                                    const std::string& path, const struct stat& status) {
  if (!S_ISREG(status.st_mode)) return std::nullopt;
  const auto home = File::open(directory, directory_of(containers), O_PATH | O_DIRECTORY);
  if (!home) return std::nullopt;
  const auto note = open_file_beneath(home->descriptor(), note_name(status.st_ino));
  const auto noted = note ? note->status() : Result<struct stat>(note.error());
  if (!noted) return std::nullopt;
  // Because of a note, an open may give other bytes than the file's. So only notes of the file's
  // owner, or root, count.
  if (!is_believed(author_of_note(*home, *noted), status.st_uid)) return std::nullopt;
  if (!is_as_old_as_content(*note, status)) return std::nullopt;
  auto stub = read_stub_file(*note);
  if (!stub) return std::nullopt;
  // An unfinished note may be left from a dead writer, and another file may have got the inode
  // number since.
  const bool believed = is_unfinished(*noted)
                            ? name_of(stub->path) == name_of(path) && !is_younger(path, *noted) &&
                                  lies_where_it_was_made(*stub, *home, path)
                            : is_as_closed(*noted, status);
  if (!believed) return std::nullopt;
  // The stub counts as if it lay in the file itself.
  stub->origin = {status.st_uid, FileIdentity(status)};
  NativeNote read;
  read.stub = *std::move(stub);
  read.is_complete = !is_unfinished(*noted);
  return read;
}

}  // namespace

std::optional<NativeNote> native_note_in(const std::string& containers, const std::string& path,
                                         const struct stat& status) {
  auto note = read_note(AT_FDCWD, containers, path, status);
  if (note) note->containers = containers;
  return note;
}

std::optional<NativeNote> find_native_note(const File& directory, const std::string& path,
                                           std::string_view container_dir,
                                           const struct stat& status) {
  std::vector<std::string_view> directories{container_dir};
  if (container_dir != default_container_dir) directories.push_back(default_container_dir);
  std::string above = parent_of(path);
  std::string up;
  for (int level = 0; level <= most_levels; ++level) {
    for (const std::string_view name : directories) {
      const std::string below = up + std::string(name);
      auto note = read_note(directory.descriptor(), below, path, status);
      if (!note) continue;
      note->containers = above + "/" + std::string(name);
      note->below = below;
      return note;
    }
    // A directory can be a rank's only if its name contains a number.
    const std::string name = name_of(above);
    const bool has_number =
        std::any_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (!has_number) break;
    above.resize(above.size() - name.size() - 1);
    up += "../";
  }
  return std::nullopt;
}

std::optional<NativeNote> note_about(const std::string& path, const struct stat& status,
                                     const std::optional<std::string>& container_dir) {
  if (!container_dir) return std::nullopt;
  const auto directory = File::open(AT_FDCWD, parent_of(path), O_PATH | O_DIRECTORY);
  return directory ? find_native_note(*directory, path, *container_dir, status) : std::nullopt;
}

bool may_be_listed(const Stub& stub) { return !stub.launch_directory.empty(); }

Result<void> keep_aside(const NativeNote& note, const File& directory, const std::string& name,
                        const struct stat& status) {
  const File home = MCR_TRY(open_home(note, directory));
  const std::string aside = aside_name(status.st_ino);
  const int from = directory.descriptor();
  const int there = home.descriptor();
  // Before other users can reach the file.
  const auto closed = MCR_TRY(close_as_its_directories(home, directory, name));
  if (system_calls().linkat(from, name.c_str(), there, aside.c_str(), 0) == 0) return {};
  if (errno == EEXIST) return {};
  if (system_calls().renameat(from, name.c_str(), there, aside.c_str()) == 0) return {};
  const Error error = system_error("cannot keep aside", name);
  if (closed) closed->undo();
  return error;
}

Result<void> keep_member_aside(const File& directory, const std::string& path,
                               std::string_view container_dir) {
  struct stat status {};
  const std::string name = name_of(path);
  if (system_calls().fstatat(directory.descriptor(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) !=
          0 ||
      !S_ISREG(status.st_mode))
    return {};
  const auto note = find_native_note(directory, path, container_dir, status);
  if (!note || !note->is_complete || !may_be_listed(note->stub)) return {};
  return keep_aside(*note, directory, name, status);
}

bool is_kept_aside(const NativeNote& note, const File& directory, const struct stat& status) {
  return status.st_nlink == 2 &&
         leads_to(directory.descriptor(), aside_path(note.below, status.st_ino),
                  FileIdentity(status));
}

std::string place_of_native(const std::string& containers, const NativeMember& native,
                            const std::string& path, uid_t owner) {
  for (const std::string& place : {path, aside_path(containers, native.inode)}) {
    struct stat status {};
    if (system_calls().fstatat(AT_FDCWD, place.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISREG(status.st_mode) && status.st_uid == owner && status.st_ino == native.inode &&
        static_cast<std::uint64_t>(status.st_size) == native.size) {
      return place;
    }
  }
  return {};
}

Result<std::unique_ptr<PartSource>> native_source(const File& file, const std::string& place,
                                                  uid_t owner, const NativeMember& native) {
  const struct stat status = MCR_TRY(file.status());
  if (!S_ISREG(status.st_mode) || status.st_uid != owner || status.st_ino != native.inode ||
      static_cast<std::uint64_t>(status.st_size) != native.size)
    return Error{Cause::system, place + " was replaced by another file", ESTALE};
  const int second = ::fcntl(file.descriptor(), F_DUPFD_CLOEXEC, 0);
  if (second < 0) return system_error("cannot duplicate the descriptor of", place);
  return std::unique_ptr<PartSource>(
      std::make_unique<NativeSource>(File::spared(second, place), native.size));
}

}  // namespace mcr::restart
