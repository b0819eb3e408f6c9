// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/gpu/coder/block_coder.hpp"

#include "codecs/gpu/kernels/entropy_kernels.hpp"

namespace mcr::codecs::gpu {
namespace {

using entropy::Mode;

bool has_segments(Mode mode) { return mode == Mode::huffman || mode == Mode::tans; }

void add_segments(DeviceAddress symbols, std::size_t count, std::size_t table,
                  std::size_t first_part, std::vector<Segment>& segments) {
  for (std::size_t first = 0; first < count; first += entropy::segment_symbols) {
    const std::size_t taken = std::min(entropy::segment_symbols, count - first);
    segments.push_back({symbols + first, static_cast<std::uint32_t>(taken),
                        static_cast<std::uint32_t>(table), static_cast<std::uint32_t>(first_part),
                        0});
    first_part += entropy::stream_count;
  }
}

TansTable table_of(const entropy::StateCounts& states) {
  const entropy::TansEncoder encoder(states);
  TansTable table;
  table.bits = states.bits;
  table.unused = 0;
  for (std::size_t s = 0; s < 256; ++s) {
    table.symbol[s] = {encoder.symbols()[s].bits, encoder.symbols()[s].start};
  }
  std::fill(std::begin(table.next), std::end(table.next), std::uint16_t{0});
  std::copy_n(encoder.next().begin(), std::size_t{1} << states.bits, table.next);
  return table;
}

}  // namespace

Result<void> BlockCoder::count() {
  std::vector<Segment> segments;
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    add_segments(blocks_[b].symbols, blocks_[b].count, b, 0, segments);
  }
  histograms_.resize(blocks_.size());
  const DeviceAddress table = MCR_TRY(device_.upload_copy(segments));
  const DeviceAddress counts =
      MCR_TRY(device_.zeros(histograms_.size() * sizeof(entropy::Histogram)));
  MCR_TRY(device_.launch(kernel::histogram, segments.size(), {table, counts}));
  return device_.download(histograms_, counts);
}

void BlockCoder::plan(std::size_t block, entropy::Method method) {
  blocks_[block].plan = entropy::plan_block(histograms_[block], method);
  blocks_[block].is_planned = true;
}

Result<void> BlockCoder::fetch_symbols(BlockState& block) {
  block.raw.resize(block.count);
  return device_.download(std::span(block.raw), block.symbols);
}

Result<void> BlockCoder::launch_packing() {
  std::vector<Segment> huffman;
  std::vector<std::uint32_t> codes;
  std::vector<Segment> tans;
  std::vector<TansTable> tables;
  std::vector<TansGroup> groups;
  for (const BlockState& block : blocks_) {
    if (!block.is_planned) continue;
    if (block.plan.mode == Mode::huffman) {
      add_segments(block.symbols, block.count, codes.size() / 256, block.first_part, huffman);
      const entropy::HuffmanEncoder encoder(block.plan.lengths);
      codes.insert(codes.end(), encoder.codes().begin(), encoder.codes().end());
    }
    if (block.plan.mode == Mode::tans) {
      std::size_t next = tans.size();
      add_segments(block.symbols, block.count, tables.size(), block.first_part, tans);
      for (; next < tans.size(); next += segments_of_group) {
        const std::size_t taken = std::min<std::size_t>(segments_of_group, tans.size() - next);
        groups.push_back({static_cast<std::uint32_t>(next), static_cast<std::uint32_t>(taken),
                          static_cast<std::uint32_t>(tables.size()), 0});
      }
      tables.push_back(table_of(block.plan.states));
    }
  }
  const auto launch = [&](KernelNumber kernel, const std::vector<Segment>& segments,
                          DeviceAddress table, std::size_t blocks,
                          DeviceAddress extra) -> Result<void> {
    const DeviceAddress list = MCR_TRY(device_.upload_copy(segments));
    return device_.launch(kernel, blocks, {list, table, streams_.slots(), streams_.parts(), extra});
  };
  if (!huffman.empty()) {
    const DeviceAddress table = MCR_TRY(device_.upload_copy(codes));
    MCR_TRY(launch(kernel::huffman_pack, huffman, table, huffman.size(), 0));
  }
  if (!tans.empty()) {
    const DeviceAddress table = MCR_TRY(device_.upload_copy(tables));
    const DeviceAddress list = MCR_TRY(device_.upload_copy(groups));
    MCR_TRY(launch(kernel::tans_pack, tans, table, groups.size(), list));
  }
  return {};
}

Result<void> BlockCoder::code() {
  std::size_t parts = 0;
  for (BlockState& block : blocks_) {
    if (!block.is_planned) continue;
    if (block.plan.mode == Mode::raw) MCR_TRY(fetch_symbols(block));
    if (!has_segments(block.plan.mode)) continue;
    block.first_part = parts;
    parts += entropy::segments_of(block.count) * entropy::stream_count;
  }
  if (parts != 0) {
    MCR_TRY(streams_.reserve(device_, parts, stream_slot_bytes));
    MCR_TRY(launch_packing());
    MCR_TRY(streams_.gather(device_));
  }
  MCR_TRY(device_.finish());
  if (parts == 0) return {};
  for (BlockState& block : blocks_) {
    if (!block.is_planned || !has_segments(block.plan.mode)) continue;
    const std::size_t segments = entropy::segments_of(block.count);
    const std::size_t body = streams_.bytes_between(
        block.first_part, block.first_part + segments * entropy::stream_count);
    if (block.plan.head_bytes + segments * entropy::directory_bytes + body <= block.count) continue;
    block.plan.mode = Mode::raw;
    block.plan.head[0] = static_cast<std::byte>(Mode::raw);
    block.plan.head_bytes = 1;
    MCR_TRY(fetch_symbols(block));
  }
  MCR_TRY(streams_.fetch(device_));
  return device_.finish();
}

std::size_t BlockCoder::bytes(std::size_t number) const {
  const BlockState& block = blocks_[number];
  std::size_t bytes = block.plan.head_bytes + block.raw.size();
  if (has_segments(block.plan.mode)) {
    const std::size_t segments = entropy::segments_of(block.count);
    bytes += segments * entropy::directory_bytes +
             streams_.bytes_between(block.first_part,
                                    block.first_part + segments * entropy::stream_count);
  }
  return bytes;
}

void BlockCoder::append(std::size_t number, Bytes& out) const {
  const BlockState& block = blocks_[number];
  Writer writer(out);
  writer.bytes(ByteSpan(block.plan.head).first(block.plan.head_bytes));
  writer.bytes(block.raw);
  if (!has_segments(block.plan.mode)) return;
  const std::size_t end =
      block.first_part + entropy::segments_of(block.count) * entropy::stream_count;
  for (std::size_t part = block.first_part; part < end; ++part) {
    writer.u16(static_cast<std::uint16_t>(streams_.size(part)));
  }
  writer.bytes(streams_.bytes(block.first_part, end));
}

}  // namespace mcr::codecs::gpu
