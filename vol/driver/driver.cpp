// SPDX-License-Identifier: BSD-3-Clause
// Flags, feature bits and the order of checks follow HDF5's sec2 driver, because programs must not
// see a difference. HDF5 first opens a file tentatively (H5F_open). So a file must not change
// before it is opened with flags that allow a change, or written.
#include "vol/driver/driver.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <mutex>
#include <string>
#include <vector>

#include "restart/base/log.hpp"
#include "restart/format/hdf5_numbers.hpp"
#include "vol/binding/error_stack.hpp"
#include "vol/binding/guard.hpp"
#include "vol/binding/native_class.hpp"
#include "vol/capture/capture_plan.hpp"
#include "vol/capture/native_backend.hpp"
#include "vol/driver/memory_backend.hpp"
#include "vol/driver/open_path.hpp"
#include "vol/driver/planned_backend.hpp"

namespace mcr::vol {

namespace {

constexpr haddr_t address_limit = (haddr_t{1} << 63) - 1;

// An open file: HDF5's fields, then ours.
struct DriverFile : H5FD_t {
  std::unique_ptr<Backend> backend;
  haddr_t end_of_addresses = 0;
  MemoryBackend* memory = nullptr;  // the backend, if the program chose the core driver
  ChosenDriver chosen;
  int handle = -1;                      // H5Fget_vfd_handle points to it
  const void* memory_handle = nullptr;  // used instead for the core driver
  bool family_to_single = false;        // h5repart: ignore the superblock's driver information
};

// The driver's information in a property list, which copies it byte by byte.
struct DriverInfo {
  const CapturePlan* plan;
  ChosenDriver chosen;
};

constinit thread_local bool system_refused = false;
constinit thread_local int program_flushes = 0;
constinit thread_local int program_opens = 0;

// All open DriverFiles. HDF5 returns the address of a descriptor (H5Fget_vfd_handle); with this
// list, tell_driver() finds the file of ours that contains the address.
struct OpenFiles {
  std::mutex mutex;
  std::vector<DriverFile*> files;
};
OpenFiles& open_files() {
  // Never destroyed: HDF5 closes files after static destructors have run.
  static OpenFiles& files = *new OpenFiles;
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
  const FileIdentity identity(status);
  return std::unique_ptr<Backend>(std::make_unique<PlannedBackend>(identity));
}

DriverInfo info_of(hid_t access_list) {
  const auto* info = static_cast<const DriverInfo*>(hdf5.H5Pget_driver_info(access_list));
  return info == nullptr ? DriverInfo() : *info;
}

bool ignores_disabled_locks(hid_t access_list) {
  hbool_t use_locks = true;
  hbool_t ignore_disabled = false;
  hdf5.H5Pget_file_locking(access_list, &use_locks, &ignore_disabled);
  const char* variable = getenv("HDF5_USE_FILE_LOCKING");
  return variable == nullptr ? ignore_disabled : std::string_view(variable) == "BEST_EFFORT";
}

bool family_to_single_of(hid_t access_list) {
  hbool_t family_to_single = false;
  if (hdf5.H5Pexist(access_list, "family_to_single") > 0)
    hdf5.H5Pget(access_list, "family_to_single", &family_to_single);
  return family_to_single;
}

OpenRequest request_of(const char* name, unsigned flags, hid_t access_list,
                       const DriverInfo& info) {
  OpenRequest request;
  request.name = name;
  request.writable = (flags & H5F_ACC_RDWR) != 0;
  request.create = (flags & H5F_ACC_CREAT) != 0;
  request.truncate = (flags & H5F_ACC_TRUNC) != 0;
  request.exclusive = (flags & H5F_ACC_EXCL) != 0;
  request.swmr = (flags & H5F_ACC_SWMR_WRITE) != 0  ? SwmrRole::writer
                 : (flags & H5F_ACC_SWMR_READ) != 0 ? SwmrRole::reader
                                                    : SwmrRole::none;
  const bool stays_in_memory =
      info.chosen.kind == DriverKind::memory && !info.chosen.core.has_backing_store;
  request.writes_path = request.writable && !stays_in_memory;
  if (request.create) request.plan = info.plan;
  request.ignore_disabled_locks = ignores_disabled_locks(access_list);
  return request;
}

// True for HDF5's first, tentative open of an H5Fcreate. Only file_create() sets a plan, and it has
// looked at the path already, so this open need not look again.
bool is_tentative(const OpenRequest& request, const DriverInfo& info) {
  return info.plan != nullptr && !request.create;
}

Result<std::unique_ptr<Backend>> open_backend(const OpenRequest& request, const DriverInfo& info,
                                              DriverFile& file) {
  auto backend =
      is_tentative(request, info) ? planned(*info.plan->place.status) : open_path(request);
  if (!backend || info.chosen.kind != DriverKind::memory) return backend;
  auto loaded = MCR_TRY(MemoryBackend::load(*std::move(backend), info.chosen.core));
  file.memory = loaded.get();
  return std::unique_ptr<Backend>(std::move(loaded));
}

// HDF5 opens a file that another file names: the target of an external link, or a source of a virtual dataset. It takes a source
// that does not open for a missing one, shows fill values in its place, and tells the program nothing.
void warn_of_linked(const std::string& name, const Error& error) {
  restart::log_warning_once(
      "linked", "another file refers to " + name + ", which was not opened: " + error.message +
                    ". Where the file is a source of a virtual dataset, "
                    "HDF5 shows fill values instead of its data. Further such files "
                    "are not named");
}

H5FD_t* open(const char* name, unsigned flags, hid_t access_list, haddr_t max_address) {
  if (name == nullptr || *name == '\0' || max_address == 0 || max_address == HADDR_UNDEF)
    return nullptr;
  const DriverInfo info = info_of(access_list);
  const OpenRequest request = request_of(name, flags, access_list, info);
  if (is_tentative(request, info) && !info.plan->place.status) {
    system_refused = true;
    return nullptr;
  }
  auto file = std::make_unique<DriverFile>();
  file->family_to_single = family_to_single_of(access_list);
  auto backend = open_backend(request, info, *file);
  if (!backend) {
    if (backend.error().cause == Cause::system && backend.error().message.empty()) {
      system_refused = true;
    } else {
      push_error("mcr_open", backend.error());
      if (program_opens == 0) warn_of_linked(request.name, backend.error());
    }
    return nullptr;
  }
  file->backend = *std::move(backend);
  file->chosen = info.chosen;
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
  const Backend& one = *ours(left).backend;
  const Backend& other = *ours(right).backend;
  const auto order = one.identity() <=> other.identity();
  if (order != 0) return order < 0 ? -1 : 1;
  return one.content().is_same(other.content()) ? 0 : 1;  // HDF5 only tests for equality
}

herr_t query(const H5FD_t* file, unsigned long* flags) {
  if (flags == nullptr) return 0;
  *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
           H5FD_FEAT_AGGREGATE_SMALLDATA | H5FD_FEAT_POSIX_COMPAT_HANDLE |
           H5FD_FEAT_SUPPORTS_SWMR_IO | H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
  if (file != nullptr && ours(file).family_to_single) *flags |= H5FD_FEAT_IGNORE_DRVRINFO;
  return 0;
}

// Returns exactly the core driver's flags, so that H5Fflush and H5Fget_vfd_handle behave as with
// that driver.
herr_t query_memory(const H5FD_t* file, unsigned long* flags) {
  if (flags == nullptr) return 0;
  *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
           H5FD_FEAT_AGGREGATE_SMALLDATA;
  if (file == nullptr) return 0;
  if (ours(file).memory != nullptr && ours(file).memory->has_backing_store())
    *flags |= H5FD_FEAT_POSIX_COMPAT_HANDLE | H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
  if (ours(file).family_to_single) *flags |= H5FD_FEAT_IGNORE_DRVRINFO;
  return 0;
}

// HDF5 puts this information into the access list of an open file, for the program and for linked
// files. Like the core driver, it always reports a backing store for a file at a path.
void* driver_info(H5FD_t* file) {
  auto* const info = static_cast<DriverInfo*>(hdf5.H5allocate_memory(sizeof(DriverInfo), false));
  if (info == nullptr) return nullptr;
  *info = {nullptr, ours(file).chosen};
  info->chosen.core.has_backing_store = true;
  return info;
}

haddr_t get_eoa(const H5FD_t* file, H5FD_mem_t) { return ours(file).end_of_addresses; }

herr_t set_eoa(H5FD_t* file, H5FD_mem_t, haddr_t address) {
  ours(file).end_of_addresses = address;
  return 0;
}

haddr_t get_eof(const H5FD_t* file, H5FD_mem_t) { return ours(file).backend->size(); }

// True if HDF5 itself wants a descriptor from the core driver; a property of the list says so.
bool wants_descriptor(hid_t access_list) {
  hbool_t wanted = false;
  if (access_list <= 0 || hdf5.H5Pexist(access_list, "want_posix_fd") <= 0) return false;
  return hdf5.H5Pget(access_list, "want_posix_fd", &wanted) >= 0 && wanted;
}

herr_t get_handle(H5FD_t* file, hid_t access_list, void** handle) {
  if (handle == nullptr) return -1;
  DriverFile& own = ours(file);
  if (own.memory != nullptr && !wants_descriptor(access_list)) {
    own.memory_handle = own.memory->bytes();
    *handle = &own.memory_handle;
  } else {
    *handle = &own.handle;
  }
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
  DriverFile& own = ours(file);
  if (closing || program_flushes == 0)
    return own.memory == nullptr ? 0 : status_of("mcr_flush", own.memory->write_back());
  return status_of("mcr_flush", own.backend->flush());
}

herr_t truncate(H5FD_t* file, hid_t, hbool_t closing) {
  DriverFile& own = ours(file);
  if (own.memory != nullptr)
    return status_of("mcr_truncate", own.memory->resize(own.end_of_addresses, closing));
  return status_of("mcr_truncate", own.backend->truncate(own.end_of_addresses));
}

herr_t lock(H5FD_t* file, hbool_t exclusive) {
  return status_of("mcr_lock", ours(file).backend->lock(exclusive));
}

herr_t unlock(H5FD_t* file) { return status_of("mcr_unlock", ours(file).backend->unlock()); }

herr_t remove_file(const char* name, hid_t access_list) {
  const auto* info = static_cast<const DriverInfo*>(hdf5.H5Pget_driver_info(access_list));
  // A file of the core driver that is only in memory cannot be removed.
  if (info != nullptr && info->chosen.kind == DriverKind::memory &&
      !info->chosen.core.has_backing_store) {
    return 0;
  }
  return std::remove(name) == 0 ? 0 : -1;
}

herr_t control(H5FD_t*, uint64_t, uint64_t flags, const void*, void**) {
  return (flags & H5FD_CTL_FAIL_IF_UNKNOWN_FLAG) != 0 ? -1 : 0;
}

// The ids of our drivers in the host's HDF5. H5close makes them invalid and calls
// driver_terminate(); the next file registers the drivers anew.
constinit hid_t driver_id = H5I_INVALID_HID;
constinit hid_t memory_driver_id = H5I_INVALID_HID;

herr_t driver_terminate() {
  driver_id = H5I_INVALID_HID;
  forget_default_driver();
  return 0;
}

herr_t memory_driver_terminate() {
  memory_driver_id = H5I_INVALID_HID;
  return 0;
}

H5FD_class_t driver_class() {
  H5FD_class_t driver{};
  driver.version = H5FD_CLASS_VERSION;
  driver.value = restart::driver_value;
  driver.name = "mcr";
  driver.maxaddr = address_limit;
  driver.fc_degree = H5F_CLOSE_WEAK;
  driver.terminate = guarded<&driver_terminate>;
  driver.fapl_size = sizeof(DriverInfo);
  driver.fapl_get = guarded<&driver_info>;
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
  // Free lists as in sec2: metadata and raw data apart.
  const std::array<H5FD_mem_t, H5FD_MEM_NTYPES> free_lists = H5FD_FLMAP_DICHOTOMY;
  std::copy(free_lists.begin(), free_lists.end(), driver.fl_map);
  return driver;
}

// The driver for memory has a class of its own, because HDF5 shares an open file only between
// handles of the same class. What a program changes in memory must not appear in its other handles
// on the file.
H5FD_class_t memory_driver_class() {
  H5FD_class_t driver = driver_class();
  driver.value = restart::memory_driver_value;
  driver.name = "mcr_memory";
  driver.terminate = guarded<&memory_driver_terminate>;
  driver.query = guarded<&query_memory>;
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

hid_t registered_memory_driver() {
  if (memory_driver_id < 0 || hdf5.H5Iget_type(memory_driver_id) != H5I_VFL) {
    static constinit H5FD_class_t driver{};
    driver = memory_driver_class();
    memory_driver_id = hdf5.H5FDregister(&driver);
  }
  return memory_driver_id;
}

}  // namespace

Id list_with_driver(hid_t access_list, const CapturePlan* plan, const ChosenDriver& chosen) {
  const bool is_memory = chosen.kind == DriverKind::memory;
  Id list(hdf5.H5Pcopy(access_list));
  const DriverInfo info{plan, chosen};
  const hid_t driver = is_memory ? registered_memory_driver() : registered_driver();
  if (list && hdf5.H5Pset_driver(list.get(), driver, &info) < 0) return {};
  return list;
}

bool has_our_driver(hid_t access_list) {
  const hid_t driver = hdf5.H5Pget_driver(access_list);
  return driver >= 0 && (driver == driver_id || driver == memory_driver_id);
}

void show_chosen_driver(hid_t access_list) {
  const QuietErrors quiet;
  const auto* info = static_cast<const DriverInfo*>(hdf5.H5Pget_driver_info(access_list));
  const ChosenDriver chosen = info == nullptr ? ChosenDriver() : info->chosen;
  set_chosen_driver(access_list, chosen);
}

void follow_end_of_library() { registered_driver(); }

ProgramFlush::ProgramFlush() { ++program_flushes; }
ProgramFlush::~ProgramFlush() { --program_flushes; }

ProgramOpen::ProgramOpen() { ++program_opens; }
ProgramOpen::~ProgramOpen() { --program_opens; }

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
      if (&file->handle == handle || &file->memory_handle == handle) found = file;
    }
  }
  if (found == nullptr || found->memory != nullptr) return {};
  if (wish == FileWish::durable) {
    found->backend->require_durable();
    return {};
  }
  MCR_TRY(found->backend->make_native());
  found->handle = found->backend->descriptor();
  return {};
}

}  // namespace mcr::vol
