// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/gpu/device/driver.hpp"

#include <dlfcn.h>

namespace mcr::codecs::gpu {
namespace {

/// Looks names up in the library, and remembers the first that is missing.
class Finder {
 public:
  explicit Finder(void* library) : library_(library) {}

  template <typename Call>
  void find(Call& call, const char* name) {
    call = reinterpret_cast<Call>(::dlsym(library_, name));
    if (call == nullptr && missing_ == nullptr) missing_ = name;
  }
  [[nodiscard]] const char* missing() const { return missing_; }

 private:
  void* library_;
  const char* missing_ = nullptr;
};

}  // namespace

Result<Driver> load_driver(DriverUse use) {
  const int flags = RTLD_NOW | RTLD_LOCAL | (use == DriverUse::program_process ? RTLD_NOLOAD : 0);
  void* const library = ::dlopen(driver_library, flags);
  if (library == nullptr) {
    if (use == DriverUse::program_process)
      return Error{Cause::unsupported, "the program has not loaded NVIDIA's driver"};
    const char* const why = ::dlerror();
    return Error{Cause::unsupported,
                 std::string("no NVIDIA driver: ") + (why != nullptr ? why : driver_library)};
  }
  Driver driver{};
  Finder finder(library);
#define MCR_FIND(call) finder.find(driver.call, "cu" #call)
  MCR_FIND(Init);
  MCR_FIND(DriverGetVersion);
  MCR_FIND(GetErrorString);
  MCR_FIND(DeviceGetCount);
  MCR_FIND(DeviceGet);
  MCR_FIND(DeviceGetName);
  MCR_FIND(DeviceGetAttribute);
  MCR_FIND(DevicePrimaryCtxRetain);
  MCR_FIND(DevicePrimaryCtxGetState);
  MCR_FIND(CtxPushCurrent_v2);
  MCR_FIND(CtxPopCurrent_v2);
  MCR_FIND(CtxGetStreamPriorityRange);
  MCR_FIND(StreamCreateWithPriority);
  MCR_FIND(StreamQuery);
  MCR_FIND(StreamDestroy_v2);
  MCR_FIND(MemAlloc_v2);
  MCR_FIND(MemFree_v2);
  MCR_FIND(MemHostAlloc);
  MCR_FIND(MemFreeHost);
  MCR_FIND(MemcpyHtoDAsync_v2);
  MCR_FIND(MemcpyDtoHAsync_v2);
  MCR_FIND(MemsetD8Async);
  MCR_FIND(ModuleLoadDataEx);
  MCR_FIND(ModuleGetFunction);
  MCR_FIND(LaunchKernel);
#undef MCR_FIND
  if (finder.missing() != nullptr) {
    return Error{Cause::unsupported, std::string("NVIDIA's driver is too old: ") + driver_library +
                                         " has no " + finder.missing()};
  }
  if (use == DriverUse::program_process) {
    int count = 0;
    if (driver.DeviceGetCount(&count) != status_success)
      return Error{Cause::unsupported, "the program has not initialised NVIDIA's driver"};
  } else if (const DriverStatus status = driver.Init(0); status != status_success) {
    return Error{Cause::unsupported,
                 "NVIDIA's driver cannot be initialised: " + status_text(driver, status)};
  }
  return driver;
}

std::string status_text(const Driver& driver, DriverStatus status) {
  const char* text = nullptr;
  if (driver.GetErrorString(status, &text) != status_success || text == nullptr) text = "error";
  return std::string(text) + " (" + std::to_string(status) + ")";
}

}  // namespace mcr::codecs::gpu
