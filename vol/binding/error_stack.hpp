// SPDX-License-Identifier: BSD-3-Clause
// Puts an Error of ours on HDF5's error stack, where programs and their users look for it.
#pragma once

#include "codecs/base/result.hpp"
#include "vol/binding/host_hdf5.hpp"

namespace mcr::vol {

/// Pushes the message; `function` is what the entry says failed.
void push_error(const char* function, const Error& error);

/// Keeps what a native row left in the error stack across calls of HDF5's own functions, because each
/// of these clears the stack first.
class KeptErrors {
 public:
  KeptErrors();
  ~KeptErrors();
  KeptErrors(const KeptErrors&) = delete;
  KeptErrors& operator=(const KeptErrors&) = delete;

 private:
  hid_t stack_;
};

/// For calls of HDF5's functions that may fail while the program's own call succeeds: hides their
/// errors from the program's error handler (H5Eset_auto) and its error stack.
class QuietErrors {
 public:
  QuietErrors();
  ~QuietErrors();
  QuietErrors(const QuietErrors&) = delete;
  QuietErrors& operator=(const QuietErrors&) = delete;

 private:
  KeptErrors kept_;
  unsigned is_version_2_ = 1;  // which of the two kinds of handler the program has set
  H5E_auto2_t handler2_ = nullptr;
  FirstErrorHandler handler1_ = nullptr;
  void* data_ = nullptr;
};

}  // namespace mcr::vol
