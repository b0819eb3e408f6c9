// SPDX-License-Identifier: BSD-3-Clause
#include "restart/sets/part_files.hpp"

#include <fcntl.h>

#include <algorithm>

#include "restart/base/fitting_names.hpp"
#include "restart/base/system.hpp"
#include "restart/format/masked_name.hpp"

namespace mcr::restart {
namespace {

constexpr std::string_view part_word = "{part}";

}  // namespace

Result<PartFiles> part_files(std::string_view masked_name) {
  const std::size_t word = masked_name.find(part_word);
  const std::size_t begin = masked_name.rfind('/', word) + 1;  // 0 without a slash
  const std::size_t end = std::min(masked_name.find('/', word), masked_name.size());
  const std::string before(masked_name.substr(0, begin));
  const std::string_view component = masked_name.substr(begin, end - begin);
  const auto names =
      list_fitting_names(AT_FDCWD, before.empty() ? "." : before,
                         [&](const std::string& name) { return fits_mask(name, component); });
  PartFiles paths;
  if (!names && means_gone(names.error().system_error)) return paths;
  if (!names) return names.error();
  for (const std::string& name : *names) {
    if (const auto number = masked_number(name, component))
      paths[*number].push_back(before + name + std::string(masked_name.substr(end)));
  }
  return paths;
}

}  // namespace mcr::restart
