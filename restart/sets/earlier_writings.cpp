// SPDX-License-Identifier: BSD-3-Clause
#include "restart/sets/earlier_writings.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "restart/base/file.hpp"
#include "restart/base/system.hpp"
#include "restart/base/trust.hpp"
#include "restart/container/container_reader.hpp"
#include "restart/sets/look.hpp"
#include "restart/sets/native_members.hpp"
#include "restart/sets/own_containers.hpp"

namespace mcr::restart {
namespace {

bool is_by_this_user(const ContainerReader& container, const File& directory) {
  const auto status = container.status();
  const auto home = directory.status();
  return status && home && is_believed(author_of(*status, *home), ::geteuid());
}

/// True if this rank has a part in the container. Also true if the container cannot be read,
/// because its name includes the rank.
bool has_part_of(const std::string& directory, const std::string& name, const PartBegin& begin) {
  const auto home = open_own_containers(directory);
  if (!home) return home.error().system_error != EPERM;  // EPERM: others may add files
  struct stat status {};
  if (system_calls().fstatat(home->descriptor(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
      !is_believed(status.st_uid, ::geteuid())) {
    return false;  // another user's container is not of this launch
  }
  const auto container = ContainerReader::open(home->descriptor(), name);
  if (!container) return true;
  if (!is_by_this_user(**container, *home)) return false;
  // A container that came here with a renamed directory has parts of other names. If it counted,
  // ranks could get different sequences.
  const auto& names = begin.masked_names;
  if (std::find(names.begin(), names.end(), (*container)->set().masked_name) == names.end())
    return false;
  const auto parts = (*container)->parts();
  return !parts || std::any_of((*parts)->begin(), (*parts)->end(), [&](const PartRecord& record) {
    return record.entry.rank == begin.rank;
  });
}

/// Containers of this user and of root, and of others unless there are too many.
std::vector<std::string> containers_in(const std::string& directory) {
  const auto home = File::open(AT_FDCWD, directory, O_RDONLY | O_DIRECTORY);
  if (!home) return {};
  const auto believes = [](uid_t writer) { return is_believed(writer, ::geteuid()); };
  return list_containers(home->descriptor(), believes).value_or({});
}

}  // namespace

std::uint64_t EarlierWritings::after_staged(const LaunchDirectory& directory,
                                            const PartBegin& begin) {
  using State = LaunchDirectory::State;
  if (!staged_) {
    staged_.emplace();
    for (const State state : {State::open, State::published, State::committed}) {
      const auto parts = directory.list(state);
      if (!parts) continue;
      for (const PartId& part : *parts) {
        const auto journal = directory.journal(state, part);
        // A part that this launch writes into the set of an earlier one is none of this launch's
        // writings.
        if (!journal || journal->begin.rank != begin.rank || journal->begin.launch != begin.launch)
          continue;
        std::uint64_t& next = (*staged_)[journal->begin.path];
        next = std::max(next, journal->begin.sequence + 1);
      }
    }
  }
  const auto found = staged_->find(begin.path);
  return found == staged_->end() ? 0 : found->second;
}

std::uint64_t EarlierWritings::after_stored(const ContainerName& first, const PartBegin& begin) {
  const auto [known, is_new] = stored_.try_emplace(first.directory);
  if (is_new) known->second = containers_in(first.directory);
  const std::string prefix = first.prefix.substr(0, first.prefix.size() - 2);  // without "0."
  std::uint64_t next = 0;
  const std::vector<std::string>& names = known->second;
  for (auto at = std::lower_bound(names.begin(), names.end(), prefix);
       at != names.end() && at->starts_with(prefix); ++at) {
    const std::string& name = *at;
    const auto parsed = parse_container_name(name);
    // When a late rank writes the file for the first time, containers of other ranks may lie here
    // already. So the container must have a part of this rank.
    if (parsed && parsed->sequence >= next && parsed->first_rank <= begin.rank &&
        begin.rank <= parsed->last_rank && has_part_of(first.directory, name, begin))
      next = parsed->sequence + 1;
  }
  if (begin.rank_count > 1) return next;
  if (is_new) read_bundles(first.directory, begin.launch, names);
  const auto bundled = bundled_.find(begin.path);
  return bundled == bundled_.end() ? next : std::max(next, bundled->second);
}

std::uint64_t EarlierWritings::after_noted(const std::string& containers, const PartBegin& begin) {
  const auto [entry, is_new] = noted_.try_emplace(containers);
  auto& next_of_path = entry->second;
  if (is_new) {
    for_each_note(containers, [&](const Stub& noted) {
      if (noted.launch != begin.launch || noted.rank != begin.rank) return;
      std::uint64_t& next = next_of_path[noted.path];
      next = std::max(next, noted.sequence + 1);
    });
  }
  const auto found = next_of_path.find(begin.path);
  return found == next_of_path.end() ? 0 : found->second;
}

/// Reads the next sequence of each path from the launch's bundles. A bundle holds sets of one rank,
/// so each masked name is a path.
void EarlierWritings::read_bundles(const std::string& directory, const std::string& launch,
                                   const std::vector<std::string>& names) {
  const auto home = File::open(AT_FDCWD, directory, O_RDONLY | O_DIRECTORY);
  if (!home) return;
  for (const std::string& name : names) {
    const auto parsed = parse_bundle_name(name);
    if (!parsed || parsed->launch != launch) continue;
    const auto container = ContainerReader::open(home->descriptor(), name);
    if (!container || !is_by_this_user(**container, *home)) continue;
    for (const BundledSet& set : (*container)->set().bundled) {
      std::uint64_t& next = bundled_[set.masked_name];
      next = std::max(next, set.sequence + 1);
    }
  }
}

std::uint64_t EarlierWritings::next_sequence(const LaunchDirectory& directory,
                                             const PartBegin& begin,
                                             std::string_view container_dir) {
  // Look into the stage before the containers: a part that a leader drains in between is then seen
  // in its container.
  std::uint64_t next = after_staged(directory, begin);
  for (const std::string& masked_name : begin.masked_names) {
    const ContainerName first = container_name(masked_name, container_dir, begin.launch, 0);
    next = std::max({next, after_stored(first, begin), after_noted(first.directory, begin)});
  }
  return next;
}

}  // namespace mcr::restart
