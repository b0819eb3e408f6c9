// SPDX-License-Identifier: BSD-3-Clause
#include "restart/sets/ranks_to_probe.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>

#include "restart/base/file.hpp"
#include "restart/base/fitting_names.hpp"
#include "restart/base/system.hpp"
#include "restart/format/masked_name.hpp"

namespace mcr::restart::detail {

bool list_ranks(std::string_view masked_name, std::uint32_t rank_count,
                std::set<std::uint32_t>& ranks) {
  // Find the first component with a masked number, and the text before and after that number.
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string_view component;
  for (;; begin = end + 1) {
    if (begin > masked_name.size()) return true;  // no number is masked: no other rank has a name
    end = std::min(masked_name.find('/', begin), masked_name.size());
    component = masked_name.substr(begin, end - begin);
    if (is_masked(component)) break;
  }
  const std::string before(masked_name.substr(0, begin));
  const auto names =
      list_fitting_names(AT_FDCWD, before.empty() ? "." : before,
                         [&](const std::string& name) { return fits_mask(name, component); });
  if (!names) {
    const int number = names.error().system_error;
    return means_gone(number);  // no directory, hence no files
  }
  for (const std::string& name : *names) {
    if (const auto rank = masked_number(name, component)) {
      if (*rank < rank_count) ranks.insert(static_cast<std::uint32_t>(*rank));
    } else if (end < masked_name.size()) {  // a directory of several ranks, {ranks}
      if (!list_ranks(before + name + std::string(masked_name.substr(end)), rank_count, ranks))
        return false;
    }
  }
  return true;
}

}  // namespace mcr::restart::detail
