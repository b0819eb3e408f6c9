// SPDX-License-Identifier: BSD-3-Clause
// Ranks of one program mostly write files that differ in values only. HDF5 takes 20 to 30
// microseconds a dataset to walk a part; a part whose metadata equals that of one already walked
// need not be walked.
//
// What is compared: everything outside of the raw data that the walk found, byte by byte.
// Differences are allowed where HDF5 keeps values and nothing that says where or what anything is:
// data of attributes and of compact datasets, object times, and checksums over these (HDF5's object
// headers are parsed for that, docs: "HDF5 File Format Specification", IV.A). One difference
// anywhere else, and the part is walked.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "aggregation/merge/part_inventory.hpp"
#include "restart/base/file.hpp"

namespace mcr::aggregation {

/// A walked part that others are compared with.
class ReferencePart {
 public:
  /// Reads the part's metadata; nothing where it is too large or not as expected.
  static std::optional<ReferencePart> make(const restart::File& file, std::uint64_t size,
                                           const WalkedPart& walked);

  /// True where the part has this layout. Attributes whose values differ are taken out of the
  /// layout: they are not equal in all parts, which is all that they are kept for.
  bool fits(const restart::File& file, std::uint64_t size);

  [[nodiscard]] const std::shared_ptr<PartLayout>& layout() const { return layout_; }

 private:
  /// Bytes that hold a value, and whose attribute it is.
  struct ValueRange {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    std::size_t object = 0;  ///< number in paths_
    std::string attribute;   ///< empty: something that is not shown
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
  std::vector<Gap> gaps_;           ///< all that is no raw data, by offset
  std::vector<ValueRange> values_;  ///< by offset, apart
  std::vector<ObjectHeader> objects_;
};

}  // namespace mcr::aggregation
