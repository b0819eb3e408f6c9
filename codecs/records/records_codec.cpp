// SPDX-License-Identifier: BSD-3-Clause
// The only codec that runs pipelines itself. These pipelines cannot contain this codec again, so
// that malicious bytes cannot nest pipelines deeper.
#include "codecs/records/records_codec.hpp"

#include <algorithm>

#include "codecs/base/byte_order.hpp"
#include "codecs/base/layout_format.hpp"
#include "codecs/base/parameter_text.hpp"
#include "codecs/base/registry.hpp"

namespace mcr::codecs {
namespace {

constexpr std::string_view kind_letters = "buif";

struct Parameters {
  std::vector<Column> columns;
  std::vector<Pipeline> pipelines;
};

/// How a column is stored.
enum class Stored : std::uint8_t { plain = 0, as_parameters_say = 1, by_its_own = 2 };

bool nests(const Pipeline& pipeline) {
  return std::any_of(pipeline.steps.begin(), pipeline.steps.end(),
                     [](const Step& step) { return step.codec == codec_id::records; });
}

Result<void> check(const Parameters& parameters) {
  if (parameters.columns.empty() || parameters.columns.size() > max_columns) {
    return Error{Cause::usage, "records: takes 1 to " + std::to_string(max_columns) + " columns"};
  }
  for (const Column& column : parameters.columns) {
    const ElementType& type = column.type;
    const bool number = type.kind != ElementKind::bytes;
    if (type.size == 0 || column.count == 0 || (number && !is_word_size(type.size)) ||
        (type.kind == ElementKind::floating && type.size == 1)) {
      return Error{Cause::usage,
                   "records: a column has an element type or count that members cannot have"};
    }
  }
  for (const Pipeline& pipeline : parameters.pipelines) {
    if (nests(pipeline))
      return Error{Cause::usage, "records: a column's pipeline must not contain records"};
  }
  return {};
}

Result<Parameters> read_all(Reader& in) {
  Parameters parameters;
  const std::uint64_t count = MCR_TRY(in.varint_at_most(max_columns, "columns"));
  for (std::uint64_t i = 0; i < count; ++i) {
    Column column;
    column.type = MCR_TRY(read_type(in));
    column.count = static_cast<std::uint32_t>(MCR_TRY(in.varint_at_most(1U << 20, "members")));
    parameters.columns.push_back(column);
    parameters.pipelines.push_back(MCR_TRY(Pipeline::read(in)));
  }
  if (in.remaining() != 0) return Error{Cause::usage, "records: bytes follow the last parameter"};
  MCR_TRY(check(parameters));
  return parameters;
}

/// Every error is Cause::usage; if the frame is damaged, the caller changes it to Cause::damaged.
Result<Parameters> read_parameters(ByteSpan bytes) {
  Reader in(bytes);
  auto parameters = read_all(in);
  if (!parameters) return Error{Cause::usage, parameters.error().message};
  return parameters;
}

/// Returns the parameters, if their columns make up records of the size of `in`'s.
Result<Parameters> parameters_for(const Layout& in, ByteSpan bytes) {
  if (bytes.empty())
    return Parameters{{Column{{ElementKind::bytes, in.type.size, false}, 1}}, {{}}};
  Parameters parameters = MCR_TRY(read_parameters(bytes));
  std::uint64_t size = 0;
  for (const Column& column : parameters.columns) size += column.bytes();
  if (size != in.type.size) {
    return Error{Cause::usage,
                 "records: the sizes of the columns do not add up to the size of a record"};
  }
  return parameters;
}

void turn(const Column& column, MutableByteSpan bytes) {
  if (column.type.big_endian && column.type.size > 1) {
    reverse_elements(bytes, column.type.size, bytes);
  }
}

/// Appends one column: the way in which it is stored, the decoder's parameters, the length, the
/// bytes.
Result<void> encode_column(const Layout& layout, const Pipeline& wanted, ByteSpan raw,
                           Scratch& scratch, Bytes& out) {
  const auto payload = scratch.take_vector();
  std::vector<std::uint64_t> coded;
  Pipeline pipeline = wanted;
  const auto encoded = run_encode(pipeline, raw, layout, scratch, *payload, coded);
  if (!encoded && encoded.error().cause != Cause::usage) return encoded.error();
  const bool plain = !encoded || wanted.steps.empty() || payload->size() >= raw.size();
  Writer writer(out);
  if (plain) {
    writer.u8(static_cast<std::uint8_t>(Stored::plain));
    writer.bytes(raw);
    return {};
  }
  if (pipeline == wanted) {
    writer.u8(static_cast<std::uint8_t>(Stored::as_parameters_say));
  } else {
    writer.u8(static_cast<std::uint8_t>(Stored::by_its_own));
    pipeline.write(writer);
  }
  for (const std::uint64_t size : coded) writer.varint(size);
  writer.varint(payload->size());
  writer.bytes(*payload);
  return {};
}

Result<void> decode_column(Reader& in, const Layout& layout, const Pipeline& wanted,
                           Scratch& scratch, MutableByteSpan raw) {
  const std::uint8_t stored = MCR_TRY(in.u8());
  if (stored == static_cast<std::uint8_t>(Stored::plain)) {
    const ByteSpan bytes = MCR_TRY(in.bytes(raw.size()));
    std::copy(bytes.begin(), bytes.end(), raw.begin());
    return {};
  }
  if (stored > static_cast<std::uint8_t>(Stored::by_its_own)) {
    return Error{Cause::damaged, "records: a column is stored in an unknown way"};
  }
  Pipeline own;
  if (stored == static_cast<std::uint8_t>(Stored::by_its_own)) own = MCR_TRY(Pipeline::read(in));
  const Pipeline& pipeline = stored == static_cast<std::uint8_t>(Stored::by_its_own) ? own : wanted;
  if (nests(pipeline))
    return Error{Cause::damaged, "records: a column's pipeline contains records"};
  std::vector<std::uint64_t> coded;
  const std::size_t count = MCR_TRY(coded_count(pipeline));
  for (std::size_t i = 0; i < count; ++i) {
    coded.push_back(MCR_TRY(in.varint_at_most(max_coded_bytes(raw.size()), "size of a step")));
  }
  const std::uint64_t length = MCR_TRY(in.varint());
  const ByteSpan payload = MCR_TRY(in.bytes(length));
  auto decoded = run_decode(pipeline, payload, layout, coded, scratch, raw);
  if (!decoded && decoded.error().cause == Cause::usage) {
    return Error{Cause::damaged, decoded.error().message};
  }
  return decoded;
}

/// Splits "a;b(c;d);e" at the semicolons outside parentheses.
std::string_view next_column(std::string_view& text) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (text[i] != ';' || depth != 0) continue;
    const std::string_view column = text.substr(0, i);
    text.remove_prefix(i + 1);
    return column;
  }
  return std::exchange(text, {});
}

