// SPDX-License-Identifier: BSD-3-Clause
// What an open of a stub gives: the part that it names, or, where the set that it belongs to is
// incomplete under the present names, the same rank's part of the newest earlier whole one.
//
// What may change between two ranks' looks, and why they see the same all the same:
//  1. The launch's own writing: own parts are given as they are, and a launch's own generation is
//     never the newest of others.
//  2. A leader that still drains what a dead launch left: it commits sets, and puts stubs in place
//     that dead writers left out. While it does, every opener's decision is put in place, complete,
//     and the launch's others obey it. Openers of a launch wait, up to `wait_ms`, for parts that
//     only a stage still has.
//  3. Anything but a whole set is decided once a launch in the same way; who finds a decision there
//     decides nothing. Where nothing drains here and a set's containers account for all ranks, that
//     is the same for every rank, and nothing is written.
//  Not covered: ranks that are restarted on other nodes than those whose stages drain, together
//     with a writer that died between its publish and its stub's rename.
// A crash anywhere leaves at most a decision of a launch that is over: nobody reads it.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "restart/container/shared_frames.hpp"
#include "restart/format/part_source.hpp"
#include "restart/format/stub.hpp"
#include "restart/settings/choices.hpp"

namespace mcr::restart {

/// Who opens.
struct Opener {
  std::string launch;  ///< empty: not known
  std::uint32_t rank_count = 1;
  Mix mix = Mix::previous;
  std::uint64_t wait_ms = 0;  ///< read_wait=; programs of one rank never wait
  std::string allow = "none";
  std::string container_dir = "mcr";  ///< the reader's setting: files of his are made there
  /// Where this launch's ranks share what they decode; may be null.
  std::shared_ptr<FrameShare> share = nullptr;
  bool is_native = false;  ///< a native file lies there, and the stub is the note about it
  /// Sees to it that somebody drains what that launch left in the stage; may be empty.
  std::function<void(const std::string& launch_directory)> adopt;
};

struct OpenedPart {
  std::unique_ptr<PartSource> source;  ///< null: the native file that lies there
  Stub stub;  ///< of the part that is given: who writes on, amends that one
};

/// Errors: as open_part(); with mix=refuse Cause::usage for an incomplete set, naming both.
/// Warns, once, where something else than the stub's own part is given, or where it is not known
/// whether the set is whole.
Result<OpenedPart> open_generation(const Stub& stub, const std::string& path, const Opener& opener);

}  // namespace mcr::restart
