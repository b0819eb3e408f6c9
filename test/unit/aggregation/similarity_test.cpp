// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/merge/similarity.hpp"

#include <map>

#include "test/support/catch.hpp"

namespace mcr::aggregation {
namespace {

using Layouts = std::vector<std::shared_ptr<const PartLayout>>;

/// A part with datasets of these paths, 1,000 bytes each; "path#7" has type 7.
std::shared_ptr<const PartLayout> part_of(const std::vector<std::string>& paths,
                                          std::uint64_t bytes = 1000) {
  auto layout = std::make_shared<PartLayout>();
  std::uint64_t offset = 0;
  for (const std::string& path : paths) {
    const std::size_t mark = path.find('#');
    DatasetInfo dataset;
    dataset.path = path.substr(0, mark);
    dataset.type = mark == std::string::npos ? 0 : static_cast<std::uint32_t>(path[mark + 1] - '0');
    dataset.shape = {bytes};
    dataset.extents = {{offset, bytes}};
    offset += bytes;
    layout->datasets.push_back(std::move(dataset));
  }
  return layout;
}

/// Names of the variables, and how many fragments each has.
std::map<std::string, std::size_t> found_in(const Layouts& layouts,
                                            const MatchOptions& options = {}) {
  const auto variables = find_variables(layouts, options);
  REQUIRE(variables);
  std::map<std::string, std::size_t> found;
  for (const Variable& variable : *variables) found[variable.name] = variable.fragments.size();
  return found;
}
using Found = std::map<std::string, std::size_t>;

TEST_CASE("datasets of one name and type are one variable, by rank") {
  const auto part = part_of({"a/x", "a/y"});
  CHECK(found_in({part, part, nullptr, part_of({"a/x"})}) == Found{{"a/x", 3}, {"a/y", 2}});
}

TEST_CASE("types of one name stay apart, big- and little-endian ones included") {
  CHECK(found_in({part_of({"x#1"}), part_of({"x#2"}), part_of({"x#1"})}) ==
        Found{{"x", 2}, {"x~2", 1}});
}

TEST_CASE("numbers in groups match across ranks and within one, fields stay apart") {
  const Layouts layouts{
      part_of({"Grid00000001/Density", "Grid00000001/v1", "Grid00000001/v2"}),
      part_of(
          {"Grid00000002/Density", "Grid00000002/v1", "Grid00000002/v2", "Grid00000007/Density"}),
  };
  CHECK(found_in(layouts) == Found{{"Grid{n}/Density", 3}, {"Grid{n}/v1", 2}, {"Grid{n}/v2", 2}});
  CHECK(found_in({layouts[1]}) ==
        Found{{"Grid{n}/Density", 2}, {"Grid00000002/v1", 1}, {"Grid00000002/v2", 1}});
}

TEST_CASE("exact names come before numbers") {
  const auto part = part_of({"level0/u", "level1/u"});
  CHECK(found_in({part, part}) == Found{{"level0/u", 2}, {"level1/u", 2}});
}

TEST_CASE("numbers of the last component match across ranks only, the last one first") {
  CHECK(found_in(
            {part_of({"u1 rl=0 c=0", "u2 rl=0 c=0"}), part_of({"u1 rl=0 c=1", "u2 rl=0 c=1"})}) ==
        Found{{"u1 rl=0 c={n}", 2}, {"u2 rl=0 c={n}", 2}});
  CHECK(found_in({part_of({"x1", "x2", "x3"})}) == Found{{"x1", 1}, {"x2", 1}, {"x3", 1}});
}

TEST_CASE("match= names what may differ") {
  const Layouts layouts{part_of({"left_u", "left_v"}), part_of({"right_u", "right_v"})};
  CHECK(found_in(layouts).size() == 4);
  MatchOptions options;
  options.match = "^(left|right)_";
  CHECK(found_in(layouts, options) == Found{{"{}_u", 2}, {"{}_v", 2}});
  options.match = "^left_|^right_";
  CHECK(found_in(layouts, options) == Found{{"{}u", 2}, {"{}v", 2}});
  options.match = "(";
  const auto refused = find_variables(layouts, options);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().cause == Cause::usage);
}

TEST_CASE("a name too long for a regular expression stays itself") {
  const std::string name(100'000, 'x');
  MatchOptions options;
  options.match = "(x|y)*";
  CHECK(found_in({part_of({name.c_str()})}, options) == Found{{name, 1}});
}

TEST_CASE("a variable without one fragment of the minimum size stays in the skeleton") {
  MatchOptions options;
  options.min_size = 100;
  CHECK(found_in({part_of({"x"}, 99), part_of({"x"}, 99)}, options).empty());
  CHECK(found_in({part_of({"x"}, 99), part_of({"x"}, 100)}, options) == Found{{"x", 2}});
  options.min_size = 0;
  CHECK(found_in({part_of({"x"}, 0)}, options).empty());
}

TEST_CASE("a dataset in one part and a group in another do not meet") {
  const Found found =
      found_in({part_of({"a"}), part_of({"a/b"}), part_of({"a"}), part_of({"a/b"})});
  CHECK(found == Found{{"a", 2}, {"a+b~3", 2}});
}

}  // namespace
}  // namespace mcr::aggregation
