// SPDX-License-Identifier: BSD-3-Clause
// Avoids walking most parts. To walk a part, HDF5 takes about 31 µs for each dataset. But
// the ranks of a program mostly write files that differ in values only, and so do the steps of a
// program. If a part's metadata equals that of a part that was walked, the two parts have the same
// layout.
//
// A part that was made on purpose may have a structure that is not checked here (an index of chunks,
// for example) inside of a value. Then its variables may show wrong values; no byte is lost.
//
// The comparison covers, byte by byte, everything outside of the raw data that the walk found.
// Differences are allowed only in
//  * values that do not describe the layout: data of attributes and of compact datasets, object
//    times, and checksums over these if they are right (header_values, metadata_checksum),
//  * names of links in old-style groups (link_names), if the other names are in ascending order too.
// A part with any other difference is walked.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "aggregation/merge/part_inventory.hpp"
#include "aggregation/merge/part_metadata.hpp"
#include "restart/base/file.hpp"

namespace mcr::aggregation {

/// A walked part with which other parts are compared. Whether a part fits depends on the part that
/// was walked alone, not on the parts that were compared since.
class ReferencePart {
 public:
  /// Reads the part's metadata. Returns nothing if the metadata is too large or not as
  /// expected.
  static std::optional<ReferencePart> make(const restart::File& file, std::uint64_t size,
                                           const Datatypes& types, const WalkedPart& walked);

  /// Returns true if layout() is then the part's layout. Parts of one set with equal names share a
  /// layout, which loses the attributes whose values differ, so that it keeps only attributes that
  /// are equal in all of these parts. A part with other names gets a new layout.
  bool fits(const restart::File& file, std::uint64_t size);

  [[nodiscard]] const std::shared_ptr<PartLayout>& layout() const { return layout_; }

  /// The set is complete: the next part that fits gets a new layout, with all its attributes.
  void end_set() { layout_ = nullptr; }

  /// Returns about how much memory this takes.
  [[nodiscard]] std::uint64_t memory_bytes() const { return memory_bytes_; }

 private:
  static constexpr std::uint32_t none = 0xffffffff;

  /// Bytes that may differ.
  struct Range {
    static constexpr std::uint32_t unused = none;  ///< the layout does not have the value
    static constexpr std::uint32_t link_name = none - 1;

    std::uint64_t offset = 0;  ///< in the part
    std::uint32_t bytes = 0;
    std::uint32_t attribute = unused;  ///< number of the attribute that has this value
  };
  struct Object {
    std::string path;
    std::size_t dataset = ObjectHeader::none;
    std::size_t group = ObjectHeader::none;
    std::uint32_t parent = none;  ///< number of the group that contains it
    std::uint32_t name = none;    ///< number of the range with its name; none: the name is fixed
  };
  /// An attribute of the layout.
  struct Attribute {
    std::uint32_t object = none;
    std::uint32_t form = none;
    std::uint32_t range = none;  ///< of its value; none: the form has the value
  };
  struct Change {
    std::uint32_t range = 0;
    std::size_t at = 0;  ///< of the part's bytes, in Changes::bytes
  };
  struct Changes {
    std::vector<Change> ranges;
    Bytes bytes;
    bool has_names = false;
  };
  class Maker;

  [[nodiscard]] std::optional<Changes> compare(const restart::File& file, std::uint64_t size) const;
  void exchange(Changes& changes);
  [[nodiscard]] bool checksums_are_right(const Changes& changes) const;
  [[nodiscard]] bool names_are_valid() const;
  [[nodiscard]] ByteSpan bytes_of(const Range& range) const;
  [[nodiscard]] std::string_view text_of(const Range& range) const;
  static std::vector<AttributeValue>& attributes_of(const Object& object, PartLayout& layout);
  [[nodiscard]] std::shared_ptr<PartLayout> make_layout() const;
  void rename_objects();
  void drop_attribute(const Range& range);

  std::uint64_t size_ = 0;
  std::shared_ptr<PartLayout> layout_;  ///< null: no part of this set was seen yet
  // The rest is of the last part that got a layout.
  PartLayout bare_;  ///< without paths and attributes
  PartMetadata metadata_;
  std::vector<Range> ranges_;    ///< by offset, without overlap
  std::vector<Extent> checked_;  ///< ends with a checksum of the rest; by offset, without overlap
  std::vector<Object> objects_;  ///< groups come before what they contain
  /// Attributes without the values that ranges hold; equal ones are kept once.
  std::vector<AttributeValue> forms_;
  std::vector<Attribute> attributes_;  ///< by object
  /// For each group, the ranges with the names of its links, in HDF5's order.
  std::vector<std::vector<std::uint32_t>> groups_;
  std::uint64_t memory_bytes_ = 0;
};

}  // namespace mcr::aggregation
