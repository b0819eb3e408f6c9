// SPDX-License-Identifier: BSD-3-Clause
// Writes a frame for every codec and every form that a spec tells of. The files under v1/ were
// written once, by the first version that had the form, and are never written anew: readers of all
// later versions must read them.
//
//   make_golden DIRECTORY     writes what is not there
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "codecs/base/byte_order.hpp"
#include "codecs/frames/frame.hpp"
#include "codecs/frames/solid_frame.hpp"
#include "codecs/solid/solid_encode.hpp"
#include "test/unit/codecs/sample_data.hpp"

namespace mcr::codecs {
namespace {

using sample::f4;
using sample::f8;
using sample::i4;
using sample::Pattern;

struct Golden {
  const char* name;
  const char* pipeline;
  ElementType type;
  std::vector<Shape> bricks;
  Pattern pattern;
};

const std::vector<Shape> cube{{3, {7, 6, 9}}};
const std::vector<Shape> mixed{{2, {9, 31}}, Shape::flat(77), {4, {2, 3, 4, 5}}, Shape::flat(0)};
const std::vector<Shape> flat{Shape::flat(1000)};

const Golden all[] = {
    {"none", "none", f8, flat, Pattern::specials},
    {"empty", "lorenzo|class_coder", f8, {}, Pattern::zeros},
    {"zstd", "zstd(3)", f8, flat, Pattern::few},
    {"zlib", "zlib(6)", f4, flat, Pattern::smooth},
    {"lz4", "lz4", i4, flat, Pattern::few},
    {"lz4_high", "lz4(9)", i4, flat, Pattern::few},
    {"transpose", "transpose|zlib(6)", f8, mixed, Pattern::smooth},
    {"transpose_odd", "transpose(7)|zstd(1)", f8, flat, Pattern::smooth},
    {"delta", "delta|zstd(1)", i4, mixed, Pattern::counting},
    {"delta_bytes",
     "delta|zstd(1)",
     {ElementKind::unsigned_integer, 1, false},
     flat,
     Pattern::smooth},
    {"zigzag", "delta|zigzag|planes", i4, flat, Pattern::smooth},
    {"ordered_int_f8", "ordered_int|planes", f8, flat, Pattern::specials},
    {"ordered_int_f2",
     "ordered_int|zstd(1)",
     {ElementKind::floating, 2, false},
     flat,
     Pattern::specials},
    {"ordered_int_i8",
     "ordered_int|zstd(1)",
     {ElementKind::signed_integer, 8, false},
     flat,
     Pattern::smooth},
    {"lorenzo_default_f8", "lorenzo|class_coder", f8, cube, Pattern::smooth},
    {"lorenzo_default_f4", "lorenzo|class_coder", f4, mixed, Pattern::smooth},
    {"lorenzo_specials_f8", "lorenzo(3,float)|zstd(1)", f8, cube, Pattern::specials},
    {"lorenzo_specials_f4", "lorenzo(2,float)|zstd(1)", f4, mixed, Pattern::specials},
    {"lorenzo_integer", "lorenzo(3,integer)|class_coder", f8, cube, Pattern::smooth},
    {"lorenzo_cube", "lorenzo(3,float,cube)|planes", f8, {Shape::flat(343)}, Pattern::smooth},
    {"lorenzo_square", "lorenzo(2,integer,cube)|planes", f4, {Shape::flat(400)}, Pattern::smooth},
    {"lorenzo_order_row_f8", "lorenzo(1,float,order4)|class_coder", f8, flat, Pattern::smooth},
    {"lorenzo_order_row_i4", "lorenzo(1,order3)|planes", i4, flat, Pattern::smooth},
    {"lorenzo_order_box_f8", "lorenzo(3,float,order2)|class_coder", f8, cube, Pattern::smooth},
    {"lorenzo_order_box_f4", "lorenzo(3,float,order2)|planes", f4, mixed, Pattern::smooth},
    {"lorenzo_order_specials_f8", "lorenzo(3,float,order2)|zstd(1)", f8, cube, Pattern::specials},
    {"lorenzo_order_specials_f4", "lorenzo(2,float,order2)|zstd(1)", f4, mixed, Pattern::specials},
    {"lorenzo_order_integer", "lorenzo(3,order2)|class_coder", f8, cube, Pattern::smooth},
    {"lorenzo_none", "lorenzo(0)|zstd(1)", i4, flat, Pattern::smooth},
    {"lorenzo_half",
     "lorenzo(auto)|planes",
     {ElementKind::floating, 2, false},
     mixed,
     Pattern::specials},
    {"structure_split",
     "structure_split|lorenzo(1)|class_coder",
     f8,
     {{2, {90, 3}}, Shape::flat(7)},
     Pattern::smooth},
    {"structure_split_records",
     "structure_split(f4)|planes",
     {ElementKind::bytes, 12, false},
     flat,
     Pattern::smooth},
    {"constant", "constant", f8, flat, Pattern::ones},
    {"planes", "planes", f8, flat, Pattern::smooth},
    {"planes_smallest", "planes(smallest,zstd=3)", f4, {Shape::flat(5000)}, Pattern::smooth},
    {"planes_records", "planes", {ElementKind::bytes, 37, false}, {Shape::flat(60)}, Pattern::few},
    {"top_bits", "top_bits", f8, flat, Pattern::smooth},
    {"top_bits_specials", "top_bits(3,smallest)", f4, flat, Pattern::specials},
    {"top_bits_few", "top_bits(0)", {ElementKind::floating, 2, false}, flat, Pattern::few},
    {"class_coder_1",
     "delta|class_coder",
     {ElementKind::unsigned_integer, 1, false},
     flat,
     Pattern::counting},
    {"class_coder_2",
     "class_coder(smallest)",
     {ElementKind::unsigned_integer, 2, false},
     flat,
     Pattern::counting},
    {"class_coder_8", "lorenzo|class_coder(smallest)", f8, {Shape::flat(3000)}, Pattern::smooth},
    {"class_coder_contexts",
     "lorenzo(2,integer)|class_coder(smallest,contexts)",
     f4,
     {{2, {90, 100}}, {3, {5, 20, 30}}},
     Pattern::smooth},
    {"stencil_f8",
     "stencil(auto)|class_coder",
     f8,
     {{2, {30, 40}}, {3, {5, 6, 7}}},
     Pattern::smooth},
    {"stencil_f4_3d", "stencil(auto)|class_coder", f4, {{3, {9, 10, 11}}}, Pattern::smooth},
    {"stencil_default", "stencil|planes", f8, {{3, {5, 6, 7}}}, Pattern::specials},
    {"stencil_line", "stencil(auto)|planes", f8, flat, Pattern::smooth},
    {"fpc", "fpc", f8, {Shape::flat(1001)}, Pattern::smooth},
    {"fpc_small", "fpc(8)|zlib(6)", f8, flat, Pattern::few},
    {"entropy_huffman",
     "entropy",
     {ElementKind::unsigned_integer, 1, false},
     {Shape::flat(40000)},
     Pattern::few},
    {"entropy_tans",
     "entropy(smallest)",
     {ElementKind::unsigned_integer, 1, false},
     {Shape::flat(40000)},
     Pattern::few},
    {"records",
     "records(u8=delta|zstd(1);f4x3=structure_split|lorenzo(1)|planes;b2;I2=planes)",
     {ElementKind::bytes, 24, false},
     {{4, {2, 3, 4, 5}}, Shape::flat(300)},
     Pattern::few},
    {"records_fitted",
     "records(f8x2=lorenzo(auto)|class_coder;b8)",
     {ElementKind::bytes, 24, false},
     flat,
     Pattern::few},
    {"dictionary_small", "dictionary", f8, flat, Pattern::few},
    {"dictionary_large",
     "dictionary",
     {ElementKind::unsigned_integer, 2, false},
     {Shape::flat(40000)},
     Pattern::smooth},
    {"multiples_i4", "multiples(auto)|planes", i4, mixed, Pattern::stepped},
    {"multiples_step",
     "multiples(step=1000)|zstd(1)",
     {ElementKind::unsigned_integer, 8, false},
     flat,
     Pattern::few},
    {"multiples_bits",
     "multiples(step=12)|planes",
     {ElementKind::floating, 2, false},
     flat,
     Pattern::specials},
    {"multiples_over", "multiples(auto)|lorenzo|class_coder", f4, mixed, Pattern::stepped},
    {"multiples_times", "multiples(auto)|lorenzo|planes", f8, flat, Pattern::stepped},
    {"multiples_specials", "multiples(over=10)|zstd(1)", f4, flat, Pattern::specials},
    {"big_endian", "lorenzo|class_coder", {ElementKind::floating, 8, true}, cube, Pattern::smooth},
};

void write_new(const std::filesystem::path& path, const Bytes& frame) {
  if (std::filesystem::exists(path)) return;
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(frame.data()),
            static_cast<std::streamsize>(frame.size()));
  std::cout << path.filename().string() << ' ' << frame.size() << '\n';
}

/// Variables of a small symmetric mesh: some are transposed others, some follow from others.
Bytes related_sections(std::vector<Section>& sections, ElementType type) {
  constexpr std::uint32_t n = 9;
  Bytes raw;
  const auto add = [&](const char* name, const auto& value) {
    sections.push_back({name, {type, {{3, {n, n, n}}, {3, {n, n, n}}}}});
    for (std::uint32_t i = 0; i < 2 * n * n * n; ++i) {
      const double x = value(i % n, i / n % n, i / n / n % n, i / n / n / n);
      if (type.size == 8) {
        Writer(raw).u64(std::bit_cast<std::uint64_t>(x));
      } else {
        Writer(raw).u32(std::bit_cast<std::uint32_t>(static_cast<float>(x)));
      }
    }
    if (type.big_endian) {
      const std::size_t bytes = std::size_t{2} * n * n * n * type.size;
      const auto own = MutableByteSpan(raw).last(bytes);
      reverse_elements(own, type.size, own);
    }
  };
  const auto along = [](std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t rank) {
    return std::sqrt(2.0 + a) * (1 + 0.37 * b) + 0.11 * c + 3.0 * rank;
  };
  const auto energy = [](std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t) {
    return std::sqrt(1.0 + a * a + b * b + c * c);
  };
  add("x", [&](auto a, auto b, auto c, auto r) { return along(a, b, c, r); });
  add("y", [&](auto a, auto b, auto c, auto r) { return along(b, a, c, r); });
  add("z", [&](auto a, auto b, auto c, auto r) { return along(c, b, a, r); });
  add("e", energy);
  add("zero", [](auto, auto, auto, auto) { return 0.0; });
  add("ss", [&](auto a, auto b, auto c, auto r) { return std::sqrt(energy(a, b, c, r)); });
  return raw;
}

/// Records of 24 bytes, as words in a last dimension, and the same records again, but for one.
Bytes repeated_records(std::vector<Section>& sections) {
  constexpr std::uint32_t records = 150;
  constexpr std::uint32_t words = 3;
  const ElementType u8{ElementKind::unsigned_integer, 8, false};
  Bytes raw;
  for (const char* name : {"records", "again"}) {
    sections.push_back({name, {u8, {{2, {records, words}}}}});
    for (std::uint64_t i = 0; i < records; ++i) {
      Writer(raw).u64(1000 + 7 * i);
      Writer(raw).u64(std::bit_cast<std::uint64_t>(std::sqrt(2.0 + static_cast<double>(i))));
      Writer(raw).u64(i % 5 << 32 | (i * i * 2654435761U) % 1000);
    }
  }
  raw[raw.size() - 100] ^= std::byte{1};
  return raw;
}

void make(const std::filesystem::path& directory) {
  Scratch scratch;
  for (const Golden& golden : all) {
    const Layout layout{golden.type, golden.bricks};
    Bytes raw =
        sample::make(golden.type, static_cast<std::size_t>(layout.count()), golden.pattern, 11);
    if (golden.type.big_endian) {
      reverse_elements(raw, golden.type.size, raw);
    }
    const auto pipeline = Pipeline::parse(golden.pipeline);
    if (!pipeline) {
      std::cerr << golden.name << ": " << pipeline.error().message << '\n';
      std::exit(1);
    }
    Bytes frame;
    if (!encode_frame(raw, layout, *pipeline, scratch, frame)) std::exit(1);
    const auto info = read_frame_info(frame);
    if (!info || info->pipeline.steps.size() != pipeline->steps.size()) {
      std::cerr << golden.name << ": the data does not suit the codec\n";
    }
    write_new(directory / (std::string(golden.name) + ".frame"), frame);
  }
  for (const Profile profile : {Profile::balanced, Profile::max}) {
    for (const ElementType& type : {f8, f4, ElementType{ElementKind::floating, 8, true}}) {
      std::vector<Section> sections;
      const Bytes raw = related_sections(sections, type);
      ProfileOptions options;
      options.profile = profile;
      Bytes frame;
      if (!encode_solid_frame(raw, sections, solid_options(options), scratch, frame)) std::exit(1);
      write_new(
          directory / ("solid_" + std::string(profile_name(profile)) + "_f" +
                       std::to_string(type.size) + (type.big_endian ? "_big" : "") + ".frame"),
          frame);
    }
    std::vector<Section> sections;
    const Bytes raw = repeated_records(sections);
    ProfileOptions options;
    options.profile = profile;
    Bytes frame;
    if (!encode_solid_frame(raw, sections, solid_options(options), scratch, frame)) std::exit(1);
    write_new(directory / ("solid_" + std::string(profile_name(profile)) + "_records.frame"),
              frame);
  }
}

}  // namespace
}  // namespace mcr::codecs

int main(int argc, char** argv) {
  if (argc != 2) return 1;
  mcr::codecs::make(argv[1]);
  return 0;
}
