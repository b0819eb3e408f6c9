// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/commit/summary.hpp"

#include <fcntl.h>

#include <algorithm>
#include <ctime>

#include "restart/base/file.hpp"
#include "restart/base/printable.hpp"
#include "restart/base/system.hpp"
#include "restart/stage/leader_files.hpp"

namespace mcr::aggregation {

using restart::leader_files::summary_name;
using restart::leader_files::unfinished_summary_name;

std::uint64_t Summary::committed(const SetName& set, std::size_t parts, std::uint64_t raw_bytes,
                                 std::uint64_t container_bytes) {
  const std::lock_guard lock(mutex_);
  const bool is_new = std::find(recent_.begin(), recent_.end(), set) == recent_.end();
  if (is_new && parts > 0) {  // of some sets all files went native
    ++sets_;
    recent_.push_back(set);
    if (recent_.size() > 64) recent_.pop_front();
  }
  parts_ += parts;
  largest_set_ = std::max(largest_set_, parts);
  raw_bytes_ += raw_bytes;
  stored_bytes_ += container_bytes;
  changed_ = true;
  return containers_++;
}

std::uint64_t Summary::committed_bundle(std::size_t sets, std::uint64_t raw_bytes,
                                        std::uint64_t container_bytes) {
  const std::lock_guard lock(mutex_);
  sets_ += sets;
  parts_ += sets;
  largest_set_ = std::max<std::size_t>(largest_set_, 1);
  raw_bytes_ += raw_bytes;
  stored_bytes_ += container_bytes;
  changed_ = true;
  return containers_++;
}

void Summary::put_back(std::size_t parts) {
  const std::lock_guard lock(mutex_);
  put_back_ += parts;
  changed_ = true;
}

void Summary::removed(std::size_t parts) {
  const std::lock_guard lock(mutex_);
  removed_ += parts;
  changed_ |= parts > 0;
}

void Summary::astray(std::size_t parts, const std::string& container) {
  const std::lock_guard lock(mutex_);
  astray_ += parts;
  astray_in_ = container;
  std::replace(astray_in_.begin(), astray_in_.end(), '\n', ' ');
  changed_ = true;
}

void Summary::failed(const std::string& why) {
  const std::lock_guard lock(mutex_);
  ++failures_;
  last_failure_ = why;
  std::replace(last_failure_.begin(), last_failure_.end(), '\n', ' ');
  changed_ = true;
}

void Summary::write(std::size_t pending, const Busy& busy) {
  constexpr std::uint64_t beat_ns = 1'000'000'000;
  const std::lock_guard lock(mutex_);
  const std::uint64_t now = restart::clock_ns(CLOCK_MONOTONIC);
  if (!changed_ && pending == pending_ && (pending == 0 || now < written_ns_ + beat_ns)) return;
  pending_ = pending;
  written_ns_ = now;
  write_file(busy);
}

void Summary::write() {
  const std::lock_guard lock(mutex_);
  write_file({});
}

void Summary::write_file(const Busy& busy) {
  const auto line = [](const char* key, std::uint64_t value) {
    return std::string(key) + "=" + std::to_string(value) + "\n";
  };
  std::string text = line("sets", sets_) + line("parts", parts_) +
                     line("largest_group", largest_set_) + line("containers", containers_) +
                     line("raw_bytes", raw_bytes_) + line("stored_bytes", stored_bytes_) +
                     line("put_back", put_back_) + line("failed_commits", failures_) +
                     line("removed", removed_) + line("astray", astray_) +
                     line("pending", pending_);
  if (astray_ > 0) text += "astray_in=" + astray_in_ + "\n";
  if (!busy.what.empty()) {
    text += "doing=" + restart::printable(busy.what) + "\n" + line("doing_seconds", busy.seconds);
  }
  if (!last_failure_.empty()) text += "last_failure=" + restart::printable(last_failure_) + "\n";
  const auto written = [&]() -> Result<void> {
    const restart::File file =
        MCR_TRY(restart::File::open(directory_.descriptor(), unfinished_summary_name,
                                    O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW));
    MCR_TRY(file.write_at(0, as_bytes(text)));
    if (restart::system_calls().renameat(directory_.descriptor(), unfinished_summary_name,
                                         directory_.descriptor(), summary_name) != 0) {
      return restart::system_error("cannot rename", summary_name);
    }
    return {};
  }();
  if (written) changed_ = false;
}

}  // namespace mcr::aggregation
