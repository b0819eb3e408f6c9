// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/leader/resident.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <thread>
#include <utility>

#include "aggregation/leader/adopted_leaders.hpp"
#include "aggregation/leader/held_replicas.hpp"
#include "aggregation/leader/launches.hpp"
#include "aggregation/leader/lifetime.hpp"
#include "restart/base/file.hpp"
#include "restart/base/log.hpp"
#include "restart/base/system.hpp"
#include "restart/settings/launcher.hpp"
#include "restart/stage/resident_socket.hpp"

namespace mcr::aggregation {
namespace {

using restart::ResidentRequest;
using restart::ResidentSocket;

constexpr int look_ms = 200;
/// At its end the resident starts leaders for launches that have none. It tries this so many times.
constexpr unsigned most_adoptions = 3;
/// Leaders that have nothing left to commit get so much time to end by themselves.
constexpr std::uint64_t last_ms = 1000;

/// Brings the replicas that an earlier job has left on this node to storage, beside the resident's own work. The
/// destructor waits for that.
class ReturningReplicas {
 public:
  explicit ReturningReplicas(const std::string& stage) {
    if (count_held_replicas(stage).value_or(0) == 0) return;
    thread_ = std::thread([stage] {
      const auto brought = bring_back_replicas(stage);
      if (!brought) return restart::log_warning(brought.error().message);
      for (const std::string& message : brought->kept) restart::log_warning(message);
    });
  }
  ~ReturningReplicas() {
    if (thread_.joinable()) thread_.join();
  }
  ReturningReplicas(const ReturningReplicas&) = delete;
  ReturningReplicas& operator=(const ReturningReplicas&) = delete;

 private:
  std::thread thread_;
};

class Resident {
 public:
  explicit Resident(const ResidentOptions& options) : options_(options) {}

  Result<ResidentReport> run(const std::function<void(bool)>& ready) {
    ResidentReport report;
    remove_empty_launches(options_.stage);
    const ReturningReplicas returning(options_.stage);
    for (bool is_ready = false;;) {
      if (!socket_)
        socket_ = MCR_TRY(ResidentSocket::listen(options_.stage,
                                                 {options_.node, restart::scheduler_job()},
                                                 restart::scheduler_switches()));
      report.served |= socket_.has_value();
      if (!watch_) watch_.emplace(std::vector{options_.stage}, Watch::For::new_directories);
      if (!std::exchange(is_ready, true)) ready(!socket_);
      wait();
      if (socket_) take_requests();
      const bool has_leaders = leaders_.reap();
      if (!is_told_to_end_ || !is_all_done()) {
        done_ms_.reset();
      } else if (!has_leaders) {
        break;
      } else if (!done_ms_) {
        done_ms_ = restart::monotonic_ms();
      } else if (restart::monotonic_ms() >= *done_ms_ + last_ms && !is_any_in_use()) {
        // They only watch for copies of directories (commit/container_watch). A copy that begins after the
        // commit finds the containers.
        leaders_.terminate();
      }
    }
    if (socket_) socket_->remove();
    for (const LaunchStatus& launch : MCR_TRY(look_at_stage(options_.stage, Launches::of_this_job)))
      if (launch.needs_leader()) report.left += launch.published + launch.open;
    if (watch_->is_complete()) report.has_launches = watch_->take();
    return report;
  }

 private:
  void wait() {
    std::array<pollfd, 3> sources{
        {{socket_ ? socket_->descriptor() : -1, POLLIN, 0},
         {signals_.descriptor(), POLLIN, 0},
         {options_.until_input_ends && !is_told_to_end_ ? STDIN_FILENO : -1, POLLIN, 0}}};
    (void)::poll(sources.data(), sources.size(), look_ms);
    if (sources[2].revents != 0) {
      char ignored[256];
      if (::read(STDIN_FILENO, ignored, sizeof ignored) == 0) end();
    }
    if (signals_.take()) {
      end();
      is_terminated_ = true;
    }
    // Leaders that are starting hear of it in the next turn.
    if (!is_terminated_) return;
    leaders_.terminate();
  }

  void take_requests() {
    for (const ResidentRequest& request : socket_->take()) {
      switch (request.kind) {
        case ResidentRequest::Kind::lead: {
          std::vector<std::string> words{"leader", "--detach",    "--stage",  options_.stage,
                                         "--node", options_.node, "--launch", request.subject};
          if (!request.settings.empty())
            words.insert(words.end(), {"--settings", request.settings});
          start(words);
          break;
        }
        case ResidentRequest::Kind::adopt:
          start({"leader", "--detach", "--stage", options_.stage, "--adopt", request.subject});
          break;
        case ResidentRequest::Kind::end:
          end();
          break;
      }
    }
  }

  static void start(const std::vector<std::string>& words) {
    if (const auto started = start_again(words); !started)
      restart::log_warning(started.error().message);
  }

  /// True if no closed file needs this resident. A launch without a leader gets one. A leader that belongs
  /// to a program's job step may still be killed with that step, so the resident waits until it has ended.
  bool is_all_done() {
    if (is_terminated_) return true;
    const auto launches = look_at_stage(options_.stage, Launches::of_this_job);
    if (!launches) return true;
    const auto is_any = [&](const auto& condition) {
      return std::any_of(launches->begin(), launches->end(), condition);
    };
    if (socket_ && adoptions_ < most_adoptions &&
        is_any(std::mem_fn(&LaunchStatus::needs_leader))) {
      ++adoptions_;
      return !adopt_launches(options_.stage, {}, false).has_value();
    }
    const bool may_be_dying = restart::monotonic_ms() < told_ms_ + dying_ms;
    return !is_any([&](const LaunchStatus& launch) {
      return launch.has_leader && launch.published > 0 && (launch.processes == 0 || may_be_dying);
    });
  }

  /// True if a launch has living processes, or a leader with something to commit.
  bool is_any_in_use() {
    const auto launches = look_at_stage(options_.stage, Launches::of_this_job);
    return !launches ||
           std::any_of(launches->begin(), launches->end(), [](const LaunchStatus& launch) {
             return launch.processes > 0 ||
                    (launch.has_leader && launch.published + launch.open > 0);
           });
  }

  void end() {
    if (!is_told_to_end_) told_ms_ = restart::monotonic_ms();
    is_told_to_end_ = true;
  }

  const ResidentOptions& options_;
  Signals signals_;
  AdoptedLeaders leaders_;
  std::optional<ResidentSocket> socket_;
  std::optional<Watch> watch_;  ///< made when the stage is there
  bool is_told_to_end_ = false;
  std::uint64_t told_ms_ = 0;  ///< when it was told to end (monotonic)
  bool is_terminated_ = false;
  std::optional<std::uint64_t> done_ms_;  ///< since when all is done (monotonic)
  unsigned adoptions_ = 0;
};

}  // namespace

Result<ResidentReport> serve(const ResidentOptions& options,
                             const std::function<void(bool)>& ready) {
  return Resident(options).run(ready);
}

}  // namespace mcr::aggregation
