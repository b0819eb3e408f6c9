// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/mcr/distinct_sets.hpp"

#include <fcntl.h>

#include <map>
#include <set>

#include "restart/base/path_names.hpp"
#include "restart/container/container_reader.hpp"
#include "restart/format/container_name.hpp"

namespace mcr::aggregation {
namespace {

/// For containers of earlier builds, which do not tell container_dir=.
constexpr std::uint32_t usual_steps_up = 1;

}  // namespace

std::vector<std::string> distinct_names(const std::vector<StoredSet>& sets) {
  std::map<std::string, std::set<std::string>> masked_names;  // by the beginning of the paths
  for (const StoredSet& set : sets) masked_names[set.prefix].insert(set.name.masked_name);
  std::vector<std::string> names;
  for (const StoredSet& set : sets) {
    const bool is_shared = masked_names.at(set.prefix).size() > 1;
    if (!is_shared) {
      names.push_back(set.prefix);
      continue;
    }
    const std::string beginning =
        distinct_prefix_of(set.name, set.steps_up.value_or(usual_steps_up));
    names.push_back(in_directory(restart::parent_of(set.prefix), beginning));
  }
  return names;
}

std::vector<NamedContainer> containers_of_distinct_name(
    const std::string& directory, const std::function<bool(const std::string& beginning)>& fits) {
  std::vector<NamedContainer> found = containers_in(directory, "");
  std::erase_if(found, [&](const NamedContainer& container) {
    if (!restart::parse_container_name(restart::name_of(container.path))) return true;
    const auto reader = restart::ContainerReader::open(AT_FDCWD, container.path);
    if (!reader) return true;
    const restart::SetIdentity& set = (*reader)->set();
    return !fits(distinct_prefix_of({set.launch, set.masked_name, set.sequence},
                                    set.steps_up.value_or(usual_steps_up)));
  });
  return found;
}

}  // namespace mcr::aggregation
