// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/mcr/interception.hpp"

#include <fcntl.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "restart/base/file.hpp"

namespace mcr::aggregation {
namespace {

constexpr std::size_t log_bytes = 64U << 20;
constexpr std::size_t program_bytes = 512U << 20;

bool is_hdf5(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  // Accepts the library's names in distributions and wheels, but not the names of HDF5's tools and
  // language bindings.
  if (!name.starts_with("libhdf5")) return false;
  const std::string_view rest = name.substr(sizeof "libhdf5" - 1);
  return rest.starts_with(".so") || rest.starts_with("-") || rest.starts_with("_serial.so") ||
         rest.starts_with("_mpich.so") || rest.starts_with("_openmpi.so");
}

/// Returns the libraries that are loaded at the end of a process's log. Loaders before glibc 2.32
/// log "calling init" only for libraries with constructors. Then "generating link map" tells of a
/// library, without its directory if it was found by a search, and "destroying link map" of one
/// that could not be loaded.
std::set<std::string_view> loaded_libraries(std::string_view log) {
  constexpr std::string_view initialised = "calling init: ";
  constexpr std::string_view file = "file=";
  std::set<std::string_view> loaded;
  while (!log.empty()) {
    const std::string_view line = log.substr(0, log.find('\n'));
    log.remove_prefix(std::min(log.size(), line.size() + 1));
    if (const std::size_t at = line.find(initialised); at != std::string_view::npos) {
      loaded.insert(line.substr(at + initialised.size()));
    } else if (const std::size_t begin = line.find(file); begin != std::string_view::npos) {
      const std::size_t end = line.rfind(" [");
      if (end == std::string_view::npos || end < begin + file.size()) continue;
      const std::string_view path = line.substr(begin + file.size(), end - begin - file.size());
      if (line.ends_with("generating link map")) loaded.insert(path);
      if (line.ends_with("destroying link map")) loaded.erase(path);
    }
  }
  return loaded;
}

}  // namespace

Result<Interception> read_loader_logs(const std::string& directory, const std::string& plugin) {
  Interception found;
  std::set<std::string> libraries;
  for (const std::string& name : MCR_TRY(restart::list_directory(AT_FDCWD, directory))) {
    if (!name.starts_with("loaded.")) continue;
    const auto content = restart::read_file(AT_FDCWD, directory + "/" + name, log_bytes);
    if (!content) continue;
    ++found.processes;
    bool has_hdf5 = false;
    bool has_plugin = false;
    for (const std::string_view path : loaded_libraries(as_text(*content))) {
      if (is_hdf5(path)) {
        has_hdf5 = true;
        if (path.find('/') != std::string_view::npos) libraries.emplace(path);
      }
      has_plugin |= path.substr(path.rfind('/') + 1) == plugin.substr(plugin.rfind('/') + 1);
    }
    found.with_hdf5 += has_hdf5 || has_plugin ? 1 : 0;
    found.with_plugin += has_plugin ? 1 : 0;
    found.linked_in += has_plugin && !has_hdf5 ? 1 : 0;
  }
  found.libraries.assign(libraries.begin(), libraries.end());
  return found;
}

std::string hdf5_version_in(const std::string& path) {
  const auto content = restart::read_file(AT_FDCWD, path, program_bytes);
  if (!content) return {};
  constexpr std::string_view mark = "HDF5 library version: ";
  const std::string_view text = as_text(*content);
  for (std::size_t at = text.find(mark); at != std::string_view::npos;
       at = text.find(mark, at + 1)) {
    const std::string_view rest = text.substr(at + mark.size(), 16);
    const std::size_t end = rest.find_first_not_of("0123456789.");
    const std::string_view version = rest.substr(0, end);
    if (version.find('.') != std::string_view::npos) return std::string(version);
  }
  return {};
}

}  // namespace mcr::aggregation
