// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/base/codec_pipeline.hpp"

#include "codecs/base/registry.hpp"
#include "test/support/catch.hpp"

namespace mcr::codecs {
namespace {

TEST_CASE("a pipeline's text is what it was parsed from") {
  for (const char* text :
       {"none", "zstd(3)", "zstd(19,long)", "zstd(-5)", "zstd(3,window=20)", "lz4", "lz4(9)",
        "zlib(6)", "transpose|zstd(1)", "transpose(3)|lz4", "fpzip(1d)|zlib(9)"}) {
    const auto pipeline = Pipeline::parse(text);
    REQUIRE(pipeline);
    REQUIRE(pipeline->print() == text);
  }
}

TEST_CASE("blanks around names and parameters do not matter") {
  REQUIRE(*Pipeline::parse(" transpose | zstd( 19 , long ) ") ==
          *Pipeline::parse("transpose|zstd(19,long)"));
}

TEST_CASE("an unknown codec is named together with the known ones") {
  const auto pipeline = Pipeline::parse("transpose|brotli");
  REQUIRE_FALSE(pipeline);
  REQUIRE(pipeline.error().cause == Cause::usage);
  REQUIRE_THAT(pipeline.error().message, Catch::Contains("brotli") && Catch::Contains("zstd"));
}

TEST_CASE("malformed pipelines and parameters are refused") {
  for (const char* text : {"", "|", "zstd|", "zstd(", "zstd(3", "zstd)", "zstd(99)", "zstd(3x)",
                           "zstd(window=99)", "lz4(1)", "lz4(9,9)", "zlib(0)", "transpose(0)",
                           "fpzip(2d)", "zstd|zstd|zstd|zstd|zstd|zstd|zstd|zstd|zstd"}) {
    INFO(text);
    const auto pipeline = Pipeline::parse(text);
    REQUIRE_FALSE(pipeline);
    REQUIRE(pipeline.error().cause == Cause::usage);
  }
}

TEST_CASE("a pipeline's byte form is read back") {
  for (const char* text : {"none", "transpose|zstd(19,long)|zlib(9)"}) {
    const Pipeline pipeline = *Pipeline::parse(text);
    Bytes bytes;
    Writer writer(bytes);
    pipeline.write(writer);
    Reader reader(bytes);
    const auto read = Pipeline::read(reader);
    REQUIRE(read);
    REQUIRE(*read == pipeline);
    REQUIRE(reader.remaining() == 0);
    for (std::size_t length = 0; length < bytes.size(); ++length) {
      Reader cut(ByteSpan(bytes).first(length));
      REQUIRE_FALSE(Pipeline::read(cut));
    }
  }
}

TEST_CASE("a byte form with too many steps or parameters is damaged") {
  for (const Bytes& bytes : {Bytes{std::byte{9}}, Bytes{std::byte{1}, std::byte{1}, std::byte{0xff},
                                                        std::byte{0xff}, std::byte{0x7f}}}) {
    Reader reader(bytes);
    const auto read = Pipeline::read(reader);
    REQUIRE_FALSE(read);
    REQUIRE(read.error().cause == Cause::damaged);
  }
}

}  // namespace
}  // namespace mcr::codecs
