// SPDX-License-Identifier: BSD-3-Clause
#include "vol/driver/open_path.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>

#include "restart/base/log.hpp"
#include "restart/base/path_names.hpp"
#include "restart/open/open_generation.hpp"
#include "restart/open/open_part.hpp"
#include "restart/sets/native_members.hpp"
#include "restart/stage/put_back_mark.hpp"
#include "restart/stage/stub_file.hpp"
#include "vol/capture/native_backend.hpp"
#include "vol/capture/noted_file.hpp"
#include "vol/capture/part_begin.hpp"
#include "vol/capture/replaced_member.hpp"
#include "vol/capture/resolved_path.hpp"
#include "vol/capture/stub_source.hpp"
#include "vol/driver/awaited_part.hpp"
#include "vol/driver/container_backend.hpp"
#include "vol/driver/planned_backend.hpp"
#include "vol/driver/stage_backend.hpp"
#include "vol/process/info_string.hpp"
#include "vol/process/job_warnings.hpp"
#include "vol/process/launch_share.hpp"
#include "vol/process/leader_start.hpp"
#include "vol/process/native_files.hpp"

namespace mcr::vol {

namespace {

constinit thread_local bool is_found_by_search = false;

Error refused() { return Error{Cause::system, {}, errno}; }

bool is_stub(const restart::File& file, const struct stat& status) {
  return S_ISREG(status.st_mode) &&
         status.st_size <= static_cast<off_t>(restart::Stub::max_bytes) &&
         restart::is_stub_file(file);
}

// Opens the part that a restart sees at the path: the stub's own part, or the same rank's part of
// the whole set before.
Result<restart::OpenedPart> open_as_seen(const restart::Stub& stub, const std::string& path,
                                         const Process::SettingsPointer& at_path,
                                         const restart::Launcher& launcher, bool may_wait,
                                         bool is_native = false, bool is_written = false) {
  const restart::Settings& settings = *at_path;
  restart::Opener opener;
  opener.launch = launcher.launch.value_or("");
  opener.rank_count = launcher.rank_count;
  opener.mix = restart::mix_of(settings);
  opener.is_mix_set = settings.is_set("mix");
  opener.wait_ms = may_wait ? settings.milliseconds("read_wait") : 0;
  opener.allow = settings.text("allow");
  opener.container_dir = settings.text("container_dir");
  opener.finds_notes = !is_found_by_search;
  opener.is_native = is_native;
  opener.writes_native = is_native && is_written;
  opener.adopt = [&settings](const std::string& directory) {
    adopt_launch(settings, std::string(settings.text("stage")), directory);
  };
  opener.share = launch_share(at_path, launcher);
  auto opened = restart::open_generation(stub, path, opener);
  if (opened || is_native || is_refused(opened)) return opened;
  if (auto flushed = open_flushed(stub)) return restart::OpenedPart{std::move(*flushed), stub, {}};
  return opened;
}

// How often, and how long each time, an open waits for a leader that is just changing the file.
constexpr int looks = 25;
constexpr timespec pause{0, 20'000'000};

Result<std::unique_ptr<Backend>> open_by_content(const OpenRequest& request);

// True if the launch that wrote the stub still has a leader. If the container was removed, that
// leader may be restoring it just now (aggregation/commit/container_watch).
bool has_leader(const restart::Stub& stub) {
  const auto directory = restart::LaunchDirectory::open(stub.launch_directory);
  return directory && directory->has_leader();
}

Result<std::unique_ptr<Backend>> open_stub(const OpenRequest& request, restart::File file,
                                           FileIdentity identity) {
  const auto stub = MCR_TRY(restart::read_stub_file(file));
  const ResolvedPath place = MCR_TRY(resolve_path(request.name));
  const auto settings = MCR_TRY(settings_at(place.path));
  const restart::Launcher launcher = Process::get().launcher(*settings);
  adopt_orphans(*settings);
  adopt_orphan_of(stub, *settings);
  const AwaitedPart awaited{stub, place.path, file, *settings, launcher, request.writes_path};
  // A leader marks the stub right before the plain file takes its place, and takes the mark back if it cannot. A mark that stays may be
  // another user's, whose stub this user has copied.
  bool is_marked = request.writes_path && restart::put_back_as(file);
  for (int i = 0; is_marked && i < looks; ++i) {
    nanosleep(&pause, nullptr);
    if (is_replaced(awaited)) return open_by_content(request);
    is_marked = restart::put_back_as(file).has_value();
  }
  restart::Stub there = stub;
  // Do not read the part from a stage: a container must have it, or it must become native first.
  if (must_become_native(awaited)) there.launch_directory.clear();
  auto opened = open_as_seen(there, place.path, settings, launcher, true);
  if (is_refused(opened)) return opened.error();
  if (!opened && is_elsewhere(awaited)) {
    const auto arrival = MCR_TRY(await_part(awaited, [&] {
      opened = open_as_seen(there, place.path, settings, launcher, false);
      return opened.has_value();
    }));
    if (arrival == Arrival::replaced) return open_by_content(request);
  }
  for (int i = 0;
       !opened && i < looks && !is_elsewhere(awaited) && !is_replaced(awaited) && has_leader(stub);
       ++i) {
    nanosleep(&pause, nullptr);
    opened = open_as_seen(there, place.path, settings, launcher, false);
  }
  // Since the stub was read, the leader has put the file back, or put another stub there, and
  // removed the part.
  if (!opened && is_replaced(awaited)) return open_by_content(request);
  if (!opened) return opened.error();
  auto backend = std::make_unique<ContainerBackend>(
      std::move(opened->source), std::move(opened->stub), place.path, std::move(file), identity,
      stub.part, request.ignore_disabled_locks);
  backend->set_native(std::move(opened->native));
  backend->set_swmr_role(request.swmr);
  if (is_marked) backend->distrust_marks();
  return std::unique_ptr<Backend>(std::move(backend));
}

// Opens a native file of a set: the part that a restart sees instead, or the file itself. Returns
// nothing if there is no note about the file.
Result<std::unique_ptr<Backend>> open_member(const OpenRequest& request, restart::File& file,
                                             const struct stat& status, FileIdentity identity) {
  if (CreateScope::is_open() || !S_ISREG(status.st_mode)) return std::unique_ptr<Backend>();
  const auto place = resolve_path(request.name);
  if (!place) return std::unique_ptr<Backend>();
  const auto settings = settings_at(place->path);
  if (!settings) return std::unique_ptr<Backend>();
  const auto note = restart::find_native_note(*place->home, place->path,
                                              (*settings)->text("container_dir"), status);
  if (!note) return std::unique_ptr<Backend>();
  const restart::Launcher launcher = Process::get().launcher(**settings);
  adopt_orphans(**settings);
  auto opened = MCR_TRY(open_as_seen(note->stub, place->path, *settings, launcher, true, true,
                                     request.writable && note->is_complete));
  if (opened.source == nullptr) {
    auto native = std::make_unique<NativeBackend>(std::move(file), identity,
                                                  static_cast<std::uint64_t>(status.st_size),
                                                  request.ignore_disabled_locks);
    // What the program writes belongs to the same writing of the set.
    if (request.writable && note->is_complete)
      native->note_in(note->containers, note->stub.part, NativeBackend::Note::complete);
    return std::unique_ptr<Backend>(std::move(native));
  }
  const restart::PartId part = opened.stub.part;
  auto backend = std::make_unique<ContainerBackend>(
      std::move(opened.source), std::move(opened.stub), place->path, std::move(file), identity,
      part, request.ignore_disabled_locks);
  backend->set_native(std::move(opened.native));
  backend->set_swmr_role(request.swmr);
  return std::unique_ptr<Backend>(std::move(backend));
}

// Creates a native file at a path where a part of a set lies, and keeps the old file if an earlier
// set needs it. Returns nothing if no such part lies there.
Result<std::unique_ptr<Backend>> create_in_place_of_member(const OpenRequest& request) {
  auto replaced = MCR_TRY(replace_member_natively(request.name));
  if (!replaced) return std::unique_ptr<Backend>();
  const FileIdentity identity = MCR_TRY(identity_of(replaced->file.descriptor(), request.name));
  auto backend = std::make_unique<NativeBackend>(std::move(replaced->file), identity, 0,
                                                 request.ignore_disabled_locks);
  backend->note_in(std::move(replaced->containers), replaced->part,
                   NativeBackend::Note::unfinished);
  return std::unique_ptr<Backend>(std::move(backend));
}

// True for H5Fopen with H5F_ACC_CREAT: a file that exists is opened as it is.
bool opens_existing(const OpenRequest& request) {
  struct stat status {};
  return request.create && !request.truncate && !request.exclusive &&
         ::stat(request.name.c_str(), &status) == 0;
}

Result<std::unique_ptr<Backend>> open_by_content(const OpenRequest& request) {
  if (request.create && request.truncate && !request.exclusive) {
    auto created = create_in_place_of_member(request);
    if (created && *created != nullptr) return created;
  }
  int flags = request.writable ? O_RDWR : O_RDONLY;
  if (request.truncate) flags |= O_TRUNC;
  if (request.create) flags |= O_CREAT;
  if (request.exclusive) flags |= O_EXCL;
  auto opened = restart::File::open(AT_FDCWD, request.name, flags, 0666);
  if (!opened) {
    errno = opened.error().system_error;
    return refused();
  }
  const struct stat status = MCR_TRY(opened->status());
  const FileIdentity identity{status.st_dev, status.st_ino};
  if (!request.create) {
    if (auto staged = StagedFile::find(identity)) {
      return std::unique_ptr<Backend>(
          std::make_unique<StageBackend>(std::move(staged), false, request.ignore_disabled_locks));
    }
    const bool is_captured = is_stub(*opened, status);
    // HDF5's tentative open before it creates a native file here. Nothing of the stub's part is read,
    // so the create must not wait for it.
    if (is_captured && CreateScope::is_open())
      return std::unique_ptr<Backend>(std::make_unique<PlannedBackend>(identity));
    if (is_captured) return open_stub(request, std::move(*opened), identity);
    auto member = MCR_TRY(open_member(request, *opened, status, identity));
    if (member != nullptr) return member;
    if (request.writes_path && !CreateScope::is_open()) count_written_in_place(identity);
  } else {
    note_native_file(identity);
    if (request.plan == nullptr) {
      if (const auto place = resolve_path(request.name))
        Process::get().writings().count_native(writing_of(request.name, *place));
    }
  }
  const bool is_noted = request.create && request.plan != nullptr && request.plan->is_native;
  auto noted = is_noted ? note_new_file(*request.plan, *opened) : std::optional<NotedFile>();
  auto native = std::make_unique<NativeBackend>(std::move(*opened), identity,
                                                static_cast<std::uint64_t>(status.st_size),
                                                request.ignore_disabled_locks);
  if (noted)
    native->note_in(std::move(noted->containers), noted->part, NativeBackend::Note::unfinished);
  return std::unique_ptr<Backend>(std::move(native));
}

}  // namespace

SearchScope::SearchScope(bool is_found) : before_(std::exchange(is_found_by_search, is_found)) {}
SearchScope::~SearchScope() { is_found_by_search = before_; }

Result<std::unique_ptr<Backend>> open_path(const OpenRequest& request) {
  if (request.create && request.plan != nullptr && !request.plan->is_native) {
    auto staged = StagedFile::create(*request.plan);
    if (staged) {
      return std::unique_ptr<Backend>(
          std::make_unique<StageBackend>(std::move(*staged), true, request.ignore_disabled_locks));
    }
    // Try natively: if native HDF5 cannot create the file either, the program gets the native
    // error. The failed attempt may have left a file at the path, so an existing file is no error,
    // unless another process was faster (EEXIST).
    OpenRequest again = request;
    if (staged.error().system_error != EEXIST) {
      again.truncate = true;
      again.exclusive = false;
    }
    auto native = open_by_content(again);
    if (native) {
      count_native_file(restart::NativeReason::no_stage);
      warn_once_in_job(request.plan->stage->launcher, "no stage",
                       "files are written natively: " + staged.error().message);
    }
    return native;
  }
  if (opens_existing(request)) {
    OpenRequest existing = request;
    existing.create = false;
    return open_by_content(existing);
  }
  return open_by_content(request);
}

bool is_stub_path(const char* name) {
  const auto file = restart::File::open(AT_FDCWD, name, O_RDONLY | O_NONBLOCK);
  if (!file) return false;
  const auto status = file->status();
  return status && is_stub(*file, *status);
}

}  // namespace mcr::vol
