// SPDX-License-Identifier: BSD-3-Clause
// Flags, feature bits and order of checks follow HDF5's sec2 driver, because programs must not see
// a difference. A file is opened tentatively and again (H5F_open), so nothing happens to a file
// before it is opened with the flags that say so, or written.
#include "vol/driver/driver.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <mutex>
#include <string>
#include <vector>

#include "vol/binding/error_stack.hpp"
#include "vol/connector/capture_plan.hpp"
#include "vol/connector/connector.hpp"
#include "vol/connector/guard.hpp"
#include "vol/driver/native_backend.hpp"
#include "vol/driver/open_path.hpp"
#include "vol/driver/planned_backend.hpp"

namespace mcr::vol {

namespace {

constexpr H5FD_class_value_t driver_value = 387;  // range for testing, as the connector's
constexpr haddr_t address_limit = (haddr_t{1} << 63) - 1;

// HDF5's part of an open file, ours behind it.
struct DriverFile : H5FD_t {
  std::unique_ptr<Backend> backend;
  haddr_t end_of_addresses = 0;
  int handle = -1;                // what H5Fget_vfd_handle points to
  bool family_to_single = false;  // h5repart: ignore the driver information of the superblock
};

// What rides in a property list as the driver's information; copied byte by byte.
struct DriverInfo {
  const CapturePlan* plan;
};

constinit thread_local bool system_refused = false;
constinit thread_local int program_flushes = 0;

// All open DriverFiles, to know ours by the descriptor's address that native HDF5 gives.
struct OpenFiles {
  std::mutex mutex;
  std::vector<DriverFile*> files;
};
OpenFiles& open_files() {
  static OpenFiles& files = *new OpenFiles;  // never destroyed: files end after static destructors
  return files;
}

DriverFile& ours(H5FD_t* file) { return *static_cast<DriverFile*>(file); }
const DriverFile& ours(const H5FD_t* file) { return *static_cast<const DriverFile*>(file); }

herr_t status_of(const char* function, const Result<void>& result) {
  if (result) return 0;
  push_error(function, result.error());
  return -1;
}

Result<std::unique_ptr<Backend>> planned(const struct stat& status) {
  const FileIdentity identity{status.st_dev, status.st_ino};
  return std::unique_ptr<Backend>(std::make_unique<PlannedBackend>(identity));
}

H5FD_t* open(const char* name, unsigned flags, hid_t access_list, haddr_t max_address) {
  if (name == nullptr || *name == '\0' || max_address == 0 || max_address == HADDR_UNDEF)
    return nullptr;
  OpenRequest request;
  request.name = name;
  request.writable = (flags & H5F_ACC_RDWR) != 0;
  request.create = (flags & H5F_ACC_CREAT) != 0;
  request.truncate = (flags & H5F_ACC_TRUNC) != 0;
  request.exclusive = (flags & H5F_ACC_EXCL) != 0;
  request.swmr = (flags & (H5F_ACC_SWMR_WRITE | H5F_ACC_SWMR_READ)) != 0;
  // Only file_create gives a plan. It has looked: HDF5's first, tentative open needs no look of its
  // own.
  const auto* info = static_cast<const DriverInfo*>(hdf5.H5Pget_driver_info(access_list));
  const CapturePlan* plan = info == nullptr ? nullptr : info->plan;
  if (request.create) request.plan = plan;
  const bool is_tentative = plan != nullptr && !request.create;
  if (is_tentative && !plan->place.status) {
    system_refused = true;
    return nullptr;
  }
  hbool_t use_locks = true;
  hbool_t ignore_disabled = false;
  hdf5.H5Pget_file_locking(access_list, &use_locks, &ignore_disabled);
  const char* variable = getenv("HDF5_USE_FILE_LOCKING");
  if (variable != nullptr) ignore_disabled = std::string_view(variable) == "BEST_EFFORT";
  request.ignore_disabled_locks = ignore_disabled;

  auto file = std::make_unique<DriverFile>();
  if (hdf5.H5Pexist(access_list, "family_to_single") > 0) {
    hbool_t family_to_single = false;
    hdf5.H5Pget(access_list, "family_to_single", &family_to_single);
    file->family_to_single = family_to_single;
  }
  auto backend = is_tentative ? planned(*plan->place.status) : open_path(request);
  if (!backend) {
    if (backend.error().cause == Cause::system && backend.error().message.empty()) {
      system_refused = true;
    } else {
      push_error("mcr_open", backend.error());
    }
    return nullptr;
  }
  file->backend = std::move(*backend);
  file->handle = file->backend->descriptor();
  const std::lock_guard lock(open_files().mutex);
  open_files().files.push_back(file.get());
  return file.release();
}

herr_t close(H5FD_t* file) {
  const std::unique_ptr<DriverFile> owned(&ours(file));
  {
    const std::lock_guard lock(open_files().mutex);
    std::erase(open_files().files, owned.get());
  }
  return status_of("mcr_close", owned->backend->close());
}

int compare(const H5FD_t* left, const H5FD_t* right) {
  const auto order = ours(left).backend->identity() <=> ours(right).backend->identity();
  return order < 0 ? -1 : order > 0 ? 1 : 0;
}

herr_t query(const H5FD_t* file, unsigned long* flags) {
  if (flags == nullptr) return 0;
  *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
           H5FD_FEAT_AGGREGATE_SMALLDATA | H5FD_FEAT_POSIX_COMPAT_HANDLE |
           H5FD_FEAT_SUPPORTS_SWMR_IO | H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
  if (file != nullptr && ours(file).family_to_single) *flags |= H5FD_FEAT_IGNORE_DRVRINFO;
  return 0;
}

haddr_t get_eoa(const H5FD_t* file, H5FD_mem_t) { return ours(file).end_of_addresses; }

herr_t set_eoa(H5FD_t* file, H5FD_mem_t, haddr_t address) {
  ours(file).end_of_addresses = address;
  return 0;
}

haddr_t get_eof(const H5FD_t* file, H5FD_mem_t) { return ours(file).backend->size(); }

herr_t get_handle(H5FD_t* file, hid_t, void** handle) {
  if (handle == nullptr) return -1;
  *handle = &ours(file).handle;
  return 0;
}

bool outside(haddr_t address, std::size_t size) {
  return address == HADDR_UNDEF || address > address_limit || size > address_limit - address;
}

herr_t read(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t address, std::size_t size, void* buffer) {
  if (outside(address, size)) return -1;
  return status_of("mcr_read",
                   ours(file).backend->read(address, {static_cast<std::byte*>(buffer), size}));
}

herr_t write(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t address, std::size_t size,
             const void* buffer) {
  if (outside(address, size)) return -1;
  return status_of("mcr_write", ours(file).backend->write(
                                    address, {static_cast<const std::byte*>(buffer), size}));
}

herr_t flush(H5FD_t* file, hid_t, hbool_t closing) {
  if (closing || program_flushes == 0) return 0;
  return status_of("mcr_flush", ours(file).backend->flush());
}

herr_t truncate(H5FD_t* file, hid_t, hbool_t) {
  DriverFile& own = ours(file);
  return status_of("mcr_truncate", own.backend->truncate(own.end_of_addresses));
}

herr_t lock(H5FD_t* file, hbool_t exclusive) {
  return status_of("mcr_lock", ours(file).backend->lock(exclusive));
}

herr_t unlock(H5FD_t* file) { return status_of("mcr_unlock", ours(file).backend->unlock()); }

herr_t remove_file(const char* name, hid_t) { return std::remove(name) == 0 ? 0 : -1; }

herr_t control(H5FD_t*, uint64_t, uint64_t flags, const void*, void**) {
  return (flags & H5FD_CTL_FAIL_IF_UNKNOWN_FLAG) != 0 ? -1 : 0;
}

// Our driver's id in the host's HDF5, and sec2's. Both end with the library (H5close): HDF5 then
// calls driver_terminate, and the next file registers anew.
constinit hid_t driver_id = H5I_INVALID_HID;
constinit hid_t sec2_id = H5I_INVALID_HID;

herr_t driver_terminate() {
  driver_id = H5I_INVALID_HID;
  sec2_id = H5I_INVALID_HID;
  return 0;
}

H5FD_class_t driver_class() {
  H5FD_class_t driver{};
  driver.version = H5FD_CLASS_VERSION;
  driver.value = driver_value;
  driver.name = "mcr";
  driver.maxaddr = address_limit;
  driver.fc_degree = H5F_CLOSE_WEAK;
  driver.terminate = guarded<&driver_terminate>;
  driver.fapl_size = sizeof(DriverInfo);
  driver.open = guarded<&open>;
  driver.close = guarded<&close>;
  driver.cmp = guarded<&compare>;
  driver.query = guarded<&query>;
  driver.get_eoa = guarded<&get_eoa>;
  driver.set_eoa = guarded<&set_eoa>;
  driver.get_eof = guarded<&get_eof>;
  driver.get_handle = guarded<&get_handle>;
  driver.read = guarded<&read>;
  driver.write = guarded<&write>;
  driver.flush = guarded<&flush>;
  driver.truncate = guarded<&truncate>;
  driver.lock = guarded<&lock>;
  driver.unlock = guarded<&unlock>;
  driver.del = guarded<&remove_file>;
  driver.ctl = guarded<&control>;
  // sec2's: metadata and raw data apart.
  const std::array<H5FD_mem_t, H5FD_MEM_NTYPES> free_lists = H5FD_FLMAP_DICHOTOMY;
  std::copy(free_lists.begin(), free_lists.end(), driver.fl_map);
  return driver;
}

hid_t registered_driver() {
  if (driver_id < 0 || hdf5.H5Iget_type(driver_id) != H5I_VFL) {
    static constinit H5FD_class_t driver{};
    driver = driver_class();
    driver_id = hdf5.H5FDregister(&driver);
  }
  return driver_id;
}

}  // namespace

Id list_with_driver(hid_t access_list, const CapturePlan* plan) {
  Id list(hdf5.H5Pcopy(access_list));
  const DriverInfo info{plan};
  if (list && hdf5.H5Pset_driver(list.get(), registered_driver(), &info) < 0) return {};
  return list;
}

bool has_default_driver(hid_t access_list) {
  registered_driver();  // so that driver_terminate says when sec2_id ends
  if (sec2_id < 0) {
    const Id list(hdf5.H5Pcopy(access_list));
    if (!list || hdf5.H5Pset_fapl_sec2(list.get()) < 0) return false;
    sec2_id = hdf5.H5Pget_driver(list.get());
  }
  return hdf5.H5Pget_driver(access_list) == sec2_id;
}

bool has_our_driver(hid_t access_list) {
  return driver_id >= 0 && hdf5.H5Pget_driver(access_list) == driver_id;
}

bool has_plain_file_driver(hid_t access_list) {
  if (has_default_driver(access_list) || has_our_driver(access_list)) return true;
  const hid_t driver = hdf5.H5Pget_driver(access_list);
  unsigned long features = 0;
  if (hdf5.H5FDdriver_query(driver, &features) >= 0 &&
      (features & H5FD_FEAT_DEFAULT_VFD_COMPATIBLE) != 0) {
    return true;
  }
  // The core driver says so only of a file that is open.
  const Id list(hdf5.H5Pcopy(access_list));
  constexpr std::size_t increment = 64 * 1024;
  return list && hdf5.H5Pset_fapl_core(list.get(), increment, false) >= 0 &&
         hdf5.H5Pget_driver(list.get()) == driver;
}

ProgramFlush::ProgramFlush() { ++program_flushes; }
ProgramFlush::~ProgramFlush() { --program_flushes; }

bool refused_by_system() { return system_refused; }
void forget_refusal() { system_refused = false; }

Result<void> tell_driver(void* native_file, FileWish wish) {
  void* handle = nullptr;
  H5VL_native_file_optional_args_t native_arguments{};
  native_arguments.get_vfd_handle.fapl_id = H5P_DEFAULT;
  native_arguments.get_vfd_handle.file_handle = &handle;
  H5VL_optional_args_t arguments{};
  arguments.op_type = H5VL_NATIVE_FILE_GET_VFD_HANDLE;
  arguments.args = &native_arguments;
  if (native_class().file_cls.optional(native_file, &arguments, H5P_DEFAULT, nullptr) < 0)
    return {};
  DriverFile* found = nullptr;
  {
    const std::lock_guard lock(open_files().mutex);
    for (DriverFile* file : open_files().files) {
      if (&file->handle == handle) found = file;
    }
  }
  if (found == nullptr) return {};
  if (wish == FileWish::durable) {
    found->backend->require_durable();
    return {};
  }
  MCR_TRY(found->backend->make_native());
  found->handle = found->backend->descriptor();
  return {};
}

}  // namespace mcr::vol
