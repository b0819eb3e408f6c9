// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/merge/similarity.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "aggregation/merge/name_numbers.hpp"

namespace mcr::aggregation {
namespace {

constexpr std::string_view number_mark = "{n}";
constexpr std::string_view match_mark = "{}";
/// std::regex recurses once for each character, so longer paths are not matched.
constexpr std::size_t longest_matched = 1024;

// --- match= -------------------------------------------------------------------------------------

class NameMap {
 public:
  static Result<NameMap> make(const std::string& pattern) {
    NameMap map;
    if (pattern.empty()) return map;
    try {  // std::regex throws
      map.pattern_ = std::regex(pattern);
    } catch (const std::regex_error& error) {
      return Error{Cause::usage, "match=" + pattern +
                                     " is not a regular expression (ECMAScript): " + error.what()};
    }
    return map;
  }

  /// Returns `path` with the text that may differ replaced by `{}`.
  [[nodiscard]] std::string apply(const std::string& path) const {
    if (!pattern_ || path.size() > longest_matched) return path;
    try {
      std::smatch found;
      if (!std::regex_search(path, found, *pattern_)) return path;
      const std::size_t first = found.size() > 1 ? 1 : 0;
      std::string mapped;
      std::size_t end = 0;
      for (std::size_t i = first; i < found.size(); ++i) {
        const auto begin = static_cast<std::size_t>(found.position(i));
        // The group did not match, or lies within another group.
        if (!found[i].matched || begin < end) continue;
        mapped += path.substr(end, begin - end);
        mapped += match_mark;
        end = begin + static_cast<std::size_t>(found.length(i));
      }
      return mapped + path.substr(end);
    } catch (const std::regex_error&) {  // too complex for this path: the path stays as it is
      return path;
    }
  }

 private:
  std::optional<std::regex> pattern_;
};

// --- numbers in names ---------------------------------------------------------------------------

/// Which numbers count as equal, from the fewest to all.
enum class Masking : std::uint8_t { last_of_groups, all_of_groups, last_of_all, all };
constexpr std::array maskings{Masking::last_of_groups, Masking::all_of_groups, Masking::last_of_all,
                              Masking::all};

bool needs_several_parts(Masking masking) {
  return masking == Masking::last_of_all || masking == Masking::all;
}

/// Returns the numbers in `path` that `masking` treats as equal.
std::vector<NameNumber> masked_numbers(const std::string& path, Masking masking) {
  std::vector<NameNumber> runs = numbers_in(path);
  if (!needs_several_parts(masking)) {
    const std::size_t slash = path.rfind('/');
    const std::size_t last_component = slash == std::string::npos ? 0 : slash + 1;
    std::erase_if(runs, [&](const NameNumber& run) { return run.begin >= last_component; });
  }
  const bool only_last = masking == Masking::last_of_groups || masking == Masking::last_of_all;
  if (only_last && runs.size() > 1) runs.erase(runs.begin(), runs.end() - 1);
  return runs;
}

std::string with_marks(const std::string& path, const std::vector<NameNumber>& runs) {
  std::string marked;
  std::size_t end = 0;
  for (const NameNumber& run : runs) {
    marked += path.substr(end, run.begin - end);
    marked += number_mark;
    end = run.end;
  }
  return marked + path.substr(end);
}

/// Returns the first path, with marks in place of the numbers in which the paths differ. The masked
/// forms of all paths must be equal.
std::string common_name(const std::vector<std::string_view>& paths, Masking masking) {
  const std::string first(paths.front());
  const std::vector<NameNumber> runs = masked_numbers(first, masking);
  std::vector<bool> differs(runs.size());
  for (const std::string_view other_view : paths) {
    const std::string other(other_view);
    const std::vector<NameNumber> others = masked_numbers(other, masking);
    for (std::size_t i = 0; i < runs.size() && i < others.size(); ++i) {
      if (runs[i].text_in(first) != others[i].text_in(other)) differs[i] = true;
    }
  }
  std::vector<NameNumber> shown;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (differs[i]) shown.push_back(runs[i]);
  }
  return with_marks(first, shown);
}

// --- matching -----------------------------------------------------------------------------------

bool before(const FragmentRef& a, const FragmentRef& b) {
  return a.part != b.part ? a.part < b.part : a.dataset < b.dataset;
}

/// Datasets with the same path (after match=), type and form.
struct Exact {
  std::string path;
  std::uint32_t type = 0;
  RawForm form = RawForm::whole;
  std::vector<FragmentRef> fragments;  // by part

