// SPDX-License-Identifier: BSD-3-Clause
// Decides what an open of a stub gives: normally the part that the stub names. If that part's set
// is incomplete under the present names, the open gives the same rank's part of the newest earlier
// whole set.
//
// All ranks of a launch must get the same set, although files may change between the opens of two
// ranks. The changes, and why the ranks still agree:
//  1. The launch itself writes. Parts that it wrote are given as they are, and its generations
//     never count as newer than those of other launches.
//  2. A leader still drains the parts of a dead launch: it commits sets, and puts stubs in place
//     that dead writers left out. During that time the first opener records its decision, and the
//     other ranks of its launch obey it. Before it decides, an opener waits up to `wait_ms` for
//     parts that only a stage still has.
//  3. The newest set is not whole. Then too the first opener records its decision, and the other
//     ranks of the launch obey it. If nothing drains here and a set's containers account for all
//     ranks, every rank sees the same set, and no decision is needed.
// A process without other ranks may open the files of all ranks, one after the other. It waits for
// parts that this node drains and for stubs that a leader still puts in place; after that, its opens
// agree without a decision.
//
// Not covered: ranks restart on other nodes than those whose stages drain, and a writer died
// between its publish and the rename of its stub.
//
// A crash leaves at most the decision of a launch that has ended, and no other launch reads it.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <optional>
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
  bool is_mix_set = false;    ///< the user has set mix=
  std::uint64_t wait_ms = 0;  ///< read_wait=
  /// An open waits until this node has drained parts that may change what the open gives. False: the
  /// open gives what is there now.
  bool waits_for_drains = true;
  std::string allow = "none";
  std::string container_dir = "mcr";  ///< the reader's setting; our files are made there
  /// Where this launch's ranks share decoded frames; may be null.
  std::shared_ptr<FrameShare> share = nullptr;
  /// Ranks of this launch open native files through mcr, so that they find notes about them. False: HDF5 has
  /// only found mcr by its search for plugins after a native open of a stub.
  bool finds_notes = true;
  bool is_native =
      false;  ///< a native file lies at the path, and the stub is from the note about it
  bool writes_native =
      false;  ///< and it is opened for writing, so its note will not be complete for a while
  /// Starts a leader for the parts in a launch's directory, if the launch has no leader; may be
  /// empty.
  std::function<void(const std::string& launch_directory)> adopt;
};

/// A native file of a set, at a place other than its own path: a newer file has its path.
struct NativePlace {
  File directory;  ///< in which the file lay when it was opened
  File file;
  uid_t owner = 0;
};

struct OpenedPart {
  std::unique_ptr<PartSource> source;  ///< null: use the native file at the path
  Stub stub;                           ///< of the given part; a later write amends this part
  std::optional<NativePlace> native;   ///< if the part is a native file at another place
};

/// Errors are those of open_part(). With mix=refuse an incomplete set is Cause::usage, and the
/// message names both sets; without mix= so is one whose files not the same users may replace
/// (open/unequal_places). Warns once if a part of another set than the stub's is given, or if it
/// is not known whether the set is whole.
Result<OpenedPart> open_generation(const Stub& stub, const std::string& path, const Opener& opener);

/// True if open_generation() failed because of mix=refuse or unequal places. Its other errors may be gone at the next try.
bool is_refused(const Result<OpenedPart>& opened);

}  // namespace mcr::restart
