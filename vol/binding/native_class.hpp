// SPDX-License-Identifier: BSD-3-Clause
// The native connector of the host's HDF5. Our connector is a copy of it with some callbacks
// replaced.
#pragma once

#include "vol/binding/host_hdf5.hpp"

namespace mcr::vol {

inline constexpr const char* connector_name = "mcr";
/// From HDF5's range for testing (256 to 511), until a number is registered.
inline constexpr H5VL_class_value_t connector_value = static_cast<H5VL_class_value_t>(387);

/// Finds the class at the first call; null if its version is unknown to this build.
const H5VL_class_t* find_native_class();

/// Returns the class that find_native_class() found.
const H5VL_class_t& native_class();

}  // namespace mcr::vol
