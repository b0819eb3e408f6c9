// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/mcr/sound_set.hpp"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <map>
#include <set>

#include "aggregation/mcr/containers_below.hpp"
#include "aggregation/mcr/exit_codes.hpp"
#include "aggregation/mcr/named_containers.hpp"
#include "aggregation/mcr/open_container.hpp"
#include "aggregation/mcr/parallel.hpp"
#include "aggregation/mcr/print.hpp"
#include "restart/base/counted.hpp"
#include "restart/base/limits.hpp"
#include "restart/base/path_names.hpp"
#include "restart/container/verify.hpp"

namespace mcr::aggregation {
namespace {

/// Opens a container of the set again. EPERM: the file or its directory is not the one that was read.
Result<std::shared_ptr<restart::ContainerReader>> open_again(const StoredSet& set,
                                                             const std::string& path) {
  const ReadContainer& read = set.read.at(path);
  const HeldContainers home = MCR_TRY(read.home->hold());
  auto container = MCR_TRY(open_container(home, path));
  if (restart::FileIdentity(MCR_TRY(container->status())) != read.file)
    return replaced_meanwhile(path);
  return container;
}

/// Returns the first damage; empty if there is none.
std::string damage_of(const StoredSet& set) {
  ProgressBar bar("checking");
  restart::VerifyOptions options;
  options.whole_parts = false;
  options.decodes = false;
  options.parallel_for = parallel_on(restart::usable_cpu_count());
  options.progress = bar.function();
  for (const std::string& path : set.containers) {
    const auto container = open_again(set, path);
    if (!container) return container.error().message;
    const auto report = restart::verify_container(**container, options);
    if (!report) return report.error().message;
    if (!report->damage.empty()) return report->damage.front();
  }
  return {};
}

/// False if another directory was at the path of the set's containers by the time they were read.
bool lies_there(const StoredSet& set, const ContainersTogether& together) {
  if (together.directory) return set.beside.identity() == *together.directory;
  return !together.top || set.beside.identity() == *together.top ||
         set.beside.outer_identity() == *together.top;
}

/// Returns the sets of containers that may belong together.
Result<SetsIn> sets_of(const ContainersTogether& together, const std::string& argument,
                       const char* command) {
  std::vector<std::string> containers;
  std::string named;  // prefix of the bundle's sets that are meant
  for (const NamedContainer& container : together.containers) {
    containers.push_back(container.path);
    if (!container.sets.empty()) named = container.sets;
  }
  std::vector<Error> unreadable;
  SetsIn found;
  found.top_identity = together.top;
  found.sets = stored_sets(containers, unreadable);
  std::erase_if(found.sets, [&](const StoredSet& set) {
    return (set.is_bundled && !restart::name_of(set.prefix).starts_with(named)) ||
           !lies_there(set, together);
  });
  // An unreadable container is an error if the user named it.
  if (!unreadable.empty() && containers == std::vector{argument}) {
    const auto container = open_container(argument);
    return container ? Error{Cause::damaged, unreadable.front().message} : container.error();
  }
  found.has_damage = !unreadable.empty();
  for (const Error& error : unreadable) {
    found.code = exit_code_of(error);
    print_line(stderr, "mcr %s: a container is ignored: %s", command, error.message.c_str());
  }
  return found;
}

}  // namespace

const char* wholeness_name(Wholeness wholeness) {
  switch (wholeness) {
    case Wholeness::whole:
      return "whole";
    case Wholeness::incomplete:
      return "incomplete";
    case Wholeness::unknown:
      return "unknown";
  }
  return "unknown";
}

const char* state_name(const StoredSet& set) {
  if (set.is_broken) return "damaged";
  if (set.is_unused_copy) return "copy";
  const bool is_file = set.is_of_one_file && set.wholeness == Wholeness::whole;
  return is_file ? "file" : wholeness_name(set.wholeness);
}

Result<std::vector<SetsIn>> sets_by_directory(const std::string& argument, const char* command) {
  auto all = MCR_TRY(find_containers_below(argument, command));
  ProgressBar bar("reading");
  std::size_t done = 0;
  std::vector<SetsIn> found;
  for (const ContainersTogether& together : all) {
    bar.show("directories: " + std::to_string(done++) + " of " + std::to_string(all.size()));
    found.push_back(MCR_TRY(sets_of(together, argument, command)));
  }
  return found;
}

Result<SetsIn> sets_in(const std::string& argument, const char* command) {
  SetsIn all;
  all.top = without_last_slashes(argument);
  for (SetsIn& here : MCR_TRY(sets_by_directory(argument, command))) {
    // All these directories were found from one open directory, so this value is the same for each.
    if (here.top_identity) all.top_identity = here.top_identity;
    all.has_damage |= here.has_damage;
    if (here.code != exit_code::success) all.code = here.code;
    std::move(here.sets.begin(), here.sets.end(), std::back_inserter(all.sets));
  }
  std::stable_sort(all.sets.begin(), all.sets.end(), is_older);
  return all;
}

void leave_out_others(SetsIn& found, uid_t user, const char* command) {
  std::set<uid_t> others;
  std::map<std::pair<std::string, restart::FileIdentity>, bool> ways;
  const auto leads_there = [&](const std::string& directory, const restart::FileIdentity& reached) {
    const auto [way, is_new] = ways.try_emplace({directory, reached}, false);
    if (is_new) way->second = is_way_believed(found.top, directory, reached, user);
    return way->second;
  };
  const std::size_t count = std::erase_if(found.sets, [&](const StoredSet& set) {
    const std::string home = restart::parent_of(restart::parent_of(set.prefix));
    if (set.beside.believes(set.owner, user) && leads_there(home, set.beside.outer_identity()))
      return false;
    others.insert(set.owner);
    return true;
  });
  if (count == 0) return;
  std::string names;
  for (const uid_t other : others) names += (names.empty() ? "" : ", ") + std::to_string(other);
  print_line(stderr,
             "mcr %s: %s of other users (%s) were ignored; `mcr latest --owner USER` names the "
             "newest set of one user",
             command, restart::counted(count, "set").c_str(), names.c_str());
}

const StoredSet* newest_sound(const std::vector<StoredSet>& sets, const char* command) {
  for (auto set = sets.rbegin(); set != sets.rend(); ++set) {
    if (set->amendments.are_partial() && !set->is_of_one_file) {
      print_line(stderr,
                 "mcr %s: the set %s* is not used: a later job wrote into some of its files, and "
                 "not into the others, so they may be of different steps. Nothing is lost: opens "
                 "give each rank its newest content, and `mcr unpack %s* -d DIR` writes it",
                 command, set->prefix.c_str(), set->prefix.c_str());
    }
    if (set->is_unused_copy && wholeness(set->account) == Wholeness::whole) {
      print_line(stderr,
                 "mcr %s: the set %s* is not used: its containers are copies, and no file beside "
                 "them belongs to the set. `mcr unpack %s* -d DIR` writes it",
                 command, set->prefix.c_str(), set->prefix.c_str());
    }
    if (set->wholeness != Wholeness::whole || set->is_of_one_file) continue;
    const std::string damage = damage_of(*set);
    if (damage.empty()) return &*set;
    print_line(stderr, "mcr %s: the set %s* is damaged and is not used: %s", command,
               set->prefix.c_str(), damage.c_str());
  }
  return nullptr;
}

}  // namespace mcr::aggregation
