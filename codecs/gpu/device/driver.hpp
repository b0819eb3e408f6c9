// SPDX-License-Identifier: BSD-3-Clause
// The few calls of NVIDIA's driver (libcuda.so.1) that mcr uses, found at run time. So mcr needs no CUDA
// header to build and no CUDA library to run. The calls are declared from the reference of the driver
// API; where the API has versions of a call, the name here carries the version that is loaded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "codecs/base/result.hpp"

namespace mcr::codecs::gpu {

// Handles of the driver. Their contents belong to the driver.
using DriverDevice = int;
using DriverContext = void*;
using DriverStream = void*;
using DriverModule = void*;
using DriverFunction = void*;
using DriverAddress = std::uint64_t;
/// What each call returns; 0 is success.
using DriverStatus = int;

inline constexpr DriverStatus status_success = 0;
inline constexpr DriverStatus status_out_of_memory = 2;
inline constexpr DriverStatus status_not_initialized = 3;
inline constexpr DriverStatus status_not_ready = 600;

// Attributes of a device.
inline constexpr int attribute_compute_mode = 20;
inline constexpr int attribute_capability_major = 75;
inline constexpr int attribute_capability_minor = 76;
inline constexpr int attribute_mps_enabled = 133;
// Values of attribute_compute_mode.
inline constexpr int compute_mode_prohibited = 2;
inline constexpr int compute_mode_exclusive_process = 3;

/// A stream that does not wait for the default stream of its context.
inline constexpr unsigned stream_non_blocking = 1;

/// The driver's calls, under their names without the prefix `cu`.
struct Driver {
  DriverStatus (*Init)(unsigned flags);
  DriverStatus (*DriverGetVersion)(int* version);
  DriverStatus (*GetErrorString)(DriverStatus status, const char** text);
  DriverStatus (*DeviceGetCount)(int* count);
  DriverStatus (*DeviceGet)(DriverDevice* device, int ordinal);
  DriverStatus (*DeviceGetName)(char* name, int length, DriverDevice device);
  DriverStatus (*DeviceGetAttribute)(int* value, int attribute, DriverDevice device);
  DriverStatus (*DevicePrimaryCtxRetain)(DriverContext* context, DriverDevice device);
  DriverStatus (*DevicePrimaryCtxGetState)(DriverDevice device, unsigned* flags, int* active);
  DriverStatus (*CtxPushCurrent_v2)(DriverContext context);
  DriverStatus (*CtxPopCurrent_v2)(DriverContext* context);
  DriverStatus (*CtxGetStreamPriorityRange)(int* lowest, int* highest);
  DriverStatus (*StreamCreateWithPriority)(DriverStream* stream, unsigned flags, int priority);
  DriverStatus (*StreamQuery)(DriverStream stream);
  DriverStatus (*StreamDestroy_v2)(DriverStream stream);
  DriverStatus (*MemAlloc_v2)(DriverAddress* address, std::size_t bytes);
  DriverStatus (*MemFree_v2)(DriverAddress address);
  DriverStatus (*MemHostAlloc)(void** memory, std::size_t bytes, unsigned flags);
  DriverStatus (*MemFreeHost)(void* memory);
  DriverStatus (*MemcpyHtoDAsync_v2)(DriverAddress to, const void* from, std::size_t bytes,
                                     DriverStream stream);
  DriverStatus (*MemcpyDtoHAsync_v2)(void* to, DriverAddress from, std::size_t bytes,
                                     DriverStream stream);
  DriverStatus (*MemsetD8Async)(DriverAddress to, unsigned char value, std::size_t bytes,
                                DriverStream stream);
  DriverStatus (*ModuleLoadDataEx)(DriverModule* module, const void* image, unsigned options,
                                   int* option_names, void** option_values);
  DriverStatus (*ModuleGetFunction)(DriverFunction* function, DriverModule module,
                                    const char* name);
  DriverStatus (*LaunchKernel)(DriverFunction function, unsigned blocks_x, unsigned blocks_y,
                               unsigned blocks_z, unsigned threads_x, unsigned threads_y,
                               unsigned threads_z, unsigned shared_bytes, DriverStream stream,
                               void** parameters, void** extra);
};

/// The library's name, by which the loader finds it.
inline constexpr const char* driver_library = "libcuda.so.1";

/// Whose process it is.
enum class DriverUse {
  own_process,      ///< the leader or a command: mcr may load and initialise the driver
  program_process,  ///< the program: mcr uses a driver only that the program has initialised
};

/// Finds the driver's calls and initialises the driver. In the program's process, the driver is neither
/// loaded nor initialised: a process that forks after cuInit() has children that cannot use the card,
/// so that this choice stays with the program. Cause::unsupported, with the reason, if there is no driver
/// that can be used. The library stays loaded until the process ends.
Result<Driver> load_driver(DriverUse use);

/// Returns what a call's status means: "out of memory (2)".
std::string status_text(const Driver& driver, DriverStatus status);

}  // namespace mcr::codecs::gpu
