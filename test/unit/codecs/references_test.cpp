// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <numeric>
#include <random>

#include "codecs/references/axis_order.hpp"
#include "codecs/references/reference_index.hpp"
#include "test/support/catch.hpp"

namespace mcr::codecs {
namespace {

std::vector<std::uint64_t> noise(std::size_t count, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<std::uint64_t> words(count);
  for (auto& word : words) word = random();
  return words;
}

TEST_CASE("flat bricks of a cube or a square are seen as such") {
  REQUIRE(box_of(Shape::flat(1728)) == Box{12, 12, 12});
  REQUIRE(box_of(Shape::flat(64)) == Box{4, 4, 4});
  REQUIRE(box_of(Shape::flat(100)) == Box{1, 10, 10});
  REQUIRE(box_of(Shape::flat(1729)) == Box{1, 1, 1729});
  REQUIRE(box_of(Shape::flat(8)) == Box{1, 1, 8});
  REQUIRE(box_of(Shape::flat(0)) == Box{1, 1, 0});
  REQUIRE(box_of(Shape{2, {3, 5}}) == Box{1, 3, 5});
  REQUIRE(box_of(Shape{4, {2, 3, 5, 7}}) == Box{6, 5, 7});
}

TEST_CASE("gathering in an order and its index name the same elements") {
  const Box source{3, 4, 5};
  const auto words = noise(60, 1);
  for (AxisOrder order = 0; order < axis_order_count; ++order) {
    Box target{};
    // Of the 27 boxes with these extents, the one that this order fits.
    std::vector<std::uint32_t> extents{3, 4, 5};
    bool found = false;
    do {
      target = {extents[0], extents[1], extents[2]};
      found = fits(source, target, order);
    } while (!found && std::next_permutation(extents.begin(), extents.end()));
    REQUIRE(found);
    std::vector<std::uint64_t> out(60);
    std::vector<std::uint32_t> index(60);
    gather<std::uint64_t>(words, source, target, order, out);
    gather_index(source, target, order, index);
    for (std::size_t i = 0; i < 60; ++i) REQUIRE(out[i] == words[index[i]]);
    std::sort(index.begin(), index.end());
    for (std::uint32_t i = 0; i < 60; ++i) REQUIRE(index[i] == i);
  }
}

TEST_CASE("an order that does not fit is refused") {
  REQUIRE(fits({3, 4, 5}, {3, 4, 5}, 0));
  REQUIRE_FALSE(fits({3, 4, 5}, {3, 4, 5}, 1));
  REQUIRE(fits({3, 4, 5}, {3, 5, 4}, 1));
}

TEST_CASE("a repeated brick is found in every order of its axes") {
  const Box box{12, 12, 12};
  const auto first = noise(1728, 2);
  const auto other = noise(1728, 3);
  for (AxisOrder order = 0; order < axis_order_count; ++order) {
    std::vector<std::uint64_t> turned(1728);
    gather<std::uint64_t>(first, box, box, order, turned);
    ReferenceIndex<std::uint64_t> index(3 * 1728, 20);
    std::vector<Reference> found;
    index.add(first, box, 6, found);
    REQUIRE(found.empty());
    index.add(other, box, 6, found);
    REQUIRE(found.empty());
    index.add(turned, box, 6, found);
    REQUIRE_FALSE(found.empty());
    REQUIRE(found[0] == Reference{0, order});
  }
}

TEST_CASE("a brick that is symmetric is found to repeat itself") {
  const Box box{1, 40, 40};
  auto words = noise(1600, 4);
  for (std::size_t i = 0; i < 40; ++i) {
    for (std::size_t j = 0; j < i; ++j) words[i * 40 + j] = words[j * 40 + i];
  }
  ReferenceIndex<std::uint64_t> index(1600, 20);
  std::vector<Reference> found;
  index.add(words, box, 6, found);
  REQUIRE(found.size() == 1);
  REQUIRE(found[0] == Reference{0, 1});
}

TEST_CASE("nearly equal words count, constant bricks and bricks of other sizes do not") {
  const Box box{1, 1, 500};
  const auto words = noise(500, 5);
  auto near = words;
  for (auto& word : near) word ^= 3;
  const std::vector<std::uint64_t> constant(500, 7);
  const std::vector<std::uint64_t> shorter(words.begin(), words.begin() + 400);
  ReferenceIndex<std::uint64_t> index(2000, 20);
  std::vector<Reference> found;
  index.add(words, box, 6, found);
  index.add(constant, box, 6, found);
  REQUIRE(found.empty());
  index.add(shorter, {1, 1, 400}, 6, found);
  REQUIRE(found.empty());
  index.add(near, box, 6, found);
  REQUIRE(found.size() == 1);
  REQUIRE(found[0] == Reference{0, same_order});
}

}  // namespace
}  // namespace mcr::codecs
