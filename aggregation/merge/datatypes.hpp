// SPDX-License-Identifier: BSD-3-Clause
// Datatypes of a group's variables, each kept once, independent of the files that they are from.
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
  std::string kind;  ///< "float64", "compound", …: for users
  bool refers_to_heap =
      false;  ///< variable length or references: values are valid in their file only
  codecs::ElementType element;          ///< of the innermost elements
  std::vector<codecs::Column> columns;  ///< of records: what an element is made of; may be empty
  std::vector<std::uint64_t> inner;     ///< extents of an array type; empty for others
};

/// Calls HDF5, so one thread at a time.
class Datatypes {
 public:
  /// Returns the number of the type that equals `type`.
  Result<std::uint32_t> find_or_add(hid_t type);
  /// Returns the number of the type of unsigned bytes, which opaque data has in the container.
  Result<std::uint32_t> opaque_bytes();

  [[nodiscard]] const Datatype& operator[](std::uint32_t number) const { return types_[number]; }

 private:
  std::vector<Datatype> types_;
  std::map<std::string, std::uint32_t, std::less<>> numbers_;  // by HDF5's encoding of the type
};

}  // namespace mcr::aggregation
