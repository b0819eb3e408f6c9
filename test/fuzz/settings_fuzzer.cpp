// SPDX-License-Identifier: BSD-3-Clause
// Fuzzes settings: with arbitrary text after the connector's name, and as an mcr.conf. Accepted
// settings must have a text that another process can read.
#include <cstdlib>

#include "restart/settings/configuration.hpp"
#include "restart/settings/settings.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace mcr::restart;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Settings settings;
  if (settings.set_all(text, "fuzzer")) {
    Settings again;
    if (!again.set_all(settings.changed(), "changed")) std::abort();
    if (again.changed() != settings.changed()) std::abort();
    for (const SettingRow& row : settings_table()) {
      (void)settings.bytes(row.name);
      (void)settings.milliseconds(row.name);
      (void)settings.count(row.name);
    }
  }
  (void)parse_configuration(text);
  (void)parse_size(text);
  (void)parse_duration(text);
  return 0;
}
