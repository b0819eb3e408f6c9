// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/commit/summary.hpp"

#include <fcntl.h>

#include <algorithm>
#include <ctime>
#include <utility>

#include "restart/base/durable_replace.hpp"
#include "restart/base/system.hpp"
#include "restart/stage/leader_files.hpp"

namespace mcr::aggregation {

using restart::leader_files::summary_name;
using restart::leader_files::unfinished_summary_name;

std::optional<restart::LaunchSummary> read_summary(const restart::LaunchDirectory& directory) {
  constexpr std::size_t most_bytes = 1U << 16;
  const auto content = restart::read_file(directory.descriptor(), summary_name, most_bytes);
  if (!content) return std::nullopt;
  return restart::read_summary(as_text(*content));
}

std::uint64_t Summary::committed(const SetName& set, std::size_t parts, std::uint64_t raw_bytes,
                                 std::uint64_t container_bytes) {
  const std::lock_guard lock(mutex_);
  const bool is_new = std::find(recent_.begin(), recent_.end(), set) == recent_.end();
  if (is_new && parts > 0) {  // a set may have no parts: all its files are native
    ++now_.sets;
    recent_.push_back(set);
    if (recent_.size() > 64) recent_.pop_front();
  }
  now_.parts += parts;
  now_.largest_group = std::max<std::uint64_t>(now_.largest_group, parts);
  now_.raw_bytes += raw_bytes;
  now_.stored_bytes += container_bytes;
  changed_ = true;
  return now_.containers++;
}

std::uint64_t Summary::committed_bundle(std::size_t sets, std::uint64_t raw_bytes,
                                        std::uint64_t container_bytes) {
  const std::lock_guard lock(mutex_);
  now_.sets += sets;
  now_.parts += sets;
  now_.largest_group = std::max<std::uint64_t>(now_.largest_group, 1);
  now_.raw_bytes += raw_bytes;
  now_.stored_bytes += container_bytes;
  changed_ = true;
  return now_.containers++;
}

void Summary::encoded(std::uint64_t encoded_bytes, std::uint64_t card_bytes,
                      const std::string& problem) {
  const std::lock_guard lock(mutex_);
  now_.encoded_bytes += encoded_bytes;
  now_.card_bytes += card_bytes;
  now_.card_problem = problem;
  changed_ = true;
}

void Summary::put_back(bool is_lone) {
  const std::lock_guard lock(mutex_);
  ++now_.put_back;
  now_.lone += is_lone ? 1 : 0;
  changed_ = true;
}

void Summary::removed(std::size_t parts) {
  const std::lock_guard lock(mutex_);
  now_.removed += parts;
  changed_ |= parts > 0;
}

void Summary::unflushed(std::size_t parts) {
  const std::lock_guard lock(mutex_);
  now_.unflushed += parts;
  changed_ |= parts > 0;
}

void Summary::astray(std::size_t parts, const std::string& container) {
  const std::lock_guard lock(mutex_);
  now_.astray += parts;
  now_.astray_in = container;
  changed_ = true;
}

void Summary::failed(const std::string& why) {
  const std::lock_guard lock(mutex_);
  ++now_.failed_commits;
  now_.last_failure = why;
  changed_ = true;
}

void Summary::superseded(std::uint64_t superseded_bytes, std::uint64_t live_bytes,
                         const std::string& where) {
  const std::lock_guard lock(mutex_);
  now_.superseded_bytes = superseded_bytes;
  now_.live_bytes = live_bytes;
  now_.superseded_in = where;
  changed_ = true;
}

void Summary::made_room(std::uint64_t sets, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  now_.removed_sets += sets;
  now_.removed_bytes += bytes;
  changed_ = true;
}

void Summary::write(std::size_t pending, const Busy& busy) {
  constexpr std::uint64_t beat_ns = 1'000'000'000;
  const std::lock_guard lock(mutex_);
  const std::uint64_t now = restart::clock_ns(CLOCK_MONOTONIC);
  changed_ |=
      std::exchange(now_.holds_back, busy.holds_back ? 1 : 0) != (busy.holds_back ? 1U : 0U);
  if (!changed_ && pending == now_.pending && (pending == 0 || now < written_ns_ + beat_ns)) return;
  now_.pending = pending;
  written_ns_ = now;
  write_file(busy);
}

void Summary::write() {
  const std::lock_guard lock(mutex_);
  write_file({});
}

void Summary::write_file(const Busy& busy) {
  now_.doing = busy.what;
  now_.doing_seconds = busy.seconds;
  const auto written = [&]() -> Result<void> {
    const restart::File file =
        MCR_TRY(restart::File::open(directory_.descriptor(), unfinished_summary_name,
                                    O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW));
    MCR_TRY(file.write_at(0, as_bytes(restart::write_summary(now_))));
    return restart::put_in_place(directory_.descriptor(), unfinished_summary_name,
                                 directory_.descriptor(), summary_name);
  }();
  if (written) changed_ = false;
}

}  // namespace mcr::aggregation
