// SPDX-License-Identifier: BSD-3-Clause
// What the file driver that a program chose would do with a native file, because a stub opened with
// that driver must end in the same way: the same bytes read, and writes where the program wants them.
#pragma once

#include <cstddef>

#include "vol/binding/host_hdf5.hpp"

namespace mcr::vol {

enum class DriverKind {
  standard,    ///< sec2, HDF5's default
  ours,        ///< the list of a file that is open through our driver
  same_file,   ///< stdio, log and direct: they read and write the one file as sec2 does
  memory,      ///< core: the file is loaded, and written back only with a backing store
  reads_file,  ///< reads what sec2 reads; where its writes go, is its own business (mpio, mirror,
               ///< drivers of users)
  other,       ///< family, multi, splitter, onion and what else keeps a file in a form of its own
};

/// How the core driver treats a file; the fields of H5Pset_fapl_core and H5Pset_core_write_tracking.
struct CoreSettings {
  std::size_t increment = 0;
  hbool_t has_backing_store = false;
  hbool_t tracks_writes = false;
  std::size_t page_bytes = 0;
};

/// The driver as a program's list names it. Copied byte by byte inside property lists.
struct ChosenDriver {
  DriverKind kind = DriverKind::standard;
  H5FD_class_value_t value = H5_VFD_SEC2;  ///< of a same_file driver
  CoreSettings core;                       ///< of a memory driver
};

ChosenDriver chosen_driver(hid_t access_list);

/// True if the list names sec2: the one question that is asked for each file, and the cheapest.
bool has_default_driver(hid_t access_list);
/// To be called when HDF5 ends: ids of drivers mean nothing afterwards.
void forget_default_driver();

/// Puts the chosen driver into the list, for a program that asks what it opened the file with.
void set_chosen_driver(hid_t access_list, const ChosenDriver& driver);

}  // namespace mcr::vol
