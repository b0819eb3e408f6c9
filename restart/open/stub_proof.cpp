// SPDX-License-Identifier: BSD-3-Clause
#include "restart/open/stub_proof.hpp"

#include <algorithm>

#include "restart/base/path_names.hpp"
#include "restart/sets/container_places.hpp"
#include "restart/sets/names_here.hpp"
#include "restart/sets/places_above.hpp"
#include "restart/sets/stored_sets.hpp"
#include "restart/stage/stage.hpp"

namespace mcr::restart {

bool was_moved_below(const std::string& above, const Stub& stub, const std::string& path) {
  if (!stub.container_directory.starts_with("../")) return false;
  const std::string below = path.substr(above == "/" ? 1 : above.size() + 1);
  const auto components =
      static_cast<std::size_t>(std::count(below.begin(), below.end(), '/'));  // of the directory
  return components > 0 &&
         path_tail(parent_of(path), components) != path_tail(parent_of(stub.path), components);
}

bool lies_beside(const std::string& containers, const Stub& stub, const std::string& path,
                 const std::string& own) {
  const std::string directory = parent_of(without_dots(containers));
  if (directory == "/" || path.starts_with(directory + "/"))
    return was_moved_below(directory, stub, path);
  return without_dots(containers) != without_dots(own);
}

bool has_part(const std::vector<Generation>& generations, const Stub& stub) {
  using State = LaunchDirectory::State;
  if (std::any_of(generations.begin(), generations.end(),
                  [&](const Generation& it) { return it.has(stub.part); }))
    return true;
  const auto stage = LaunchDirectory::open(stub.launch_directory);
  return stage &&
         (stage->is_in(State::published, stub.part) || stage->is_in(State::committed, stub.part));
}

bool is_part_of_generation(const Stub& stub, const std::string& path, const std::string& allow,
                           const GenerationName& name, Look& look) {
  const auto has_it = [&](const ContainerPlace& place) {
    const std::vector<Generation>& stored =
        stored_generations(place, components_of(stub, place.masked_name), true, look);
    return !stored.empty() && stored.front().name == name && stored.front().has(stub.part);
  };
  const auto any_has_it = [&](const std::vector<ContainerPlace>& places) {
    return std::any_of(places.begin(), places.end(), has_it);
  };
  return any_has_it(container_places(stub, path, allow)) ||
         any_has_it(places_above(stub, path, true));
}

}  // namespace mcr::restart
