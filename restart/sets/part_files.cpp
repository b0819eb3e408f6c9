// SPDX-License-Identifier: BSD-3-Clause
#include "restart/sets/part_files.hpp"

#include <fcntl.h>

#include <algorithm>
#include <limits>

#include "restart/base/fitting_names.hpp"
#include "restart/format/masked_name.hpp"
#include "restart/sets/present_mask.hpp"

namespace mcr::restart {
namespace {

constexpr std::string_view rank_word = "{rank}";
constexpr std::string_view part_word = "{part}";

}  // namespace

std::map<FileNumber, std::string> part_files(std::string_view masked_name) {
  const std::size_t word = masked_name.find(part_word);
  const std::size_t begin = masked_name.rfind('/', word) + 1;  // 0 without a slash
  const std::size_t end = std::min(masked_name.find('/', word), masked_name.size());
  const std::string before(masked_name.substr(0, begin));
  const std::string_view component = masked_name.substr(begin, end - begin);
  const auto names =
      list_fitting_names(AT_FDCWD, before.empty() ? "." : before,
                         [&](const std::string& name) { return fits_mask(name, component); });
  std::map<FileNumber, std::string> paths;
  if (!names) return paths;
  for (const std::string& name : *names) {
    if (const auto number = masked_number(name, component))
      paths.emplace(*number, before + name + std::string(masked_name.substr(end)));
  }
  return paths;
}

std::string renamed_part_mask(const std::string& path, const std::string& written_as,
                              const std::string& written_mask) {
  const auto number = masked_number(written_as, written_mask);
  if (!number || *number >= std::numeric_limits<std::uint32_t>::max()) return {};
  std::string best;
  std::size_t best_likeness = 0;
  // The number takes the place of a rank.
  for (std::string mask : masked_names(path, static_cast<std::uint32_t>(*number),
                                       std::numeric_limits<std::uint32_t>::max())) {
    const std::size_t word = mask.find(rank_word);
    if (word == std::string::npos) continue;
    mask.replace(word, rank_word.size(), part_word);
    if (!is_numbered_by_part(mask)) continue;
    const std::size_t like = likeness(mask, written_mask);
    if (!best.empty() && like <= best_likeness) continue;
    best = std::move(mask);
    best_likeness = like;
  }
  return best;
}

}  // namespace mcr::restart
