// SPDX-License-Identifier: BSD-3-Clause
#include "vol/capture/noted_file.hpp"

#include <utility>

#include "restart/sets/native_members.hpp"
#include "restart/stage/stub_file.hpp"
#include "vol/capture/part_begin.hpp"

namespace mcr::vol {

std::optional<NotedFile> note_new_file(const CapturePlan& plan, const restart::File& file) {
  const auto status = file.status();
  auto part = restart::PartId::random();
  if (!status || !part) return std::nullopt;
  restart::PartBegin begin = begin_part(plan, *status, {});
  begin.part = *part;
  // No launch directory: the part was never in a stage.
  const restart::Stub stub =
      restart::stub_of(begin, std::string(plan.settings->text("container_dir")), {});
  auto containers = restart::note_native(*plan.place.home, stub, status->st_ino);
  if (!containers) return std::nullopt;
  return NotedFile{*std::move(containers), *part};
}

}  // namespace mcr::vol
