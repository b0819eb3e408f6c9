// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/class_coder/class_coder_codec.hpp"

#include "codecs/base/byte_order.hpp"
#include "codecs/base/parameter_text.hpp"
#include "codecs/class_coder/class_coder.hpp"
#include "codecs/class_coder/class_parameters.hpp"
#include "codecs/class_coder/symbol_contexts.hpp"
#include "codecs/entropy/entropy.hpp"

namespace mcr::codecs {
namespace {

using Parameters = ClassParameters;

void encode_block(entropy::Symbols symbols, entropy::Method method, Scratch& scratch, Bytes& out) {
  const auto block = scratch.take<std::byte>(entropy::block_bound(symbols.size()));
  const std::size_t length = entropy::encode_block(symbols, method, block.span());
  Writer writer(out);
  writer.varint(length);
  writer.bytes(block.span().first(length));
}

Result<void> decode_block(Reader& in, entropy::MutableSymbols symbols) {
  const ByteSpan block = MCR_TRY(in.bytes(MCR_TRY(in.varint())));
  if (!entropy::decode_block(block, symbols)) {
    return Error{Cause::damaged, "class_coder: a block of symbols is damaged"};
  }
  return {};
}

void encode_groups(entropy::Symbols symbols, const Layout& layout, entropy::Method method,
                   Scratch& scratch, Bytes& out) {
  const GroupTable table = choose_groups(entropy::count_symbols(symbols));
  const auto grouped = scratch.take<std::uint8_t>(symbols.size());
  const auto sizes = split_by_context(table, rows_of(layout), symbols, grouped.data());
  Writer writer(out);
  writer.u8(static_cast<std::uint8_t>(table.groups));
  for (std::size_t group = 1; group < table.groups; ++group) writer.u8(table.first[group]);
  std::size_t begin = 0;
  for (std::size_t group = 0; group < table.groups; ++group) {
    writer.varint(sizes[group]);
    encode_block(grouped.span().subspan(begin, sizes[group]), method, scratch, out);
    begin += sizes[group];
  }
}

Result<void> decode_groups(Reader& in, const Layout& layout, Scratch& scratch,
                           entropy::MutableSymbols symbols) {
  GroupTable table;
  table.groups = MCR_TRY(in.u8());
  if (table.groups < 1 || table.groups > most_groups) {
    return Error{Cause::damaged, "class_coder: the number of groups is out of range"};
  }
  for (std::size_t group = 1; group < table.groups; ++group) {
    table.first[group] = MCR_TRY(in.u8());
    if (table.first[group] < table.first[group - 1]) {
      return Error{Cause::damaged, "class_coder: the groups are not in ascending order"};
    }
  }
  const auto grouped = scratch.take<std::uint8_t>(symbols.size());
  std::array<std::size_t, most_groups> sizes{};
  std::size_t begin = 0;
  for (std::size_t group = 0; group < table.groups; ++group) {
    sizes[group] = static_cast<std::size_t>(
        MCR_TRY(in.varint_at_most(symbols.size() - begin, "class_coder: size of a group")));
    MCR_TRY(decode_block(in, grouped.span().subspan(begin, sizes[group])));
    begin += sizes[group];
  }
  if (begin != symbols.size() ||
      !join_by_context(table, sizes, rows_of(layout), grouped.span(), symbols.data())) {
    return Error{Cause::damaged, "class_coder: the sizes of the groups do not fit the symbols"};
  }
  return {};
}

class ClassCoderCodec final : public Codec {
 public:
  Result<Layout> output(const Layout& in, ByteSpan parameters) const override {
    MCR_TRY(read_class_parameters(parameters));
    if (!is_word_size(in.type.size)) {
      return Error{Cause::usage, "class_coder: takes elements of 1, 2, 4 or 8 bytes"};
    }
    return Layout{};
  }
  bool changes_size() const override { return true; }
  Elements elements() const override { return Elements::numbers; }

  Result<void> encode(ByteSpan raw, const Layout& layout, ByteSpan parameter_bytes,
                      Scratch& scratch, Bytes& out) const override {
    const Parameters parameters = MCR_TRY(read_class_parameters(parameter_bytes));
    const std::size_t size = layout.type.size;
    const std::size_t count = raw.size() / size;
    const auto symbols = scratch.take<std::uint8_t>(count);
    const auto rest = scratch.take<std::byte>(class_rest_bound(size, count));
    const std::size_t rest_bytes =
        class_encode(size, raw.data(), count, symbols.data(), rest.data());
    if (parameters.contexts) {
      encode_groups(symbols.span(), layout, parameters.method, scratch, out);
    } else {
      encode_block(symbols.span(), parameters.method, scratch, out);
    }
    Writer(out).bytes(rest.span().first(rest_bytes));
    return {};
  }

  Result<void> decode(ByteSpan stored, const Layout& layout, ByteSpan parameter_bytes,
                      Scratch& scratch, MutableByteSpan raw) const override {
    const Parameters parameters = MCR_TRY(read_class_parameters(parameter_bytes));
    const std::size_t size = layout.type.size;
    const std::size_t count = raw.size() / size;
    const auto symbols = scratch.take<std::uint8_t>(count);
    Reader in(stored);
    if (parameters.contexts) {
      MCR_TRY(decode_groups(in, layout, scratch, symbols.span()));
    } else {
      MCR_TRY(decode_block(in, symbols.span()));
    }
    const ByteSpan rest = MCR_TRY(in.bytes(in.remaining()));
    if (!class_decode(size, symbols.data(), count, rest, raw.data())) {
      return Error{Cause::damaged, "class_coder: the rest bits are damaged"};
    }
    return {};
  }

  Result<Bytes> parse(std::string_view text) const override {
    unsigned flags = 0;
    while (!text.empty()) {
      const std::string_view word = next_word(text);
      if (word == "smallest") {
        flags |= class_smallest_flag;
      } else if (word == "contexts") {
        flags |= class_contexts_flag;
      } else if (word != "huffman") {
        return Error{Cause::usage, "class_coder: '" + std::string(word) +
                                       "' is none of: huffman, smallest, contexts"};
      }
    }
    return flags == 0 ? Bytes{} : Bytes{static_cast<std::byte>(flags)};
  }
  std::string print(ByteSpan bytes) const override {
    const auto parameters = read_class_parameters(bytes);
    if (!parameters) return "?";
    std::string text = parameters->method == entropy::Method::smallest ? "smallest" : "";
    if (parameters->contexts) text += text.empty() ? "contexts" : ",contexts";
    return text;
  }
};

constinit const ClassCoderCodec codec;

}  // namespace

const Codec& class_coder_codec() { return codec; }

}  // namespace mcr::codecs
