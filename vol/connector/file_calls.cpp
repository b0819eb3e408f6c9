// SPDX-License-Identifier: BSD-3-Clause
#include "vol/connector/file_calls.hpp"

#include <string_view>

#include "vol/binding/error_stack.hpp"
#include "vol/binding/id.hpp"
#include "vol/connector/connector.hpp"
#include "vol/driver/driver.hpp"

namespace mcr::vol {

namespace {

// Calls `with_list` with our driver in the list. Where the operating system refused the file,
// native HDF5 is asked once more with the program's own list: it fails in its own words (h5py makes
// FileNotFoundError and FileExistsError from the errno in them).
template <typename Call>
void* call_with_driver(hid_t access_list, const CapturePlan* plan, Call with_list) {
  const Id list = list_with_driver(access_list, plan);
  if (!list) return with_list(access_list);
  forget_refusal();
  void* file = with_list(list.get());
  if (file != nullptr || !refused_by_system()) return file;
  hdf5.H5Eclear2(H5E_DEFAULT);
  return with_list(access_list);
}

}  // namespace

void* file_create(const char* name, unsigned flags, hid_t create_list, hid_t access_list,
                  hid_t transfer_list, void** request) {
  const auto native = [&](hid_t list) {
    return native_class().file_cls.create(name, flags, create_list, list, transfer_list, request);
  };
  if (!has_default_driver(access_list)) return native(access_list);
  return call_with_driver(access_list, nullptr, native);
}

void* file_open(const char* name, unsigned flags, hid_t access_list, hid_t transfer_list,
                void** request) {
  const auto native = [&](hid_t list) {
    return native_class().file_cls.open(name, flags, list, transfer_list, request);
  };
  if (!has_default_driver(access_list)) return native(access_list);
  return call_with_driver(access_list, nullptr, native);
}

herr_t file_get(void* file, H5VL_file_get_args_t* arguments, hid_t transfer_list, void** request) {
  const herr_t status = native_class().file_cls.get(file, arguments, transfer_list, request);
  if (status < 0 || arguments->op_type != H5VL_FILE_GET_FAPL) return status;
  // The program sees the driver that it asked for.
  if (has_our_driver(arguments->args.get_fapl.fapl_id))
    hdf5.H5Pset_fapl_sec2(arguments->args.get_fapl.fapl_id);
  return status;
}

herr_t file_specific(void* file, H5VL_file_specific_args_t* arguments, hid_t transfer_list,
                     void** request) {
  return native_class().file_cls.specific(file, arguments, transfer_list, request);
}

herr_t file_optional(void* file, H5VL_optional_args_t* arguments, hid_t transfer_list,
                     void** request) {
  return native_class().file_cls.optional(file, arguments, transfer_list, request);
}

}  // namespace mcr::vol
