// SPDX-License-Identifier: BSD-3-Clause
// The codec `dictionary`. The accelerator finds the distinct words and numbers all words; the host
// sorts the table, which is small, and codes it.
#include <algorithm>
#include <bit>

#include "codecs/dictionary/dictionary.hpp"
#include "codecs/dictionary/dictionary_format.hpp"
#include "codecs/gpu/coder/coders.hpp"
#include "codecs/gpu/coder/decoders.hpp"
#include "codecs/gpu/coder/lorenzo_transform.hpp"
#include "codecs/gpu/kernels/dictionary_kernels.hpp"
#include "codecs/planes/planes_codec.hpp"

namespace mcr::codecs::gpu {
namespace {

/// Returns the distinct words in ascending order. Cause::usage: there are more than `limit`.
Result<std::vector<std::uint64_t>> find_words(const CoderInput& input, std::size_t limit) {
  Device& device = input.device;
  const ElementType& type = input.layout.type;
  const std::uint64_t count = input.layout.count();
  const std::uint64_t slots = std::bit_ceil(2 * limit + 2);
  const DeviceAddress memory = MCR_TRY(device.reserve(slots * sizeof(std::uint64_t)));
  MCR_TRY(device.launch_for(kernel::fill, slots * sizeof(std::uint64_t),
                            {memory, slots * sizeof(std::uint64_t), 0xff}));
  const DeviceAddress device_state = MCR_TRY(device.zeros(sizeof(DistinctState)));
  MCR_TRY(device.launch_for(kernel::distinct_words, count,
                            {input.data.at, count, type.size, memory, slots, device_state, limit}));
  std::vector<DistinctState> state(1);
  MCR_TRY(device.download(state, device_state));
  MCR_TRY(device.finish());
  const std::size_t found = state[0].count + std::size_t{state[0].has_no_word};
  if (state[0].overflow != 0 || found > limit) {
    return Error{Cause::usage, "dictionary: the data has too many different numbers"};
  }
  std::vector<std::uint64_t> words(state[0].count);
  const DeviceAddress list = MCR_TRY(device.reserve(words.size() * sizeof(std::uint64_t)));
  MCR_TRY(device.launch_for(kernel::list_words, slots, {memory, slots, device_state, list}));
  MCR_TRY(device.download(words, list));
  MCR_TRY(device.finish());
  if (state[0].has_no_word != 0) words.push_back(no_word);
  with_word(type.size, [&]<typename Word>(Word) {
    const auto order = [&](std::uint64_t word) {
      return is_floating(type) ? ordered_from_float(static_cast<Word>(word))
                               : static_cast<Word>(word);
    };
    std::sort(words.begin(), words.end(),
              [&](std::uint64_t a, std::uint64_t b) { return order(a) < order(b); });
  });
  return words;
}

/// The elements that stand for the words, in both forms.
struct Numbers {
  Layout layout;
  DeviceAddress plain = 0;
  DeviceAddress differences = 0;
};

/// Downloads the pieces that decide between the forms; returns true for differences.
Result<bool> differences_pay(Device& device, const Numbers& numbers) {
  const std::size_t bytes = numbers.layout.type.size;
  const GuessedPiece piece = guessed_piece(static_cast<std::size_t>(numbers.layout.count()));
  Bytes plain(piece.count * bytes);
  Bytes differences(plain.size());
  MCR_TRY(device.download(std::span(plain), numbers.plain + piece.first * bytes));
  MCR_TRY(device.download(std::span(differences), numbers.differences + piece.first * bytes));
  MCR_TRY(device.finish());
  return guessed_bytes_of_piece(differences, bytes) < guessed_bytes_of_piece(plain, bytes);
}

}  // namespace

Result<void> encode_dictionary(const CoderInput& input, Bytes& payload) {
  Device& device = input.device;
  const ElementType& type = input.layout.type;
  const auto count = static_cast<std::size_t>(input.layout.count());
  const std::size_t limit = std::min(max_dictionary_words, count / 4 + 16);
  const auto table = MCR_TRY(find_words(input, limit));
  const DeviceAddress words = MCR_TRY(device.upload_copy(table));
  Numbers numbers{numbers_layout(table.size(), count)};
  numbers.plain = MCR_TRY(device.reserve(numbers.layout.raw_bytes()));
  numbers.differences = MCR_TRY(device.reserve(numbers.layout.raw_bytes()));
  MCR_TRY(device.launch_for(kernel::word_numbers, count,
                            {input.data.at, count, type.size, words, table.size(),
                             is_floating(type) ? 1U : 0U, numbers.plain, numbers.differences}));
  const bool by_difference = MCR_TRY(differences_pay(device, numbers));
  const Bytes parameters = MCR_TRY(planes_codec().parse("smallest"));
  const auto coded = input.scratch.take_vector();
  MCR_TRY(planes_codec().encode(pack_table(type, table), flat_layout(type, table.size()),
                                parameters, input.scratch, *coded));
  Writer writer(payload);
  writer.varint(table.size());
  writer.varint(coded->size());
  writer.bytes(*coded);
  writer.bytes(object_bytes(by_difference ? differences : plain_numbers));
  const DeviceData data{by_difference ? numbers.differences : numbers.plain};
  return encode_planes({device, data, numbers.layout, {}, parameters, input.scratch}, payload);
}

Result<void> decode_dictionary(const DecoderInput& input, DeviceAddress to) {
  Device& device = input.device;
  const ElementType& type = input.layout.type;
  const auto count = static_cast<std::size_t>(input.layout.count());
  Reader in(input.stored.bytes);
  const auto table_count = static_cast<std::size_t>(
      MCR_TRY(in.varint_at_most(std::min(max_dictionary_words, count), "words of a dictionary")));
  const ByteSpan coded_table = MCR_TRY(in.bytes(MCR_TRY(in.varint())));
  Bytes& table = input.kept.emplace_back(table_count * type.size);
  MCR_TRY(
      planes_codec().decode(coded_table, flat_layout(type, table_count), {}, input.scratch, table));
  unpack_table(type, table);
  const std::uint8_t form = MCR_TRY(in.u8());
  if (form > 1) return Error{Cause::damaged, "dictionary: the indices have an unknown form"};
  const Layout narrowed = numbers_layout(table_count, count);
  const std::uint64_t bytes = narrowed.type.size;
  DeviceAddress numbers = MCR_TRY(device.reserve(count * bytes));
  MCR_TRY(decode_planes({device,
                         input.stored.from(in.position()),
                         narrowed,
                         {},
                         input.error,
                         input.scratch,
                         input.kept},
                        numbers));
  if (form == 1) {
    const DeviceAddress sums = MCR_TRY(device.reserve(count * bytes));
    MCR_TRY(sum_words(device, numbers, count, bytes, true, sums));
    numbers = sums;
  }
  const DeviceAddress words = MCR_TRY(device.upload(table));
  return device.launch_for(kernel::numbered_words, count,
                           {numbers, count, bytes, type.size, words, table_count, to, input.error});
}

}  // namespace mcr::codecs::gpu
