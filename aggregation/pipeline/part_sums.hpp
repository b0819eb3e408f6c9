// SPDX-License-Identifier: BSD-3-Clause
// Checksums of whole parts, computed from the bytes that are fetched for frames. So a part is read
// once, except its skeleton, and the summed bytes are the same as the encoded ones. A running sum needs a part's bytes
// in order. Bytes that are fetched out of order are read again for the sum. So are bytes that are
// fetched in very small pieces, because adding each piece would cost more than another read.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "aggregation/merge/part_reads.hpp"
#include "codecs/base/checksum.hpp"

namespace mcr::aggregation {

/// The running sums of all parts.
class PartSums {
 public:
  /// Pieces that are smaller are left to finish().
  static constexpr std::size_t least_bytes = 64U << 10;

  /// `bytes`: the parts' sizes. Both arguments must outlive this object.
  PartSums(const PartFiles& files, const std::vector<std::uint64_t>& bytes);

  /// Adds bytes that were read from `offset` of the part, if they continue the part's sum. Use it in one thread
  /// at a time.
  Result<void> add(std::size_t part, std::uint64_t offset, ByteSpan piece);

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
  std::deque<Part> parts_;
};

}  // namespace mcr::aggregation
