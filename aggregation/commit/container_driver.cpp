// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/commit/container_driver.hpp"

#include <H5FDdevelop.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <new>
#include <utility>

#include "restart/format/hdf5_numbers.hpp"

namespace mcr::aggregation {

/// The callbacks of HDF5's interface for file drivers (H5FD_class_t).
struct ContainerDriver {
  struct Handle : H5FD_t {
    ContainerFile* file = nullptr;
    haddr_t end_of_addresses = 0;
  };
  static Handle& handle(H5FD_t* file) { return *static_cast<Handle*>(file); }
  static const Handle& handle(const H5FD_t* file) { return *static_cast<const Handle*>(file); }

  static H5FD_t* open(const char*, unsigned flags, hid_t access_list, haddr_t) {
    const auto* const file = static_cast<ContainerFile* const*>(H5Pget_driver_info(access_list));
    if (file == nullptr) return nullptr;
    if ((flags & H5F_ACC_TRUNC) != 0) {
      if (!(*file)->file_.truncate(0)) return nullptr;
      (*file)->end_ = 0;
    }
    auto* const made = new (std::nothrow) Handle{};  // no exception may pass through HDF5
    if (made != nullptr) made->file = *file;
    return made;
  }
  static herr_t close(H5FD_t* file) {
    const std::unique_ptr<Handle> owned(&handle(file));
    return 0;
  }
  static int compare(const H5FD_t* left, const H5FD_t* right) {
    const ContainerFile* const one = handle(left).file;
    const ContainerFile* const other = handle(right).file;
    return one == other ? 0 : std::less<>()(one, other) ? -1 : 1;
  }
  static herr_t query(const H5FD_t*, unsigned long* flags) {
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
             H5FD_FEAT_AGGREGATE_SMALLDATA | H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
    return 0;
  }
  static haddr_t get_eoa(const H5FD_t* file, H5FD_mem_t) { return handle(file).end_of_addresses; }
  static herr_t set_eoa(H5FD_t* file, H5FD_mem_t, haddr_t address) {
    handle(file).end_of_addresses = address;
    return 0;
  }
  static haddr_t get_eof(const H5FD_t* file, H5FD_mem_t) { return handle(file).file->end_; }

  static herr_t read(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t address, std::size_t size,
                     void* buffer) {
    const ContainerFile& own = *handle(file).file;
    const MutableByteSpan wanted(static_cast<std::byte*>(buffer), size);
    const std::size_t there =
        address >= own.end_ ? 0 : std::min<std::uint64_t>(size, own.end_ - address);
    std::fill(wanted.begin() + static_cast<std::ptrdiff_t>(there), wanted.end(), std::byte{0});
    return own.file_.read_at(address, wanted.first(there)) ? 0 : -1;
  }
  static herr_t write(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t address, std::size_t size,
                      const void* buffer) {
    handle(file).file->write(address, {static_cast<const std::byte*>(buffer), size});
    return 0;  // whatever happened: see ContainerFile::error()
  }
  static herr_t truncate(H5FD_t* file, hid_t, hbool_t) {
    const Handle& own = handle(file);
    if (own.end_of_addresses == own.file->end_) return 0;
    own.file->keep(own.file->file_.truncate(own.end_of_addresses));
    own.file->end_ = own.end_of_addresses;
    return 0;
  }

  static H5FD_class_t description() {
    H5FD_class_t driver{};
    driver.version = H5FD_CLASS_VERSION;
    driver.value = restart::container_driver_value;
    driver.name = "mcr_container";
    driver.maxaddr = (haddr_t{1} << 63) - 1;
    driver.fc_degree = H5F_CLOSE_STRONG;
    driver.fapl_size = sizeof(ContainerFile*);
    driver.open = open;
    driver.close = close;
    driver.cmp = compare;
    driver.query = query;
    driver.get_eoa = get_eoa;
    driver.set_eoa = set_eoa;
    driver.get_eof = get_eof;
    driver.read = read;
    driver.write = write;
    driver.truncate = truncate;
    // Free lists as in sec2: metadata and raw data apart.
    const std::array<H5FD_mem_t, H5FD_MEM_NTYPES> free_lists = H5FD_FLMAP_DICHOTOMY;
    std::copy(free_lists.begin(), free_lists.end(), driver.fl_map);
    return driver;
  }
};

bool ContainerFile::choose_for(hid_t access_list) {
  static const H5FD_class_t description = ContainerDriver::description();
  static const hid_t driver = H5FDregister(&description);
  ContainerFile* const self = this;
  return driver >= 0 && H5Pset_driver(access_list, driver, &self) >= 0;
}

std::optional<std::uint64_t> ContainerFile::take_place() {
  expected_ = {};
  return std::exchange(place_, std::nullopt);
}

void ContainerFile::write(std::uint64_t address, ByteSpan data) {
  end_ = std::max(end_, address + data.size());
  if (!data.empty() && data.data() == expected_.data() && data.size() == expected_.size()) {
    place_ = address;
    return;
  }
  if (!error_) keep(file_.write_at(address, data));
}

void ContainerFile::keep(const Result<void>& result) {
  if (!result && !error_) error_ = result.error();
}

}  // namespace mcr::aggregation
