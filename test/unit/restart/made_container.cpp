// SPDX-License-Identifier: BSD-3-Clause
#include "test/unit/restart/made_container.hpp"

#include <fcntl.h>

#include <algorithm>

#include "codecs/base/checksum.hpp"
#include "codecs/frames/frame.hpp"
#include "test/support/catch.hpp"

namespace mcr::restart {
namespace {

constexpr std::uint64_t head_bytes = 100, tail_bytes = 50;
constexpr std::uint64_t a_count = 5000, b_count = 300;

Bytes make_part(unsigned rank, unsigned scale) {
  Bytes part;
  Writer out(part);
  for (unsigned i = 0; i < head_bytes; ++i) out.u8(static_cast<std::uint8_t>(i * (rank + 3)));
  for (unsigned i = 0; i < a_count * scale; ++i) out.u64(i * 1000 + rank);
  for (unsigned i = 0; i < b_count * scale; ++i) out.u64(i * i + rank);
  for (unsigned i = 0; i < tail_bytes; ++i) out.u8(static_cast<std::uint8_t>(200 - i));
  return part;
}

ByteSpan piece(const Bytes& bytes, std::uint64_t begin, std::uint64_t count) {
  return ByteSpan(bytes).subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(count));
}

}  // namespace

MadeContainer::MadeContainer(std::string file, unsigned scale, std::string masked_name)
    : path(std::move(file)) {
  const std::uint64_t a_bytes = a_count * scale * 8, b_bytes = b_count * scale * 8;
  const std::uint32_t frame_bytes = 8000 * scale;
  Bytes a, b, skeletons;
  for (unsigned rank = 0; rank < 2; ++rank) {
    parts.push_back(make_part(rank, scale));
    const Bytes& part = parts.back();
    Writer(a).bytes(piece(part, head_bytes, a_bytes));
    Writer(b).bytes(piece(part, head_bytes + a_bytes, b_bytes));
    Bytes skeleton;
    Writer(skeleton).bytes(piece(part, 0, head_bytes));
    Writer(skeleton).bytes(piece(part, part.size() - tail_bytes, tail_bytes));
    for (std::size_t i = 0; rank == 1 && i < skeleton.size(); ++i) skeleton[i] ^= skeletons[i];
    Writer(skeletons).bytes(skeleton);
  }

  Bytes bytes(UserBlock::bytes);
  Index index;
  index.set.launch = "made";
  index.set.rank_count = 2;
  Scratch scratch;
  const auto pipeline = codecs::Pipeline::parse("zstd(3)");
  REQUIRE(pipeline);
  const auto add = [&](const char* name, DatasetKind kind, const Bytes& raw, std::uint32_t chunk) {
    DatasetEntry entry{name,  kind,       DatasetStorage::frames, 1,
                       chunk, raw.size(), index.frames.size(),    0};
    for (std::size_t begin = 0; begin < raw.size(); begin += chunk, ++entry.frame_count) {
      const ByteSpan here =
          ByteSpan(raw).subspan(begin, std::min<std::size_t>(chunk, raw.size() - begin));
      const codecs::Layout layout{{},
                                  {codecs::Shape::flat(static_cast<std::uint32_t>(here.size()))}};
      Bytes frame;
      REQUIRE(codecs::encode_frame(here, layout, *pipeline, scratch, frame));
      index.frames.push_back({bytes.size(), static_cast<std::uint32_t>(frame.size()),
                              static_cast<std::uint32_t>(here.size()), checksum(frame)});
      Writer(bytes).bytes(frame);
    }
    index.datasets.push_back(entry);
  };
  add("a", DatasetKind::variable, a, frame_bytes);
  add("b", DatasetKind::variable, b, 1U << 20);
  add("skeletons", DatasetKind::skeletons, skeletons, 1U << 20);
  frames = index.frames;
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    PartEntry part;
    part.part.bytes[0] = static_cast<std::uint8_t>(rank + 1);
    part.rank = rank;
    part.path = "rank" + std::to_string(rank);
    part.size = parts[rank].size();
    part.checksum = checksum(parts[rank]);
    part.skeleton = {rank * (head_bytes + tail_bytes), head_bytes + tail_bytes,
                     rank == 0 ? SkeletonPlace::no_base : 0};
    const std::uint64_t a_begin = rank * a_bytes;
    part.map = {{head_bytes, MapEntry::skeleton, 0, 0, 0},
                {a_bytes, 0, static_cast<std::uint32_t>(a_begin / frame_bytes),
                 static_cast<std::uint32_t>(a_begin % frame_bytes), 0},
                {b_bytes, 1, 0, static_cast<std::uint32_t>(rank * b_bytes), 0},
                {tail_bytes, MapEntry::skeleton, 0, 0, head_bytes}};
    index.parts.push_back(part);
  }
  index.set.masked_name = std::move(masked_name);
  const IndexBytes written = write_index(index);
  const Bytes head = write_user_block(user_block_of(written, bytes.size()));
  Writer(bytes).bytes(written.bytes);
  std::copy(head.begin(), head.end(), bytes.begin());
  const auto out = File::open(AT_FDCWD, path, O_RDWR | O_CREAT | O_TRUNC);
  REQUIRE(out);
  REQUIRE(out->write_at(0, bytes));
}

std::shared_ptr<ContainerReader> MadeContainer::open() const {
  auto reader = ContainerReader::open(AT_FDCWD, path);
  REQUIRE(reader);
  return *reader;
}

void MadeContainer::flip(std::uint64_t place) const {
  const auto file = File::open(AT_FDCWD, path, O_RDWR);
  REQUIRE(file);
  std::byte byte{};
  REQUIRE(file->read_at(place, {&byte, 1}));
  byte ^= std::byte{0x40};
  REQUIRE(file->write_at(place, {&byte, 1}));
}

}  // namespace mcr::restart
