// SPDX-License-Identifier: BSD-3-Clause
#include "restart/stage/rewrite_mark.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>

#include "restart/stage/refused_stubs.hpp"
#include "restart/stage/stub_file.hpp"

namespace mcr::restart {
namespace {

/// False only if the stub's part is certainly in a container.
bool may_be_uncommitted(const LaunchDirectory& launch, const Stub& stub) {
  using State = LaunchDirectory::State;
  // The order in which a part moves; and the first state again, because a writer may take it back.
  constexpr std::array states{State::open, State::published, State::open};
  return stub.launch_directory != launch.path() ||
         std::any_of(states.begin(), states.end(),
                     [&](State state) { return launch.is_in(state, stub.part); });
}

}  // namespace

void mark_rewritten(const LaunchDirectory& launch, const File& file, const Stub& stub) {
  if (!may_be_uncommitted(launch, stub)) return;
  // A rank that writes another stub over this one has this lock (capture/stub_in_place). A leader may be
  // stopped while it has it, so the mark is made without the lock, too.
  const auto lock = RefusedStubs::lock(launch, RefusedStubs::Wait::briefly);
  const auto there = read_stub_file(file);
  if (!there || there->part != stub.part || !there->text_offset || there->is_rewritten) return;
  const auto status = file.status();
  const std::array<std::byte, 1> mark{rewrite_mark};
  if (!status || !file.write_at(*there->text_offset, mark)) return;
  // The modification time says whether the stub was read since it was written (base/read_marks).
  // The access time is left alone, because another process may be reading the stub now.
  const struct timespec times[2] = {{0, UTIME_OMIT}, status->st_mtim};
  (void)::futimens(file.descriptor(), times);
}

bool still_shows(const File& file, const PartId& part) {
  const auto stub = read_stub_file(file);
  return stub && stub->part == part && !stub->is_rewritten;
}

}  // namespace mcr::restart
