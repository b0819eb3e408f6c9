// SPDX-License-Identifier: BSD-3-Clause
// Finds where the names of an old-style group's links lie in a file ("HDF5 File Format
// Specification", III.A, III.B and III.D). Old-style groups are HDF5's default before 2.0. Names in
// new-style groups are not found: there, other names mean another order and other hash values.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "aggregation/merge/header_values.hpp"

namespace mcr::aggregation {

struct LinkName {
  std::uint64_t offset = 0;  ///< in the file
  std::uint64_t bytes = 0;   ///< without the final NUL; not 0
  std::uint64_t object = 0;  ///< address of the object's header; of no meaning for a soft link
};

struct LinkNames {
  std::vector<LinkName> names;
  std::vector<Extent> blocks;  ///< nodes, leaves and the heap, of which the names are a part
};

/// Returns the names of all links of the group, in ascending order, as HDF5 keeps them. All keys of
/// the group's B-tree are such names or empty. So if the names are replaced by other names of the
/// same lengths that are in ascending order too, HDF5 finds the same links in the same order. An
/// error means that the group is not understood.
Result<LinkNames> read_link_names(const PartMetadata& part, std::uint64_t base,
                                  const HeaderValues::SymbolTable& table);

/// True if HDF5 takes the text as the name of one link, and not as a path.
bool is_link_name(std::string_view text);

}  // namespace mcr::aggregation
