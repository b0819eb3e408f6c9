// SPDX-License-Identifier: BSD-3-Clause
#include "vol/driver/awaited_part.hpp"

#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "restart/base/closed_directories.hpp"
#include "restart/base/file_identity.hpp"
#include "restart/base/log.hpp"
#include "restart/base/system.hpp"
#include "restart/format/container_name.hpp"
#include "restart/open/part_request.hpp"
#include "restart/stage/silent_stages.hpp"
#include "vol/capture/written_in_turns.hpp"

namespace mcr::vol {

namespace {

using restart::LaunchDirectory;

constexpr std::uint64_t shortest_pause_ms = 5;
constexpr std::uint64_t longest_pause_ms = 250;
constexpr std::uint64_t ring_every_ms = 250;
/// A stub that is older than this, and has no container, is stale: its node is lost, because parts
/// are drained soon after their close. Only ranks of the same launch wait for the part of a stale
/// stub.
constexpr std::uint64_t stale_ns = 3'600'000'000'000;

bool is_of_our_launch(const AwaitedPart& part) {
  return part.launcher.launch && *part.launcher.launch == part.stub.launch;
}

bool is_stale(const AwaitedPart& part) {
  const auto status = part.stub_file.status();
  if (!status) return true;
  const auto modified = static_cast<std::uint64_t>(status->st_mtim.tv_sec) * 1'000'000'000;
  return !is_of_our_launch(part) && modified + stale_ns < realtime_ns();
}

// True if a process is writing the file: HDF5's writers hold this lock. The open then fails at
// once, as natively.
bool is_being_written(const AwaitedPart& part) {
  const int descriptor = part.stub_file.descriptor();
  if (restart::system_calls().flock(descriptor, LOCK_SH | LOCK_NB) == 0) {
    restart::system_calls().flock(descriptor, LOCK_UN);
    return false;
  }
  return errno == EWOULDBLOCK;
}

Error told(const AwaitedPart& part, const std::string& what) {
  return Error{Cause::system, part.path + ": " + what, EAGAIN};
}

Error nothing_came(const AwaitedPart& part, const std::string& why) {
  const std::string& node = part.stub.node;
  return told(part, "its data is in the stage of node " + node + " (" + part.stub.launch_directory +
                        ") and not yet in a container; " + why + ". `mcr drain` on " + node +
                        " brings the data to storage; if that node has crashed, the data is lost");
}

std::optional<restart::PartRequest> request_for(const AwaitedPart& part) {
  if (!is_of_our_launch(part) || part.stub.masked_names.empty()) return std::nullopt;
  // A request is a file, so it is made only if the stub is this user's, and only in a directory
  // above the stub's path.
  const auto status = part.stub_file.status();
  if (!status || status->st_uid != geteuid()) return std::nullopt;
  const auto where =
      restart::container_name(part.stub.masked_names.front(), part.stub.container_directory,
                              part.stub.launch, part.stub.sequence);
  if (!part.path.starts_with(where.base == "/" ? "/" : where.base + "/")) return std::nullopt;
  auto files = restart::open_directory_of(part.path, restart::FileIdentity(*status));
  return std::optional<restart::PartRequest>(
      std::in_place, where.directory, files ? *std::move(files) : restart::File(), part.stub.node,
      part.stub.launch, part.stub.part,
      must_become_native(part) ? restart::PartWish::native : restart::PartWish::container);
}

}  // namespace

bool is_elsewhere(const AwaitedPart& part) { return part.stub.node != part.launcher.node; }

bool must_become_native(const AwaitedPart& part) {
  return part.for_writing && is_elsewhere(part) && is_of_other_rank(part.stub, part.launcher);
}

bool is_replaced(const AwaitedPart& part) {
  struct stat now {};
  if (restart::system_calls().fstatat(AT_FDCWD, part.path.c_str(), &now, 0) != 0) return true;
  const auto then = part.stub_file.status();
  return then && restart::FileIdentity(now) != restart::FileIdentity(*then);
}

Result<Arrival> await_part(const AwaitedPart& part, const std::function<bool()>& try_open) {
  // Ranks of another launch have already waited when they chose the set to restart from.
  const bool has_waited = part.launcher.rank_count > 1 && !is_of_our_launch(part);
  const std::uint64_t limit_ms = has_waited ? 0 : part.settings.milliseconds("read_wait");
  if (restart::is_silent_stage(part.stub.node, part.stub.launch_directory))
    return nothing_came(part, "an earlier wait for that node was in vain");
  if (is_being_written(part))
    return told(part, "unable to lock file: it is being written on node " + part.stub.node);
  if (is_stale(part))
    return nothing_came(part, "the file is older than the files that a leader still drains");

  const Waiting waiting;
  const std::uint64_t begin = monotonic_ns();
  std::uint64_t pause = shortest_pause_ms;
  std::uint64_t rung_ms = 0;
  auto request = request_for(part);
  for (;;) {
    const std::uint64_t now_ms = (monotonic_ns() - begin) / 1'000'000;
    if (request && (rung_ms == 0 || now_ms >= rung_ms + ring_every_ms)) {
      request->ring();
      rung_ms = std::max<std::uint64_t>(now_ms, 1);
    }
    if (is_replaced(part)) {
      if (must_become_native(part)) tell_how_to_capture(part.stub, part.path);
      return Arrival::replaced;
    }
    if (try_open()) return Arrival::opened;
    if (now_ms >= limit_ms) break;
    const timespec rest{0, static_cast<long>(std::min(pause, limit_ms - now_ms) * 1'000'000)};
    nanosleep(&rest, nullptr);
    pause = std::min(pause * 2, longest_pause_ms);
  }
  restart::note_silent_stage(part.stub.node, part.stub.launch_directory);
  return nothing_came(part, "no container was written within read_wait=" +
                                std::string(part.settings.text("read_wait")));
}

}  // namespace mcr::vol
