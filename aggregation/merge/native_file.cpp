// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/merge/native_file.hpp"

#include <sys/stat.h>

#include "restart/format/journal.hpp"

namespace mcr::aggregation {
namespace {

/// True for the bytes of a small part. Their file has no name, and HDF5's own driver refuses a file
/// without a name. So the file is read into memory, with a driver that needs no name.
bool is_small_and_nameless(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && status.st_nlink == 0 &&
         static_cast<std::uint64_t>(status.st_size) <= restart::max_content_bytes;
}

}  // namespace

Result<OwnedId> open_natively(const std::string& path) {
  // Keeps HDF5 from printing errors about a file that does not open. Also keeps it from loading
  // plugins that the user's environment names, ours included.
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  unsigned directories = 0;
  while (H5PLsize(&directories) >= 0 && directories > 0 && H5PLremove(0) >= 0) {
  }
  const OwnedId access(H5Pcreate(H5P_FILE_ACCESS));
  const OwnedId native(H5VLget_connector_id_by_name("native"));
  if (!access.is_valid() || H5Pset_vol(access.get(), native.get(), nullptr) < 0 ||
      (is_small_and_nameless(path)
           ? H5Pset_fapl_core(access.get(), restart::max_content_bytes, false)
           : H5Pset_fapl_sec2(access.get())) < 0 ||
      H5Pset_fclose_degree(access.get(), H5F_CLOSE_STRONG) < 0 ||
      H5Pset_file_locking(access.get(), false, true) < 0) {
    return Error{Cause::damaged, "HDF5 could not make a file access property list"};
  }
  OwnedId file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.get()));
  if (!file.is_valid()) return Error{Cause::damaged, "HDF5 does not open it"};
  return file;
}

}  // namespace mcr::aggregation
