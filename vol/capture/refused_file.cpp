// SPDX-License-Identifier: BSD-3-Clause
#include "vol/capture/refused_file.hpp"

#include <utility>

#include "restart/format/container_name.hpp"
#include "restart/sets/native_members.hpp"
#include "restart/stage/stub_file.hpp"
#include "vol/capture/part_begin.hpp"

namespace mcr::vol {

std::optional<RefusedFile> note_refused(const CapturePlan& plan, const restart::File& file) {
  const auto status = file.status();
  auto part = restart::PartId::random();
  if (!status || !part) return std::nullopt;
  restart::PartBegin begin = begin_part(plan, *status, {});
  begin.part = *part;
  const std::string container_dir(plan.settings->text("container_dir"));
  auto where = restart::container_name(begin.masked_names.front(), container_dir, begin.launch,
                                       begin.sequence);
  // No launch directory: the part was never in a stage.
  const restart::Stub stub = restart::stub_of(begin, container_dir, {});
  if (!restart::note_native(*plan.place.home, where.directory_from_stub(container_dir), stub,
                            status->st_ino))
    return std::nullopt;
  return RefusedFile{std::move(where.directory), *part};
}

}  // namespace mcr::vol
