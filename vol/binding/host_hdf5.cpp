// SPDX-License-Identifier: BSD-3-Clause
// How the library is found: the return address of H5PLget_plugin_info lies in it, dladdr1 says
// which object that is, and dlopen(RTLD_NOLOAD) gives the handle for dlsym. Nothing is loaded, no
// global symbol is consulted: an h5py wheel's libhdf5 is RTLD_LOCAL and has a hashed name, and
// there may be two of them.
#include "vol/binding/host_hdf5.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string_view>
#include <vector>

#include "codecs/base/integers.hpp"

namespace mcr::vol {

constinit HostHdf5 hdf5;

namespace {

constinit const link_map* bound_host = nullptr;

// What a private copy cannot find out by itself. It is written into the copy's file image before
// that is loaded, at the place of the mark; in the plugin itself both stay empty.
struct CopyNote {
  char mark[32];
  const link_map* host;
  char file[PATH_MAX];
};
// The mark is unique in the file because its text stands nowhere else in one piece.
[[gnu::used]] constinit volatile CopyNote copy_note = {
    {'m', 'c', 'r', ':', ' ', 'n', 'o', 't', 'e', ' ', 't', 'o',  ' ',  'a',  ' ',  'p',
     'r', 'i', 'v', 'a', 't', 'e', ' ', 'c', 'o', 'p', 'y', 0x17, 0x2a, 0x05, 0x61, 0x0c},
    nullptr,
    {}};

const link_map* object_of(const void* address) {
  Dl_info info{};
  void* map = nullptr;
  if (dladdr1(address, &info, &map, RTLD_DL_LINKMAP) == 0) return nullptr;
  return static_cast<const link_map*>(map);
}

const link_map* host_of(const void* caller) {
  const link_map* noted = copy_note.host;
  return noted != nullptr ? noted : object_of(caller);
}

std::string resolved(const char* path) {
  std::array<char, PATH_MAX> buffer;
  return realpath(path, buffer.data()) != nullptr ? buffer.data() : std::string();
}

// The plugin's file in an anonymous one, with the note in it; -1 where that failed.
int copied_plugin(const link_map* host) {
  const std::string path = plugin_file();
  const int from = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (from < 0) return -1;
  struct stat status {};
  std::vector<char> image;
  if (fstat(from, &status) == 0) image.resize(static_cast<std::size_t>(status.st_size));
  const bool complete = !image.empty() && read(from, image.data(), image.size()) ==
                                              static_cast<ssize_t>(image.size());
  close(from);
  std::array<char, 32> mark;
  std::copy(std::begin(copy_note.mark), std::end(copy_note.mark), mark.begin());
  const auto place = std::search(image.begin(), image.end(), mark.begin(), mark.end());
  if (!complete || image.end() - place < static_cast<std::ptrdiff_t>(sizeof(CopyNote))) return -1;
  store(&*place + offsetof(CopyNote, host), host);
  path.copy(&*place + offsetof(CopyNote, file), PATH_MAX - 1);
  const int copy = memfd_create("mcr", MFD_CLOEXEC);
  if (copy >= 0 && write(copy, image.data(), image.size()) == static_cast<ssize_t>(image.size()))
    return copy;
  if (copy >= 0) close(copy);
  return -1;
}

}  // namespace

bool bind_host(const void* caller) {
  const link_map* host = host_of(caller);
  if (bound_host != nullptr) return host == bound_host;
  if (host == nullptr) return false;
  void* handle = dlopen(*host->l_name == '\0' ? nullptr : host->l_name, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return false;
  HostHdf5 found;
#define MCR_HDF5_FUNCTION(name)                                              \
  found.name = reinterpret_cast<decltype(found.name)>(dlsym(handle, #name)); \
  if (found.name == nullptr) return false;
#include "vol/binding/hdf5_functions.inc"
#undef MCR_HDF5_FUNCTION
  // The handle is never given back: the table must not outlive the library.
  hdf5 = found;
  bound_host = host;
  return true;
}

const void* private_copy_plugin_info(const void* caller) {
  struct Copy {
    const link_map* host;
    const void* (*plugin_info)();
  };
  static constinit std::mutex mutex;
  static constinit std::array<Copy, 8> copies{};
  const std::lock_guard lock(mutex);
  const link_map* host = host_of(caller);
  if (host == nullptr) return nullptr;
  for (Copy& copy : copies) {
    if (copy.host == host) return copy.plugin_info();
    if (copy.host != nullptr) continue;
    const int image = copied_plugin(host);
    if (image < 0) return nullptr;
    const std::string name = "/proc/self/fd/" + std::to_string(image);
    void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    close(image);
    if (handle == nullptr) return nullptr;
    copy.plugin_info = reinterpret_cast<const void* (*)()>(dlsym(handle, "H5PLget_plugin_info"));
    if (copy.plugin_info == nullptr) return nullptr;
    copy.host = host;
    return copy.plugin_info();
  }
  return nullptr;
}

std::string plugin_file() {
  if (copy_note.file[0] != '\0') {
    std::string file;
    for (std::size_t i = 0; copy_note.file[i] != '\0'; ++i) file += copy_note.file[i];
    return file;
  }
  Dl_info info{};
  return dladdr(&bound_host, &info) != 0 ? resolved(info.dli_fname) : std::string();
}

}  // namespace mcr::vol
