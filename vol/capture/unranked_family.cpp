// SPDX-License-Identifier: BSD-3-Clause
#include "vol/capture/unranked_family.hpp"

#include <map>
#include <mutex>

#include "restart/stage/pattern_marks.hpp"

namespace mcr::vol {

namespace {

/// The limit on remembered families, because a program that gives its files random names would add
/// families without end.
constexpr std::size_t most_families = 64;

struct Known {
  std::mutex mutex;
  std::map<std::string, bool> families;  ///< true once the other ranks have been told
};
Known& known() {
  // Never destroyed: HDF5 closes files after static destructors have run.
  static Known& known = *new Known;
  return known;
}

}  // namespace

bool is_unranked(const std::string& family) {
  const std::lock_guard lock(known().mutex);
  return known().families.contains(family);
}

void note_unranked(const std::string& family, const restart::Settings& settings,
                   const restart::Launcher& launcher) {
  if (!launcher.launch) return;
  const std::lock_guard lock(known().mutex);
  auto& families = known().families;
  if (families.size() >= most_families && !families.contains(family)) return;
  bool& is_told = families[family];
  if (is_told) return;
  // Does nothing if no rank has begun a part yet; a later call tries again.
  is_told = restart::mark_native_where_begun(std::string(settings.text("stage")), launcher.node,
                                             *launcher.launch, family);
}

}  // namespace mcr::vol
