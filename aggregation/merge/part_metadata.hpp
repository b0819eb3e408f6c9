// SPDX-License-Identifier: BSD-3-Clause
// All bytes of a part that are not raw data of its datasets.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "aggregation/merge/part_inventory.hpp"
#include "codecs/base/bytes.hpp"
#include "restart/base/file.hpp"

namespace mcr::aggregation {

class PartMetadata {
 public:
  /// A range of the part without raw data, as long as possible.
  struct Gap {
    std::uint64_t offset = 0;  ///< in the part
    std::size_t bytes = 0;
    std::size_t at = 0;  ///< in bytes()
  };

  PartMetadata() = default;
  /// Returns nothing if the metadata is too large or cannot be read.
  static std::optional<PartMetadata> read(const restart::File& file, std::uint64_t size,
                                          const PartLayout& layout);

  [[nodiscard]] const std::vector<Gap>& gaps() const { return gaps_; }
  [[nodiscard]] ByteSpan bytes() const { return bytes_; }
  [[nodiscard]] MutableByteSpan bytes() { return bytes_; }

  static constexpr std::size_t nowhere = SIZE_MAX;
  /// Returns the place in bytes() of a range of the part; nowhere if it contains raw data.
  [[nodiscard]] std::size_t place_of(std::uint64_t offset, std::uint64_t bytes) const;
  /// Returns the bytes at `offset` of the part; Cause::unsupported if they contain raw data.
  [[nodiscard]] Result<ByteSpan> at(std::uint64_t offset, std::uint64_t bytes) const;
  /// Returns at most `most_bytes` bytes at `offset` of the part, up to the next raw data.
  [[nodiscard]] ByteSpan some_at(std::uint64_t offset, std::size_t most_bytes) const;

  [[nodiscard]] std::uint64_t memory_bytes() const {
    return bytes_.capacity() + gaps_.capacity() * sizeof(Gap);
  }

 private:
  [[nodiscard]] const Gap* gap_at(std::uint64_t offset) const;

  Bytes bytes_;
  std::vector<Gap> gaps_;  // by offset
};

}  // namespace mcr::aggregation
