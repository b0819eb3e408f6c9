// SPDX-License-Identifier: BSD-3-Clause
#include "vol/process/process.hpp"

#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <new>
#include <utility>

#include "codecs/gpu/lanes/card_decode.hpp"
#include "restart/base/log.hpp"
#include "restart/base/system.hpp"
#include "restart/container/frame_decoding.hpp"
#include "restart/settings/choices.hpp"
#include "vol/binding/host_hdf5.hpp"
#include "vol/process/job_end.hpp"
#include "vol/process/job_warnings.hpp"
#include "vol/process/mpi_world.hpp"
#include "vol/process/native_files.hpp"
#include "vol/process/process_exit.hpp"
#include "vol/process/stub_handover.hpp"

namespace mcr::vol {

namespace {

std::string stage_key(const restart::Settings& settings, const restart::Launcher& launcher) {
  return std::string(settings.text("stage")) + '\n' + launcher.node + '\n' +
         launcher.launch.value_or("");
}

// Storage without a destructor; `made` is set once the object is constructed.
alignas(Process) constinit std::byte storage[sizeof(Process)]{};
constinit std::atomic<Process*> made{nullptr};
constinit std::mutex making;

// The open presence files. A fork's child closes its copies, because a presence counts as alive
// while any process has it open. The handler in the child may only use async-signal-safe calls.
struct OpenPresence {
  std::atomic<int> descriptor_plus_1{0};
  std::atomic<ino_t> inode{0};
};
constexpr std::size_t max_presences = 16;
constinit OpenPresence open_presences[max_presences]{};

restart::FileIdentity identity_of(int descriptor) {
  struct stat status {};
  return fstat(descriptor, &status) == 0 ? restart::FileIdentity(status) : restart::FileIdentity();
}

void note_opened(JobStage& stage) {
  const int descriptor = stage.presence.file.descriptor();
  stage.opened_directory = identity_of(stage.directory.descriptor());
  stage.opened_presence = identity_of(descriptor);
  for (auto& open : open_presences) {
    int none = 0;
    if (!open.descriptor_plus_1.compare_exchange_strong(none, descriptor + 1)) continue;
    open.inode = stage.opened_presence.inode;
    return;
  }
}

void forget_presence(const JobStage& stage) {
  for (auto& open : open_presences) {
    int noted = stage.presence.file.descriptor() + 1;
    open.descriptor_plus_1.compare_exchange_strong(noted, 0);
  }
}

restart::FileIdentity identity_of_root() {
  struct stat status {};
  return ::stat("/", &status) == 0 ? restart::FileIdentity(status) : restart::FileIdentity();
}

constinit std::atomic<bool> forked{false};
constinit std::atomic<bool> is_child{false};

void note_fork() { forked = true; }

void become_child() {
  is_child = true;
  for (auto& open : open_presences) {
    const int descriptor = open.descriptor_plus_1.exchange(0) - 1;
    if (descriptor >= 0 && identity_of(descriptor).inode == open.inode) close(descriptor);
  }
}

// Enters the stage again if the program has closed our descriptors, as a program does that becomes
// a daemon. The numbers may belong to the program's own files by now, so our objects must neither
// write to them nor close them.
Result<void> stay_entered(JobStage& stage) {
  if (!Process::is_owner()) return {};  // a fork's child has closed its presence itself
  const bool is_open = identity_of(stage.directory.descriptor()) == stage.opened_directory &&
                       identity_of(stage.presence.file.descriptor()) == stage.opened_presence;
  if (is_open) return {};
  forget_presence(stage);
  (void)stage.presence.file.release();
  stage.directory.abandon();
  const restart::Launcher& who = stage.launcher;
  auto entered = MCR_TRY(restart::LaunchDirectory::enter(
      stage.stage, who.node, who.launch.value_or(""), who.rank, who.rank_count));
  stage.directory = std::move(entered.directory);
  stage.presence = std::move(entered.presence);
  stage.leader_checked_ns = 0;
  note_opened(stage);
  return {};
}

// Decodes a frame, and warns once if the GPU has been given up; the CPU then decodes.
Result<void> decode_and_tell(ByteSpan frame, Scratch& scratch, MutableByteSpan raw) {
  namespace gpu = codecs::gpu;
  auto decoded = gpu::decode_frame_where_faster(frame, scratch, raw);
  if (const std::string why = gpu::why_given_up(); !why.empty())
    restart::log_warning_once("gpu", gpu::problem_text(why));
  return decoded;
}

// Lets containers be decoded on a GPU that the program uses, if gpu= says so. Nothing is done with the GPU yet.
void decode_on_card_if_asked(const restart::Settings& settings) {
  namespace gpu = codecs::gpu;
  static constexpr restart::FrameDecoding where_faster{decode_and_tell, gpu::free_decoding_memory};
  const auto card = gpu::card_options(settings.text("gpu"), settings.bytes("gpu_memory"));
  if (!card.is_on) return;
  // One lane: HDF5 reads in one thread at a time.
  gpu::decode_on_card(card, gpu::DriverUse::program_process, 1);
  restart::set_frame_decoding(where_faster);
}

// Returns the path of this installation's settings file, relative to the loaded plugin.
std::string installed_settings() {
  const std::string plugin = plugin_file();
  const auto slash = plugin.rfind('/');
  return slash == std::string::npos ? std::string()
                                    : plugin.substr(0, slash + 1) + MCR_SETTINGS_FROM_PLUGIN;
}

std::optional<std::uint32_t> number(const restart::Settings& settings, std::string_view key) {
  if (!settings.is_set(key)) return std::nullopt;
  return static_cast<std::uint32_t>(settings.count(key));
}

}  // namespace

std::uint64_t monotonic_ns() { return restart::clock_ns(CLOCK_MONOTONIC); }
std::uint64_t realtime_ns() { return restart::clock_ns(CLOCK_REALTIME); }

Process::Process() : pid_(getpid()), root_(identity_of_root()) {
  pthread_atfork(&note_fork, nullptr, &become_child);
  watch_exit();
}

Process& Process::get() {
  if (Process* process = made.load(std::memory_order_acquire)) return *process;
  const std::lock_guard lock(making);
  if (made.load(std::memory_order_relaxed) == nullptr) made = new (storage) Process;
  return *made;
}

Process* Process::if_made() { return made.load(std::memory_order_acquire); }

bool Process::has_new_root() const { return identity_of_root() != root_; }

bool Process::is_owner() { return !is_child; }
bool Process::has_forked() { return forked; }

Result<Process::SettingsPointer> Process::settings(const std::string& connector_text,
                                                   const std::string& directory) {
  const std::lock_guard lock(mutex_);
  const auto key = std::pair(connector_text, directory);
  if (const auto known = settings_.find(key); known != settings_.end()) return known->second;
  std::vector<std::string> warnings;
  auto loaded =
      MCR_TRY(restart::load_settings(connector_text, directory, warnings, installed_settings()));
  restart::set_log_level(restart::log_level_of(loaded));
  decode_on_card_if_asked(loaded);
  for (const std::string& warning : warnings)
    warn_once_in_job(known_launcher(loaded), warning, warning);
  // The cache is bounded, because a program that makes a directory for each set asks with a new key
  // each time.
  if (settings_.size() > 256) settings_.clear();
  auto kept = std::make_shared<const restart::Settings>(std::move(loaded));
  settings_[key] = kept;
  return kept;
}

restart::Launcher Process::launcher(const restart::Settings& settings) {
  const std::lock_guard lock(mutex_);
  return known_launcher(settings);
}

restart::Launcher Process::known_launcher(const restart::Settings& settings) {
  std::string key;
  for (const char* name : {"rank", "ranks", "launch", "node"}) {
    key += settings.text(name);
    key += '\n';
  }
  restart::LauncherOverrides overrides;
  if (const auto known = launchers_.find(key); known != launchers_.end()) {
    if (!known->second.is_assumed) return known->second;
    overrides.mpi = mpi_world();  // MPI_Init may come later than the first file
    if (!overrides.mpi) return known->second;
  } else {
    overrides.mpi = mpi_world();
  }
  overrides.rank = number(settings, "rank");
  overrides.rank_count = number(settings, "ranks");
  overrides.launch = settings.text("launch");
  overrides.node = settings.text("node");
  return launchers_[key] = restart::find_launcher(overrides);
}

JobStage* Process::entered_stage(const restart::Settings& settings,
                                 const restart::Launcher& launcher) {
  const std::lock_guard lock(mutex_);
  const auto known = stages_.find(stage_key(settings, launcher));
  return known == stages_.end() ? nullptr : known->second.get();
}

Result<JobStage*> Process::job_stage(const restart::Settings& settings,
                                     const restart::Launcher& launcher) {
  const std::lock_guard lock(mutex_);
  const std::string path(settings.text("stage"));
  const std::string key = stage_key(settings, launcher);
  if (const auto known = stages_.find(key); known != stages_.end()) {
    MCR_TRY(stay_entered(*known->second));
    return known->second.get();
  }
  using restart::Entering;
  Entering how = Entering::waits;
  if (const auto failed = unusable_.find(key); failed != unusable_.end()) {
    const auto& [error, since_ns] = failed->second;
    // The stage is tried again only in a launch of one rank. With several ranks, leaders on other
    // nodes would not learn of the files that this rank wrote natively meanwhile, and would take it
    // for a rank that had nothing to write.
    const bool may_be_free = error.system_error == EWOULDBLOCK && launcher.rank_count == 1;
    if (!may_be_free || monotonic_ns() - since_ns < 1'000'000'000) return error;
    how = Entering::at_once;
  }
  auto entered = restart::LaunchDirectory::enter(path, launcher.node, launcher.launch.value_or(""),
                                                 launcher.rank, launcher.rank_count, how);
  if (!entered) {
    unusable_.insert_or_assign(key, Unusable{entered.error(), monotonic_ns()});
    return entered.error();
  }
  unusable_.erase(key);
  auto stage = std::make_unique<JobStage>(std::move(*entered), launcher, path);
  stage->settings = settings.changed();
  stage->exit_wait_ms = settings.milliseconds("exit_wait");
  stage->gives_hints = settings.flag("hints");
  stage->waits_at_exit = restart::exit_of(settings) == restart::Exit::wait;
  if (launcher.rank_count > 1 && !restart::is_child_of_launcher()) stage->earlier.emplace();
  note_opened(*stage);
  return (stages_[key] = std::move(stage)).get();
}

bool Process::is_durable_turn(const std::string& pattern, const restart::Settings& settings) {
  const std::uint64_t every = settings.count("durable_every");
  if (every == 0) return false;
  const std::lock_guard lock(mutex_);
  return ++created_[pattern] % every == 0;
}

bool Process::has_reopened(const std::string& path) {
  const std::lock_guard lock(mutex_);
  return !reopened_.insert(path).second;
}

void Process::add_published(JobStage& stage, const restart::PartBegin& begin) {
  const std::lock_guard lock(mutex_);
  if (stage.published.insert(begin.part).second) captured_parts += 1;
  stage.newest_path = begin.path;
  stage.newest_masked_name = begin.masked_names.empty() ? "" : begin.masked_names.front();
}

void Process::end_stages() {
  restart::CaptureCounts counts{captured_parts.exchange(0), take_native_counts()};
  // A process has one stage, unless its settings changed: then the first stage gets the counts.
  restart::NativeCounts untold = counts.natives;
  for (auto& [key, stage] : stages_) {
    if (stay_entered(*stage)) {
      add_counts(counts.natives, end_job(*stage, exit_status(), {waited_ns, waited_for_commits_ns},
                                         std::exchange(untold, {})));
    }
    forget_waiting_stubs(*stage);
    forget_presence(*stage);
  }
  tell_of_silent_nodes();
  tell_doctor(counts);
}

void Process::end() {
  if (!is_owner()) return;
  const std::lock_guard lock(mutex_);
  end_stages();
  // After H5close() the program may go on: the next capture enters again.
  stages_.clear();
  unusable_.clear();
}

void Process::end_without_hdf5() {
  // Do nothing in a child process. is_owner() is false in a child of fork(); the process number
  // differs in a child of a bare clone().
  if (!is_owner() || getpid() != pid_) return;
  // The wait is bounded, because a signal handler may have called exit() while this very thread
  // held the mutex.
  constexpr std::uint64_t limit_ns = 1'000'000'000;
  const std::uint64_t begin = monotonic_ns();
  while (!mutex_.try_lock()) {
    if (monotonic_ns() - begin > limit_ns) return;
    const timespec pause{0, 1'000'000};
    nanosleep(&pause, nullptr);
  }
  const std::lock_guard lock(mutex_, std::adopt_lock);
  end_stages();  // stages_ stays as it is: threads of the program may still be writing
}

}  // namespace mcr::vol
