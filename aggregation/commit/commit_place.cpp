// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/commit/commit_place.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <optional>

#include "aggregation/commit/container_directory.hpp"
#include "aggregation/commit/put_back.hpp"
#include "restart/base/log.hpp"
#include "restart/base/path_names.hpp"
#include "restart/base/printable.hpp"
#include "restart/base/time_stamp.hpp"
#include "restart/container_reader.hpp"

namespace mcr::aggregation {

using restart::ContainerName;
using restart::File;
using restart::LaunchDirectory;
using restart::PartId;

Present find_present(const ContainerName& where, KnownContainers* known) {
  Present present;
  KnownContainers listed_now;
  present.names = (known != nullptr ? *known : listed_now).find(where);
  for (const std::string& name : present.names) {
    const auto reader = restart::ContainerReader::open(AT_FDCWD, where.directory + "/" + name);
    if (!reader) continue;
    const auto parts = (*reader)->parts();
    if (!parts) continue;
    for (const auto& record : **parts) present.parts.insert(record.entry.part);
  }
  return present;
}

std::string free_name(const ContainerName& where, const Present& present, std::uint32_t first,
                      std::uint32_t last, std::uint32_t supplement) {
  std::optional<std::uint32_t> number;
  if (supplement > 0) number = supplement;
  for (;;) {
    std::string name = where.prefix + restart::container_suffix(first, last, number);
    if (!present.names.contains(name)) return name;
    number = number.value_or(0) + 1;
  }
}

std::string free_bundle_name(const ContainerName& where, const Present& present) {
  for (std::uint32_t number = 0;; ++number) {
    std::string name = where.prefix + restart::bundle_suffix(number);
    if (!present.names.contains(name)) return name;
  }
}

Result<void> make_directory(const ContainerName& where) {
  const std::string& path = where.directory;
  std::size_t slash = where.base.size();
  do {
    slash = path.find('/', slash + 1);
    MCR_TRY(make_container_directory(path.substr(0, slash)));
  } while (slash != std::string::npos);
  return {};
}

void follow_directory(const LaunchDirectory& directory, const restart::Settings& settings,
                      const StubHandles* stubs, ContainerName& where,
                      std::vector<LockedPart>& parts, std::vector<PartId>& left) {
  std::string base;
  std::erase_if(parts, [&](LockedPart& part) {
    const BaseNow now = find_base(where, part.journal.begin, stubs);
    if (base.empty()) base = now.base;
    if (!now.removed) return false;
    restart::log_summary("the program removed " + part.journal.begin.path + " before its commit");
    part.bytes = File();
    if (!directory.committed(part.id, false, {})) return false;
    left.push_back(part.id);
    return true;
  });
  if (parts.empty() || base == where.base) return;
  if (base.empty()) {
    base = where.base;
    struct stat status {};
    while (base != "/" && base != "." && ::stat(base.c_str(), &status) != 0 &&
           (errno == ENOENT || errno == ENOTDIR)) {
      base = restart::parent_of(base);
    }
    if (base == where.base) return;
    restart::log_warning(where.base + " is gone; its container goes below " + base +
                         ": `mcr unpack` gives the files back");
  }
  where.base = base;
  where.directory = (base == "/" ? "/" : base + "/") + std::string(settings.text("container_dir"));
}

void report_trouble(const std::string& container_directory, const std::string& message) {
  restart::log_warning(message);
  const auto log = File::open(AT_FDCWD, container_directory + "/set-trouble.log",
                              O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW, 0666);
  if (log)
    (void)log->append(as_bytes(restart::time_stamp() + " " + restart::printable(message) + "\n"))
        .has_value();
}

}  // namespace mcr::aggregation
