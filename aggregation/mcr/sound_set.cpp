// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/mcr/sound_set.hpp"

#include <cstdio>

#include "aggregation/mcr/open_container.hpp"
#include "aggregation/mcr/options.hpp"
#include "aggregation/mcr/print.hpp"
#include "restart/verify.hpp"

namespace mcr::aggregation {
namespace {

/// The first damage; empty: none.
std::string damage_of(const StoredSet& set) {
  ProgressBar bar("checking");
  restart::VerifyOptions options;
  options.whole_parts = false;
  options.parallel_for = parallel_on(usable_threads());
  options.progress = bar.function();
  for (const std::string& path : set.containers) {
    const auto container = open_container(path);
    if (!container) return container.error().message;
    const auto report = restart::verify_container(**container, options);
    if (!report) return report.error().message;
    if (!report->damage.empty()) return report->damage.front();
  }
  return {};
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

const StoredSet* newest_sound(const std::vector<StoredSet>& sets, const char* command) {
  for (auto set = sets.rbegin(); set != sets.rend(); ++set) {
    if (set->wholeness != Wholeness::whole) continue;
    const std::string damage = damage_of(*set);
    if (damage.empty()) return &*set;
    std::fprintf(stderr, "mcr %s: %s is damaged and left out: %s\n", command, set->prefix.c_str(),
                 damage.c_str());
  }
  return nullptr;
}

}  // namespace mcr::aggregation
