// SPDX-License-Identifier: BSD-3-Clause
// The native connector of the host's HDF5, of which ours is a copy with rows of its own.
#pragma once

#include "vol/binding/host_hdf5.hpp"

namespace mcr::vol {

inline constexpr const char* connector_name = "mcr";
/// From the range for testing (256 to 511) until a number is registered.
inline constexpr H5VL_class_value_t connector_value = static_cast<H5VL_class_value_t>(387);

/// Looked up at the first call; null where it is of a version that is not known here.
const H5VL_class_t* find_native_class();

/// What was found.
const H5VL_class_t& native_class();

}  // namespace mcr::vol
