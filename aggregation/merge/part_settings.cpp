// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/merge/part_settings.hpp"

namespace mcr::aggregation {

restart::Settings settings_of(const restart::PartBegin& begin) {
  restart::Settings settings;
  (void)settings.set_all(begin.settings, "journal").has_value();
  return settings;
}

}  // namespace mcr::aggregation
