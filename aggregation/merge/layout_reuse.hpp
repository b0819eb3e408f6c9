// SPDX-License-Identifier: BSD-3-Clause
// Avoids walking most parts. To walk a part, HDF5 takes 20 to 30 microseconds for each dataset. But
// the ranks of a program mostly write files that differ in values only. If a part's metadata equals
// that of a part that was walked, the two parts have the same layout.
//
// The comparison covers, byte by byte, everything outside of the raw data that the walk found.
// Differences are allowed only in values that do not describe the layout: data of attributes and of
// compact datasets, object times, and checksums over these. To find these values, HDF5's object
// headers are parsed ("HDF5 File Format Specification", IV.A). A part with any other difference is
// walked.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "aggregation/merge/part_inventory.hpp"
#include "restart/base/file.hpp"

namespace mcr::aggregation {

/// A walked part with which other parts are compared.
class ReferencePart {
 public:
  /// Reads the part's metadata. Returns nothing if the metadata is too large or not as expected.
  static std::optional<ReferencePart> make(const restart::File& file, std::uint64_t size,
                                           const WalkedPart& walked);

  /// Returns true if the part has this layout. Then removes from the layout the attributes whose
  /// values differ in the part, so that it keeps only attributes that are equal in all parts.
  bool fits(const restart::File& file, std::uint64_t size);

  [[nodiscard]] const std::shared_ptr<PartLayout>& layout() const { return layout_; }

 private:
  /// Bytes that hold a value, and the attribute to which they belong.
  struct ValueRange {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    std::size_t object = 0;  ///< number in paths_
    std::string attribute;   ///< empty: the value is not in the layout
  };
  struct Gap {
    std::uint64_t offset = 0;
    Bytes bytes;
  };
  class HeaderParser;

  [[nodiscard]] bool is_value(std::uint64_t place, std::vector<std::size_t>& changed) const;
  void drop_attribute(const ValueRange& range);

  std::uint64_t size_ = 0;
  std::shared_ptr<PartLayout> layout_;
  std::vector<Gap> gaps_;           ///< all bytes that are not raw data, by offset
  std::vector<ValueRange> values_;  ///< by offset, without overlap
  std::vector<ObjectHeader> objects_;
};

}  // namespace mcr::aggregation
