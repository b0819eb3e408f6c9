// SPDX-License-Identifier: BSD-3-Clause
// The two functions that HDF5 looks up in a plugin, and the only symbols that it exports. HDF5
// calls them for every plugin on its path, in every program whose open failed: silent, and nothing
// but a look at the caller.
#include "vol/binding/host_hdf5.hpp"
#include "vol/connector/connector.hpp"

// H5PLextern.h would declare both without visibility.
extern "C" {

__attribute__((visibility("default"))) H5PL_type_t H5PLget_plugin_type() { return H5PL_TYPE_VOL; }

__attribute__((visibility("default"))) const void* H5PLget_plugin_info() {
  const void* caller = __builtin_return_address(0);
  try {
    if (mcr::vol::bind_host(caller)) return mcr::vol::connector_class();
    if (const void* copied = mcr::vol::private_copy_plugin_info(caller)) return copied;
  } catch (...) {
  }
  return mcr::vol::refused_class();
}
}
