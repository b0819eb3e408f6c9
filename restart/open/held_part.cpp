// SPDX-License-Identifier: BSD-3-Clause
#include "restart/open/held_part.hpp"

#include <cerrno>
#include <utility>

#include "restart/container/part_image.hpp"

namespace mcr::restart {

Result<std::unique_ptr<PartSource>> open_held_part(const LaunchDirectory& directory,
                                                   const PartId& part,
                                                   const std::shared_ptr<FrameShare>& share,
                                                   PartBegin* begin) {
  auto journal = directory.journal(LaunchDirectory::State::published, part);
  if (!journal || !journal->held_in) return std::unique_ptr<PartSource>();
  auto file = directory.open_held(*journal->held_in);
  if (!file) {
    if (file.error().system_error != ENOENT) return file.error();
    // The set was committed just now: the caller finds its container in storage.
    return std::unique_ptr<PartSource>();
  }
  const std::string name = directory.path() + "/" + file->name();
  auto container = MCR_TRY(ContainerReader::read(std::move(*file), name));
  for (const PartRecord& record : *MCR_TRY(container->parts())) {
    if (record.entry.part != part) continue;
    if (begin != nullptr) *begin = std::move(journal->begin);
    return open_part_image(container, record, share);
  }
  return Error{Cause::damaged, name + " does not hold the part " + part.text()};
}

}  // namespace mcr::restart
