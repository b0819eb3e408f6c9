// SPDX-License-Identifier: BSD-3-Clause
// The numbers and names under which HDF5 knows mcr. They are from HDF5's ranges for private use and
// for testing, until The HDF Group registers others (docs/packaging/registration.md).
#pragma once

namespace mcr::restart {

/// Written into every container. A container with this number stays readable for ever, also after
/// another number is registered.
inline constexpr int filter_id = 45324;
inline constexpr const char* filter_name = "mcr-frames";

inline constexpr const char* connector_name = "mcr";
/// Not written into files.
inline constexpr int connector_value = 387;
inline constexpr int driver_value = 387;
inline constexpr int memory_driver_value = 388;
inline constexpr int container_driver_value = 389;

}  // namespace mcr::restart
