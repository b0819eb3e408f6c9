// SPDX-License-Identifier: BSD-3-Clause
#include "vol/capture/capture_plan.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

#include "restart/base/attributes.hpp"
#include "restart/base/limits.hpp"
#include "restart/base/log.hpp"
#include "restart/base/mapped_ids.hpp"
#include "restart/base/path_names.hpp"
#include "restart/format/container_name.hpp"
#include "restart/format/mask_words.hpp"
#include "restart/format/masked_name.hpp"
#include "restart/sets/native_members.hpp"
#include "restart/sets/own_containers.hpp"
#include "restart/sets/stub_links.hpp"
#include "restart/stage/file_at.hpp"
#include "vol/capture/capture_rule.hpp"
#include "vol/capture/native_patterns.hpp"
#include "vol/capture/part_begin.hpp"
#include "vol/capture/unranked_family.hpp"
#include "vol/process/job_warnings.hpp"
#include "vol/process/lag.hpp"
#include "vol/process/leader_start.hpp"
#include "vol/process/stage_room.hpp"

namespace mcr::vol {

using restart::NativeReason;

bool has_one_name(const ResolvedPath& place, std::string_view container_dir) {
  const struct stat& status = *place.status;
  if (status.st_nlink != 2 || !S_ISREG(status.st_mode)) return status.st_nlink == 1;
  using Kind = restart::FileAt::Kind;
  const auto there = restart::file_at(place.open(O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
  if (there.kind == Kind::plain_file) {
    const auto note = restart::find_native_note(*place.home, place.path, container_dir, status);
    return note && restart::is_kept_aside(*note, *place.home, status);
  }
  return there.is_stub() && restart::our_link_to(there.stub, place.path, status);
}

namespace {

// True if the file itself is a mount point, as in some Linux containers: no file can be renamed
// over it.
bool is_mount_point(const ResolvedPath& place) {
  struct statx status {};
  return ::statx(place.home->descriptor(), place.name.c_str(), AT_SYMLINK_NOFOLLOW, STATX_TYPE,
                 &status) == 0 &&
         (status.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
}

// True if the file's access list may name users or groups that this user namespace does not map. The new file could not get
// the list, and a later chmod would let in whom the list keeps out.
bool may_lose_its_list(const ResolvedPath& place) {
  if (restart::are_all_ids_mapped()) return false;
  const auto file = place.open(O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  return !file || restart::has_access_list(*file);
}

// True if the existing file may be replaced by a new one. Native HDF5 would write into the old
// file, and the program must not notice a difference. So the file must be regular, this user's,
// with one name, of a group to which the new file can be given, in a directory that allows renames. Whether the
// file is writable is found out when it is opened.
bool may_replace(const ResolvedPath& place, std::string_view container_dir) {
  const struct stat& status = *place.status;
  return S_ISREG(status.st_mode) && status.st_uid == geteuid() && !restart::is_unmapped(status) &&
         restart::can_have_group(*place.home, status.st_gid) &&
         has_one_name(place, container_dir) && !is_mount_point(place) &&
         !may_lose_its_list(place) && faccessat(place.home->descriptor(), ".", W_OK | X_OK, 0) == 0;
}

// True if the path itself contains a mask word: its masked name would be ambiguous.
bool has_mask_word(const std::string& path) {
  return path.find("{rank") != std::string::npos ||
         path.find(restart::part_word) != std::string::npos;
}

bool is_below(const std::string& path, const std::string& directory) {
  return path.size() > directory.size() && path.compare(0, directory.size(), directory) == 0 &&
         path[directory.size()] == '/';
}

// Returns why a container in `base` cannot be given the access of files in `directory`, which is `base` or lies below it:
// not all owners and groups on the way are known. Nothing if they are.
std::optional<std::string> unmapped_on_the_way(std::string directory, const std::string& base) {
  if (restart::are_all_ids_mapped()) return std::nullopt;
  for (;; directory = restart::parent_of(directory)) {
    struct stat status {};
    if (::stat(directory.c_str(), &status) != 0 || restart::is_unmapped(status))
      return "owner or group of " + directory +
             " is not known in this user namespace, so a container cannot get the same access";
    if (directory.size() <= base.size() || directory == "/") return std::nullopt;
  }
}

// Returns why containers of that name may not be put into their directory; nothing if they may. `place`: of the file.
std::optional<std::string> refusal_of(const std::string& masked_name, const std::string& launch,
                                      const restart::Settings& settings,
                                      const ResolvedPath& place) {
  const std::string_view container_dir = settings.text("container_dir");
  const std::string base = restart::container_name(masked_name, container_dir, launch, 0).base;
  if (auto why = unmapped_on_the_way(place.directory, base)) return why;
  return restart::refusal_of_containers(base, container_dir, *place.home);
}

// Removes the names whose containers may not be put into their directory: with /gpfs1/run/c.1.h5 of rank 1, the 1 of
// gpfs1 is not the rank if nobody may write to the directory above. If no name is left, returns why the likeliest one is
// refused.
std::optional<std::string> leave_usable_names(std::vector<std::string>& masked_names,
                                              const std::string& launch,
                                              const restart::Settings& settings,
                                              const ResolvedPath& place) {
  std::optional<std::string> first_refusal;
  std::erase_if(masked_names, [&](const std::string& masked_name) {
    auto why = refusal_of(masked_name, launch, settings, place);
    const bool is_refused = why.has_value();
    if (is_refused && !first_refusal) first_refusal = std::move(why);
    return is_refused;
  });
  return masked_names.empty() ? first_refusal : std::nullopt;
}

// Reads anew what the stage says, if it was last read more than 20 ms ago.
void look_at_stage(JobStage& job, const restart::Settings& settings) {
  constexpr std::uint64_t recent_ns = 20'000'000;
  const std::uint64_t now = monotonic_ns();
  if (job.asked_ns != 0 && now - job.asked_ns <= recent_ns) return;
  job.asked_ns = now;
  job.free_bytes = stage_room(job, settings);
  job.marked_native.clear();
}

bool is_marked_native(JobStage& job, const std::string& pattern) {
  const auto [known, unknown] = job.marked_native.try_emplace(pattern, false);
  if (unknown) known->second = job.directory.is_marked_native(pattern);
  return known->second;
}

// True if files of this launch were captured on this node. A launch that captures nothing needs no notes, and no
// container of it would remove them.
bool may_have_set(const JobStage& job) {
  using State = restart::LaunchDirectory::State;
  const auto has = [&](State state) {
    const auto parts = job.directory.list(state);
    return parts && !parts->empty();
  };
  return job.has_created || has(State::open) || has(State::published);
}

}  // namespace

Result<CaptureDecision> plan_capture(const std::string& name, bool exclusive,
                                     const std::string& connector_text) {
  const auto native = [&](NativeReason reason, std::string_view why) {
    restart::log_debug(name, " is written natively: ", why);
    return CaptureDecision{std::nullopt, reason};
  };
  Process& process = Process::get();
  auto place = resolve_path(name);
  // Load the settings even if the path is unusable, because a mistake in them must fail the first
  // call.
  CapturePlan plan;
  plan.settings =
      MCR_TRY(process.settings(connector_text, place ? place->directory : std::string()));
  if (!place) return native(NativeReason::path, "its directory cannot be resolved");
  if (!process.is_owner()) return native(NativeReason::fork, "this process is the child of a fork");
  if (process.has_new_root())
    return native(NativeReason::path, "the program has changed its root directory (chroot)");
  const restart::Settings& settings = *plan.settings;
  plan.place = std::move(*place);
  plan.path_as_passed = name;
  plan.writing = writing_of(name, plan.place);
  const restart::Launcher launcher = process.launcher(settings);
  const NameQuestion question{settings.text("files"), name, plan.place.path, launcher.rank,
                              launcher.rank_count};
  // Also if the file is native. If the stage is entered only now, tell_of_led_away() comes below.
  const bool is_led = !plan.writing.is_by_trusted_links;
  JobStage* const entered = is_led ? process.entered_stage(settings, launcher) : nullptr;
  if (entered != nullptr && launcher.rank_count > 1) tell_of_led_away(*entered, question);
  // Natively H5F_ACC_EXCL follows no link, not even one to a file that does not exist.
  if (exclusive && (plan.place.status || plan.place.is_linked))
    return native(NativeReason::not_replaceable, "a file or link exists already at the path");
  if (plan.place.status && !may_replace(plan.place, settings.text("container_dir"))) {
    return native(NativeReason::not_replaceable,
                  "the existing file is not a regular file of this user and of a group of this "
                  "user's, with a single hard "
                  "link, in a directory that may be written to, or it is a mount point");
  }

  if (process.writings().would_repeat(plan.writing))
    return native(
        NativeReason::path,
        "this process wrote the file under another name too, and others may have made the "
        "symbolic link that leads there");

  // The paths of its container, and of temporary files beside it, are longer and must be valid too.
  constexpr std::size_t longest_path = PATH_MAX - NAME_MAX - 64;
  if (plan.place.path.size() > longest_path)
    return native(NativeReason::path, "its path is too long");

  if (plan.place.name == restart::name_of(std::string(settings.text("container_dir"))))
    return native(NativeReason::path,
                  "it has the name of the directory of containers (container_dir=)");
  if (has_mask_word(plan.place.path))
    return native(NativeReason::path, "its path has {rank} or {part} in it");

  CapturedNames captured = captured_names(question);
  plan.masked_names = std::move(captured.masked_names);
  const std::string family = restart::pattern_of(plan.place.path);
  const bool is_guess = captured.by_auto && launcher.rank_count > 1;
  if (plan.masked_names.empty()) {
    if (is_guess) note_unranked(family, settings, launcher);
    return native(NativeReason::not_selected,
                  "files=" + std::string(settings.text("files")) + " does not match it for rank " +
                      std::to_string(launcher.rank) + " of " + std::to_string(launcher.rank_count));
  }
  if (is_guess && is_unranked(family))
    return native(NativeReason::not_selected,
                  "the numbers in the names of such files are not those of their ranks");
  const std::string stage_path(settings.text("stage"));
  if (is_below(plan.place.path, stage_path))
    return native(NativeReason::path, "it lies on the stage");
  if (!launcher.launch) {
    warn_once_in_job(launcher, "the launch is not known",
                     "the launcher does not tell which start of the program this is, so "
                     "files are written natively; set launch= to a text that is the same "
                     "in all ranks and different in each start");
    return native(NativeReason::no_launch, "its launch is not known");
  }
  // Check the directories before the stage is entered, because no leader would clean up the stage
  // after a refusal.
  if (const auto why =
          leave_usable_names(plan.masked_names, *launcher.launch, settings, plan.place)) {
    warn_once_in_job(launcher, "no place for containers", "files are written natively: " + *why);
    return native(NativeReason::no_place, *why);
  }
  auto stage = process.job_stage(settings, launcher);
  if (!stage) {
    warn_once_in_job(launcher, "no stage", "files are written natively: " + stage.error().message);
    return native(NativeReason::no_stage, stage.error().message);
  }
  plan.stage = *stage;
  JobStage& job = *plan.stage;
  if (is_led && entered == nullptr && launcher.rank_count > 1) tell_of_led_away(job, question);
  const auto native_in_set = [&](NativeReason reason, std::string_view why) {
    tell_of_native(job, plan.masked_names);
    return native(reason, why);
  };
  const std::string pattern = restart::pattern_of(plan.masked_names.front());
  const auto is_native = [&] {
    look_at_stage(job, settings);
    return is_marked_native(job, pattern) || is_marked_native(job, family) ||
           is_marked_native(job, std::string(restart::every_pattern));
  };
  // The leader may mark the pattern during the wait. A file that is native already does not wait.
  const bool was_native = is_native();
  if (!was_native) wait_for_commits(job, pattern, settings);
  if (was_native || is_native())
    return native_in_set(is_marked_native(job, std::string(restart::every_pattern))
                             ? NativeReason::storage
                             : NativeReason::stopped,
                         "mcr already writes such files natively in this launch");
  plan.free_bytes = job.free_bytes;
  if (plan.free_bytes == 0) {
    const bool is_known = restart::memory_limits().limit > 0;
    warn_once_in_job(launcher, "the stage is full",
                     is_known
                         ? "the stage " + stage_path +
                               " is full, so files are written natively; raise stage_limit=, " +
                               "or name a larger file system with stage="
                         : "the size of this node's memory cannot be read from /proc/meminfo, so " +
                               std::string("files are written natively and not into the stage ") +
                               stage_path + "; mount /proc");
    CaptureDecision decision = native_in_set(NativeReason::stage_full, "the stage is full");
    if (launcher.rank_count <= 1 || !may_have_set(job)) return decision;
    plan.is_native = true;
    decision.plan = std::move(plan);
    return decision;
  }
  if (!ensure_leader(*plan.stage, LeaderLook::seldom)) {
    warn_once_in_job(
        launcher, "no leader",
        "no leader stays alive on this node, so files are written natively; `mcr recover` brings "
        "to storage the files that were closed before, in " +
            job.directory.path());
    return native_in_set(NativeReason::no_leader, "no leader stays alive");
  }
  restart::log_debug(plan.place.path, " is captured as ", plan.masked_names.front());
  return CaptureDecision{std::move(plan), {}};
}

}  // namespace mcr::vol