/// Parses "f8", "f4x3", "I2" (big-endian), "b6".
Result<Column> parse_column(std::string_view text) {
  const Error wrong{Cause::usage, "records: '" + std::string(text) +
                                      "' is no column; such are f8, i4x3, u2, b6, F8 (big-endian)"};
  if (text.size() < 2) return wrong;
  Column column;
  const char letter = static_cast<char>(text[0] | 0x20);
  const std::size_t kind = kind_letters.find(letter);
  if (kind == std::string_view::npos) return wrong;
  column.type.kind = static_cast<ElementKind>(kind);
  column.type.big_endian = letter != text[0];
  text.remove_prefix(1);
  const std::size_t times = text.find('x');
  const auto size = number_in(text.substr(0, times), 1, 1 << 20, "records: size");
  if (!size) return wrong;
  column.type.size = static_cast<std::uint32_t>(*size);
  if (times != std::string_view::npos) {
    const auto count = number_in(text.substr(times + 1), 1, 1 << 20, "records: count");
    if (!count) return wrong;
    column.count = static_cast<std::uint32_t>(*count);
  }
  return column;
}

std::string print_column(const Column& column) {
  char letter = kind_letters[static_cast<std::size_t>(column.type.kind)];
  if (column.type.big_endian) letter = static_cast<char>(letter & ~0x20);
  std::string text = letter + std::to_string(column.type.size);
  if (column.count > 1) text += 'x' + std::to_string(column.count);
  return text;
}

