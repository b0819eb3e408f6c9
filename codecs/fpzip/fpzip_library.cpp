// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/fpzip/fpzip_library.hpp"

#include <dlfcn.h>

#include <mutex>

namespace mcr::codecs {
namespace {

// Never destroyed, because frames may be decoded while the process ends.
constinit std::mutex mutex;
constinit FpzipLibrary library;
constinit bool found = false;

template <typename Function>
bool look_up(void* handle, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(handle, name));
  return function != nullptr;
}

bool open_library() {
  void* handle = dlopen("libfpzip.so.1", RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return false;
  const auto* version = static_cast<const unsigned int*>(dlsym(handle, "fpzip_codec_version"));
  if (version == nullptr) return false;
  library.arithmetic = static_cast<std::uint8_t>(*version & 0xffU);
  return look_up(handle, "fpzip_read_from_buffer", library.read_from_buffer) &&
         look_up(handle, "fpzip_read", library.read) &&
         look_up(handle, "fpzip_read_close", library.read_close) &&
         look_up(handle, "fpzip_write_to_buffer", library.write_to_buffer) &&
         look_up(handle, "fpzip_write", library.write) &&
         look_up(handle, "fpzip_write_close", library.write_close);
}

}  // namespace

Result<const FpzipLibrary*> fpzip_library() {
  const std::lock_guard lock(mutex);
  if (!found) found = open_library();
  if (!found) {
    return Error{Cause::unsupported,
                 "fpzip: libfpzip.so.1 was not found; it is in the package libfpzip1 of Debian"};
  }
  return &library;
}

}  // namespace mcr::codecs
