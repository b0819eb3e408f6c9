// SPDX-License-Identifier: BSD-3-Clause
// External links in programs that set the access properties of the linked file (H5Pset_elink_fapl;
// h5py's elink_locking=). HDF5 opens the linked file with that property list, not with the parent
// file's driver. Without our driver in the list, it could not read a stub behind the link.
#pragma once

#include "vol/connector/connector.hpp"

namespace mcr::vol {

/// Replaces the callbacks that follow links by name.
void follow_links_with_driver(H5VL_class_t& connector);

}  // namespace mcr::vol