class RecordsCodec final : public Codec {
 public:
  Result<Layout> output(const Layout& in, ByteSpan parameters) const override {
    MCR_TRY(parameters_for(in, parameters));
    return Layout{};
  }
  bool changes_size() const override { return true; }
  Elements elements() const override { return Elements::bytes; }

  Result<void> encode(ByteSpan raw, const Layout& layout, ByteSpan parameter_bytes,
                      Scratch& scratch, Bytes& out) const override {
    const Parameters parameters = MCR_TRY(parameters_for(layout, parameter_bytes));
    const std::size_t record_bytes = layout.type.size;
    const std::size_t count = raw.size() / record_bytes;
    std::size_t at = 0;
    for (std::size_t c = 0; c < parameters.columns.size(); ++c) {
      const Column& column = parameters.columns[c];
      const auto width = static_cast<std::size_t>(column.bytes());
      const auto bytes = scratch.take<std::byte>(count * width);
      gather_column(raw.data() + at, record_bytes, count, width, bytes.data());
      turn(column, bytes.span());
      MCR_TRY(encode_column(column_layout(layout, column), parameters.pipelines[c], bytes.span(),
                            scratch, out));
      at += width;
    }
    return {};
  }

  Result<void> decode(ByteSpan stored, const Layout& layout, ByteSpan parameter_bytes,
                      Scratch& scratch, MutableByteSpan raw) const override {
    const Parameters parameters = MCR_TRY(parameters_for(layout, parameter_bytes));
    const std::size_t record_bytes = layout.type.size;
    const std::size_t count = raw.size() / record_bytes;
    Reader in(stored);
    std::size_t at = 0;
    for (std::size_t c = 0; c < parameters.columns.size(); ++c) {
      const Column& column = parameters.columns[c];
      const auto width = static_cast<std::size_t>(column.bytes());
      const auto bytes = scratch.take<std::byte>(count * width);
      MCR_TRY(decode_column(in, column_layout(layout, column), parameters.pipelines[c], scratch,
                            bytes.span()));
      turn(column, bytes.span());
      scatter_column(bytes.data(), record_bytes, count, width, raw.data() + at);
      at += width;
    }
    if (in.remaining() != 0) return Error{Cause::damaged, "records: bytes follow the last column"};
    return {};
  }

  Result<Bytes> parse(std::string_view text) const override {
    std::vector<Column> columns;
    std::vector<Pipeline> pipelines;
    if (text.empty()) return Bytes{};  // one column: only the user knows the members
    while (!text.empty()) {
      const std::string_view word = next_column(text);
      const std::size_t equal = word.find('=');
      columns.push_back(MCR_TRY(parse_column(word.substr(0, equal))));
      pipelines.emplace_back();
      if (equal != std::string_view::npos) {
        pipelines.back() = MCR_TRY(Pipeline::parse(word.substr(equal + 1)));
      }
    }
    return records_parameters(columns, pipelines);
  }

  std::string print(ByteSpan bytes) const override {
    if (bytes.empty()) return "";
    const auto parameters = read_parameters(bytes);
    if (!parameters) return "?";
    std::string text;
    for (std::size_t c = 0; c < parameters->columns.size(); ++c) {
      if (c != 0) text += ';';
      text += print_column(parameters->columns[c]);
      if (!parameters->pipelines[c].steps.empty()) text += '=' + parameters->pipelines[c].print();
    }
    return text;
  }
};

constinit const RecordsCodec codec;

}  // namespace

const Codec& records_codec() { return codec; }

Result<Bytes> records_parameters(const std::vector<Column>& columns,
                                 const std::vector<Pipeline>& pipelines) {
  MCR_TRY(check({columns, pipelines}));
  Bytes bytes;
  Writer out(bytes);
  out.varint(columns.size());
  for (std::size_t c = 0; c < columns.size(); ++c) {
    write_type(columns[c].type, out);
    out.varint(columns[c].count);
    pipelines[c].write(out);
  }
  if (bytes.size() > Pipeline::max_parameter_bytes) {
    return Error{Cause::usage, "records: a frame cannot hold so many columns"};
  }
  return bytes;
}

}  // namespace mcr::codecs
