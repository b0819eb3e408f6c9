// SPDX-License-Identifier: BSD-3-Clause
// Attributes of a container's objects: ours, and copies of those that the program wrote.
#pragma once

#include <hdf5.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "aggregation/merge/datatypes.hpp"
#include "aggregation/merge/owned_id.hpp"
#include "aggregation/merge/part_inventory.hpp"
#include "codecs/base/result.hpp"

namespace mcr::aggregation {

/// Makes an error from HDF5's error stack, whose deepest entry names the error of the operating
/// system.
Error hdf5_write_error(const std::string& what);

/// Creates a string type of `bytes` bytes (at least 1).
OwnedId text_type(std::size_t bytes);

Result<void> write_text(hid_t object, const char* name, const std::string& text);
/// Writes a number, in 32 bits if it fits.
Result<void> write_number(hid_t object, const char* name, std::uint64_t number);
/// Writes an array in the smallest type that holds its values: 32 ranks need 32 bytes.
Result<void> write_numbers(hid_t object, const char* name,
                           const std::vector<std::uint64_t>& numbers);
/// Copies an attribute as the program wrote it, unless the object already has an attribute of that
/// name.
Result<void> copy_attribute(hid_t object, const Datatypes& types, const AttributeValue& attribute);

}  // namespace mcr::aggregation
