// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/mcr/open_container.hpp"

#include <fcntl.h>
#include <hdf5.h>

#include "aggregation/merge/owned_id.hpp"
#include "codecs/base/checksum.hpp"
#include "restart/base/file.hpp"
#include "restart/format/index.hpp"

namespace mcr::aggregation {
namespace {

constexpr std::uint64_t most_directory_bytes = 1U << 24;

/// The user block that an HDF5 program copied as it is still says what the index began with; HDF5
/// knows where the index lies now.
bool was_written_anew(const std::string& name) {
  const auto file = restart::File::open(AT_FDCWD, name, O_RDONLY);
  Bytes head(restart::UserBlock::bytes);
  if (!file || !file->read_at(0, head)) return false;
  const auto block = restart::read_user_block(head);
  if (!block || block->directory_bytes > most_directory_bytes) return false;
  bool same = false;
  H5E_BEGIN_TRY {
    const OwnedId container(H5Fopen(name.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
    const OwnedId index(H5Dopen2(container.get(), "index", H5P_DEFAULT));
    const OwnedId space(H5Dget_space(index.get()));
    const hsize_t begin = 0;
    const hsize_t count = block->directory_bytes;
    const OwnedId memory(H5Screate_simple(1, &count, nullptr));
    Bytes directory(static_cast<std::size_t>(count));
    same =
        H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, &begin, nullptr, &count, nullptr) >= 0 &&
        H5Dread(index.get(), H5T_NATIVE_UCHAR, memory.get(), space.get(), H5P_DEFAULT,
                directory.data()) >= 0 &&
        checksum(directory) == block->directory_checksum;
  }
  H5E_END_TRY
  return same;
}

}  // namespace

Result<std::shared_ptr<restart::ContainerReader>> open_container(const std::string& name) {
  auto container = restart::ContainerReader::open(AT_FDCWD, name);
  if (container || container.error().cause != Cause::damaged || !was_written_anew(name)) {
    return container;
  }
  return Error{Cause::unsupported,
               name +
                   ": another program, such as h5repack, has written this container anew; HDF5 "
                   "reads its datasets, rank files come from the original alone"};
}

}  // namespace mcr::aggregation
