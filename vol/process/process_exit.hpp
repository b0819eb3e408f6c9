// SPDX-License-Identifier: BSD-3-Clause
// How the process ends. Normally HDF5 ends first, by a function that it gave to atexit(), and ends
// the connector with it. A program that called H5dont_atexit() or that ends by quick_exit() never
// comes there, so the plugin has an end of its own, which runs after HDF5's:
//
//   exit(), return from main   on_exit functions, then HDF5's (if registered), then finalizers of
//                              shared libraries, ours among them (the loader registered them first)
//   quick_exit()               at_quick_exit functions alone
//   _exit(), a signal          nothing; the leader goes on, and brings closed files to storage
//
// The plugin stays mapped until then (-z nodelete), a private copy for a second libhdf5 too.
#pragma once

namespace mcr::vol {

/// Registers what notes the process's exit status, and what ends the plugin at quick_exit(). Once.
void watch_exit();

/// What the program gave to exit(), or returned from main. 0 while the process has not begun to end
/// or where the program ends HDF5 itself; not 0 at quick_exit(), which does not tell it: a rank
/// whose status is not known must not count as one that had nothing to write.
[[nodiscard]] int exit_status();

}  // namespace mcr::vol
