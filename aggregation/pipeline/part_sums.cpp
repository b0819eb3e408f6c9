// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/pipeline/part_sums.hpp"

#include <algorithm>

namespace mcr::aggregation {
namespace {

/// A gap before a piece (mostly HDF5's metadata) is read at once if it is at most a fourth of the
/// piece.
constexpr std::uint64_t gap_share = 4;
/// Bytes that stay in a core's cache between the read and the checksum.
constexpr std::uint64_t step_bytes = 256U << 10;

}  // namespace

PartSums::PartSums(const PartFiles& files, const std::vector<std::uint64_t>& bytes)
    : files_(files), bytes_(bytes), parts_(files.size()) {}

Result<void> PartSums::add(std::size_t number, std::uint64_t offset, ByteSpan piece) {
  Part& part = parts_[number];
  const std::uint64_t end = offset + piece.size();
  if (piece.size() < least_bytes || end <= part.done) return {};
  if (offset > part.done) {
    if (offset - part.done > piece.size() / gap_share) return {};
    MCR_TRY(sum_up_to(number, offset));
  }
  part.sum.add(piece.subspan(static_cast<std::size_t>(part.done - offset)));
  part.done = end;
  return {};
}

Result<std::uint64_t> PartSums::finish(std::size_t number) {
  MCR_TRY(sum_up_to(number, bytes_[number]));
  return parts_[number].sum.value();
}

Result<void> PartSums::sum_up_to(std::size_t number, std::uint64_t end) {
  Part& part = parts_[number];
  Bytes block(static_cast<std::size_t>(std::min(end - part.done, step_bytes)));
  while (part.done < end) {
    const MutableByteSpan step = MutableByteSpan(block).first(
        static_cast<std::size_t>(std::min<std::uint64_t>(block.size(), end - part.done)));
    MCR_TRY(files_[number]->read_at(part.done, step));
    part.sum.add(step);
    part.done += step.size();
  }
  return {};
}

}  // namespace mcr::aggregation
