// SPDX-License-Identifier: BSD-3-Clause
// External links of programs that set the access properties of the linked file themselves
// (H5Pset_elink_fapl; h5py's elink_locking=). HDF5 opens the file with that list, not with its parent's
// driver, so a stub behind the link would not be understood.
#pragma once

#include "vol/connector/connector.hpp"

namespace mcr::vol {

/// Replaces the rows through which links are followed by name.
void follow_links_with_driver(H5VL_class_t& connector);

}  // namespace mcr::vol
