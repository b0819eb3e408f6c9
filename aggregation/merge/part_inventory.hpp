// SPDX-License-Identifier: BSD-3-Clause
// What a part holds: its datasets, their types and shapes, the places of their raw data in the
// file, and the attributes that a container shows. All other bytes are skeleton. So if HDF5 omits
// an object or reports it wrongly, compression suffers, but no byte is lost.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "aggregation/merge/datatypes.hpp"
#include "codecs/base/bytes.hpp"

namespace mcr::aggregation {

/// A range of raw bytes in the part.
struct Extent {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

/// An attribute that can be written into another file: its value has no references, or it is
/// strings.
struct AttributeValue {
  std::string name;
  std::uint32_t type = 0;  ///< number in Datatypes
  Bytes dataspace;         ///< HDF5's encoding
  Bytes value;             ///< empty if `strings` are used
  std::vector<std::string> strings;

  bool operator==(const AttributeValue&) const = default;
};

/// How a dataset's extents relate to its elements.
enum class RawForm : std::uint8_t {
  whole,   ///< one extent: all elements in order
  tiles,   ///< an extent for each chunk: all its elements, also those beyond the dataset's edge
  opaque,  ///< an extent for each chunk, encoded by the program's own HDF5 filters
};

struct DatasetInfo {
  std::string path;        ///< without the leading '/'
  std::uint32_t type = 0;  ///< number in Datatypes
  RawForm form = RawForm::whole;
  std::vector<std::uint64_t> shape;  ///< of one extent, in elements of the type; empty for opaque
  std::vector<Extent> extents;
  std::vector<AttributeValue> attributes;

  [[nodiscard]] std::uint64_t bytes() const {
    std::uint64_t sum = 0;
    for (const Extent& extent : extents) sum += extent.bytes;
    return sum;
  }
};

struct GroupInfo {
  std::string path;  ///< "" for the root
  std::vector<AttributeValue> attributes;
};

struct PartLayout {
  std::vector<DatasetInfo> datasets;  ///< extents lie inside the part and nowhere overlap
  std::vector<GroupInfo> groups;      ///< those with attributes
};

/// Where an object's header lies in the file, and the dataset or group to which it belongs.
struct ObjectHeader {
  static constexpr std::size_t none = SIZE_MAX;

  std::string path;  ///< by which the walk found the object; "" for the root
  std::uint64_t address = 0;
  std::size_t dataset = none;  ///< number in the layout's datasets
  std::size_t group = none;    ///< number in the layout's groups
};

struct WalkedPart {
  std::shared_ptr<PartLayout> layout;
  std::vector<ObjectHeader> objects;  ///< all objects, also those that are not in the layout
  /// Where the file's addresses count from: the size of its user block.
  std::uint64_t base_address = 0;
};

/// Walks the HDF5 file at `path`, which is `size` bytes long. Calls HDF5, so call it in one thread
/// at a time. Fails if HDF5 cannot read the whole file; the caller then takes the whole part as
/// skeleton.
Result<WalkedPart> read_part_layout(const std::string& path, std::uint64_t size, Datatypes& types);

}  // namespace mcr::aggregation
