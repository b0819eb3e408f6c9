// SPDX-License-Identifier: BSD-3-Clause
#include "restart/container_places.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "restart/container_name.hpp"

namespace mcr::restart {
namespace {

std::string directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

/// Relative, and upwards at its beginning only.
bool is_modest(std::string_view container_directory) {
  bool down = false;
  std::string_view rest = container_directory;
  while (!rest.empty()) {
    const std::string_view component = rest.substr(0, rest.find('/'));
    rest.remove_prefix(std::min(rest.size(), component.size() + 1));
    if (component.empty()) return false;  // absolute, or "//"
    if (component == ".." && down) return false;
    down = down || component != "..";
  }
  return down;
}

bool belongs_to(const File& file, uid_t owner) {
  const auto status = file.status();
  return status && status->st_uid == owner;
}

}  // namespace

bool is_below_allowed(const std::string& directory, std::string_view allow) {
  const std::string real = real_path(directory);
  if (real.empty() || allow == "none") return false;
  while (!allow.empty()) {
    const std::string_view item = allow.substr(0, allow.find(':'));
    allow.remove_prefix(std::min(allow.size(), item.size() + 1));
    const std::string allowed = real_path(std::string(item));
    if (allowed.empty()) continue;
    if (real == allowed || allowed == "/" || real.starts_with(allowed + "/")) return true;
  }
  return false;
}

std::string real_path(const std::string& path) {
  char* resolved = ::realpath(path.c_str(), nullptr);
  if (resolved == nullptr) return {};
  std::string text = resolved;
  std::free(resolved);
  return text;
}

std::optional<File> ContainerPlace::open() const {
  auto opened = File::open(AT_FDCWD, directory, O_RDONLY | O_DIRECTORY);
  if (!opened || (owner && !belongs_to(*opened, *owner))) return std::nullopt;
  return std::move(*opened);
}

bool ContainerPlace::allows(const File& opened, const std::string& name) const {
  if (!owner) return true;
  const auto file = File::open(opened.descriptor(), name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  return file && belongs_to(*file, *owner);
}

std::vector<ContainerPlace> container_places(const Stub& stub, const std::string& stub_path,
                                             const std::string& allow) {
  std::vector<ContainerPlace> places;
  if (!is_modest(stub.container_directory)) return places;
  const std::string resolved = real_path(stub_path);
  const std::string stub_directory = directory_of(resolved.empty() ? stub_path : resolved);
  for (const std::string& masked_name : stub.masked_names) {
    const ContainerName name =
        container_name(masked_name, stub.container_directory, stub.launch, stub.sequence);
    places.push_back({masked_name,
                      stub_directory + "/" + name.directory_from_stub(stub.container_directory),
                      name.prefix,
                      {}});
  }
  const auto stub_file = File::open(AT_FDCWD, stub_path, O_RDONLY | O_NONBLOCK);
  const auto stub_status = stub_file ? stub_file->status() : Result<struct stat>(stub_file.error());
  for (const std::string& masked_name : stub.masked_names) {
    const ContainerName name =
        container_name(masked_name, stub.container_directory, stub.launch, stub.sequence);
    if (!name.directory.starts_with('/') || name.directory.find("/../") != std::string::npos)
      continue;
    std::optional<uid_t> owner;
    if (!is_below_allowed(name.directory, allow)) {
      if (!stub_status) continue;
      owner = stub_status->st_uid;
    }
    places.push_back({masked_name, name.directory, name.prefix, owner});
  }
  return places;
}

}  // namespace mcr::restart
