// SPDX-License-Identifier: BSD-3-Clause
#include "restart/earlier_writings.hpp"

#include <fcntl.h>

#include <algorithm>
#include <string>

#include "restart/base/file.hpp"
#include "restart/container_name.hpp"

namespace mcr::restart {
namespace {

std::uint64_t after_staged(const LaunchDirectory& directory, const PartBegin& begin) {
  using State = LaunchDirectory::State;
  std::uint64_t next = 0;
  for (const State state : {State::open, State::published, State::committed}) {
    const auto parts = directory.list(state);
    if (!parts) continue;
    for (const PartId& part : *parts) {
      const auto journal = directory.journal(state, part);
      if (journal && journal->begin.rank == begin.rank && journal->begin.path == begin.path)
        next = std::max(next, journal->begin.sequence + 1);
    }
  }
  return next;
}

std::uint64_t after_stored(const std::string& masked_name, const PartBegin& begin,
                           std::string_view container_dir) {
  const ContainerName first = container_name(masked_name, container_dir, begin.launch, 0);
  const std::string prefix = first.prefix.substr(0, first.prefix.size() - 2);  // without "0."
  const auto names = list_directory(AT_FDCWD, first.directory);
  if (!names) return 0;
  std::uint64_t next = 0;
  for (const std::string& name : *names) {
    if (!name.starts_with(prefix)) continue;
    const auto parsed = parse_container_name(name);
    if (parsed && parsed->first_rank <= begin.rank && begin.rank <= parsed->last_rank)
      next = std::max(next, parsed->sequence + 1);
  }
  return next;
}

}  // namespace

std::uint64_t sequence_after_earlier(const LaunchDirectory& directory, const PartBegin& begin,
                                     std::string_view container_dir) {
  // The stage first: what a leader takes out of it meanwhile is in a container by then.
  std::uint64_t next = after_staged(directory, begin);
  for (const std::string& masked_name : begin.masked_names)
    next = std::max(next, after_stored(masked_name, begin, container_dir));
  return next;
}

}  // namespace mcr::restart
