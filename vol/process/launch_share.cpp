// SPDX-License-Identifier: BSD-3-Clause
#include "vol/process/launch_share.hpp"

#include <optional>

#include "vol/process/leader_start.hpp"
#include "vol/process/stage_room.hpp"

namespace mcr::vol {

namespace {

constexpr std::uint64_t recent_ns = 20'000'000;

class LaunchShare final : public restart::FrameShare {
 public:
  LaunchShare(Process::SettingsPointer settings, restart::Launcher launcher)
      : settings_(std::move(settings)), launcher_(std::move(launcher)) {}

  /// If the leader has died, starts another one, because only a leader removes the shared frames.
  ~LaunchShare() override {
    if (stage_ && Process::is_owner() && restart::LaunchDirectory::open(stage_->directory.path()))
      ensure_leader(*stage_, LeaderLook::last);
  }
  LaunchShare(const LaunchShare&) = delete;
  LaunchShare& operator=(const LaunchShare&) = delete;

  // Opens the directory anew each time, because a leader that ends removes a directory that no
  // process has entered.
  const restart::LaunchDirectory* place() override {
    if (!Process::is_owner()) return nullptr;
    const std::string path(settings_->text("stage"));
    auto directory =
        restart::LaunchDirectory::create(path, launcher_.node, launcher_.launch.value_or(""));
    if (!directory) return nullptr;
    if (stage_) {
      stage_->directory = std::move(*directory);
    } else {
      stage_.emplace(restart::LaunchDirectory::Entered{std::move(*directory), {}}, launcher_, path);
      stage_->settings = settings_->changed();
    }
    // Without a leader nothing is shared, because no other process would remove the frames from the
    // stage.
    return ensure_leader(*stage_, LeaderLook::now) ? &stage_->directory : nullptr;
  }

  std::uint64_t free_bytes() override {
    const std::uint64_t now = monotonic_ns();
    if (asked_ns_ != 0 && now - asked_ns_ < recent_ns) return free_bytes_;
    asked_ns_ = now;
    const bool is_led = stage_ && Process::is_owner() && ensure_leader(*stage_, LeaderLook::seldom);
    return free_bytes_ = is_led ? stage_room(*stage_, *settings_) : 0;
  }

 private:
  Process::SettingsPointer settings_;
  restart::Launcher launcher_;
  std::optional<JobStage> stage_;  ///< this process's place in the stage, without a presence
  std::uint64_t asked_ns_ = 0;
  std::uint64_t free_bytes_ = 0;
};

}  // namespace

std::shared_ptr<restart::FrameShare> launch_share(const Process::SettingsPointer& settings,
                                                  const restart::Launcher& launcher) {
  if (launcher.rank_count <= 1 || launcher.local_rank_count == 1 || !launcher.launch)
    return nullptr;
  return std::make_shared<LaunchShare>(settings, launcher);
}

}  // namespace mcr::vol
