// SPDX-License-Identifier: BSD-3-Clause
// Checksums of whole parts, taken from the very bytes that are fetched for frames, so that a part
// is read once and what is summed is what is encoded. A running sum needs a part's bytes in their
// order; whatever comes out of it, or in pieces so small that the calls would cost more than
// another read, is read when everything else is done.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "aggregation/merge/part_reads.hpp"
#include "codecs/base/checksum.hpp"

namespace mcr::aggregation {

/// Through `reads`, and summed. One thread at a time, but for finish().
class SummedReads final : public PartReads {
 public:
  /// `bytes`: the parts' sizes. All three outlive it.
  SummedReads(const PartFiles& files, const std::vector<std::uint64_t>& bytes, PartReads& reads);

  Result<void> read(std::size_t part, std::uint64_t offset, MutableByteSpan out) override;

  /// The part's sum, after what is missing of it has been read. Several threads, if not for the
  /// same part.
  Result<std::uint64_t> finish(std::size_t part);

 private:
  struct Part {
    RunningChecksum sum;
    std::uint64_t done = 0;
  };

  Result<void> sum_up_to(std::size_t number, std::uint64_t end);

  const PartFiles& files_;
  const std::vector<std::uint64_t>& bytes_;
  PartReads& reads_;
  std::deque<Part> parts_;
};

}  // namespace mcr::aggregation
