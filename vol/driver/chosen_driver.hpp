// SPDX-License-Identifier: BSD-3-Clause
// How the file driver that a program chose treats a native file. A stub that is opened with that
// driver must behave the same: the same bytes are read, and writes go where that driver would put
// them.
#pragma once

#include <cstddef>

#include "vol/binding/host_hdf5.hpp"

namespace mcr::vol {

enum class DriverKind {
  standard,    ///< sec2, HDF5's default
  ours,        ///< the list comes from a file that is open with our driver
  same_file,   ///< stdio, log and direct: they read and write the file at the path as sec2 does
  memory,      ///< core: the file is loaded, and written back only with a backing store
  reads_file,  ///< reads like sec2, but its writes may go elsewhere (mpio, mirror,
               ///< drivers of users)
  other,       ///< family, multi, splitter, onion and others with a file format of their own
};

/// How the core driver treats a file; the fields of H5Pset_fapl_core and
/// H5Pset_core_write_tracking.
struct CoreSettings {
  std::size_t increment = 0;
  hbool_t has_backing_store = false;
  hbool_t tracks_writes = false;
  std::size_t page_bytes = 0;
};

/// The driver as named by a program's list. Property lists copy it byte by byte.
struct ChosenDriver {
  DriverKind kind = DriverKind::standard;
  H5FD_class_value_t value = H5_VFD_SEC2;  ///< for same_file
  CoreSettings core;                       ///< for memory
  bool is_parallel = false;                ///< MPI-IO: the ranks of a communicator share the file
};

ChosenDriver chosen_driver(hid_t access_list);

/// True if the list names sec2. Cheap, because it is called for each file.
bool has_default_driver(hid_t access_list);
/// Call it when HDF5 ends: ids of drivers are invalid afterwards.
void forget_default_driver();

/// Puts the chosen driver into the list, for a program that asks which driver opened the file.
void set_chosen_driver(hid_t access_list, const ChosenDriver& driver);

}  // namespace mcr::vol
