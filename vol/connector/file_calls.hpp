// SPDX-License-Identifier: BSD-3-Clause
// The connector's callbacks for files: create, open, get, specific, optional. Each does its work
// and calls the native callback that it replaced; HDF5's error stack stays as that callback left
// it.
#pragma once

#include "vol/binding/host_hdf5.hpp"

namespace mcr::vol {

void* file_create(const char* name, unsigned flags, hid_t create_list, hid_t access_list,
                  hid_t transfer_list, void** request);
void* file_open(const char* name, unsigned flags, hid_t access_list, hid_t transfer_list,
                void** request);
herr_t file_get(void* file, H5VL_file_get_args_t* arguments, hid_t transfer_list, void** request);
herr_t file_specific(void* file, H5VL_file_specific_args_t* arguments, hid_t transfer_list,
                     void** request);
herr_t file_optional(void* file, H5VL_optional_args_t* arguments, hid_t transfer_list,
                     void** request);

}  // namespace mcr::vol
