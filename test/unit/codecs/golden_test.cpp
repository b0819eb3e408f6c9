// SPDX-License-Identifier: BSD-3-Clause
// Frames that earlier versions wrote (test/golden/v1). They are read for ever; that they hold the
// right bytes is what their own checksums say, and what a reader written from the specs alone
// finds (test/reader).
#include <filesystem>
#include <fstream>
#include <set>

#include "codecs/base/registry.hpp"
#include "codecs/frames/frame.hpp"
#include "test/support/catch.hpp"

namespace mcr::codecs {
namespace {

std::vector<std::filesystem::path> golden_files() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(MCR_GOLDEN)) {
    if (entry.path().extension() == ".frame") files.push_back(entry.path());
  }
  return files;
}

Bytes content_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  Bytes bytes(static_cast<std::size_t>(std::filesystem::file_size(path)));
  in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  return bytes;
}

TEST_CASE("golden frames decode to the bytes that they were made from") {
  Scratch scratch;
  REQUIRE(golden_files().size() >= 55);
  for (const auto& path : golden_files()) {
    INFO(path.filename().string());
    const Bytes frame = content_of(path);
    const auto info = read_frame_info(frame);
    if (!info) FAIL(info.error().message);
    Bytes raw(static_cast<std::size_t>(info->raw_bytes));
    const auto decoded = decode_frame(frame, scratch, raw);
    if (!decoded) FAIL(decoded.error().message);
  }
}

TEST_CASE("every codec has a golden frame, and solid frames have some") {
  std::set<CodecId> seen;
  bool solid = false;
  for (const auto& path : golden_files()) {
    const auto info = read_frame_info(content_of(path));
    REQUIRE(info);
    solid |= info->solid;
    for (const Step& step : info->pipeline.steps) seen.insert(step.codec);
  }
  REQUIRE(solid);
  for (const CodecEntry& entry : all_codecs()) {
    if (entry.id == codec_id::fpzip) continue;  // its stream is libfpzip's own
    INFO(entry.name);
    REQUIRE(seen.count(entry.id) == 1);
  }
}

}  // namespace
}  // namespace mcr::codecs
