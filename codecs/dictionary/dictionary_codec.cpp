// SPDX-License-Identifier: BSD-3-Clause
// If an array has only some hundred distinct numbers, it is stored as indices in a sorted table.
// Neighbours in the table are neighbours in value. Made for rounded values, weights, table look-ups
// and materials.
#include "codecs/dictionary/dictionary_codec.hpp"

#include <algorithm>
#include <bit>

#include "codecs/base/words.hpp"
#include "codecs/dictionary/dictionary.hpp"
#include "codecs/dictionary/dictionary_format.hpp"
#include "codecs/entropy/entropy.hpp"
#include "codecs/planes/planes_codec.hpp"

namespace mcr::codecs {
namespace {

/// Writes indices in the table, or their differences, as little-endian elements of one or two
/// bytes.
void narrow(std::span<const std::uint16_t> numbers, bool as_differences, std::size_t bytes,
            std::byte* to) {
  with_word(bytes, [&]<typename Word>(Word) {
    Word before = 0;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const auto number = static_cast<Word>(numbers[i]);
      Word stored = number;
      if (as_differences) stored = zigzag(static_cast<Word>(number - before));
      before = number;
      store(to + i * sizeof(Word), little_endian(stored));
    }
  });
}

void widen(const std::byte* from, bool as_differences, std::size_t bytes,
           std::span<std::uint16_t> numbers) {
  with_word(bytes, [&]<typename Word>(Word) {
    Word before = 0;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      auto number = little_endian(load<Word>(from + i * sizeof(Word)));
      if (as_differences) number = static_cast<Word>(before + unzigzag(number));
      before = number;
      numbers[i] = static_cast<std::uint16_t>(number);
    }
  });
}

class DictionaryCodec final : public Codec {
 public:
  Result<Layout> output(const Layout& in, ByteSpan parameters) const override {
    if (!parameters.empty()) return Error{Cause::usage, "dictionary: takes no parameters"};
    if (in.type.kind == ElementKind::bytes || in.type.size == 1) {
      return Error{Cause::usage, "dictionary: takes numbers of 2, 4 or 8 bytes"};
    }
    return Layout{};
  }
  bool changes_size() const override { return true; }
  Elements elements() const override { return Elements::numbers; }

  Result<void> encode(ByteSpan raw, const Layout& layout, ByteSpan, Scratch& scratch,
                      Bytes& out) const override {
    const ElementType& type = layout.type;
    const std::size_t count = raw.size() / type.size;
    const std::size_t limit = std::min(max_dictionary_words, count / 4 + 16);
    const auto table = distinct_words(type.size, is_floating(type), raw.data(), count, limit);
    if (table.empty() && count != 0) {
      return Error{Cause::usage, "dictionary: the data has too many different numbers"};
    }
    const auto numbers = scratch.take<std::uint16_t>(count);
    dictionary_encode(type.size, raw.data(), count, table, numbers.data());
    const Layout narrowed = numbers_layout(table.size(), count);
    const std::size_t bytes = narrowed.type.size;
    Bytes plain(count * bytes);
    Bytes delta(count * bytes);
    narrow(numbers.span(), false, bytes, plain.data());
    narrow(numbers.span(), true, bytes, delta.data());
    const bool by_difference = guessed_bytes(delta, bytes) < guessed_bytes(plain, bytes);
    const auto parameters = planes_codec().parse("smallest");
    if (!parameters) return parameters.error();
    const auto coded = scratch.take_vector();
    MCR_TRY(planes_codec().encode(pack_table(type, table), flat_layout(type, table.size()),
                                  *parameters, scratch, *coded));
    Writer writer(out);
    writer.varint(table.size());
    writer.varint(coded->size());
    writer.bytes(*coded);
    writer.bytes(object_bytes(by_difference ? differences : plain_numbers));
    return planes_codec().encode(by_difference ? delta : plain, narrowed, *parameters, scratch,
                                 out);
  }

  Result<void> decode(ByteSpan stored, const Layout& layout, ByteSpan, Scratch& scratch,
                      MutableByteSpan raw) const override {
    const ElementType& type = layout.type;
    const std::size_t count = raw.size() / type.size;
    Reader in(stored);
    const auto table_count = static_cast<std::size_t>(
        MCR_TRY(in.varint_at_most(std::min(max_dictionary_words, count), "words of a dictionary")));
    const ByteSpan coded_table = MCR_TRY(in.bytes(MCR_TRY(in.varint())));
    const auto table = scratch.take<std::byte>(table_count * type.size);
    MCR_TRY(planes_codec().decode(coded_table, flat_layout(type, table_count), {}, scratch,
                                  table.span()));
    unpack_table(type, table.span());
    const std::uint8_t form = MCR_TRY(in.u8());
    if (form > 1) return Error{Cause::damaged, "dictionary: the indices have an unknown form"};
    const Layout narrowed = numbers_layout(table_count, count);
    const auto narrow_bytes = scratch.take<std::byte>(count * narrowed.type.size);
    MCR_TRY(planes_codec().decode(MCR_TRY(in.bytes(in.remaining())), narrowed, {}, scratch,
                                  narrow_bytes.span()));
    const auto numbers = scratch.take<std::uint16_t>(count);
    widen(narrow_bytes.data(), form == 1, narrowed.type.size, numbers.span());
    if (!dictionary_decode(type.size, numbers.data(), count, table.data(), table_count,
                           raw.data())) {
      return Error{Cause::damaged, "dictionary: an index lies outside the table"};
    }
    return {};
  }

  Result<Bytes> parse(std::string_view text) const override {
    if (text.empty()) return Bytes{};
    return Error{Cause::usage, "dictionary: takes no parameters"};
  }
  std::string print(ByteSpan) const override { return ""; }
};

constinit const DictionaryCodec codec;

}  // namespace

const Codec& dictionary_codec() { return codec; }

}  // namespace mcr::codecs
