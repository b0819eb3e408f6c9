// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "codecs/class_coder/class_parameters.hpp"
#include "codecs/gpu/coder/block_coder.hpp"
#include "codecs/gpu/coder/coders.hpp"
#include "codecs/gpu/coder/rest_parts.hpp"
#include "codecs/gpu/kernels/context_kernels.hpp"

namespace mcr::codecs::gpu {
namespace {

void append_block(const BlockCoder& blocks, std::size_t number, Bytes& out) {
  Writer(out).varint(blocks.bytes(number));
  blocks.append(number, out);
}

/// The symbols in groups, one after the other, in the accelerator's memory.
struct Groups {
  GroupTable table;
  DeviceAddress symbols = 0;
  std::array<std::size_t, most_groups> sizes{};
};

Result<Groups> group_symbols(const CoderInput& input, DeviceAddress symbols, std::size_t count,
                             const entropy::Histogram& histogram) {
  static_assert(group_limit == most_groups);
  Device& device = input.device;
  Groups groups;
  groups.table = choose_groups(histogram);
  std::vector<ContextBrick> bricks;
  std::uint64_t begin = 0;
  for (const SymbolRows& rows : rows_of(input.layout)) {
    if (rows.count != 0) bricks.push_back({begin, rows.columns != 0 ? rows.columns : rows.count});
    begin += rows.count;
  }
  const auto of_context = groups.table.of_context();
  const DeviceAddress contexts =
      MCR_TRY(device.upload_copy(std::span<const std::uint8_t>(of_context)));
  const DeviceAddress rows = MCR_TRY(device.upload_copy(bricks));
  const std::uint64_t tiles = (count + symbols_of_tile - 1) / symbols_of_tile;
  std::vector<std::uint32_t> sums(static_cast<std::size_t>(tiles) * most_groups + 1);
  const DeviceAddress counts = MCR_TRY(device.reserve(sums.size() * sizeof(std::uint32_t)));
  const DeviceAddress places = MCR_TRY(device.reserve(sums.size() * sizeof(std::uint32_t)));
  groups.symbols = MCR_TRY(device.reserve(count));
  MCR_TRY(device.launch(kernel::group_count, tiles,
                        {symbols, count, contexts, rows, bricks.size(), counts, tiles}));
  MCR_TRY(device.launch(kernel::sums, 1, {counts, sums.size() - 1, 1, places}));
  MCR_TRY(device.launch(
      kernel::group_scatter, tiles,
      {symbols, count, contexts, rows, bricks.size(), places, tiles, groups.symbols}));
  MCR_TRY(device.download(sums, places));
  MCR_TRY(device.finish());
  if (sums.front() != 0 || !std::is_sorted(sums.begin(), sums.end()) || sums.back() != count)
    return Error{Cause::damaged, "it returns impossible sizes"};
  for (std::size_t group = 0; group < most_groups; ++group) {
    groups.sizes[group] = sums[(group + 1) * tiles] - sums[group * tiles];
  }
  return groups;
}

Result<void> encode_groups(const CoderInput& input, const Groups& groups, entropy::Method method,
                           PartList& rest, Bytes& payload) {
  BlockCoder blocks(input.device);
  std::size_t begin = 0;
  for (std::size_t group = 0; group < groups.table.groups; ++group) {
    blocks.add(groups.symbols + begin, groups.sizes[group]);
    begin += groups.sizes[group];
  }
  MCR_TRY(blocks.count());
  MCR_TRY(input.device.finish());
  MCR_TRY(rest.fetch(input.device));
  for (std::size_t group = 0; group < groups.table.groups; ++group) blocks.plan(group, method);
  MCR_TRY(blocks.code());
  Writer writer(payload);
  writer.u8(static_cast<std::uint8_t>(groups.table.groups));
  for (std::size_t group = 1; group < groups.table.groups; ++group) {
    writer.u8(groups.table.first[group]);
  }
  for (std::size_t group = 0; group < groups.table.groups; ++group) {
    writer.varint(groups.sizes[group]);
    append_block(blocks, group, payload);
  }
  append_rest(rest, payload);
  return {};
}

}  // namespace

Result<void> encode_class(const CoderInput& input, Bytes& payload) {
  Device& device = input.device;
  const ClassParameters parameters = MCR_TRY(read_class_parameters(input.parameters));
  const std::uint64_t size = input.layout.type.size;
  const auto count = static_cast<std::size_t>(input.layout.count());
  const DeviceAddress symbols = MCR_TRY(device.reserve(count));
  PartList rest;
  MCR_TRY(reserve_rest(device, count, size, rest));
  MCR_TRY(device.launch(
      kernel::class_pack, rest.count(),
      {input.data.at, count, size, symbols, rest.slots(), rest.slot_bytes(), rest.parts()}));
  MCR_TRY(rest.gather(device));
  BlockCoder blocks(device);
  blocks.add(symbols, count);
  MCR_TRY(blocks.count());
  MCR_TRY(device.finish());
  if (parameters.contexts) {
    const Groups groups = MCR_TRY(group_symbols(input, symbols, count, blocks.histogram(0)));
    return encode_groups(input, groups, parameters.method, rest, payload);
  }
  MCR_TRY(rest.fetch(device));
  blocks.plan(0, parameters.method);
  MCR_TRY(blocks.code());
  append_block(blocks, 0, payload);
  append_rest(rest, payload);
  return {};
}

}  // namespace mcr::codecs::gpu
