// SPDX-License-Identifier: BSD-3-Clause
// Class and messages are registered for each push and closed right after. HDF5's error stack holds
// references of its own, and ids in static variables would be invalid after H5close().
#include "vol/binding/error_stack.hpp"

#include "restart/base/printable.hpp"
#include "vol/binding/id.hpp"

namespace mcr::vol {

void push_error(const char* function, const Error& error) {
  Id error_class(hdf5.H5Eregister_class("mcr", "mcr", "0"));
  Id major(hdf5.H5Ecreate_msg(error_class.get(), H5E_MAJOR, "mcr"));
  Id minor(hdf5.H5Ecreate_msg(error_class.get(), H5E_MINOR,
                              error.cause == Cause::usage         ? "bad setting or use"
                              : error.cause == Cause::damaged     ? "damaged data"
                              : error.cause == Cause::unsupported ? "not supported"
                                                                  : "system error"));
  if (!error_class || !major || !minor) return;
  hdf5.H5Epush2(H5E_DEFAULT, "mcr", function, 0, error_class.get(), major.get(), minor.get(), "%s",
                restart::printable(error.message).c_str());
  // Preserve the stack, because closing our ids would clear it.
  const KeptErrors kept;
  minor = Id();
  major = Id();
  error_class = Id();
}

KeptErrors::KeptErrors() : stack_(hdf5.H5Eget_current_stack()) {}

KeptErrors::~KeptErrors() {
  if (stack_ >= 0) hdf5.H5Eset_current_stack(stack_);  // closes the id
}

QuietErrors::QuietErrors() {
  hdf5.H5Eauto_is_v2(H5E_DEFAULT, &is_version_2_);
  if (is_version_2_ != 0) {
    hdf5.H5Eget_auto2(H5E_DEFAULT, &handler2_, &data_);
    hdf5.H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  } else if (hdf5.H5Eset_auto1 != nullptr) {
    hdf5.H5Eget_auto1(&handler1_, &data_);
    hdf5.H5Eset_auto1(nullptr, nullptr);
  }
}

QuietErrors::~QuietErrors() {
  if (is_version_2_ != 0) {
    hdf5.H5Eset_auto2(H5E_DEFAULT, handler2_, data_);
  } else if (hdf5.H5Eset_auto1 != nullptr) {
    hdf5.H5Eset_auto1(handler1_, data_);
  }
}

}  // namespace mcr::vol
