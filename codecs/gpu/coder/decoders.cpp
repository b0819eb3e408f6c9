// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/gpu/coder/decoders.hpp"

#include "codecs/class_coder/class_parameters.hpp"
#include "codecs/class_coder/class_symbols.hpp"
#include "codecs/planes/plane_choice.hpp"
#include "codecs/top_bits/top_bits_format.hpp"

namespace mcr::codecs::gpu {
namespace {

/// Decodes words from their symbols and `stored`, the rest bits with their directory.
Result<void> unpack_rest(const DecoderInput& input, const StoredBytes& stored,
                         DeviceAddress symbols, const RestSymbols& table, DeviceAddress to) {
  const std::uint64_t count = input.layout.count();
  const std::size_t segments = entropy::segments_of(static_cast<std::size_t>(count));
  Reader in(stored.bytes);
  std::vector<std::uint32_t> begins{0};
  std::uint64_t sum = 0;
  for (std::size_t s = 0; s < segments; ++s) {
    sum += MCR_TRY(in.u32());
    if (sum > stored.bytes.size()) break;
    begins.push_back(static_cast<std::uint32_t>(sum));
  }
  if (sum != in.remaining()) return Error{Cause::damaged, "the rest bits are damaged"};
  const DeviceAddress starts = MCR_TRY(input.device.upload_copy(begins));
  const DeviceAddress symbol_table =
      MCR_TRY(input.device.upload_copy(std::span<const RestSymbols>(&table, 1)));
  return input.device.launch(kernel::rest_unpack, segments,
                             {symbols, count, input.layout.type.size, to, stored.at + in.position(),
                              starts, symbol_table, input.error});
}

/// Decodes a block with its length before it.
Result<void> decode_symbols(const DecoderInput& input, Reader& in, DeviceAddress symbols) {
  const ByteSpan block = MCR_TRY(in.bytes(MCR_TRY(in.varint())));
  BlockDecoder blocks(input.device);
  MCR_TRY(blocks.add(input.stored.part(block), symbols,
                     static_cast<std::size_t>(input.layout.count())));
  return blocks.run(input.error);
}

template <typename Word>
RestSymbols class_symbols() {
  const auto table = class_table<Word>();
  RestSymbols symbols;
  for (std::size_t s = 0; s < 256; ++s) {
    symbols.width[s] = table.width[s];
    symbols.base[s] = table.base[s];
  }
  return symbols;
}

RestSymbols top_bits_symbols(const TopBitsTable& table, std::size_t size) {
  const auto bits = static_cast<unsigned>(8 * size);
  const unsigned shift = bits - table.key_bits;
  RestSymbols symbols{};
  std::size_t next = 0;
  for (const std::uint64_t value : table.exact) symbols.base[next++] = value;
  for (const std::uint32_t key : table.keys) {
    symbols.width[next] = static_cast<std::uint8_t>(shift);
    symbols.base[next++] = std::uint64_t{key} << shift;
  }
  if (table.escape) {
    symbols.width[255] = static_cast<std::uint8_t>(bits);
    symbols.base[255] = 0;
  }
  return symbols;
}

}  // namespace

Result<void> decode_class(const DecoderInput& input, DeviceAddress to) {
  const DeviceAddress symbols = MCR_TRY(input.device.reserve(input.layout.count()));
  Reader in(input.stored.bytes);
  MCR_TRY(decode_symbols(input, in, symbols));
  const RestSymbols table =
      with_word(input.layout.type.size, []<typename Word>(Word) { return class_symbols<Word>(); });
  return unpack_rest(input, input.stored.from(in.position()), symbols, table, to);
}

Result<void> decode_top_bits(const DecoderInput& input, DeviceAddress to) {
  const TopBitsParameters parameters = MCR_TRY(read_top_bits_parameters(input.parameters));
  const unsigned key_bits = MCR_TRY(key_bits_of(input.layout, parameters));
  const std::size_t size = input.layout.type.size;
  Reader in(input.stored.bytes);
  const TopBitsTable table = MCR_TRY(read_top_bits_table(in, size, key_bits));
  const DeviceAddress symbols = MCR_TRY(input.device.reserve(input.layout.count()));
  MCR_TRY(decode_symbols(input, in, symbols));
  return unpack_rest(input, input.stored.from(in.position()), symbols,
                     top_bits_symbols(table, size), to);
}

Result<void> decode_entropy(const DecoderInput& input, DeviceAddress to) {
  BlockDecoder blocks(input.device);
  MCR_TRY(blocks.add(input.stored, to, static_cast<std::size_t>(input.layout.raw_bytes())));
  return blocks.run(input.error);
}

Result<void> decode_planes(const DecoderInput& input, DeviceAddress to) {
  const std::size_t size = input.layout.type.size;
  const auto count = static_cast<std::size_t>(input.layout.count());
  const std::uint64_t all = input.layout.raw_bytes();
  const DeviceAddress planes = size > 1 ? MCR_TRY(input.device.reserve(all)) : to;
  Reader in(input.stored.bytes);
  BlockDecoder blocks(input.device);
  for (std::size_t p = 0; p < size; ++p) {
    const std::uint64_t head = MCR_TRY(in.varint());
    const ByteSpan bytes = MCR_TRY(in.bytes(head / 2));
    const DeviceAddress plane = planes + p * count;
    if (head % 2 == 0) {
      MCR_TRY(blocks.add(input.stored.part(bytes), plane, count));
    } else {
      // The host decodes planes with repeats.
      Bytes& decoded = input.kept.emplace_back(count);
      MCR_TRY(decode_repeats(bytes, input.scratch, decoded));
      MCR_TRY(input.device.copy_to(plane, decoded));
    }
  }
  if (in.remaining() != 0) return Error{Cause::damaged, "planes: bytes follow the last plane"};
  MCR_TRY(blocks.run(input.error));
  if (size == 1) return {};
  return input.device.launch_for(kernel::transpose, all, {planes, to, all, size, 1});
}

}  // namespace mcr::codecs::gpu
