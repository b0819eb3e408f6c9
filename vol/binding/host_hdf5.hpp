// SPDX-License-Identifier: BSD-3-Clause
// The HDF5 that loaded us, as a table of its functions. The plugin links no libhdf5: one binary
// works in every 1.14 and 2.x, whatever its name, its symbol versions and the scope into which it
// was loaded.
#pragma once

#include <hdf5.h>
// hdf5.h before these three: they expect its types.
#include <H5FDdevelop.h>
#include <H5VLconnector.h>
#include <H5VLconnector_passthru.h>
#include <H5VLnative.h>

#include <string>

// Flags such as H5F_ACC_RDWR call these first, in a program: to initialise HDF5 and to check its
// version.
#undef H5CHECK
#define H5CHECK
#undef H5OPEN
#define H5OPEN

namespace mcr::vol {

/// An error handler of H5Eset_auto1. HDF5's headers may have been built without deprecated functions.
using FirstErrorHandler = herr_t (*)(void* data);

struct HostHdf5 {
#define MCR_HDF5_FUNCTION(name) decltype(&::name) name = nullptr;
#include "vol/binding/hdf5_functions.inc"
#undef MCR_HDF5_FUNCTION
  /// Null in a library without deprecated functions, where no program can set such a handler.
  herr_t (*H5Eget_auto1)(FirstErrorHandler* handler, void** data) = nullptr;
  herr_t (*H5Eset_auto1)(FirstErrorHandler handler, void* data) = nullptr;
};

/// Filled by bind_host; nothing of the plugin runs before that.
extern constinit HostHdf5 hdf5;

enum class Binding {
  bound,    ///< `hdf5` is this library's
  other,    ///< another library is bound already: its private copy answers
  refused,  ///< the library does not show the functions in use: too old, or linked into a program
            ///< that exports no symbols
};

/// Binds to the library that holds the code at `caller`, the first time that one can be bound.
Binding bind_host(const void* caller);

/// The file of the library or program that holds the code at `caller`; empty for the program itself.
std::string host_file(const void* caller);

/// What another copy of the plugin, loaded for the libhdf5 of `caller`, answers to
/// H5PLget_plugin_info; null where none could be made. Two libhdf5 in one process (the wheels of
/// h5py and netCDF4 together) share one plugin file, and all state of ours belongs to one of them.
const void* private_copy_plugin_info(const void* caller);

/// The plugin's own file, symbolic links resolved; empty where the system does not say.
std::string plugin_file();

}  // namespace mcr::vol
