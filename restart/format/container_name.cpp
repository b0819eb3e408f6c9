// SPDX-License-Identifier: BSD-3-Clause
#include "restart/format/container_name.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>

#include "codecs/base/checksum.hpp"
#include "restart/base/name_text.hpp"
#include "restart/format/mask_words.hpp"
#include "restart/format/masked_name.hpp"

namespace mcr::restart {
namespace {

/// A file name has at most 255 bytes. Launch (64), sequence (20), ranks (2 × 10), supplement (10)
/// and fixed characters leave this much for the masked name.
constexpr std::size_t max_masked_bytes = 120;
constexpr std::string_view begin_word = "set-";
constexpr std::string_view end_word = ".h5";

/// Writes '/' as '+' and '+' as "++", so that different names stay different.
std::string flat_name(std::string_view relative) {
  std::string flat;
  for (const char c : relative) {
    if (c == '+') flat.push_back('+');
    flat.push_back(c == '/' ? '+' : c);
  }
  if (flat.size() <= max_masked_bytes) return flat;
  return cut_text(flat, max_masked_bytes - 17) + "~" + hexadecimal(checksum(as_bytes(flat)));
}

template <typename Number>
bool parse_number(std::string_view text, Number& value) {
  if (text.empty() || text.size() > 20) return false;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  return problem == std::errc() && end == text.data() + text.size();
}

}  // namespace

std::string ContainerName::directory_from_stub(std::string_view container_dir) const {
  return container_dir_of(depth, container_dir);
}

namespace {

std::string prefix_of(std::string_view relative, std::string_view launch, std::uint64_t sequence) {
  std::string prefix(begin_word);
  prefix.append(flat_name(relative)).append(".").append(launch).append("-");
  return prefix + std::to_string(sequence) + ".";
}

/// Returns the position of the last '/' before the first mask, or npos. The components before it are the
/// same for all parts.
std::size_t end_of_base(std::string_view masked_name) {
  const std::size_t mask =
      std::min({masked_name.find("{rank"), masked_name.find(part_word), masked_name.size()});
  return masked_name.substr(0, mask).rfind('/');
}

}  // namespace

std::optional<std::uint32_t> steps_up_of(std::string_view container_dir) {
  std::uint32_t steps = 0;
  for (; container_dir.starts_with("../"); container_dir.remove_prefix(3)) ++steps;
  if (container_dir.find('/') != std::string_view::npos) return std::nullopt;
  return steps;
}

std::string container_dir_of(std::uint32_t steps_up, std::string_view name) {
  std::string path;
  for (std::uint32_t i = 0; i < steps_up; ++i) path += "../";
  return path.append(name);
}

std::string_view name_beside_containers(std::string_view masked_name,
                                        std::string_view container_dir) {
  std::size_t slash = end_of_base(masked_name);
  for (; container_dir.starts_with("../"); container_dir.remove_prefix(3)) {
    if (slash == std::string_view::npos || slash == 0) break;
    slash = masked_name.rfind('/', slash - 1);
  }
  return slash == std::string_view::npos ? masked_name : masked_name.substr(slash + 1);
}

ContainerName container_name(std::string_view masked_name, std::string_view container_dir,
                             std::string_view launch, std::uint64_t sequence) {
  const std::size_t slash = end_of_base(masked_name);
  const std::size_t relative_begin = slash == std::string_view::npos ? 0 : slash + 1;
  const std::string_view relative = masked_name.substr(relative_begin);

  ContainerName name;
  name.base = slash == std::string_view::npos ? "." : std::string(masked_name.substr(0, slash));
  if (name.base.empty()) name.base = "/";
  name.directory = name.base == "/" ? "/" : name.base + "/";
  name.directory += container_dir;
  name.depth = static_cast<std::uint32_t>(std::count(relative.begin(), relative.end(), '/'));
  name.prefix = prefix_of(relative, launch, sequence);
  name.distinct_prefix =
      prefix_of(name_beside_containers(masked_name, container_dir), launch, sequence);
  return name;
}

ContainerName bundle_name(std::string_view masked_name, std::string_view container_dir,
                          std::string_view launch, const PartId& part) {
  ContainerName name = container_name(masked_name, container_dir, launch, 0);
  const std::string_view relative = masked_name.substr(name.base == "."   ? 0
                                                       : name.base == "/" ? 1
                                                                          : name.base.size() + 1);
  name.prefix = std::string(begin_word)
                    .append(flat_name(pattern_of(relative)))
                    .append(".")
                    .append(launch)
                    .append("-")
                    .append(part.block())
                    .append(".");
  return name;
}

std::string bundle_suffix(std::uint32_t number) {
  return "b" + std::to_string(number).append(end_word);
}

ContainerName far_container_name(const std::string& base, std::string_view masked_name,
                                 std::string_view container_dir, std::string_view launch,
                                 std::uint64_t sequence) {
  ContainerName name;
  name.base = base;
  name.directory = base == "/" ? "/" : base + "/";
  name.directory += container_dir;
  name.prefix = prefix_of(masked_name, launch, sequence);
  name.distinct_prefix = name.prefix;
  return name;
}

std::string container_suffix(std::uint32_t first_rank, std::uint32_t last_rank,
                             std::optional<std::uint32_t> supplement) {
  std::string suffix = "r" + std::to_string(first_rank) + "-" + std::to_string(last_rank);
  if (supplement) suffix += ".s" + std::to_string(*supplement);
  return suffix.append(end_word);
}

std::optional<ParsedContainerName> parse_container_name(std::string_view text) {
  if (!text.starts_with(begin_word) || !text.ends_with(end_word)) return std::nullopt;
  text.remove_prefix(begin_word.size());
  text.remove_suffix(end_word.size());
  ParsedContainerName parsed;

  // Parse from the end, because masked names may contain dots, but launches contain none.
  const auto cut_last = [&text](char mark) -> std::optional<std::string_view> {
    const std::size_t place = text.rfind(mark);
    if (place == std::string_view::npos) return std::nullopt;
    const std::string_view tail = text.substr(place + 1);
    text = text.substr(0, place);
    return tail;
  };
  auto ranks = cut_last('.');
  if (ranks && ranks->starts_with('s')) {
    std::uint32_t supplement = 0;
    if (!parse_number(ranks->substr(1), supplement)) return std::nullopt;
    parsed.supplement = supplement;
    ranks = cut_last('.');
  }
  if (!ranks || !ranks->starts_with('r')) return std::nullopt;
  const std::size_t dash = ranks->find('-');
  if (dash == std::string_view::npos ||
      !parse_number(ranks->substr(1, dash - 1), parsed.first_rank) ||
      !parse_number(ranks->substr(dash + 1), parsed.last_rank)) {
    return std::nullopt;
  }
  const auto generation = cut_last('.');
  if (!generation) return std::nullopt;
  const std::size_t split = generation->rfind('-');
  if (split == std::string_view::npos || split == 0 ||
      !parse_number(generation->substr(split + 1), parsed.sequence)) {
    return std::nullopt;
  }
  parsed.launch = generation->substr(0, split);
  parsed.masked_name = text;
  if (parsed.masked_name.empty()) return std::nullopt;
  return parsed;
}

std::optional<ParsedBundleName> parse_bundle_name(std::string_view text) {
  if (!text.starts_with(begin_word) || !text.ends_with(end_word)) return std::nullopt;
  text.remove_prefix(begin_word.size());
  text.remove_suffix(end_word.size());
  ParsedBundleName parsed;
  const std::size_t number = text.rfind('.');
  if (number == std::string_view::npos || !text.substr(number + 1).starts_with('b') ||
      !parse_number(text.substr(number + 2), parsed.number)) {
    return std::nullopt;
  }
  text = text.substr(0, number);
  const std::size_t generation = text.rfind('.');
  const std::size_t block = text.rfind('-');
  if (generation == std::string_view::npos || generation == 0 || block == std::string_view::npos ||
      block <= generation + 1 || text.size() - block - 1 != 16) {
    return std::nullopt;
  }
  parsed.pattern = text.substr(0, generation);
  parsed.launch = text.substr(generation + 1, block - generation - 1);
  parsed.block = text.substr(block + 1);
  return parsed;
}

bool is_container_name(std::string_view file_name) {
  return parse_container_name(file_name) || parse_bundle_name(file_name);
}

}  // namespace mcr::restart
