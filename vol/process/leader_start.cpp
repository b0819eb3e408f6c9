// SPDX-License-Identifier: BSD-3-Clause
#include "vol/process/leader_start.hpp"

#include <fcntl.h>
#include <sched.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include "restart/base/close_descriptors.hpp"
#include "restart/base/counted.hpp"
#include "restart/base/exec_list.hpp"
#include "restart/base/huge_pages.hpp"
#include "restart/base/log.hpp"
#include "restart/base/path_names.hpp"
#include "restart/container/shared_frames.hpp"
#include "restart/settings/node_name.hpp"
#include "restart/stage/resident_socket.hpp"
#include "vol/binding/host_hdf5.hpp"
#include "vol/process/info_string.hpp"
#include "vol/process/job_warnings.hpp"
#include "vol/process/launcher_hint.hpp"

extern char** environ;

namespace mcr::vol {

namespace {

using restart::holds_frames;
using State = restart::LaunchDirectory::State;

constexpr std::uint64_t check_interval_ns = 1'000'000'000;
/// After this many looks without a leader, a second apart, no further leader is started.
constexpr int most_looks_in_vain = 5;
constexpr std::uint64_t start_limit_ns = 2'000'000'000;

// False for variables that would load a library into the leader, make it a rank, or let its own
// HDF5 look for connectors. The leader must not become part of the job.
bool is_passed_on(std::string_view variable) {
  for (const std::string_view prefix : {"LD_PRELOAD=", "LD_AUDIT=", "HDF5_", "PMI_", "PMIX_",
                                        "OMPI_", "MPI_", "MPIR_", "HYDI_", "HYDRA_"}) {
    if (variable.starts_with(prefix)) return false;
  }
  return true;
}

std::string command_path() {
  const std::string plugin = plugin_file();
  const auto slash = plugin.rfind('/');
  return slash == std::string::npos ? std::string()
                                    : plugin.substr(0, slash + 1) + MCR_COMMAND_FROM_PLUGIN;
}

struct Start {
  const char* command;
  const posix_spawn_file_actions_t* actions;
  const posix_spawnattr_t* attributes;
  char* const* words;
  char* const* environment;
  int status = 0;  // why the program could not be started
};

// Runs in the intermediate process, which has a copy of our descriptor table. Closes all of its
// descriptors before the leader starts: posix_spawn returns before descriptors marked close-on-exec
// are closed. Until then a lock (flock) would outlast the program's close of a file, and HDF5 could
// not open that file again.
int start(void* argument) {
  Start& what = *static_cast<Start*>(argument);
  restart::close_all_but_standard();
  pid_t started = -1;
  what.status = posix_spawn(&started, what.command, what.actions, what.attributes, what.words,
                            what.environment);
  return 0;
}

// Starts the leader so that it is not a child of this process. An intermediate process, which
// shares our memory like a child of vfork, starts the leader and then ends. The user's program does
// not notice the intermediate process, because clone() makes it without an exit signal: it sends no
// SIGCHLD, and wait() without __WALL does not return it. Emulators of other processors (qemu-user)
// refuse such a child; there it sends SIGCHLD, and may have a copy of our memory, so that a failure
// is noticed only by the leader that does not come.
int spawn_orphan(Start what) {
  constexpr std::size_t stack_bytes = 64 * 1024;
  const auto stack = std::make_unique<std::byte[]>(stack_bytes);
  std::byte* const top = stack.get() + stack_bytes;
  pid_t between = clone(&start, top, CLONE_VM | CLONE_VFORK, &what);
  if (between < 0 && errno == EINVAL) {
    between = clone(&start, top, CLONE_VM | CLONE_VFORK | SIGCHLD, &what);
  }
  if (between < 0) return errno;
  // The wait is bounded, because the intermediate process may have been stopped.
  const std::uint64_t begin = monotonic_ns();
  timespec pause{0, 20'000};
  int ended = 0;
  while (waitpid(between, &ended, WNOHANG | __WALL) == 0 &&
         monotonic_ns() - begin < start_limit_ns) {
    nanosleep(&pause, nullptr);
    if (pause.tv_nsec < 5'000'000) pause.tv_nsec *= 2;
  }
  return what.status;
}

// Returns 0 if the leader was started. Does not wait until the leader's program is loaded, because
// loading takes longer than many checkpoints.
int spawn(const std::string& command, std::vector<std::string> words) {
  std::vector<std::string> kept;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (is_passed_on(*variable)) kept.emplace_back(*variable);
  }
  restart::ask_for_huge_pages(kept);
  const std::vector<char*> arguments = restart::exec_list(words);
  const std::vector<char*> environment = restart::exec_list(kept);

  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  // A session of its own from the start, so that what ends the job's processes does not end the
  // leader.
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (int descriptor = 0; descriptor < 3; ++descriptor) {
    posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0);
  }
  // No signal handler of the program may run in the intermediate process.
  sigset_t before;
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int status =
      spawn_orphan({command.c_str(), &actions, &attributes, arguments.data(), environment.data()});
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return status;
}

}  // namespace

