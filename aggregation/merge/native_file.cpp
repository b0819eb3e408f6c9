// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/merge/native_file.hpp"

namespace mcr::aggregation {

Result<OwnedId> open_natively(const std::string& path) {
  // A file that does not open must not make HDF5 print, or load every plugin that a user's
  // environment names, ours among them, into this process.
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  unsigned directories = 0;
  while (H5PLsize(&directories) >= 0 && directories > 0 && H5PLremove(0) >= 0) {
  }
  const OwnedId access(H5Pcreate(H5P_FILE_ACCESS));
  const OwnedId native(H5VLget_connector_id_by_name("native"));
  if (!access.is_valid() || H5Pset_vol(access.get(), native.get(), nullptr) < 0 ||
      H5Pset_fapl_sec2(access.get()) < 0 ||
      H5Pset_fclose_degree(access.get(), H5F_CLOSE_STRONG) < 0 ||
      H5Pset_file_locking(access.get(), false, true) < 0) {
    return Error{Cause::damaged, "HDF5: no file access property list"};
  }
  OwnedId file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.get()));
  if (!file.is_valid()) return Error{Cause::damaged, "HDF5: " + path + " does not open"};
  return file;
}

}  // namespace mcr::aggregation
