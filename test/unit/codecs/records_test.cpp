// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/choice/chooser.hpp"
#include "codecs/frames/frame.hpp"
#include "codecs/records/records_codec.hpp"
#include "sample_data.hpp"
#include "test/support/catch.hpp"

namespace mcr::codecs {
namespace {

constexpr ElementType u8{ElementKind::unsigned_integer, 8, false};
constexpr ElementType f4{ElementKind::floating, 4, false};
constexpr ElementType big_i2{ElementKind::signed_integer, 2, true};
constexpr ElementType text{ElementKind::bytes, 6, false};

const std::vector<Column> columns{{u8, 1}, {f4, 3}, {big_i2, 1}, {text, 1}, {f4, 1}};
constexpr std::uint32_t record_bytes = 8 + 12 + 2 + 6 + 4;

Bytes some_records(std::size_t count) {
  Bytes raw;
  std::mt19937_64 random(7);
  for (std::uint32_t i = 0; i < count; ++i) {
    Writer out(raw);
    out.u64(1000 + i * 3);
    for (int d = 0; d < 3; ++d) {
      const auto number = static_cast<float>(std::sin(i * 0.01 + d));
      out.bytes(object_bytes(LittleEndian<std::uint32_t>(std::bit_cast<std::uint32_t>(number))));
    }
    out.u8(0);
    out.u8(static_cast<std::uint8_t>(i / 100));
    out.bytes(as_bytes("name" + std::to_string(10 + i % 3)));
    out.u32(static_cast<std::uint32_t>(random()));
  }
  return raw;
}

Bytes coded(const std::string& text_form, const Layout& layout, const Bytes& raw) {
  Scratch scratch;
  const auto parameters = records_codec().parse(text_form);
  REQUIRE(parameters);
  Bytes out;
  const auto encoded = records_codec().encode(raw, layout, *parameters, scratch, out);
  if (!encoded) FAIL(encoded.error().message);
  Bytes back(raw.size());
  REQUIRE(records_codec().decode(out, layout, *parameters, scratch, back));
  REQUIRE(back == raw);
  return out;
}

TEST_CASE("records: the example of the spec") {
  const Layout layout{{ElementKind::bytes, 3, false}, {Shape::flat(2)}};
  const Bytes raw{std::byte{1}, std::byte{7}, std::byte{0},
                  std::byte{2}, std::byte{7}, std::byte{0}};
  const Bytes expected{std::byte{0}, std::byte{1}, std::byte{2}, std::byte{1},
                       std::byte{2}, std::byte{7}, std::byte{0}};
  REQUIRE(coded("u1;u2=constant", layout, raw) == expected);
}

TEST_CASE("records come back whatever their columns' pipelines and shapes") {
  const std::string forms[] = {
      "u8;f4x3;I2;b6;f4",
      "u8=delta|zstd(3);f4x3=structure_split|lorenzo(auto)|planes;I2=planes;b6=zstd;f4",
      "b32=planes", "u8=constant;b24=zstd", "u8=lorenzo(auto)|class_coder;b24=transpose|zlib(6)"};
  for (const std::string& form : forms) {
    for (const auto& bricks : sample::odd_shapes()) {
      Layout layout{{ElementKind::bytes, record_bytes, false}, bricks};
      INFO(form << " " << sample::describe(layout));
      coded(form, layout, some_records(static_cast<std::size_t>(layout.count())));
    }
  }
}

TEST_CASE("records print their parameters so that they can be parsed again, in pipelines too") {
  for (const char* form : {"records(u8=delta|zstd(3);f4x3=lorenzo(1)|planes;b2;I4)",
                           "records(f8x2=top_bits(3,smallest))", "records"}) {
    const auto pipeline = Pipeline::parse(form);
    REQUIRE(pipeline);
    REQUIRE(Pipeline::parse(pipeline->print())->steps == pipeline->steps);
  }
}

TEST_CASE("records refuse what cannot be, and records within records") {
  for (const char* form :
       {"records(q8)", "records(u3)", "records(f1)", "records(u8x0)", "records(8)",
        "records(u8=records(b8))", "records(u8=no_such)", "records(u8"}) {
    INFO(form);
    REQUIRE_FALSE(Pipeline::parse(form));
  }
  // Bytes from a stranger: records inside the pipeline that a column brings along.
  Scratch scratch;
  const auto parameters = records_codec().parse("b8=zstd");
  REQUIRE(parameters);
  Bytes hostile{std::byte{2}};
  Writer out(hostile);
  Pipeline nested;
  nested.steps.push_back({18, *records_codec().parse("b8")});
  nested.write(out);
  out.varint(0);
  Bytes back(80);
  const auto decoded = records_codec().decode(
      hostile, {{ElementKind::bytes, 8, false}, {Shape::flat(10)}}, *parameters, scratch, back);
  REQUIRE_FALSE(decoded);
  REQUIRE(decoded.error().cause == Cause::damaged);
}

TEST_CASE("records are taken apart where their columns are known, and become smaller by it") {
  Scratch scratch;
  const std::size_t count = 20000;
  const Layout layout{{ElementKind::bytes, record_bytes, false}, {Shape::flat(count)}};
  const Bytes raw = some_records(count);
  const Choice blind = choose({}, layout, raw, scratch, "r");
  const Choice seeing = choose({}, layout, raw, scratch, "r", columns);
  INFO(seeing.pipeline.print());
  REQUIRE(seeing.pipeline.steps.at(0).codec == 18);
  Bytes small;
  Bytes large;
  REQUIRE(encode_frame(raw, layout, seeing.pipeline, scratch, small));
  REQUIRE(encode_frame(raw, layout, blind.pipeline, scratch, large));
  REQUIRE(small.size() < large.size());
  Bytes back(raw.size());
  REQUIRE(decode_frame(small, scratch, back));
  REQUIRE(back == raw);
}

}  // namespace
}  // namespace mcr::codecs
