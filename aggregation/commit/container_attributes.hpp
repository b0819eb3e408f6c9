// SPDX-License-Identifier: BSD-3-Clause
// Attributes of a container's objects: our own, and those that the program gave its own.
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

/// An error from HDF5's stack: the deepest entry says what the operating system said.
Error hdf5_write_error(const std::string& what);

/// Of so many bytes, at least one.
OwnedId text_type(std::size_t bytes);

Result<void> write_text(hid_t object, const char* name, const std::string& text);
/// In 32 bits where it fits.
Result<void> write_number(hid_t object, const char* name, std::uint64_t number);
/// An array in the smallest type that holds its values: 32 ranks need 32 bytes.
Result<void> write_numbers(hid_t object, const char* name,
                           const std::vector<std::uint64_t>& numbers);
/// As the program wrote it; one that does not fit a name that is already there is left out.
Result<void> copy_attribute(hid_t object, const Datatypes& types, const AttributeValue& attribute);

}  // namespace mcr::aggregation
