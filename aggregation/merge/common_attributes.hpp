// SPDX-License-Identifier: BSD-3-Clause
// Attributes that are equal in all parts. The container shows them as the program's own files do.
// Pure functions.
#pragma once

#include <memory>
#include <vector>

#include "aggregation/merge/part_inventory.hpp"
#include "aggregation/merge/similarity.hpp"

namespace mcr::aggregation {

// By part; null: the part was not readable.
using PartLayouts = std::vector<std::shared_ptr<const PartLayout>>;

/// Returns the attributes that all fragments of the variable have.
std::vector<AttributeValue> common_attributes(const Variable& variable, const PartLayouts& layouts);

/// Returns the groups, the root ("") included, with the attributes that they have in all readable
/// parts.
std::vector<GroupInfo> common_groups(const PartLayouts& layouts);

}  // namespace mcr::aggregation
