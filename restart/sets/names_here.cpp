// SPDX-License-Identifier: BSD-3-Clause
#include "restart/sets/names_here.hpp"

#include <algorithm>
#include <string_view>

#include "restart/base/path_names.hpp"
#include "restart/format/container_name.hpp"
#include "restart/format/mask_words.hpp"
#include "restart/format/masked_name.hpp"
#include "restart/sets/part_files.hpp"
#include "restart/sets/places_above.hpp"
#include "restart/sets/present_mask.hpp"
#include "restart/sets/stored_sets.hpp"

namespace mcr::restart {
namespace {

/// `is_found`: the set's containers are at the place, so its masked name is the set's.
NamesHere names_at(const Stub& stub, const std::string& path, ContainerPlace found, bool is_found,
                   Look& look) {
  NamesHere here;
  here.place = std::move(found);
  const ContainerPlace& place = here.place;
  here.components = components_of(stub, place.masked_name);
  here.tail = path_tail(path, here.components);
  here.base = path.substr(0, path.size() - here.tail.size());
  // If the stub kept its name, and its container lies beside it, the files were not renamed. The
  // whole tree may have been moved.
  const bool file_is_renamed =
      here.tail != path_tail(stub.path, here.components) || place.is_elsewhere();
  // With container_dir=../NAME, the names of the directories above tell sets apart, too.
  const std::string_view name = name_beside_containers(place.masked_name, place.container_dir);
  here.named_components = static_cast<std::size_t>(std::count(name.begin(), name.end(), '/')) + 1;
  const bool directory_is_renamed =
      path_tail(path, here.named_components) != path_tail(stub.path, here.named_components);
  here.renamed = file_is_renamed || directory_is_renamed;
  const std::string written_mask = path_tail(place.masked_name, here.components);
  const bool has_part = written_mask.find(part_word) != std::string::npos;
  if (has_part && !is_numbered_by_part(written_mask)) return here;  // no other file's name is known
  if (!file_is_renamed) {
    here.masked_name = here.base + written_mask;
  } else if (has_part) {
    here.masked_name = renamed_part_mask(path, path_tail(stub.path, here.components), written_mask);
  } else {
    const std::vector<std::string>& written =
        is_found ? std::vector{place.masked_name} : stub.masked_names;
    here.masked_name =
        present_mask(stub, path, written, place.directory, owner_of(stub, path), look);
  }
  // Numbers of more than 18 digits tell no files apart.
  if (has_part && !masked_number(path, here.masked_name)) here.masked_name.clear();
  return here;
}

}  // namespace

std::size_t components_of(const Stub& stub, const std::string& masked_name) {
  return container_name(masked_name, stub.container_directory, stub.launch, stub.sequence).depth +
         1;
}

std::optional<ContainerPlace> find_place_above(const Stub& stub, const std::string& path,
                                               std::vector<Generation>& stored, Look& look) {
  // Other sets may have the same near names, so these come last, and the containers must have the part.
  for (const bool with_near_names : {false, true}) {
    for (ContainerPlace& above : places_above(stub, path, with_near_names)) {
      stored = stored_generations(above, components_of(stub, above.masked_name), true, look);
      if (stored.empty()) continue;
      if (!with_near_names || stored.front().has(stub.part)) return std::move(above);
    }
  }
  stored.clear();
  return std::nullopt;
}

std::optional<NamesHere> find_names(const Stub& stub, const std::string& path,
                                    const std::string& allow, std::vector<Generation>& stored,
                                    Look& look) {
  auto places = container_places(stub, path, allow);
  if (places.empty()) return std::nullopt;
  auto found = places.begin();
  for (; found != places.end(); ++found) {
    stored = stored_generations(*found, components_of(stub, found->masked_name), true, look);
    if (!stored.empty()) break;
  }
  ContainerPlace place = std::move(found == places.end() ? places.front() : *found);
  // No container is in these places: the files may have been renamed, or all parts may still be in
  // a stage.
  if (stored.empty()) {
    if (auto above = find_place_above(stub, path, stored, look)) place = *std::move(above);
  }
  NamesHere here = names_at(stub, path, std::move(place), !stored.empty(), look);
  if (here.masked_name.empty()) return std::nullopt;
  return here;
}

}  // namespace mcr::restart
