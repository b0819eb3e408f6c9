// SPDX-License-Identifier: BSD-3-Clause
#include "restart/base/fitting_names.hpp"

#include <dirent.h>
#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "restart/base/file.hpp"
#include "restart/base/system.hpp"

namespace mcr::restart {

Result<void> for_each_entry(int directory, const std::string& name,
                            const std::function<bool(std::string, unsigned char)>& take) {
  File opened = MCR_TRY(File::open(directory, name, O_RDONLY | O_DIRECTORY));
  opened.leave_access_time();
  DIR* stream = system_calls().fdopendir(opened.descriptor());
  if (stream == nullptr) return system_error("cannot list", name);
  (void)opened.release();  // the stream owns it now
  int problem = 0;
  while (true) {
    errno = 0;
    const dirent* entry = ::readdir(stream);
    problem = errno;
    if (entry == nullptr) break;
    std::string found = entry->d_name;
    if (found != "." && found != ".." && !take(std::move(found), entry->d_type)) break;
  }
  ::closedir(stream);
  if (problem != 0) {
    errno = problem;
    return system_error("cannot list", name);
  }
  return {};
}

Result<void> for_each_name(int directory, const std::string& name,
                           const std::function<bool(std::string)>& take) {
  return for_each_entry(directory, name, [&](std::string found, unsigned char /*type*/) {
    return take(std::move(found));
  });
}

Result<std::vector<std::string>> list_fitting_names(
    int directory, const std::string& name, const std::function<bool(const std::string&)>& fits) {
  std::vector<std::string> names;
  std::size_t bytes = 0;
  MCR_TRY(for_each_name(directory, name, [&](std::string found) {
    if (!fits(found)) return true;
    bytes += sizeof(found) + found.size();
    names.push_back(std::move(found));
    return bytes <= most_kept_bytes;
  }));
  if (bytes > most_kept_bytes) {
    const auto opened = File::open(directory, name, O_PATH);
    const std::string path = opened ? present_path(*opened) : std::string();
    return Error{
        Cause::system,
        "cannot list " + (path.empty() ? name : path) + ": it has more than " +
            std::to_string(names.size() - 1) +
            " names of the kind that is looked for. Files of other users among them can be "
            "removed or moved away",
        EOVERFLOW};
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace mcr::restart
