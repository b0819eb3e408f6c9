// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/gpu/coder/block_coder.hpp"
#include "codecs/gpu/coder/coders.hpp"
#include "codecs/gpu/coder/rest_parts.hpp"
#include "codecs/gpu/kernels/rest_kernels.hpp"
#include "codecs/top_bits/top_bits_format.hpp"

namespace mcr::codecs::gpu {
namespace {

TopBitsSymbols symbols_of(const TopBitsTable& table, std::size_t size) {
  TopBitsSymbols symbols{};
  const auto shift = static_cast<std::uint32_t>(8 * size) - table.key_bits;
  symbols.key_shift = shift;
  symbols.exact_count = static_cast<std::uint32_t>(table.exact.size());
  symbols.key_count = static_cast<std::uint32_t>(table.keys.size());
  std::copy(table.exact.begin(), table.exact.end(), symbols.exact);
  std::copy(table.keys.begin(), table.keys.end(), symbols.keys);
  std::fill_n(symbols.width + table.exact.size(), table.keys.size(),
              static_cast<std::uint8_t>(shift));
  if (table.escape) symbols.width[255] = static_cast<std::uint8_t>(8 * size);
  return symbols;
}

}  // namespace

Result<void> encode_top_bits(const CoderInput& input, Bytes& payload) {
  Device& device = input.device;
  const Layout& layout = input.layout;
  const TopBitsParameters parameters = MCR_TRY(read_top_bits_parameters(input.parameters));
  const unsigned key_bits = MCR_TRY(key_bits_of(layout, parameters));
  const std::size_t size = layout.type.size;
  const auto count = static_cast<std::size_t>(layout.count());
  const std::size_t keys = std::size_t{1} << key_bits;
  std::vector<std::uint32_t> counts(keys);
  const DeviceAddress device_counts = MCR_TRY(device.zeros(keys * sizeof(std::uint32_t)));
  MCR_TRY(device.launch_for(kernel::key_counts, count,
                            {input.data.at, count, size, 8 * size - key_bits, device_counts}));
  MCR_TRY(device.download(counts, device_counts));
  MCR_TRY(device.finish());
  const TopBitsTable table =
      top_bits_table_of(size, key_bits, input.raw.data(), count, counts.data());
  const TopBitsSymbols symbols_of_table = symbols_of(table, size);
  const DeviceAddress device_table =
      MCR_TRY(device.upload_copy(std::span<const TopBitsSymbols>(&symbols_of_table, 1)));
  const DeviceAddress map = MCR_TRY(device.reserve(keys * sizeof(std::uint16_t)));
  MCR_TRY(device.launch(kernel::top_bits_map, 1, {device_table, map, keys}));
  const DeviceAddress symbols = MCR_TRY(device.reserve(count));
  PartList rest;
  MCR_TRY(reserve_rest(device, count, size, rest));
  MCR_TRY(device.launch(kernel::top_bits_pack, rest.count(),
                        {input.data.at, count, size, symbols, rest.slots(), rest.slot_bytes(),
                         rest.parts(), device_table, map}));
  MCR_TRY(rest.gather(device));
  BlockCoder blocks(device);
  blocks.add(symbols, count);
  MCR_TRY(blocks.count());
  MCR_TRY(device.finish());
  MCR_TRY(rest.fetch(device));
  blocks.plan(0, parameters.method);
  MCR_TRY(blocks.code());
  Writer writer(payload);
  write_top_bits_table(table, size, writer);
  writer.varint(blocks.bytes(0));
  blocks.append(0, payload);
  append_rest(rest, payload);
  return {};
}

}  // namespace mcr::codecs::gpu
