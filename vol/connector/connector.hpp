// SPDX-License-Identifier: BSD-3-Clause
// H5VL_class_t: the native connector's class copied, with rows of ours in place. Objects stay the
// native connector's own; nothing is wrapped, so nothing has to keep in step with HDF5's callbacks,
// and HDF5 2.x, which registers a discovered file with the native connector, meets what it expects.
#pragma once

#include "vol/binding/native_class.hpp"

namespace mcr::vol {

/// Our class; refused_class() where the host's native connector is of another version.
const H5VL_class_t* connector_class();

/// A class that HDF5 passes over without a word: its version is none.
const H5VL_class_t* refused_class();

}  // namespace mcr::vol
