// SPDX-License-Identifier: BSD-3-Clause
// Checksums of whole parts, computed from the bytes that are fetched for frames. So a part is read
// once, and the summed bytes are the same as the encoded ones. A running sum needs a part's bytes
// in order. Bytes that are fetched out of order are read again for the sum. So are bytes that are
// fetched in very small pieces, because adding each piece would cost more than another read.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "aggregation/merge/part_reads.hpp"
#include "codecs/base/checksum.hpp"

namespace mcr::aggregation {

/// Reads through `reads`, and adds the bytes to the sums. Use it in one thread at a time, except
/// finish().
class SummedReads final : public PartReads {
 public:
  /// `bytes`: the parts' sizes. All three arguments must outlive this object.
  SummedReads(const PartFiles& files, const std::vector<std::uint64_t>& bytes, PartReads& reads);

  Result<void> read(std::size_t part, std::uint64_t offset, MutableByteSpan out) override;

  /// Reads the bytes that the part's sum still lacks, and returns the sum. Thread-safe for
  /// different parts.
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
