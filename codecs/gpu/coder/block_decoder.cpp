// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/gpu/coder/block_decoder.hpp"

#include "codecs/entropy/huffman.hpp"
#include "codecs/entropy/number_table.hpp"
#include "codecs/entropy/tans.hpp"

namespace mcr::codecs::gpu {
namespace {

using entropy::Mode;

Error damaged() { return {Cause::damaged, "entropy: damaged block"}; }

/// Reads the table of a block of mode huffman or tans, which has `last` + 1 numbers; returns its length.
Result<std::size_t> read_table(ByteSpan stored, std::size_t last, std::uint16_t (&numbers)[256]) {
  const std::size_t length = entropy::read_number_table(stored, std::span(numbers).first(last + 1));
  if (length == 0) return damaged();
  return length;
}

}  // namespace

template <typename Table>
Result<void> BlockDecoder::add_segments(const StoredBytes& stored, DeviceAddress symbols,
                                        std::size_t count, const Table& table,
                                        Streams<Table>& streams) {
  Reader in(stored.bytes);
  const std::size_t segments = entropy::segments_of(count);
  if (stored.bytes.size() / entropy::directory_bytes < segments) return damaged();
  std::size_t at = segments * entropy::directory_bytes;
  std::size_t next = streams.segments.size();
  for (std::size_t first = 0; first < count; first += entropy::segment_symbols) {
    StoredSegment segment{};
    segment.symbols = symbols + first;
    segment.stored = stored.at + at;
    segment.count = static_cast<std::uint32_t>(std::min(entropy::segment_symbols, count - first));
    for (std::uint32_t& length : segment.length) {
      length = MCR_TRY(in.u16());
      if (stored.bytes.size() - at < length) return damaged();
      at += length;
    }
    streams.segments.push_back(segment);
  }
  if (at != stored.bytes.size()) return damaged();
  for (; next < streams.segments.size(); next += segments_of_group) {
    const std::size_t taken =
        std::min<std::size_t>(segments_of_group, streams.segments.size() - next);
    streams.groups.push_back({static_cast<std::uint32_t>(next), static_cast<std::uint32_t>(taken),
                              static_cast<std::uint32_t>(streams.tables.size()), 0});
  }
  streams.tables.push_back(table);
  return {};
}

Result<void> BlockDecoder::add(const StoredBytes& block, DeviceAddress symbols, std::size_t count) {
  const ByteSpan bytes = block.bytes;
  if (bytes.empty()) return damaged();
  const auto mode = static_cast<Mode>(bytes[0]);
  if (mode == Mode::raw) {
    if (bytes.size() != count + 1) return damaged();
    return device_.launch_for(kernel::copy, count, {block.at + 1, symbols, count});
  }
  if (bytes.size() < 2) return damaged();
  const auto second = std::to_integer<std::size_t>(bytes[1]);
  if (mode == Mode::constant) {
    if (bytes.size() != 2) return damaged();
    return device_.launch_for(kernel::fill, count, {symbols, count, second});
  }
  if (mode == Mode::huffman) {
    entropy::CodeLengths lengths;
    const std::size_t head = 2 + MCR_TRY(read_table(bytes.subspan(2), second, lengths.length));
    entropy::HuffmanDecoder decoder;
    if (!decoder.prepare(lengths, false)) return damaged();
    HuffmanTable table;
    std::copy(decoder.singles().begin(), decoder.singles().end(), table.entry);
    return add_segments(block.from(head), symbols, count, table, huffman_);
  }
  if (mode == Mode::tans) {
    if (bytes.size() < 3) return damaged();
    entropy::StateCounts counts;
    counts.bits = std::to_integer<unsigned>(bytes[2]);
    const std::size_t head = 3 + MCR_TRY(read_table(bytes.subspan(3), second, counts.states));
    entropy::TansDecoder decoder;
    if (!decoder.prepare(counts)) return damaged();
    StateTable table{};
    table.bits = counts.bits;
    std::copy_n(decoder.states().begin(), std::size_t{1} << counts.bits, table.entry);
    return add_segments(block.from(head), symbols, count, table, tans_);
  }
  return damaged();
}

template <typename Table>
Result<void> BlockDecoder::launch(KernelNumber kernel, const Streams<Table>& streams,
                                  DeviceAddress error) {
  if (streams.groups.empty()) return {};
  const DeviceAddress segments = MCR_TRY(device_.upload_copy(streams.segments));
  const DeviceAddress tables = MCR_TRY(device_.upload_copy(streams.tables));
  const DeviceAddress groups = MCR_TRY(device_.upload_copy(streams.groups));
  return device_.launch(kernel, streams.groups.size(), {segments, tables, groups, error});
}

Result<void> BlockDecoder::run(DeviceAddress error) {
  MCR_TRY(launch(kernel::huffman_unpack, huffman_, error));
  return launch(kernel::tans_unpack, tans_, error);
}

}  // namespace mcr::codecs::gpu
