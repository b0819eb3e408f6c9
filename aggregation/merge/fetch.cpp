// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/merge/fetch.hpp"

#include <algorithm>

namespace mcr::aggregation {
namespace {

// Limit on the size of a base, because it is held in memory.
constexpr std::uint64_t max_base_bytes = 32U << 20;

void subtract_base(const MergePlan& plan, const Piece& piece, std::uint64_t inside,
                   MutableByteSpan bytes) {
  const restart::SkeletonPlace& skeleton = plan.parts[piece.part].skeleton;
  if (skeleton.base == restart::SkeletonPlace::no_base) return;
  const auto begin = static_cast<std::size_t>(piece.position + inside - skeleton.begin);
  for (std::size_t i = 0; i < bytes.size() && begin + i < plan.base_skeleton.size(); ++i) {
    bytes[i] ^= plan.base_skeleton[begin + i];
  }
}

/// Reads all of a part's skeleton. The skeletons are the plan's last dataset.
Result<Bytes> read_skeleton(const MergePlan& plan, PartReads& reads, std::size_t part) {
  const restart::SkeletonPlace& skeleton = plan.parts[part].skeleton;
  Bytes bytes(static_cast<std::size_t>(skeleton.bytes));
  MCR_TRY(fetch_frame(plan, reads, plan.datasets.back(), {skeleton.begin, skeleton.bytes}, bytes));
  return bytes;
}

}  // namespace

Result<void> fetch_frame(const MergePlan& plan, PartReads& reads, const DatasetPlan& dataset,
                         const DatasetPlan::Frame& frame, MutableByteSpan raw) {
  const std::uint64_t frame_end = frame.begin + frame.bytes;
  // Pieces that are contiguous in their part as well are read with one call. A part's small
  // datasets often are.
  std::uint64_t done = frame.begin;
  for (std::size_t i = dataset.piece_at(frame.begin); done < frame_end;) {
    const Piece& first = dataset.pieces[i];
    const std::uint64_t inside = done - first.position;
    std::uint64_t bytes = first.bytes - inside;
    std::size_t next = i + 1;
    while (next < dataset.pieces.size() && done + bytes < frame_end &&
           dataset.pieces[next].part == first.part &&
           dataset.pieces[next].part_offset == first.part_offset + inside + bytes) {
      bytes += dataset.pieces[next++].bytes;
    }
    bytes = std::min(bytes, frame_end - done);
    const MutableByteSpan target =
        raw.subspan(static_cast<std::size_t>(done - frame.begin), static_cast<std::size_t>(bytes));
    MCR_TRY(reads.read(first.part, first.part_offset + inside, target));
    if (dataset.kind == restart::DatasetKind::skeletons) subtract_base(plan, first, inside, target);
    done += bytes;
    i = next;
  }
  return {};
}

Result<void> find_skeleton_bases(MergePlan& plan, PartReads& reads) {
  if (!plan.has_skeletons() || plan.parts.size() < 2) return {};
  const std::uint64_t bytes = plan.parts.front().skeleton.bytes;
  if (bytes == 0 || bytes > max_base_bytes) return {};
  const Bytes base = MCR_TRY(read_skeleton(plan, reads, 0));
  for (std::size_t part = 1; part < plan.parts.size(); ++part) {
    restart::SkeletonPlace& skeleton = plan.parts[part].skeleton;
    if (skeleton.bytes != bytes) continue;
    const Bytes other = MCR_TRY(read_skeleton(plan, reads, part));
    std::size_t equal = 0;
    for (std::size_t i = 0; i < base.size(); ++i) equal += base[i] == other[i];
    if (equal >= base.size() - base.size() / 8) skeleton.base = 0;
  }
  plan.base_skeleton = base;
  return {};
}

}  // namespace mcr::aggregation
