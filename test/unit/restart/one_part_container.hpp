// SPDX-License-Identifier: BSD-3-Clause
// A container of one part, whose bytes are one dataset of one frame.
#pragma once

#include <string>

#include "codecs/base/checksum.hpp"
#include "codecs/frames/frame.hpp"
#include "restart/format/index.hpp"
#include "test/support/catch.hpp"

namespace mcr::restart {

inline Bytes one_part_container(const SetIdentity& set, const PartId& part, std::uint32_t rank,
                                const std::string& path, const std::string& content) {
  Scratch scratch;
  Bytes file(UserBlock::bytes);
  codecs::Layout layout;
  layout.bricks = {codecs::Shape::flat(static_cast<std::uint32_t>(content.size()))};
  REQUIRE(codecs::encode_frame(as_bytes(content), layout, {}, scratch, file));
  Index index;
  index.set = set;
  index.frames.push_back({UserBlock::bytes,
                          static_cast<std::uint32_t>(file.size() - UserBlock::bytes),
                          static_cast<std::uint32_t>(content.size()),
                          checksum(ByteSpan(file).subspan(UserBlock::bytes))});
  DatasetEntry dataset;
  dataset.name = "all";
  dataset.chunk_bytes = static_cast<std::uint32_t>(content.size());
  dataset.raw_bytes = content.size();
  dataset.frame_count = 1;
  index.datasets.push_back(dataset);
  PartEntry entry;
  entry.part = part;
  entry.rank = rank;
  entry.path = path;
  entry.size = content.size();
  entry.checksum = checksum(as_bytes(content));
  MapEntry map;
  map.length = content.size();
  entry.map.push_back(map);
  index.parts.push_back(entry);
  const IndexBytes written = write_index(index);
  const Bytes head = write_user_block(user_block_of(written, file.size()));
  file.insert(file.end(), written.bytes.begin(), written.bytes.end());
  std::copy(head.begin(), head.end(), file.begin());
  return file;
}

}  // namespace mcr::restart
