// SPDX-License-Identifier: BSD-3-Clause
// How the plugin notices that the process ends. Normally HDF5 ends first, by a function that it
// registered with atexit(), and ends the connector too. But a program that called H5dont_atexit(),
// or that ends by quick_exit(), never calls that function. So the plugin has a function of its own,
// which runs after HDF5's:
//
//   exit(), return from main   on_exit functions, then HDF5's (if registered), then finalizers of
//                              shared libraries, ours among them (the loader registered them first)
//   quick_exit()               at_quick_exit functions alone
//   _exit(), a signal          nothing; the leader goes on, and brings closed files to storage
//
// The plugin stays mapped until then (-z nodelete), and so does a private copy for a second
// libhdf5.
#pragma once

namespace mcr::vol {

/// Registers, once, the functions that record the exit status and that end the plugin at
/// quick_exit().
void watch_exit();

/// Returns the value that the program gave to exit() or returned from main. It is 0 before the
/// process begins to end, and if the program ends HDF5 itself. It is not 0 at quick_exit(), whose
/// status is unknown: a rank with an unknown status must not count as one that had nothing to
/// write.
[[nodiscard]] int exit_status();

}  // namespace mcr::vol
