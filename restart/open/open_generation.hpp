// SPDX-License-Identifier: BSD-3-Clause
// What an open of a stub gives: the part that the stub names. If that part's set is incomplete under
// the present names, it gives the same rank's part of the newest earlier whole set.
//
// What may change between the looks of two ranks, and why both still see the same:
//  1. The launch's own writing: its own parts are given as they are, and its own generations never
//     count as newer than those of other launches.
//  2. A leader that still drains what a dead launch left: it commits sets, and puts stubs in place
//     that dead writers left out. During that time every opener's decision is recorded, complete, and
//     the other ranks of the launch obey it. Openers of a launch wait, up to `wait_ms`, for parts
//     that only a stage still has.
//  3. Any choice but a whole set is decided once per launch in the same way; a rank that finds a
//     decision obeys it. If nothing drains here and a set's containers account for all ranks, every
//     rank sees the same, and nothing is recorded.
//  Not covered: ranks that restart on other nodes than those whose stages drain, if also a writer
//     died between its publish and its stub's rename.
// A crash leaves at most a decision of a launch that is over, which no other launch reads.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "restart/container/shared_frames.hpp"
#include "restart/format/part_source.hpp"
#include "restart/format/stub.hpp"
#include "restart/settings/choices.hpp"

namespace mcr::restart {

/// The launch and the settings of the opener.
struct Opener {
  std::string launch;  ///< empty: not known
  std::uint32_t rank_count = 1;
  Mix mix = Mix::previous;
  std::uint64_t wait_ms = 0;  ///< read_wait=; programs of one rank never wait
  std::string allow = "none";
  std::string container_dir = "mcr";  ///< the reader's setting; this user's files are made there
  /// Where this launch's ranks share decoded frames; may be null.
  std::shared_ptr<FrameShare> share = nullptr;
  bool is_native =
      false;  ///< a native file lies at the path, and the stub is from the note about it
  /// Starts a leader for the parts that the launch left in the stage, if it has none; may be empty.
  std::function<void(const std::string& launch_directory)> adopt;
};

struct OpenedPart {
  std::unique_ptr<PartSource> source;  ///< null: use the native file at the path
  Stub stub;                           ///< of the given part; a later write amends this part
};

/// Errors: as open_part(). With mix=refuse an incomplete set is Cause::usage, and the message names
/// both sets. Warns once if another part than the stub's own is given, or if it is not known whether
/// the set is whole.
Result<OpenedPart> open_generation(const Stub& stub, const std::string& path, const Opener& opener);

}  // namespace mcr::restart
