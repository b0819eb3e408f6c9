// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/mcr/set_table.hpp"

#include <ctime>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "aggregation/mcr/print.hpp"
#include "aggregation/mcr/set_step.hpp"
#include "aggregation/mcr/short_name.hpp"
#include "restart/base/path_names.hpp"
#include "restart/format/masked_name.hpp"

namespace mcr::aggregation {
namespace {

/// Sets of a single file get a line each up to this number.
constexpr std::size_t most_lines = 10;

/// The sets that share a line, by index.
using Line = std::vector<std::size_t>;

std::string time_text(std::uint64_t time_ns) {
  const auto seconds = static_cast<time_t>(time_ns / 1'000'000'000);
  struct tm calendar {};
  ::localtime_r(&seconds, &calendar);
  char text[32] = {};
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &calendar);
  return text;
}

std::string ranks_of(const StoredSet& set) {
  const std::string wrote = std::to_string(set.account.wrote.size());
  return set.account.wrote.size() == set.rank_count
             ? wrote
             : wrote + " of " + std::to_string(set.rank_count);
}

/// Returns the lines in the order of their newest sets.
std::vector<Line> lines_of(const std::vector<StoredSet>& sets) {
  using Kind = std::pair<std::string, std::string>;  // directory of containers, pattern
  std::map<Kind, Line> of_one_file;
  const auto kind_of = [](const StoredSet& set) {
    return Kind(restart::parent_of(set.prefix), restart::pattern_of(set.name.masked_name));
  };
  for (std::size_t i = 0; i < sets.size(); ++i) {
    if (restart::is_of_one_file(sets[i].name.masked_name))
      of_one_file[kind_of(sets[i])].push_back(i);
  }
  std::vector<Line> lines;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    const auto same = restart::is_of_one_file(sets[i].name.masked_name)
                          ? of_one_file.find(kind_of(sets[i]))
                          : of_one_file.end();
    if (same == of_one_file.end() || same->second.size() <= most_lines) {
      lines.push_back({i});
    } else if (same->second.back() == i) {
      lines.push_back(same->second);
    }
  }
  return lines;
}

std::vector<std::string> row_of(const Line& line, const std::vector<StoredSet>& sets,
                                const std::vector<std::string>& steps) {
  const StoredSet& newest = sets[line.back()];
  std::uint64_t raw = 0;
  std::uint64_t stored = 0;
  std::set<std::string> states;
  for (const std::size_t i : line) {
    for (const StoredPart& part : sets[i].parts) raw += part.size;
    stored += sets[i].container_bytes;
    states.insert(state_name(sets[i]));
  }
  std::string state;
  for (const std::string& one : states) state += (state.empty() ? "" : ", ") + one;
  const bool is_one = line.size() == 1;
  const std::string& step = steps[line.back()];
  return {is_one ? short_name(newest.prefix) : short_name_of_files(newest.prefix),
          step.empty() ? "-" : step,
          time_text(newest.created_ns),
          is_one ? ranks_of(newest) : restart::counted(line.size(), "file"),
          size_text(raw),
          size_text(stored),
          ratio_text(raw, stored),
          state};
}

}  // namespace

void print_set_table(const SetsIn& found) {
  const std::vector<std::string> steps = steps_of(found.sets, found.top);
  Table table({"name", "step", "time", "ranks", "raw", "stored", "ratio", "state"},
              {false, true, false, true, true, true, true, false});
  for (const Line& line : lines_of(found.sets)) table.add(row_of(line, found.sets, steps));
  table.print();
}

}  // namespace mcr::aggregation
