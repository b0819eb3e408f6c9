// SPDX-License-Identifier: BSD-3-Clause
// Datatypes of a group's variables. Each type is kept once, as a copy that does not depend on the
// file that it is from.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "aggregation/merge/owned_id.hpp"
#include "codecs/base/bytes.hpp"
#include "codecs/base/layout.hpp"
#include "codecs/records/columns.hpp"

namespace mcr::aggregation {

struct Datatype {
  OwnedId id;  ///< transient
  std::size_t bytes = 0;
  std::string kind;  ///< "float64", "compound", …: shown to users
  /// Has variable length or references, so that its values are valid in their file only.
  bool refers_to_heap = false;
  codecs::ElementType element;          ///< of the innermost elements
  std::vector<codecs::Column> columns;  ///< for records: the members of an element; may be empty
  std::vector<std::uint64_t> inner;     ///< extents of an array type; empty for others
};

/// Calls HDF5, so use it in one thread at a time.
class Datatypes {
 public:
  /// Returns the number of the type that equals `type`.
  Result<std::uint32_t> find_or_add(hid_t type);
  /// Returns the number of the type of unsigned bytes, which opaque data has in the container.
  Result<std::uint32_t> opaque_bytes();

  [[nodiscard]] const Datatype& operator[](std::uint32_t number) const { return types_[number]; }
  /// Returns about how much memory the types take.
  [[nodiscard]] std::uint64_t memory_bytes() const { return memory_bytes_; }

 private:
  std::vector<Datatype> types_;
  std::map<std::string, std::uint32_t, std::less<>> numbers_;  // by HDF5's encoding of the type
  std::uint64_t memory_bytes_ = 0;
};

}  // namespace mcr::aggregation
