// SPDX-License-Identifier: BSD-3-Clause
// How many files were written natively, and why: for the lines at the job's end and `mcr doctor`.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace mcr::restart {

/// The order is that of the numbers in a presence (docs/format.md): add new reasons at the end.
enum class NativeReason : std::uint8_t {
  not_selected,
  lone,
  appended,
  driver,
  user_block,
  swmr,
  not_replaceable,
  path,
  stopped,
  stage_full,
  no_stage,
  no_leader,
  no_launch,
  no_place,
  put_back,
  fork,
  few_descriptors,
  storage,
};

struct NativeReasonRow {
  std::string_view key;   ///< as `mcr doctor` reads it
  std::string_view text;  ///< follows a number of files
};
inline constexpr std::array native_reasons{
    NativeReasonRow{"not_selected", "not selected by files="},
    NativeReasonRow{"lone", "of one rank alone"},
    NativeReasonRow{"appended", "opened for writing in place"},
    NativeReasonRow{"driver", "with another file driver"},
    NativeReasonRow{"user_block", "with a user block"},
    NativeReasonRow{"swmr", "for SWMR"},
    NativeReasonRow{"not_replaceable", "over a file that mcr may not replace"},
    NativeReasonRow{"path", "with a path that mcr cannot use"},
    NativeReasonRow{"stopped", "of a pattern that is no longer captured"},
    NativeReasonRow{"stage_full", "because the stage was full"},
    NativeReasonRow{"no_stage", "because the stage could not be used"},
    NativeReasonRow{"no_leader", "because no leader was alive"},
    NativeReasonRow{"no_launch", "because the launch is not known"},
    NativeReasonRow{"no_place", "because containers may not lie there"},
    NativeReasonRow{"put_back", "put back by the leader"},
    NativeReasonRow{"fork", "of a child process"},
    NativeReasonRow{"few_descriptors", "because descriptors were few"},
    NativeReasonRow{"storage", "because storage refused a container"}};
static_assert(native_reasons.size() == static_cast<std::size_t>(NativeReason::storage) + 1);

struct NativeCounts {
  std::array<std::uint64_t, native_reasons.size()> numbers{};  ///< by NativeReason

  std::uint64_t& operator[](NativeReason reason) {
    return numbers[static_cast<std::size_t>(reason)];
  }
  std::uint64_t operator[](NativeReason reason) const {
    return numbers[static_cast<std::size_t>(reason)];
  }
};
void add_counts(NativeCounts& counts, const NativeCounts& more);
std::uint64_t total_of(const NativeCounts& counts);
/// Returns "3 of one rank alone, 1 with a user block": the largest number first.
std::string reasons_text(const NativeCounts& counts);
/// Returns what the user can set so that these files are captured; empty: no setting helps.
std::string advice_on(const NativeCounts& counts);

/// What one process tells `mcr doctor`: key=value lines.
struct CaptureCounts {
  std::uint64_t captured = 0;  ///< files that were published
  NativeCounts natives;        ///< `lone` and `put_back` were published before
};
std::string write_capture_counts(const CaptureCounts& counts);
/// Ignores lines that it does not understand.
CaptureCounts read_capture_counts(std::string_view text);

}  // namespace mcr::restart
