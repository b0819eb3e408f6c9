// SPDX-License-Identifier: BSD-3-Clause
#include "restart/format/masked_name.hpp"

#include <algorithm>
#include <utility>

#include "restart/format/journal.hpp"
#include "restart/format/mask_words.hpp"

namespace mcr::restart {
namespace {

/// At most this many runs that equal the rank are tried, which keeps the candidates few. Few paths
/// have more such runs.
constexpr std::size_t max_file_runs = 3;
constexpr std::size_t max_directory_runs = 2;
constexpr std::size_t max_candidate_bytes = 24 * 1024;
constexpr std::size_t max_siblings = 8;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// A maximal run of digits.
struct Run {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::optional<std::uint64_t> value;  ///< nothing if it has more than 18 significant digits

  bool operator==(const Run&) const = default;
};

/// True if the run is the digit of an extension: `.h5`, `.hdf5`, `.nc4`. The extension may be in
/// mid-name, as in `0.h5.3`, and may have letters after it, as in `.h5part`.
bool is_extension(std::string_view path, const Run& run) {
  constexpr std::string_view words[] = {"h4",  "h5",  "hdf4", "hdf5", "he4",
                                        "he5", "nc3", "nc4",  "cdf5", "netcdf4"};
  std::size_t begin = run.begin;
  while (begin > 0 && lower(path[begin - 1]) >= 'a' && lower(path[begin - 1]) <= 'z') --begin;
  if (begin == 0 || path[begin - 1] != '.') return false;
  std::string word(path.substr(begin, run.end - begin));
  std::transform(word.begin(), word.end(), word.begin(), lower);
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

std::vector<Run> runs_of(std::string_view path, std::size_t from) {
  std::vector<Run> runs;
  std::size_t place = from;
  while (place < path.size()) {
    if (!is_digit(path[place])) {
      ++place;
      continue;
    }
    Run run{place, place, 0};
    std::uint64_t value = 0;
    while (run.end < path.size() && is_digit(path[run.end])) {
      value = value * 10 + static_cast<std::uint64_t>(path[run.end] - '0');
      ++run.end;
    }
    // Nineteen significant digits or more could overflow, and cannot be a rank.
    const std::size_t first = path.find_first_not_of('0', run.begin);
    const std::size_t significant = run.end - std::min(first, run.end);
    run.value = significant <= 18 ? std::optional(value) : std::nullopt;
    place = run.end;
    if (!is_extension(path, run)) runs.push_back(run);
  }
  return runs;
}

/// True if value == rank / k for some constant k >= 2.
bool is_rank_divided(std::uint64_t value, std::uint64_t rank) {
  if (value == 0) return true;
  const std::uint64_t largest = rank / value;
  return largest >= 2 && rank / largest == value;
}

/// The runs that are replaced, each with its word, in order of their place.
using Mask = std::vector<std::pair<Run, std::string_view>>;

std::string apply(std::string_view path, Mask mask) {
  std::sort(mask.begin(), mask.end(),
            [](const auto& a, const auto& b) { return a.first.begin < b.first.begin; });
  std::string masked;
  std::size_t place = 0;
  for (const auto& [run, word] : mask) {
    masked.append(path.substr(place, run.begin - place)).append(word);
    place = run.end;
  }
  return masked.append(path.substr(place));
}

Mask with(Mask mask, const std::vector<Run>& runs) {
  for (const Run& run : runs) mask.emplace_back(run, rank_word);
  return mask;
}

/// Returns the candidates in the same order for every rank, most likely first. First come masks of
/// one run of the file name alone, then such masks with directories, then masks of directories
/// alone, then masks of several runs of the file name.
std::vector<Mask> masks_of(const std::vector<Run>& file, const std::vector<Run>& directory,
                           const std::optional<Run>& divided) {
  std::vector<Mask> masks;
  for (const Run& run : file) masks.push_back({{run, rank_word}});
  for (const Run& run : file) {
    const Mask alone = {{run, rank_word}};
    for (const Run& place : directory) masks.push_back(with(alone, {place}));
    if (directory.size() > 1) masks.push_back(with(alone, directory));
    if (divided) masks.push_back({{run, rank_word}, {*divided, ranks_word}});
  }
  for (const Run& place : directory) masks.push_back({{place, rank_word}});
  if (directory.size() > 1) masks.push_back(with({}, directory));
  if (file.size() > 1) {
    masks.push_back(with({}, file));
    if (!directory.empty()) masks.push_back(with(with({}, file), directory));
  }
  return masks;
}

/// Walks a path and its masked name side by side, and calls `use(word, begin, end)` for the digits
/// at each word. False if the path does not fit the masked name.
template <typename Use>
bool align(std::string_view path, std::string_view masked, Use use) {
  std::size_t place = 0;
  std::size_t mark = 0;
  while (mark < masked.size()) {
    std::string_view word;
    for (const std::string_view known : {rank_word, ranks_word, part_word}) {
      if (masked.substr(mark).starts_with(known)) word = known;
    }
    if (word.empty()) {
      if (place >= path.size() || path[place] != masked[mark]) return false;
      ++place;
      ++mark;
      continue;
    }
    const std::size_t begin = place;
    while (place < path.size() && is_digit(path[place])) ++place;
    if (place == begin) return false;
    use(word, begin, place);
    mark += word.size();
  }
  return place == path.size();
}

std::string number_text(std::uint64_t value, std::size_t width) {
  std::string text = std::to_string(value);
  if (text.size() < width) text.insert(0, width - text.size(), '0');
  return text;
}

/// Returns the possible values of other_rank / k if rank / k is `value`: only a few, small ones
/// first.
std::vector<std::uint64_t> quotients(std::uint64_t value, std::uint64_t rank,
                                     std::uint64_t other_rank) {
  const std::uint64_t smallest = rank / (value + 1) + 1;
  const std::uint64_t largest = value == 0 ? std::max(other_rank + 1, smallest) : rank / value;
  std::vector<std::uint64_t> found;
  if (smallest > largest) return found;
  // As k falls, the quotient rises. The next k is the largest one with a larger quotient, so that each
  // step finds one.
  for (std::uint64_t k = largest; k >= smallest && found.size() < max_siblings;) {
    found.push_back(other_rank / k);
    k = other_rank / (found.back() + 1);
  }
  return found;
}

}  // namespace

std::vector<std::string> masked_names(std::string_view path, std::uint32_t rank,
                                      std::uint32_t rank_count, std::size_t from) {
  if (rank_count <= 1) return {std::string(path)};
  const std::size_t slash = path.rfind('/');
  const std::size_t file_begin = slash == std::string_view::npos ? 0 : slash + 1;

  std::vector<Run> file;
  std::vector<Run> directory;
  std::optional<Run> divided;
  std::vector<Run> runs = runs_of(path, from);
  std::reverse(runs.begin(),
               runs.end());  // the file name's last run first, then the nearest directory's
  for (const Run& run : runs) {
    if (!run.value) continue;
    // A run that equals the number of ranks, as 8 in mesh.e.8.3, never fits, because ranks are
    // smaller.
    const bool fits = *run.value == rank;
    if (run.begin >= file_begin) {
      if (fits && file.size() < max_file_runs) file.push_back(run);
      continue;
    }
    if (fits && directory.size() < max_directory_runs) directory.push_back(run);
    if (!divided && (!fits || rank == 0) && is_rank_divided(*run.value, rank)) divided = run;
  }

  std::vector<std::string> names;
  std::size_t bytes = 0;
  for (const Mask& mask : masks_of(file, directory, divided)) {
    std::string name = apply(path, mask);
    bytes += name.size();
    if (names.size() == max_masked_names || bytes > max_candidate_bytes) break;
    if (std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(std::move(name));
  }
  return names;
}

std::vector<std::string> masked_full_names(std::string_view path_as_passed, std::string_view path,
                                           std::uint32_t rank, std::uint32_t rank_count) {
  // Compare component by component from the end, until the two paths differ because of a link among
  // the directories, or "..".
  std::size_t from = path.size();
  std::string_view passed = path_as_passed;
  std::string_view resolved = path;
  while (!passed.empty() && !resolved.empty()) {
    const auto last = [](std::string_view text) { return text.substr(text.rfind('/') + 1); };
    const std::string_view component = last(passed);
    const auto drop = [](std::string_view& text) {
      const std::size_t slash = text.rfind('/');
      text = slash == std::string_view::npos ? std::string_view() : text.substr(0, slash);
    };
    if (component.empty() || component == ".") {
      drop(passed);
      continue;
    }
    if (component != last(resolved)) break;
    from = static_cast<std::size_t>(last(resolved).data() - path.data());
    drop(passed);
    drop(resolved);
  }
  std::vector<std::string> names = masked_names(path, rank, rank_count, from);
  // The program may reach a rank's directory through a link that is named after the rank, and the
  // directory itself may have any name. So all of the resolved path is searched.
  if (names.empty()) names = masked_names(path, rank, rank_count);
  return names;
}

std::vector<std::string> sibling_paths(std::string_view path, std::string_view masked_name,
                                       std::uint32_t rank, std::uint32_t other_rank) {
  struct Hole {
    std::string_view word;
    std::size_t begin = 0;
    std::size_t end = 0;
  };
  std::vector<Hole> holes;
  const bool aligned =
      align(path, masked_name, [&](std::string_view word, std::size_t begin, std::size_t end) {
        holes.push_back({word, begin, end});
      });
  if (!aligned || holes.empty()) return {};

  std::vector<std::uint64_t> directory_numbers = {0};
  bool width_is_known = true;
  for (const Hole& hole : holes) {
    // {part} is not the rank, so the numbers of other ranks' files are not known
    if (hole.word == part_word) return {};
    const std::string_view digits = path.substr(hole.begin, hole.end - hole.begin);
    if (digits.size() > 1 && digits.front() != '0') width_is_known = false;
    if (hole.word != ranks_word) continue;
    const auto runs = runs_of(path.substr(0, hole.end), hole.begin);
    if (runs.empty() || !runs.front().value) return {};
    directory_numbers = quotients(*runs.front().value, rank, other_rank);
  }

  std::vector<std::string> paths;
  for (const bool padded : {true, false}) {
    if (!padded && width_is_known) continue;
    for (const std::uint64_t directory_number : directory_numbers) {
      std::string other;
      std::size_t place = 0;
      for (const Hole& hole : holes) {
        const std::string_view digits = path.substr(hole.begin, hole.end - hole.begin);
        const bool pad = padded || digits.front() == '0';
        const std::uint64_t value = hole.word == ranks_word ? directory_number : other_rank;
        other.append(path.substr(place, hole.begin - place));
        other += number_text(value, pad ? digits.size() : 0);
        place = hole.end;
      }
      other.append(path.substr(place));
      const bool known = std::find(paths.begin(), paths.end(), other) != paths.end();
      if (!known && paths.size() < max_siblings) paths.push_back(std::move(other));
    }
  }
  return paths;
}

bool is_of_one_file(std::string_view masked_name) { return !is_masked(masked_name); }

std::optional<std::uint64_t> masked_number(std::string_view path, std::string_view masked_name) {
  std::optional<std::uint64_t> number;
  const bool aligned =
      align(path, masked_name, [&](std::string_view word, std::size_t begin, std::size_t end) {
        if (word == ranks_word || number) return;
        const auto runs = runs_of(path.substr(0, end), begin);
        if (!runs.empty()) number = runs.front().value;
      });
  return aligned ? number : std::nullopt;
}

std::string shared_directory(std::string_view masked_name) {
  const std::size_t word = masked_name.find('{');
  const std::size_t slash = masked_name.rfind('/', word);
  if (slash == std::string_view::npos) return ".";
  return std::string(masked_name.substr(0, std::max<std::size_t>(slash, 1)));
}

bool fits_mask(std::string_view text, std::string_view masked_name) {
  return align(text, masked_name, [](std::string_view, std::size_t, std::size_t) {});
}

bool is_masked(std::string_view masked_name) {
  return masked_name.find(rank_word) != std::string_view::npos ||
         masked_name.find(ranks_word) != std::string_view::npos ||
         masked_name.find(part_word) != std::string_view::npos;
}

bool is_numbered_by_part(std::string_view masked_name) {
  const std::size_t first = masked_name.find(part_word);
  if (first == std::string_view::npos) return false;
  return !is_masked(masked_name.substr(0, first)) &&
         !is_masked(masked_name.substr(first + part_word.size()));
}

bool has_one_file_a_rank(std::string_view masked_name) {
  return masked_name.find(rank_word) != std::string_view::npos &&
         masked_name.find(part_word) == std::string_view::npos;
}

std::vector<NameNumber> numbers_in(std::string_view masked_name) {
  std::vector<NameNumber> numbers;
  for (const Run& run : runs_of(masked_name, 0)) numbers.push_back({run.begin, run.end});
  return numbers;
}

std::string pattern_of(std::string_view masked_name) {
  Mask mask;
  for (const Run& run : runs_of(masked_name, 0)) mask.emplace_back(run, number_word);
  return apply(masked_name, std::move(mask));
}

}  // namespace mcr::restart
