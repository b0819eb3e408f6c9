// SPDX-License-Identifier: BSD-3-Clause
// How the library is found: the return address of H5PLget_plugin_info lies in it. dladdr1 tells
// which object contains that address, and dlopen(RTLD_NOLOAD) gives the handle for dlsym. Nothing
// is loaded, and no global symbol is used, because the libhdf5 of an h5py wheel is RTLD_LOCAL and
// has a hashed name, and a process may have two libhdf5.
//
// If HDF5 is linked into the program, dlsym finds its functions only if the program was linked with
// -rdynamic. Otherwise dlsym finds no functions, or those of another libhdf5 that was loaded
// RTLD_GLOBAL, whose ids mean nothing to the caller. So each function must lie in the caller's own
// object. A library that cannot be bound is refused here, not in a private copy.
//
// This code takes no lock of its own. Each calling library holds its HDF5 lock, but two libraries
// may call at the same time, and dlopen() takes the loader's lock.
#include "vol/binding/host_hdf5.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "codecs/base/integers.hpp"

namespace mcr::vol {

constinit HostHdf5 hdf5;

namespace {

constinit std::atomic<const link_map*> bound_host{nullptr};

// Facts that a private copy cannot find out by itself. They are written into the copy's file image,
// at the place of the mark, before the image is loaded. In the plugin itself they stay empty.
struct CopyNote {
  char mark[32];
  const link_map* host;
  char file[PATH_MAX];
};
// The mark occurs once in the file, because it is written as single characters here and as text
// nowhere.
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

bool is_copy() { return copy_note.host != nullptr; }

const link_map* host_of(const void* caller) {
  return is_copy() ? copy_note.host : object_of(caller);
}

// The memory ranges of an object's segments.
class Segments {
 public:
  explicit Segments(const link_map* object)
      : mark_(reinterpret_cast<std::uintptr_t>(object->l_ld)) {
    dl_iterate_phdr(&look_at, this);
  }
  [[nodiscard]] bool have(const void* address) const {
    return has(first_, last_, reinterpret_cast<std::uintptr_t>(address));
  }

 private:
  static bool has(std::uintptr_t first, std::uintptr_t last, std::uintptr_t address) {
    return address >= first && address < last;
  }
  static int look_at(dl_phdr_info* object, std::size_t, void* self) {
    std::uintptr_t first = UINTPTR_MAX;
    std::uintptr_t last = 0;
    for (const auto* segment = object->dlpi_phdr; segment != object->dlpi_phdr + object->dlpi_phnum;
         ++segment) {
      if (segment->p_type != PT_LOAD) continue;
      const std::uintptr_t begin = object->dlpi_addr + segment->p_vaddr;
      first = std::min(first, begin);
      last = std::max(last, begin + segment->p_memsz);
    }
    auto* const segments = static_cast<Segments*>(self);
    if (!has(first, last, segments->mark_)) return 0;
    segments->first_ = first;
    segments->last_ = last;
    return 1;
  }

  std::uintptr_t mark_;
  std::uintptr_t first_ = 0, last_ = 0;
};

std::optional<HostHdf5> functions_of(const link_map* host) {
  void* handle = dlopen(*host->l_name == '\0' ? nullptr : host->l_name, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return std::nullopt;
  const Segments own(host);
  HostHdf5 found;
  bool complete = true;
#define MCR_HDF5_FUNCTION(name)                                              \
  found.name = reinterpret_cast<decltype(found.name)>(dlsym(handle, #name)); \
  complete = complete && own.have(reinterpret_cast<const void*>(found.name));
#include "vol/binding/hdf5_functions.inc"
#undef MCR_HDF5_FUNCTION
  void* const get_auto1 = dlsym(handle, "H5Eget_auto1");
  void* const set_auto1 = dlsym(handle, "H5Eset_auto1");
  if (own.have(get_auto1) && own.have(set_auto1)) {
    found.H5Eget_auto1 = reinterpret_cast<decltype(found.H5Eget_auto1)>(get_auto1);
    found.H5Eset_auto1 = reinterpret_cast<decltype(found.H5Eset_auto1)>(set_auto1);
  }
  if (!complete) {
    dlclose(handle);
    return std::nullopt;
  }
  return found;  // the handle is never closed: the library must outlive the table
}

std::string resolved(const char* path) {
  std::array<char, PATH_MAX> buffer;
  return realpath(path, buffer.data()) != nullptr ? buffer.data() : std::string();
}

// Returns a descriptor of an anonymous copy of the plugin's file, with the note in it; -1 on
// failure.
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

// Loads the copy under a name of its own. The loader knows objects by name, and descriptor numbers
// repeat, so the loader could take a second copy at /proc/self/fd/N for the first.
void* load_copy(int image) {
  const std::string number = std::to_string(image);
  std::string folder = "/proc/self/fd";
  for (int attempt = 0; attempt < 64; ++attempt) {
    folder += '/';
    const std::string name = folder + number;
    if (dlopen(name.c_str(), RTLD_LAZY | RTLD_NOLOAD) == nullptr)
      return dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  return nullptr;
}

using PluginInfo = const void* (*)();

PluginInfo make_copy(const link_map* host) {
  const int image = copied_plugin(host);
  if (image < 0) return nullptr;
  void* handle = load_copy(image);
  close(image);
  if (handle == nullptr) return nullptr;
  return reinterpret_cast<PluginInfo>(dlsym(handle, "H5PLget_plugin_info"));
}

}  // namespace

Binding bind_host(const void* caller) {
  const link_map* host = host_of(caller);
  if (host == nullptr) return Binding::refused;
  if (bound_host == host) return Binding::bound;
  const auto functions = functions_of(host);
  if (!functions) return Binding::refused;
  const link_map* none = nullptr;
  if (!bound_host.compare_exchange_strong(none, host)) return Binding::other;
  hdf5 = *functions;
  return Binding::bound;
}

std::string host_file(const void* caller) {
  const link_map* host = host_of(caller);
  return host == nullptr ? std::string() : host->l_name;
}

const void* private_copy_plugin_info(const void* caller) {
  struct Copy {
    std::atomic<const link_map*> host;
    PluginInfo plugin_info;  // only the host calls it, one call after another
  };
  static constinit std::array<Copy, 8> copies{};
  const link_map* host = host_of(caller);
  if (host == nullptr || is_copy()) return nullptr;
  for (Copy& copy : copies) {
    const link_map* other = nullptr;
    if (!copy.host.compare_exchange_strong(other, host) && other != host) continue;
    if (copy.plugin_info == nullptr) copy.plugin_info = make_copy(host);
    return copy.plugin_info == nullptr ? nullptr : copy.plugin_info();
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
