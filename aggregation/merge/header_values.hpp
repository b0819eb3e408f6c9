// SPDX-License-Identifier: BSD-3-Clause
// Finds, in the header of an HDF5 object, the bytes that do not describe the layout: data of
// attributes and of compact datasets, object times, and checksums over these ("HDF5 File Format
// Specification", IV.A).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "aggregation/merge/part_metadata.hpp"

namespace mcr::aggregation {

/// Bytes of a header that hold a value.
struct HeaderValue {
  std::uint64_t offset = 0;  ///< in the file
  std::uint64_t bytes = 0;
  std::optional<std::string> attribute;  ///< the name of the attribute that has the value
  /// The type of the attribute's elements is of variable length, a reference, an array or a compound,
  /// so that the value may refer to the file's heap.
  bool may_refer_to_heap = false;
  std::uint32_t element_bytes = 0;  ///< of the attribute, in the file
};

struct HeaderValues {
  std::vector<HeaderValue> values;
  /// The parts of a new-style header. The last 4 bytes of each are the checksum of its other bytes.
  std::vector<Extent> checked;
  std::vector<Extent> blocks;  ///< all bytes of the header
  bool is_new_style_group = false;
  /// Where the B-tree and the local heap of an old-style group lie in the file.
  struct SymbolTable {
    std::uint64_t tree = 0;
    std::uint64_t heap = 0;
  };
  std::optional<SymbolTable> symbol_table;
};

/// Reads the header at `address` of a part whose addresses count from `base`. An error means that
/// the header is not understood.
Result<HeaderValues> read_header_values(const PartMetadata& part, std::uint64_t base,
                                        std::uint64_t address);

}  // namespace mcr::aggregation
