// SPDX-License-Identifier: BSD-3-Clause
// Our H5VL_class_t: a copy of the native connector's class with some callbacks replaced. Objects
// are the native connector's own, without a wrapper. So our code need not follow changes of HDF5's
// other callbacks, and HDF5 2.x, which registers a discovered file with the native connector, gets
// the objects that it expects.
#pragma once

#include "vol/binding/native_class.hpp"

namespace mcr::vol {

/// Returns our class; refused_class() if the host's native connector has another version.
const H5VL_class_t* connector_class();

/// Returns a class that HDF5 skips silently, because no HDF5 has its version.
const H5VL_class_t* refused_class();

}  // namespace mcr::vol