bool ensure_leader(JobStage& stage, LeaderLook look) {
  const std::uint64_t time = monotonic_ns();
  const bool is_time =
      stage.leader_checked_ns == 0 || time - stage.leader_checked_ns >= check_interval_ns;
  if (look == LeaderLook::seldom && !is_time) return stage.looks_in_vain < most_looks_in_vain;
  if (is_time) stage.leader_checked_ns = time;
  if (stage.directory.has_leader()) {
    stage.looks_in_vain = 0;
    return true;
  }
  if (stage.looks_in_vain >= most_looks_in_vain) return false;
  if (is_time) ++stage.looks_in_vain;
  const std::string command = command_path();
  // If the command is missing, no start is claimed, so that each rank notices at once that the
  // command is missing.
  const bool is_there = access(command.c_str(), X_OK) == 0;
  if (is_there && !stage.directory.claim_start() && look != LeaderLook::last) return true;
  using Kind = restart::ResidentRequest::Kind;
  // If no leader comes, this process starts one itself at its third look.
  constexpr int looks_for_resident = 2;
  if (stage.looks_in_vain <= looks_for_resident &&
      restart::ask_resident(stage.stage, {stage.launcher.node, restart::scheduler_job()},
                            {Kind::lead, stage.launcher.launch.value_or(""), stage.settings})) {
    restart::log_debug("asks the node's resident for a leader for ", stage.directory.path());
    return true;
  }
  restart::log_debug("starts a leader for ", stage.directory.path());
  if (std::exchange(stage.gives_hints, false)) hint_at_mcr_run(stage.launcher);
  std::vector<std::string> words = {command,
                                    "leader",
                                    "--detach",
                                    "--stage",
                                    stage.stage,
                                    "--node",
                                    stage.launcher.node,
                                    "--launch",
                                    stage.launcher.launch.value_or("")};
  if (!stage.settings.empty()) {
    words.emplace_back("--settings");
    words.push_back(stage.settings);
  }
  const int status = spawn(command, std::move(words));
  if (status != 0) {
    if (is_there) stage.directory.end_start();
    warn_once_in_job(stage.launcher, "no leader",
                     "cannot start " + command + ": " + std::strerror(status) +
                         "; from now on files are written natively. `mcr recover` brings "
                         "to storage the files that were closed before, in " +
                         stage.directory.path());
    stage.looks_in_vain = most_looks_in_vain;
  }
  return stage.looks_in_vain < most_looks_in_vain;
}

void adopt_launch(const restart::Settings& settings, const std::string& stage,
                  const std::string& launch_directory) {
  const auto directory = restart::LaunchDirectory::open_in(stage, launch_directory);
  if (!directory) restart::log_debug("adopts nothing: ", directory.error().message);
  if (!directory || directory->has_leader()) return;
  if (restart::ask_resident(stage, {restart::node_name(settings), restart::scheduler_job()},
                            {restart::ResidentRequest::Kind::adopt, directory->path(), {}})) {
    return;
  }
  const std::string command = command_path();
  const int status = spawn(
      command, {command, "leader", "--detach", "--stage", stage, "--adopt", directory->path()});
  restart::log_debug("starts a leader for ", directory->path(),
                     ", which has none: ", std::strerror(status));
}

namespace {

// Starts a leader for the launch if it has neither a leader nor a living process, but files.
void adopt_if_orphaned(const restart::Settings& settings, const std::string& stage,
                       const std::string& path) {
  const auto directory = restart::LaunchDirectory::open(path);
  if (!directory) return;
  if (directory->has_leader()) {
    restart::log_debug("leaves ", path, " to its leader");
    return;
  }
  const auto lives = directory->anybody_lives();
  if (!lives || *lives) {
    restart::log_debug("leaves ", path, " alone, because processes of the launch live");
    return;
  }
  const auto parts_in = [&](State state) {
    const auto parts = directory->list(state);
    return parts ? parts->size() : 0;
  };
  const std::size_t left = parts_in(State::published) + parts_in(State::open);
  if (left == 0 && !holds_frames(*directory)) return;
  if (!directory->claim_start()) return;  // another rank starts the leader and reports it
  // A tool that only reads a stub must not report about other files.
  if (left > 0 && is_named_by_environment()) {
    // The directory's name ends with the launch, which is the same on all nodes.
    const std::string launch = path.substr(path.rfind('.') + 1);
    warn_once_in_job(Process::get().launcher(settings), "files of the earlier launch " + launch,
                     "an earlier job left " + restart::counted(left, "checkpoint file") + " in " +
                         path +
                         ", because its leader ended before it had brought them to storage; a "
                         "new leader does so now");
  }
  adopt_launch(settings, stage, path);
}

}  // namespace

void adopt_orphans(const restart::Settings& settings) {
  static constinit std::atomic<bool> looked{false};
  if (!Process::is_owner() || looked.exchange(true)) return;
  const std::string stage(settings.text("stage"));
  const auto launches = restart::launch_directories(stage);
  if (!launches) return;
  for (const std::string& path : *launches) adopt_if_orphaned(settings, stage, path);
}

void adopt_orphan_of(const restart::Stub& stub, const restart::Settings& settings) {
  const std::string& path = stub.launch_directory;
  const std::string stage = restart::parent_of(path);
  const bool is_own = stub.origin && stub.origin->owner == geteuid();
  if (path.empty() || stage == settings.text("stage") || !is_own || !Process::is_owner()) return;
  // Only a marked directory of this user outside the stage of the settings is a launch.
  if (restart::LaunchDirectory::open_in(std::string(settings.text("stage")), path))
    adopt_if_orphaned(settings, stage, path);
}

}  // namespace mcr::vol
