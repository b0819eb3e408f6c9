// SPDX-License-Identifier: BSD-3-Clause
// The state of a launch on a node: key=value lines that its leader writes into the stage, for the
// line at the job's end and for `mcr status`. docs/format.md, "Stage".
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace mcr::restart {

struct LaunchSummary {
  std::uint64_t sets = 0;
  std::uint64_t parts = 0;
  std::uint64_t largest_group = 0;  ///< the largest number of parts in one container
  std::uint64_t containers = 0;
  std::uint64_t raw_bytes = 0;
  std::uint64_t stored_bytes = 0;
  std::uint64_t encoded_bytes = 0;   ///< raw bytes of the encoded frames
  std::uint64_t card_bytes = 0;      ///< of them, those that a GPU encoded
  std::uint64_t put_back = 0;        ///< parts that were put back as plain files
  std::uint64_t lone = 0;            ///< of them, because one rank alone wrote such files
  std::uint64_t failed_commits = 0;  ///< including those whose parts a later commit stored
  std::uint64_t removed = 0;         ///< parts whose files the program removed before their commit
  std::uint64_t unflushed = 0;       ///< parts that newer ones replaced before their turn (flush=)
  std::uint64_t astray = 0;          ///< parts whose files were not found at their commit
  std::uint64_t pending = 0;         ///< parts still in the stage
  /// gc=auto: containers of this launch whose stubs the program deleted or overwrote, and the others.
  std::uint64_t superseded_bytes = 0;
  std::uint64_t live_bytes = 0;
  std::uint64_t removed_sets = 0;  ///< by gc=auto, because storage ran short
  std::uint64_t removed_bytes = 0;
  std::uint64_t doing_seconds = 0;
  std::uint64_t holds_back = 0;  ///< 1: a set stays in memory until a newer one is whole (flush=)
  std::string superseded_in;     ///< the directory of the checkpoints with these sets
  std::string astray_in;         ///< the container of the last astray parts
  std::string doing;  ///< what the leader is doing, as text to follow "it is"; empty: nothing
  std::string last_failure;  ///< why the last failed commit failed
  std::string card_problem;  ///< why the GPU that gpu= asks for is not used; empty: it is

  bool operator==(const LaunchSummary&) const = default;
};

/// Each field and its key.
struct SummaryNumber {
  std::string_view key;
  std::uint64_t LaunchSummary::*field;
};
inline constexpr std::array summary_numbers{
    SummaryNumber{"sets", &LaunchSummary::sets},
    SummaryNumber{"parts", &LaunchSummary::parts},
    SummaryNumber{"largest_group", &LaunchSummary::largest_group},
    SummaryNumber{"containers", &LaunchSummary::containers},
    SummaryNumber{"raw_bytes", &LaunchSummary::raw_bytes},
    SummaryNumber{"stored_bytes", &LaunchSummary::stored_bytes},
    SummaryNumber{"encoded_bytes", &LaunchSummary::encoded_bytes},
    SummaryNumber{"card_bytes", &LaunchSummary::card_bytes},
    SummaryNumber{"put_back", &LaunchSummary::put_back},
    SummaryNumber{"lone", &LaunchSummary::lone},
    SummaryNumber{"failed_commits", &LaunchSummary::failed_commits},
    SummaryNumber{"removed", &LaunchSummary::removed},
    SummaryNumber{"unflushed", &LaunchSummary::unflushed},
    SummaryNumber{"astray", &LaunchSummary::astray},
    SummaryNumber{"pending", &LaunchSummary::pending},
    SummaryNumber{"superseded_bytes", &LaunchSummary::superseded_bytes},
    SummaryNumber{"live_bytes", &LaunchSummary::live_bytes},
    SummaryNumber{"removed_sets", &LaunchSummary::removed_sets},
    SummaryNumber{"removed_bytes", &LaunchSummary::removed_bytes},
    SummaryNumber{"doing_seconds", &LaunchSummary::doing_seconds},
    SummaryNumber{"holds_back", &LaunchSummary::holds_back}};
struct SummaryText {
  std::string_view key;
  std::string LaunchSummary::*field;
};
inline constexpr std::array summary_texts{
    SummaryText{"superseded_in", &LaunchSummary::superseded_in},
    SummaryText{"astray_in", &LaunchSummary::astray_in},
    SummaryText{"doing", &LaunchSummary::doing},
    SummaryText{"last_failure", &LaunchSummary::last_failure},
    SummaryText{"card_problem", &LaunchSummary::card_problem}};

/// Omits empty texts. Control characters in texts are escaped by printable().
std::string write_summary(const LaunchSummary& summary);
/// Ignores lines that it does not understand.
LaunchSummary read_summary(std::string_view text);

}  // namespace mcr::restart
