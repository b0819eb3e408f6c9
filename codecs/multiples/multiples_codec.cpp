// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/multiples/multiples_codec.hpp"

#include <bit>
#include <charconv>
#include <cstdio>

#include "codecs/base/float_environment.hpp"
#include "codecs/multiples/multiples.hpp"

namespace mcr::codecs {
namespace {

constexpr std::byte automatic{
    0xff};  // in place of a form: the step is found for each frame; never stored

Result<Multiples> multiples_of(const ElementType& type, ByteSpan parameters) {
  if (type.kind == ElementKind::bytes) {
    return Error{Cause::usage, "multiples: takes numbers only"};
  }
  Multiples multiples;
  if (parameters.empty()) return multiples;
  Reader in(parameters);
  const std::uint8_t form = MCR_TRY(in.u8());
  if (form > 2) return Error{Cause::usage, "multiples: the parameters have an unknown form"};
  multiples.form = static_cast<Multiples::Form>(form);
  if (multiples.form == Multiples::Form::step) {
    multiples.step = MCR_TRY(in.varint());
    multiples.base = MCR_TRY(in.varint());
  } else {
    multiples.scale = std::bit_cast<double>(MCR_TRY(in.u64()));
  }
  if (multiples.form == Multiples::Form::times) {
    multiples.origin = std::bit_cast<double>(MCR_TRY(in.u64()));
    multiples.slack = MCR_TRY(in.u8());
  }
  if (in.remaining() != 0 || !fits(multiples, type)) {
    return Error{Cause::usage,
                 "multiples: the parameters hold no step that numbers of this type can have"};
  }
  return multiples;
}

Bytes parameters_of(const Multiples& multiples) {
  Bytes parameters;
  Writer out(parameters);
  out.u8(static_cast<std::uint8_t>(multiples.form));
  if (multiples.form == Multiples::Form::step) {
    out.varint(multiples.step);
    out.varint(multiples.base);
  } else {
    out.u64(std::bit_cast<std::uint64_t>(multiples.scale));
  }
  if (multiples.form == Multiples::Form::times) {
    out.u64(std::bit_cast<std::uint64_t>(multiples.origin));
    out.u8(static_cast<std::uint8_t>(multiples.slack));
  }
  return parameters;
}

std::string as_text(const char* format, double number) {
  char text[48];
  std::snprintf(text, sizeof text, format, number);
  return text;
}

class MultiplesCodec final : public Codec {
 public:
  Result<Layout> output(const Layout& in, ByteSpan parameters) const override {
    MCR_TRY(multiples_of(in.type, parameters));
    Layout out = in;
    out.type.kind = ElementKind::signed_integer;
    return out;
  }
  bool changes_size() const override { return false; }
  Elements elements() const override { return Elements::numbers; }

  bool wants_fit(ByteSpan parameters) const override {
    return parameters.size() == 1 && parameters[0] == automatic;
  }
  Result<Bytes> fit(ByteSpan raw, const Layout& layout, ByteSpan, Scratch&) const override {
    const auto found = find_multiples(layout.type, raw, false);
    return found ? parameters_of(*found) : Bytes{};
  }

  Result<void> encode(ByteSpan raw, const Layout& layout, ByteSpan parameters, Scratch&,
                      Bytes& out) const override {
    const Multiples multiples = MCR_TRY(multiples_of(layout.type, parameters));
    const std::size_t begin = out.size();
    out.resize(begin + raw.size());
    const DefaultFloatEnvironment mode;
    multiples_encode(multiples, layout.type, raw.data(), raw.size() / layout.type.size,
                     out.data() + begin);
    return {};
  }
  Result<void> decode(ByteSpan stored, const Layout& layout, ByteSpan parameters, Scratch&,
                      MutableByteSpan raw) const override {
    const Multiples multiples = MCR_TRY(multiples_of(layout.type, parameters));
    if (stored.size() != raw.size())
      return Error{Cause::damaged,
                   "multiples: the stored bytes have another size than the raw bytes"};
    const DefaultFloatEnvironment mode;
    multiples_decode(multiples, layout.type, stored.data(), raw.size() / layout.type.size,
                     raw.data());
    return {};
  }

  // Text: "auto", "step=100", "over=100". A step that was found in data may have parameters for
  // which there is no text.
  Result<Bytes> parse(std::string_view text) const override {
    if (text.empty()) return Bytes{};
    if (text == "auto") return Bytes{automatic};
    constexpr std::uint64_t most = 1'000'000'000'000'000;
    const std::string_view word = text.substr(0, text.find('=') + 1);
    const std::string_view digits = text.substr(word.size());
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    const bool whole = error == std::errc() && end == digits.data() + digits.size();
    if (!whole || number == 0 || number > most || (word != "step=" && word != "over=")) {
      return Error{Cause::usage, "multiples: '" + std::string(text) +
                                     "' is none of: auto, step=NUMBER, over=NUMBER"};
    }
    Multiples multiples;
    if (word == "step=") {
      multiples.step = number;
    } else {
      multiples.form = Multiples::Form::over;
      multiples.scale = static_cast<double>(number);
    }
    return parameters_of(multiples);
  }
  std::string print(ByteSpan parameters) const override {
    if (parameters.empty()) return "";
    if (wants_fit(parameters)) return "auto";
    Reader in(parameters.subspan(1));
    const std::uint64_t number =
        parameters[0] == std::byte{0} ? in.varint().value_or(0) : in.u64().value_or(0);
    if (parameters[0] == std::byte{0}) return "step=" + std::to_string(number);
    const auto scale = std::bit_cast<double>(number);
    return parameters[0] == std::byte{1} ? as_text("over=%.17g", scale)
                                         : as_text("times=%.9g", scale);
  }
};

constinit const MultiplesCodec codec;

}  // namespace

const Codec& multiples_codec() { return codec; }

}  // namespace mcr::codecs
