// SPDX-License-Identifier: BSD-3-Clause
// The native connector of the host's HDF5. Our connector is a copy of it with some callbacks
// replaced.
#pragma once

#include "restart/format/hdf5_numbers.hpp"
#include "vol/binding/host_hdf5.hpp"

namespace mcr::vol {

using restart::connector_name;
inline constexpr auto connector_value = static_cast<H5VL_class_value_t>(restart::connector_value);

/// Finds the class at the first call; null if its version is unknown to this build.
const H5VL_class_t* find_native_class();

/// Returns the class that find_native_class() found.
const H5VL_class_t& native_class();

}  // namespace mcr::vol
