// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/choice/chooser.hpp"
#include "codecs/dictionary/dictionary_codec.hpp"
#include "codecs/frames/frame.hpp"
#include "sample_data.hpp"
#include "test/support/catch.hpp"

namespace mcr::codecs {
namespace {

constexpr ElementType doubles{ElementKind::floating, 8, false};

Bytes bytes_of(const std::vector<double>& numbers) {
  Bytes raw(numbers.size() * 8);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    store(raw.data() + 8 * i, little_endian(std::bit_cast<std::uint64_t>(numbers[i])));
  }
  return raw;
}

std::size_t round_trip(const Layout& layout, const Bytes& raw) {
  Scratch scratch;
  Bytes frame;
  REQUIRE(encode_frame(raw, layout, *Pipeline::parse("dictionary"), scratch, frame));
  Bytes back(raw.size());
  REQUIRE(decode_frame(frame, scratch, back));
  REQUIRE(back == raw);
  return frame.size();
}

TEST_CASE("dictionary: the examples of the spec") {
  Scratch scratch;
  const Layout layout{{ElementKind::unsigned_integer, 2, false}, {Shape::flat(0)}};
  Bytes out;
  REQUIRE(dictionary_codec().encode({}, layout, {}, scratch, out));
  const unsigned empty[] = {0, 4, 2, 0, 2, 0, 0, 2, 0};
  REQUIRE(out.size() == std::size(empty));
  for (std::size_t i = 0; i < out.size(); ++i) REQUIRE(out[i] == static_cast<std::byte>(empty[i]));
}

TEST_CASE("dictionary: rounded numbers take what their places in a table take") {
  std::mt19937_64 random(3);
  for (const std::size_t distinct : {1U, 2U, 255U, 256U, 257U, 5000U}) {
    std::vector<double> numbers(30000);
    for (double& number : numbers) {
      number = static_cast<double>(static_cast<int>(random() % distinct) - 100) / 100;
    }
    const Layout layout{doubles, {Shape::flat(30000)}};
    const std::size_t size = round_trip(layout, bytes_of(numbers));
    const double least = std::log2(static_cast<double>(distinct)) / 8 * 30000;
    REQUIRE(static_cast<double>(size) < least * 1.03 + static_cast<double>(distinct) * 8 + 600);
  }
}

TEST_CASE("dictionary: numbers in order cost less than numbers in none") {
  std::mt19937_64 random(4);
  std::vector<double> rising(40000);
  std::vector<double> mixed(40000);
  for (std::size_t i = 0; i < rising.size(); ++i) {
    rising[i] = 0.01 * static_cast<double>(i / 20);
    mixed[i] = 0.01 * static_cast<double>(random() % 2000);
  }
  const Layout layout{doubles, {Shape::flat(40000)}};
  REQUIRE(round_trip(layout, bytes_of(rising)) * 3 < round_trip(layout, bytes_of(mixed)));
}

TEST_CASE("dictionary: NaN payloads, zeros of both signs and infinities are words like others") {
  const double odd[] = {0.0,
                        -0.0,
                        INFINITY,
                        -INFINITY,
                        std::bit_cast<double>(0x7ff8000000000123ULL),
                        std::bit_cast<double>(0xfff0000000000001ULL),
                        5e-324,
                        -5e-324};
  std::vector<double> numbers(4000);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = odd[i * 7 % 8];
  round_trip({doubles, {Shape::flat(4000)}}, bytes_of(numbers));
}

TEST_CASE("dictionary: too many different numbers are refused, and stored by the frame") {
  const Bytes raw = sample::make(doubles, 5000, sample::Pattern::random);
  REQUIRE(round_trip({doubles, {Shape::flat(5000)}}, raw) >= raw.size());
}

TEST_CASE("the choice finds few different numbers") {
  std::mt19937_64 random(5);
  std::vector<double> numbers(50000);
  for (double& number : numbers) number = 20 + static_cast<double>(random() % 300) / 100;
  Scratch scratch;
  const Layout layout{doubles, {Shape::flat(50000)}};
  const Choice choice = choose({}, layout, bytes_of(numbers), scratch);
  REQUIRE(choice.pipeline.print() == "dictionary");
}

}  // namespace
}  // namespace mcr::codecs
