// SPDX-License-Identifier: BSD-3-Clause
// An Error of ours as an entry of HDF5's error stack, where programs and their users look for it.
#pragma once

#include "codecs/base/result.hpp"
#include "vol/binding/host_hdf5.hpp"

namespace mcr::vol {

/// Pushes the message; `function` is what the entry says failed.
void push_error(const char* function, const Error& error);

/// Keeps what a native row left in the error stack over calls of HDF5's own functions, each of
/// which begins by clearing it.
class KeptErrors {
 public:
  KeptErrors();
  ~KeptErrors();
  KeptErrors(const KeptErrors&) = delete;
  KeptErrors& operator=(const KeptErrors&) = delete;

 private:
  hid_t stack_;
};

}  // namespace mcr::vol
