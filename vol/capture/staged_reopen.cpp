// SPDX-License-Identifier: BSD-3-Clause
// Writes into a published part again.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "restart/base/attributes.hpp"
#include "restart/base/mapped_ids.hpp"
#include "restart/base/path_names.hpp"
#include "restart/base/read_marks.hpp"
#include "restart/base/system.hpp"
#include "restart/format/container_name.hpp"
#include "restart/open/open_part.hpp"
#include "restart/open/part_origin.hpp"
#include "restart/sets/stub_links.hpp"
#include "restart/settings/choices.hpp"
#include "restart/stage/file_at.hpp"
#include "restart/stage/rewrite_mark.hpp"
#include "restart/stage/stub_file.hpp"
#include "vol/capture/publish.hpp"
#include "vol/capture/spill.hpp"
#include "vol/capture/staged_file.hpp"
#include "vol/capture/stub_source.hpp"
#include "vol/capture/unfinished_part.hpp"
#include "vol/process/info_string.hpp"
#include "vol/process/leader_start.hpp"

namespace mcr::vol {

namespace {

// True if the stub is a copy of another stub, whose part it names. A write into the copy must not
// change the original. Nor may the new data go into the original's directory of containers, which
// may be removed while the copy stays.
bool is_copy(const restart::Stub& stub, const ResolvedPath& place, const std::string& own_launch) {
  if (place.path == stub.path) return false;
  // `cp -r` or `mv` may have brought the stub here, perhaps with its containers. New containers
  // would go to the old place, where the stub was written.
  struct stat home {};
  const bool is_home = ::stat(restart::parent_of(stub.path).c_str(), &home) == 0 &&
                       FileIdentity(home) == FileIdentity(place.directory_status);
  if (!is_home && stub.launch != own_launch) return true;
  const auto there = restart::file_at(AT_FDCWD, stub.path, restart::Links::not_followed);
  const bool is_same_file =
      place.status && FileIdentity(there.status) == FileIdentity(*place.status);
  return !is_same_file && there.is_stub_of(stub.part);
}

// True if the stub's names lead to a directory above the file, with the program's own
// container_dir. The new container goes to that directory, and a stub that this program has not
// made may name any place.
bool leads_above(const restart::Stub& stub, const ResolvedPath& place,
                 std::string_view container_dir) {
  if (stub.container_directory != container_dir) return false;
  return std::all_of(
      stub.masked_names.begin(), stub.masked_names.end(), [&](const std::string& masked_name) {
        const std::string base =
            restart::container_name(masked_name, container_dir, stub.launch, stub.sequence).base;
        return base == "/" || base == place.directory || place.directory.starts_with(base + "/");
      });
}

// True if the part itself must be written again, not a copy of the part. Normally a rank that
// reopens its own file gets a copy: there may be copies of its stub elsewhere, and they must still
// give the old part. But if ranks write a file in turn, the part would be copied in each turn. And
// if the file has several names, all of them must show the new data.
bool is_handed_on(const restart::Stub& stub, const restart::Launcher& launcher,
                  const std::string& path, const struct stat& status) {
  return stub.rank != launcher.rank ||
         (status.st_nlink > 1 && restart::names_of_program(stub, path, status) > 1);
}

bool is_in_container(restart::Stub stub, const std::string& path) {
  stub.launch_directory.clear();
  const auto source = restart::open_part(stub, path, "none");
  return source && *source != nullptr;
}

}  // namespace

// Takes the part back from the leader without a copy. False if the part is not this launch's, no longer published, or in
// a container already.
Result<bool> StagedFile::withdraw(const restart::Stub& stub, const std::string& path,
                                  const restart::File& at_path, StagedPart& part) {
  const restart::LaunchDirectory& directory = part.stage->directory;
  if (stub.launch_directory != directory.path()) return false;
  // The journal, not the stub, says for which file the part was begun.
  const auto journal = directory.journal(restart::LaunchDirectory::State::published, stub.part);
  if (!journal) return false;
  if (!restart::is_begun_file(journal->begin, path, MCR_TRY(at_path.status()))) return false;
  // Copies of the stub lead to this part, too, and must keep what they were copied from.
  if (restart::shows_reads(at_path) && restart::was_read(at_path)) return false;
  auto withdrawn = MCR_TRY(directory.withdraw(stub.part));
  if (!withdrawn) return false;
  // A leader may have died after the container had its name, and before the part left the stage. What is written into
  // the part now would be lost: the next leader finds the part in the container, and frees it.
  if (!directory.has_led_since(withdrawn->publish.publish_ns) && is_in_container(stub, path)) {
    restart::PartPublish as_before = withdrawn->publish;
    as_before.provisional = false;
    MCR_TRY(directory.publish(stub.part, withdrawn->journal, as_before));
    return false;
  }
  part.begin = MCR_TRY(directory.journal(restart::LaunchDirectory::State::open, stub.part)).begin;
  part.begin.replaced = restart::Replaced::nothing;  // its own stub lies there already
  part.bytes = std::move(withdrawn->bytes);
  part.journal = std::move(withdrawn->journal);
  part.size = withdrawn->publish.size;
  part.written.add(0, part.size);
  part.has_stub = true;
  return true;
}

// Copies the part into a new one of the same generation, which replaces the old one at publish.
Result<void> StagedFile::amend(const restart::Stub& stub, const ResolvedPath& place,
                               const restart::File& at_path, StagedPart& part) {
  const restart::LaunchDirectory& directory = part.stage->directory;
  const restart::Launcher& launcher = part.stage->launcher;
  std::optional<restart::PartOrigin> origin;
  const auto source = MCR_TRY(open_source(stub, place.path, &origin));
  // Rank, set and names are those that are recorded beside the part. The stub may be a copy of another
  // user's, who wants the new data in a set of this user's.
  std::vector<std::string> names;
  if (origin) names = restart::recorded_names(*origin, stub);
  if (names.empty()) return Error{Cause::system, "its stub names another file's part", EXDEV};
  // The new container gets the access of the file at the path.
  const restart::File home =
      MCR_TRY(restart::File::open(AT_FDCWD, place.directory, O_PATH | O_DIRECTORY));
  if (MCR_TRY(restart::access_of_copy(*origin, at_path, place.path, home)) !=
      MCR_TRY(restart::access_of(at_path)))
    return Error{Cause::system, "more users may read its stub than its data", EXDEV};
  auto made = MCR_TRY(directory.create_part(launcher.rank));
  UnfinishedPart unfinished(directory, made.part);
  part.bytes = std::move(made.bytes);
  part.stale_bytes = made.reused_bytes;
  part.size = source->size();
  MCR_TRY(copy_source(*source, part.bytes));
  part.written.add(0, part.size);
  restart::PartBegin& begin = part.begin;
  begin.part = made.part;
  begin.path_as_passed = place.path;
  begin.path = place.path;
  begin.directory_device = place.directory_status.st_dev;
  begin.directory_inode = place.directory_status.st_ino;
  begin.above = place.above;
  begin.rank = origin->rank;
  begin.rank_count = origin->rank_count;
  begin.local_rank_count = launcher.local_rank_count;
  begin.node = launcher.node;
  begin.launch = origin->launch;
  if (launcher.rank_count > 1 && *launcher.launch != origin->launch)
    begin.amended_by = *launcher.launch;
  begin.sequence = origin->sequence;
  begin.masked_names = names;
  begin.presence = part.stage->presence.name;
  begin.replaced = restart::Replaced::stub;
  begin.replaced_part = stub.part;
  begin.mode = place.status ? place.status->st_mode & 0777 : 0600;
  begin.begin_ns = realtime_ns();
  begin.settings = part.settings->changed();
  part.journal = MCR_TRY(directory.begin(begin));
  unfinished.keep();
  if (const auto there = restart::read_stub_file(at_path))
    restart::mark_rewritten(directory, at_path, *there);
  return {};
}

Result<std::shared_ptr<StagedFile>> StagedFile::reopen(const restart::Stub& stub,
                                                       const std::string& path,
                                                       restart::File at_path) {
  Process& process = Process::get();
  const ResolvedPath place = MCR_TRY(resolve_path(path));
  StagedPart part;
  part.settings = MCR_TRY(settings_at(place.path));
  const restart::Launcher launcher = process.launcher(*part.settings);
  if (!Process::is_owner())
    return Error{Cause::system, "this process is the child of a fork", EPERM};
  if (process.has_new_root())
    return Error{Cause::system, "the program has changed its root directory (chroot)", EPERM};
  if (!launcher.launch)
    return Error{
        Cause::system,
        "the launcher does not tell which start of the program this is; set launch=", EPERM};
  const struct stat status = MCR_TRY(at_path.status());
  // Only this user's stubs count: other users can write into theirs, and must not redirect this
  // user's parts and sets.
  if (status.st_uid != geteuid())
    return Error{Cause::system, "its stub belongs to another user", EPERM};
  if (restart::is_unmapped(status) || restart::is_unmapped(place.directory_status))
    return Error{Cause::system, "its owner or group is not known in this user namespace", EPERM};
  if (is_copy(stub, place, *launcher.launch))
    return Error{Cause::system, "it was copied or moved from " + stub.path, EXDEV};
  if (!leads_above(stub, place, part.settings->text("container_dir")))
    return Error{Cause::system,
                 "its stub names a directory of containers that does not fit its path", EXDEV};
  part.stage = MCR_TRY(process.job_stage(*part.settings, launcher));
  ensure_leader(*part.stage, LeaderLook::seldom);
  part.identity = FileIdentity(status);
  part.close = restart::close_of(*part.settings);
  if (!is_handed_on(stub, launcher, place.path, status) ||
      !MCR_TRY(withdraw(stub, place.path, at_path, part)))
    MCR_TRY(amend(stub, place, at_path, part));
  part.at_path = std::move(at_path);
  auto file = in_table(std::move(part));
  file->wrote_ = true;
  // A file that is opened again and again to append goes native, so that it is never drained piece
  // by piece.
  const bool again = stub.launch == *launcher.launch && process.has_reopened(place.path);
  if (again && restart::appended_of(*file->part_.settings) == restart::Appended::native)
    MCR_TRY(file->go_on_as_appended());
  return file;
}

}  // namespace mcr::vol
