// SPDX-License-Identifier: BSD-3-Clause
#include "vol/driver/chosen_driver.hpp"

#include <cstdlib>
#include <string_view>

#include "vol/binding/error_stack.hpp"
#include "vol/binding/id.hpp"
#include "vol/driver/driver.hpp"

namespace mcr::vol {

namespace {

// Sec2's id in the host's HDF5; invalid after H5close.
constinit hid_t sec2_id = H5I_INVALID_HID;

// True if the list has the driver that `set` puts into a list. HDF5 cannot name a list's driver, so
// the drivers' ids are compared.
template <typename Set>
bool is_driver(hid_t access_list, Set set) {
  const Id list(hdf5.H5Pcopy(access_list));
  return list && set(list.get()) >= 0 &&
         hdf5.H5Pget_driver(list.get()) == hdf5.H5Pget_driver(access_list);
}

bool is_core(hid_t access_list) {
  constexpr std::size_t increment = 64 * 1024;
  return is_driver(access_list,
                   [](hid_t list) { return hdf5.H5Pset_fapl_core(list, increment, false); });
}

// H5Pset_fapl_direct exists only in an HDF5 that was built with the direct driver.
bool is_direct(hid_t access_list) {
  return hdf5.H5FDis_driver_registered_by_value(H5_VFD_DIRECT) > 0 &&
         is_driver(access_list, [](hid_t list) {
           return hdf5.H5Pset_driver_by_value(list, H5_VFD_DIRECT, nullptr);
         });
}

CoreSettings core_settings(hid_t access_list) {
  // HDF5's defaults, used if a list names the driver without settings (HDF5_DRIVER=core).
  CoreSettings core{1 << 20, true, false, 512 * 1024};
  const char* const variable = std::getenv("HDF5_DRIVER");
  if (variable != nullptr && std::string_view(variable) == "core_paged")
    core = {1 << 20, true, true, 4096};
  if (hdf5.H5Pget_fapl_core(access_list, &core.increment, &core.has_backing_store) >= 0)
    hdf5.H5Pget_core_write_tracking(access_list, &core.tracks_writes, &core.page_bytes);
  if (core.increment == 0) core.increment = 8 * 1024;  // as the driver itself does
  return core;
}

}  // namespace

bool has_default_driver(hid_t access_list) {
  follow_end_of_library();
  if (sec2_id < 0) {
    const Id list(hdf5.H5Pcopy(access_list));
    if (!list || hdf5.H5Pset_fapl_sec2(list.get()) < 0) return false;
    sec2_id = hdf5.H5Pget_driver(list.get());
  }
  return hdf5.H5Pget_driver(access_list) == sec2_id;
}

void forget_default_driver() { sec2_id = H5I_INVALID_HID; }

ChosenDriver chosen_driver(hid_t access_list) {
  ChosenDriver chosen;
  if (has_default_driver(access_list)) return chosen;
  const QuietErrors quiet;
  if (has_our_driver(access_list)) {
    chosen.kind = DriverKind::ours;
  } else if (is_core(access_list)) {
    chosen.kind = DriverKind::memory;
    chosen.core = core_settings(access_list);
  } else if (is_driver(access_list, hdf5.H5Pset_fapl_stdio)) {
    chosen = {DriverKind::same_file, H5_VFD_STDIO, {}, false};
  } else if (is_driver(access_list,
                       [](hid_t list) { return hdf5.H5Pset_fapl_log(list, nullptr, 0, 0); })) {
    chosen = {DriverKind::same_file, H5_VFD_LOG, {}, false};
  } else if (is_direct(access_list)) {
    chosen = {DriverKind::same_file, H5_VFD_DIRECT, {}, false};
  } else {
    unsigned long features = 0;
    const bool reads_file =
        hdf5.H5FDdriver_query(hdf5.H5Pget_driver(access_list), &features) >= 0 &&
        (features & H5FD_FEAT_DEFAULT_VFD_COMPATIBLE) != 0;
    chosen.kind = reads_file ? DriverKind::reads_file : DriverKind::other;
    chosen.is_parallel = (features & H5FD_FEAT_HAS_MPI) != 0;
  }
  return chosen;
}

void set_chosen_driver(hid_t access_list, const ChosenDriver& driver) {
  const QuietErrors quiet;
  if (driver.kind == DriverKind::memory) {
    const CoreSettings& core = driver.core;
    hdf5.H5Pset_fapl_core(access_list, core.increment, core.has_backing_store);
    hdf5.H5Pset_core_write_tracking(access_list, core.tracks_writes, core.page_bytes);
  } else if (driver.kind == DriverKind::same_file && driver.value == H5_VFD_STDIO) {
    hdf5.H5Pset_fapl_stdio(access_list);
  } else if (driver.kind == DriverKind::same_file && driver.value == H5_VFD_LOG) {
    hdf5.H5Pset_fapl_log(access_list, nullptr, 0, 0);
  } else if (driver.kind != DriverKind::same_file ||
             hdf5.H5Pset_driver_by_value(access_list, driver.value, nullptr) < 0) {
    hdf5.H5Pset_fapl_sec2(access_list);
  }
}

}  // namespace mcr::vol
