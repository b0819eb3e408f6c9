// SPDX-License-Identifier: BSD-3-Clause
// What an open of a stub gives: the part that it names, or, where the set that it belongs to is
// incomplete under the present names, the same rank's part of the newest earlier whole one.
//
// What may change between two ranks' looks, and why they see the same all the same:
//  1. The launch's own writing: own parts are given as they are, and a launch's own generation is
//     never the newest of others.
//  2. A leader that still drains what a dead launch left: openers of a launch wait for it, up to
//     `wait_ms`, and look again.
//  3. Who decides for anything but a whole set puts the decision in place, complete, and the
//     launch's others obey it; who finds one there decides nothing.
// A crash anywhere leaves at most a decision of a launch that is over: nobody reads it.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "restart/format/stub.hpp"
#include "restart/part_source.hpp"

namespace mcr::restart {

/// What becomes of a set that only some of its ranks have written (the setting mix=).
enum class Mix : std::uint8_t { previous, refuse, native };

/// Who opens.
struct Opener {
  std::string launch;  ///< empty: not known
  std::uint32_t rank_count = 1;
  Mix mix = Mix::previous;
  std::uint64_t wait_ms = 0;  ///< read_wait=; programs of one rank never wait
  std::string allow = "none";
  /// Sees to it that somebody drains what that launch left in the stage; may be empty.
  std::function<void(const std::string& launch_directory)> adopt;
};

struct OpenedPart {
  std::unique_ptr<PartSource> source;
  Stub stub;  ///< of the part that is given: who writes on, amends that one
};

/// Errors: as open_part(); with mix=refuse Cause::usage for an incomplete set, naming both.
/// Warns, once, where something else than the stub's own part is given, or where it is not known
/// whether the set is whole.
Result<OpenedPart> open_generation(const Stub& stub, const std::string& path, const Opener& opener);

}  // namespace mcr::restart
