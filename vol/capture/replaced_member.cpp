// SPDX-License-Identifier: BSD-3-Clause
#include "vol/capture/replaced_member.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "restart/base/attributes.hpp"
#include "restart/base/durable_replace.hpp"
#include "restart/base/log.hpp"
#include "restart/base/path_names.hpp"
#include "restart/base/system.hpp"
#include "restart/format/container_name.hpp"
#include "restart/sets/container_places.hpp"
#include "restart/sets/known_generations.hpp"
#include "restart/sets/names_here.hpp"
#include "restart/sets/native_members.hpp"
#include "restart/stage/file_at.hpp"
#include "restart/stage/stub_file.hpp"
#include "vol/capture/capture_plan.hpp"
#include "vol/capture/part_begin.hpp"
#include "vol/capture/publish.hpp"
#include "vol/capture/resolved_path.hpp"
#include "vol/capture/spill.hpp"
#include "vol/process/info_string.hpp"

namespace mcr::vol {

namespace {

struct Member {
  restart::Stub stub;
  std::string containers;
  std::string below;  ///< from the member's directory to `containers`
  bool is_native = false;
};

// Returns the part of a set that lies at that path, as a stub or as a native file with a note.
std::optional<Member> member_at(const ResolvedPath& place, std::string_view container_dir) {
  restart::FileAt there = restart::file_at(place.open(O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
  if (there.is_stub()) {
    restart::Stub& stub = there.stub;
    const auto places = restart::container_places(stub, place.path, "none");
    // Files of ours will be made in these places. So this program's settings and the path must lead
    // there too, not only the stub.
    if (places.empty() || places.front().from == nullptr ||
        stub.container_directory != container_dir ||
        !restart::is_above_ranks(place.path,
                                 restart::components_of(stub, stub.masked_names.front()))) {
      return std::nullopt;
    }
    const std::string below = places.front().up + "/" + places.front().below;
    return Member{std::move(stub), places.front().directory, below, false};
  }
  if (there.kind != restart::FileAt::Kind::plain_file) return std::nullopt;
  auto note = restart::find_native_note(*place.home, place.path, container_dir, *place.status);
  if (!note) return std::nullopt;
  return Member{std::move(note->stub), std::move(note->containers), std::move(note->below), true};
}

// Opens the file only if it is still the file in place.status.
Result<restart::File> open_same(const ResolvedPath& place) {
  restart::File file = MCR_TRY(place.open(O_RDWR | O_NOFOLLOW | O_NONBLOCK));
  const struct stat now = MCR_TRY(file.status());
  if (FileIdentity(now) == FileIdentity(*place.status)) return file;
  errno = ESTALE;
  return restart::system_error("another process replaced the file", place.path);
}

}  // namespace

bool note_native(const StagedPart& part, std::uint64_t inode) {
  const restart::PartBegin& begin = part.begin;
  if (begin.masked_names.empty() || begin.rank_count <= 1) return false;
  const auto home = restart::open_begun_in(begin, O_PATH);
  return home && restart::note_native(*home, stub_of(part), static_cast<ino_t>(inode));
}

void keep_replaced_member(const restart::File& directory, const std::string& path,
                          std::string_view container_dir) {
  if (const auto kept = restart::keep_member_aside(directory, path, container_dir); !kept) {
    restart::log_warning_once("aside",
                              "an earlier set is no longer whole, because a newer file replaced "
                              "its file, which could not be kept aside: " +
                                  path + ": " + kept.error().message);
  }
}

Result<std::optional<NativeReplacement>> replace_member_natively(const std::string& name) {
  const auto place = resolve_path(name);
  if (!place || !place->status || !S_ISREG(place->status->st_mode) || !Process::is_owner())
    return std::optional<NativeReplacement>();
  const struct stat& status = *place->status;
  const int home = place->home->descriptor();
  if (status.st_uid != geteuid() || !restart::can_have_group(*place->home, status.st_gid) ||
      faccessat(home, place->name.c_str(), W_OK, 0) != 0 ||
      faccessat(home, ".", W_OK | X_OK, 0) != 0) {
    return std::optional<NativeReplacement>();
  }
  Process& process = Process::get();
  const auto settings = settings_at(place->path);
  if (!settings) return std::optional<NativeReplacement>();
  const restart::Launcher launcher = process.launcher(**settings);
  if (!launcher.launch || launcher.rank_count <= 1) return std::optional<NativeReplacement>();
  const std::string_view container_dir = (*settings)->text("container_dir");
  // If the file has other names, they must show the new content too, so the file is written in
  // place.
  if (!has_one_name(*place, container_dir)) return std::optional<NativeReplacement>();
  auto member = member_at(*place, container_dir);
  if (!member || member->stub.rank_count <= 1) return std::optional<NativeReplacement>();
  restart::Stub& stub = member->stub;
  const bool is_old_listed = restart::may_be_listed(stub);
  stub.part = MCR_TRY(restart::PartId::random());
  auto beside = MCR_TRY(temporary_in(*place->home, stub.part.text()));
  restart::File& file = beside.first;
  const std::string& temporary = beside.second;
  // If several programs run in turn in one rank of a launch, the sequence continues from one
  // program to the next.
  const Writing writing = writing_of(name, *place);
  stub.sequence = process.writings().next(
      writing, [&] { return stub.launch == *launcher.launch ? stub.sequence + 1 : 0; });
  stub.launch = *launcher.launch;
  stub.rank_count = launcher.rank_count;
  stub.launch_directory.clear();  // the part was never in a stage
  stub.path = place->path;
  auto done = [&]() -> Result<void> {
    const struct stat made = MCR_TRY(file.status());
    MCR_TRY(restart::note_native(*place->home, member->below, stub, made.st_ino));
    const restart::File old = MCR_TRY(open_same(*place));
    MCR_TRY(restart::copy_attributes(old, file));
    // Comes after copy_attributes(), because keeping the old file aside may reduce its mode.
    if (member->is_native)
      keep_replaced_member(*place->home, place->path, (*settings)->text("container_dir"));
    MCR_TRY(restart::put_in_place(home, temporary, home, place->name));
    if (member->is_native && !is_old_listed)
      restart::remove_note(*place->home, member->below, status.st_ino);
    return {};
  }();
  if (done) {
    return std::optional<NativeReplacement>(
        NativeReplacement{std::move(file), std::move(member->containers), stub.part});
  }
  restart::system_calls().unlinkat(home, temporary.c_str(), 0);
  process.writings().take_back(writing, stub.sequence);
  return std::optional<NativeReplacement>();  // write in place, as native HDF5 does
}

}  // namespace mcr::vol
