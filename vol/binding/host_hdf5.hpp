// SPDX-License-Identifier: BSD-3-Clause
// The functions of the HDF5 that loaded the plugin, as a table. The plugin links no libhdf5, so one
// binary works with every 1.14 and 2.x, whatever the library's name, symbol versions and scope.
#pragma once

#include <hdf5.h>
// hdf5.h must come before these three headers, which expect its types.
#include <H5FDdevelop.h>
#include <H5VLconnector.h>
#include <H5VLconnector_passthru.h>
#include <H5VLnative.h>

#include <string>

// Macros such as H5F_ACC_RDWR call these functions first, to initialise HDF5 and check its version.
#undef H5CHECK
#define H5CHECK
#undef H5OPEN
#define H5OPEN

namespace mcr::vol {

/// An error handler of H5Eset_auto1. Declared here, because HDF5's headers may have been built
/// without deprecated functions.
using FirstErrorHandler = herr_t (*)(void* data);

struct HostHdf5 {
#define MCR_HDF5_FUNCTION(name) decltype(&::name) name = nullptr;
#include "vol/binding/hdf5_functions.inc"
#undef MCR_HDF5_FUNCTION
  /// Null in a library without deprecated functions: there no program can set such a handler.
  herr_t (*H5Eget_auto1)(FirstErrorHandler* handler, void** data) = nullptr;
  herr_t (*H5Eset_auto1)(FirstErrorHandler handler, void* data) = nullptr;
};

/// Filled by bind_host() before any other code of the plugin runs.
extern constinit HostHdf5 hdf5;

enum class Binding {
  bound,  ///< `hdf5` is this library's
  other,  ///< another library is bound already: this one needs a private copy of the plugin
  /// The library does not export the functions that we use: it is too old, or linked into a program
  /// that exports no symbols.
  refused,
};

/// Binds `hdf5` to the library that contains the code at `caller`, unless another library is bound
/// already.
Binding bind_host(const void* caller);

/// Returns the file of the library or program that holds the code at `caller`; empty for the
/// program itself.
std::string host_file(const void* caller);

/// Returns what a private copy of the plugin, loaded for the libhdf5 of `caller`, answers to
/// H5PLget_plugin_info; null if no copy could be made. Two libhdf5 in one process (the wheels of
/// h5py and netCDF4 together) share one plugin file, but the plugin's state belongs to one of them.
const void* private_copy_plugin_info(const void* caller);

/// Returns the plugin's own file, symbolic links resolved; empty if the system does not say.
std::string plugin_file();

}  // namespace mcr::vol