  [[nodiscard]] bool in_several_parts() const {
    return fragments.front().part != fragments.back().part;
  }
};

std::string key_of(std::string_view path, std::uint32_t type, RawForm form) {
  std::string key(path);
  key += '\0';
  key += std::to_string(type);
  key += static_cast<char>('a' + static_cast<int>(form));
  return key;
}

std::vector<Exact> match_exactly(const std::vector<std::shared_ptr<const PartLayout>>& layouts,
                                 const NameMap& names) {
  std::vector<Exact> all;
  std::unordered_map<std::string, std::size_t> numbers;
  // Parts often share a layout; its names are looked up only once.
  std::unordered_map<const PartLayout*, std::vector<std::size_t>> of_layout;
  for (std::uint32_t part = 0; part < layouts.size(); ++part) {
    const PartLayout* layout = layouts[part].get();
    if (layout == nullptr) continue;
    auto [known, is_new] = of_layout.try_emplace(layout);
    std::vector<std::size_t>& exact_of = known->second;
    for (const DatasetInfo& dataset : layout->datasets) {
      if (!is_new) break;
      std::string path = names.apply(dataset.path);
      const auto [number, added] =
          numbers.try_emplace(key_of(path, dataset.type, dataset.form), all.size());
      if (added) all.push_back({std::move(path), dataset.type, dataset.form, {}});
      exact_of.push_back(number->second);
    }
    for (std::uint32_t i = 0; i < exact_of.size(); ++i) {
      all[exact_of[i]].fragments.push_back({part, i});
    }
  }
  return all;
}

/// Joins those variables of `lone` (each in one part only) whose names `masking` makes equal, and
/// removes them from `lone`.
void join_by_numbers(std::vector<Exact>& lone, Masking masking, std::vector<Variable>& variables) {
  std::map<std::string, std::vector<std::size_t>> buckets;
  for (std::size_t i = 0; i < lone.size(); ++i) {
    const std::vector<NameNumber> runs = masked_numbers(lone[i].path, masking);
    if (runs.empty()) continue;
    buckets[key_of(with_marks(lone[i].path, runs), lone[i].type, lone[i].form)].push_back(i);
  }
  std::vector<bool> joined(lone.size());
  for (const auto& [key, members] : buckets) {
    const std::uint32_t first_part = lone[members.front()].fragments.front().part;
    const bool several = std::any_of(members.begin(), members.end(), [&](std::size_t member) {
      return lone[member].fragments.front().part != first_part;
    });
    if (members.size() < 2 || (needs_several_parts(masking) && !several)) continue;
    std::vector<std::string_view> paths;
    Variable variable{{}, lone[members.front()].type, lone[members.front()].form, {}};
    for (const std::size_t member : members) {
      paths.push_back(lone[member].path);
      variable.fragments.insert(variable.fragments.end(), lone[member].fragments.begin(),
                                lone[member].fragments.end());
      joined[member] = true;
    }
    variable.name = common_name(paths, masking);
    std::sort(variable.fragments.begin(), variable.fragments.end(), before);
    variables.push_back(std::move(variable));
  }
  std::vector<Exact> left;
  for (std::size_t i = 0; i < lone.size(); ++i) {
    if (!joined[i]) left.push_back(std::move(lone[i]));
  }
  lone = std::move(left);
}

/// Makes all names valid in one file: each name is different, and no name is a group in another's
/// path.
void make_unique(std::vector<Variable>& variables) {
  std::set<std::string> taken;
  std::set<std::string> groups;
  const auto groups_of = [](const std::string& name) {
    std::vector<std::string> above;
    for (std::size_t slash = name.find('/'); slash != std::string::npos;
         slash = name.find('/', slash + 1)) {
      above.push_back(name.substr(0, slash));
    }
    return above;
  };
  const auto fits = [&](const std::string& name) {
    const auto above = groups_of(name);
    return !taken.contains(name) && !groups.contains(name) &&
           std::none_of(above.begin(), above.end(),
                        [&](const std::string& group) { return taken.contains(group); });
  };
  for (Variable& variable : variables) {
    std::string name = variable.name;
    for (std::size_t i = 2; !fits(name); ++i) {
      name = variable.name + "~" + std::to_string(i);
      // If a group of this name exists, a suffix does not help: slashes are replaced, so that the
      // name needs no group.
      if (i % 2 == 1) std::replace(name.begin(), name.end(), '/', '+');
    }
    variable.name = name;
    taken.insert(name);
    for (std::string& group : groups_of(name)) groups.insert(std::move(group));
  }
}

/// Returns the variable's place in its first part. Containers are filled in the order of these
/// places, so that parts are read from front to back.
std::uint64_t place_of(const Variable& variable,
                       const std::vector<std::shared_ptr<const PartLayout>>& layouts) {
  const FragmentRef& first = variable.fragments.front();
  const DatasetInfo& dataset = layouts[first.part]->datasets[first.dataset];
  return dataset.extents.empty() ? 0 : dataset.extents.front().offset;
}

bool large_enough(const Variable& variable,
                  const std::vector<std::shared_ptr<const PartLayout>>& layouts,
                  std::uint64_t min_size) {
  const std::uint64_t least = std::max<std::uint64_t>(min_size, 1);
  return std::any_of(variable.fragments.begin(), variable.fragments.end(),
                     [&](const FragmentRef& fragment) {
                       return layouts[fragment.part]->datasets[fragment.dataset].bytes() >= least;
                     });
}

}  // namespace

Result<std::vector<Variable>> find_variables(
    const std::vector<std::shared_ptr<const PartLayout>>& layouts, const MatchOptions& options) {
  const NameMap names = MCR_TRY(NameMap::make(options.match));
  std::vector<Variable> variables;
  std::vector<Exact> lone;
  for (Exact& exact : match_exactly(layouts, names)) {
    if (exact.in_several_parts()) {
      variables.push_back(
          {std::move(exact.path), exact.type, exact.form, std::move(exact.fragments)});
    } else {
      lone.push_back(std::move(exact));
    }
  }
  for (const Masking masking : maskings) join_by_numbers(lone, masking, variables);
  for (Exact& exact : lone) {
    variables.push_back(
        {std::move(exact.path), exact.type, exact.form, std::move(exact.fragments)});
  }
  std::erase_if(variables, [&](const Variable& variable) {
    return !large_enough(variable, layouts, options.min_size);
  });
  std::sort(variables.begin(), variables.end(), [&](const Variable& a, const Variable& b) {
    const FragmentRef& first = a.fragments.front();
    const FragmentRef& second = b.fragments.front();
    return std::tuple(first.part, place_of(a, layouts), first.dataset) <
           std::tuple(second.part, place_of(b, layouts), second.dataset);
  });
  make_unique(variables);
  return variables;
}

}  // namespace mcr::aggregation
