// SPDX-License-Identifier: BSD-3-Clause
// The drain's pipeline on oneTBB: fetch (in order) | sum (in order) | encode (in parallel) | place (in order) | store
// (several writes in flight). A block goes through these steps with one frame, and is then used for another. The
// number of blocks is limited, so that memory stays within its setting for sets of any size. With `verify`, the
// encode step also decodes each frame and compares it with its source.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "aggregation/merge/fetch.hpp"
#include "aggregation/merge/plan.hpp"
#include "aggregation/pipeline/part_sums.hpp"
#include "aggregation/pipeline/trace.hpp"
#include "codecs/choice/chooser.hpp"
#include "codecs/gpu/lanes/open_card.hpp"
#include "codecs/solid/solid_encode.hpp"
#include "restart/format/index.hpp"

namespace mcr::aggregation {

/// How a dataset's frames must be encoded.
struct Encoding {
  restart::DatasetStorage storage = restart::DatasetStorage::frames;
  codecs::Choice choice;                ///< pipeline of plain frames
  std::vector<codecs::Column> columns;  ///< for records: the members of an element; may be empty
  codecs::ProfileOptions profile;  ///< for a new choice, for frames that `choice` does not suit
  codecs::SolidOptions solid;      ///< of solid frames
};

struct DrainOptions {
  unsigned threads = 1;
  std::uint64_t memory_bytes = 256U << 20;
  bool verify = true;
  unsigned streams = 4;  ///< writes in flight
  codecs::gpu::CardOptions card;
  /// How long the drain waits for the card to be opened, if no earlier drain of the process has used it.
  std::chrono::milliseconds card_wait{0};
};

/// Returns the raw size of a solid frame in bytes: codecs::solid_frame_bytes, or less (at least
/// 2 MiB) if the blocks in flight of all threads would otherwise not fit into memory_bytes.
std::uint64_t solid_frame_target(const DrainOptions& options);

/// What the place step receives, in the order of datasets and frames.
struct EncodedFrame {
  std::uint32_t dataset = 0;
  std::uint32_t frame = 0;
  std::uint32_t raw_bytes = 0;
  ByteSpan stored;
};

/// Where encoded frames go.
struct FrameSink {
  /// Gives a frame its place in the file; nothing: the frame is stored already.
  std::function<Result<std::optional<std::uint64_t>>(const EncodedFrame&)> place;
  /// Stores a frame at its place. Called by several threads at a time.
  std::function<Result<void>(std::uint64_t place, ByteSpan stored)> store;
};

/// Seconds that each step worked, summed over threads, and how full the pipeline was.
struct DrainTimes {
  double fetch = 0;
  double encode = 0;
  double verify = 0;
  double write = 0;
  double wall = 0;
  unsigned threads = 0;
  unsigned blocks_allowed = 0;
  std::uint64_t encoded_bytes = 0;  ///< raw
  std::uint64_t card_bytes = 0;     ///< raw bytes of the frames that were encoded on the card
  std::string card_problem;         ///< why the card is not used; empty: it is, or is off
  DrainTrace trace;
};

/// Encodes and stores all frames of `plan`; `encodings` is indexed by dataset. `sums` gets all fetched
/// bytes but those of skeletons. `reads`, `sums` and `sink.place` are each called by one thread at a
/// time. The first error of any step ends the run and is returned. When this returns, no write is in flight.
Result<DrainTimes> drain(const MergePlan& plan, PartReads& reads, PartSums& sums,
                         const std::vector<Encoding>& encodings, const DrainOptions& options,
                         const FrameSink& sink);

}  // namespace mcr::aggregation
