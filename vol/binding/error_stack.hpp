// SPDX-License-Identifier: BSD-3-Clause
// Puts an Error of ours on HDF5's error stack, where programs and their users look for it.
#pragma once

#include "codecs/base/result.hpp"
#include "vol/binding/host_hdf5.hpp"

namespace mcr::vol {

/// Pushes the message; the entry names `function` as the one that failed.
void push_error(const char* function, const Error& error);

/// Preserves HDF5's error stack across calls of HDF5's functions, because each of these calls
/// clears the stack first. The entries come from a native callback and belong to the program.
class KeptErrors {
 public:
  KeptErrors();
  ~KeptErrors();
  KeptErrors(const KeptErrors&) = delete;
  KeptErrors& operator=(const KeptErrors&) = delete;

 private:
  hid_t stack_;
};

/// Hides errors from the program's error handler (H5Eset_auto) and error stack. For our calls of
/// HDF5's functions that may fail while the program's own call succeeds.
class QuietErrors {
 public:
  QuietErrors();
  ~QuietErrors();
  QuietErrors(const QuietErrors&) = delete;
  QuietErrors& operator=(const QuietErrors&) = delete;

 private:
  KeptErrors kept_;
  unsigned is_version_2_ = 1;  // which kind of handler the program has set
  H5E_auto2_t handler2_ = nullptr;
  FirstErrorHandler handler1_ = nullptr;
  void* data_ = nullptr;
};

}  // namespace mcr::vol
