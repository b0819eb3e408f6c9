// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/stencil/stencil_codec.hpp"

#include <bit>
#include <cmath>

#include "codecs/stencil/stencil.hpp"

namespace mcr::codecs {
namespace {

constexpr std::size_t parameter_bytes = 1 + stencil_taps * 8;

Result<void> check_layout_of(const Layout& layout) {
  if (layout.type.kind != ElementKind::floating || layout.type.size < 4) {
    return Error{Cause::usage, "stencil: takes floating-point numbers of 4 or 8 bytes only"};
  }
  return {};
}

constexpr std::byte automatic{
    0};  // stands in place of a rank: not fitted yet; this byte is never stored

Result<Stencil> stencil_of(const Layout& layout, ByteSpan parameters) {
  MCR_TRY(check_layout_of(layout));
  if (parameters.empty()) {
    const unsigned rank = layout.bricks.empty() ? 1U : layout.bricks.front().rank;
    return lorenzo_stencil(rank < 3 ? rank : 3);
  }
  if (parameters.size() != parameter_bytes) {
    return Error{Cause::usage, "stencil: the parameters have another length than a stencil's"};
  }
  Reader in(parameters);
  Stencil stencil;
  stencil.rank = MCR_TRY(in.u8());
  if (stencil.rank < 1 || stencil.rank > 3)
    return Error{Cause::usage, "stencil: the rank is not 1 to 3"};
  for (double& coefficient : stencil.coefficients) {
    coefficient = std::bit_cast<double>(MCR_TRY(in.u64()));
    if (!std::isfinite(coefficient))
      return Error{Cause::usage, "stencil: a coefficient is not finite"};
  }
  return stencil;
}

class StencilCodec final : public Codec {
 public:
  Result<Layout> output(const Layout& in, ByteSpan parameters) const override {
    MCR_TRY(stencil_of(in, parameters));
    Layout out = in;
    out.type.kind = ElementKind::unsigned_integer;
    return out;
  }
  bool changes_size() const override { return false; }
  Elements elements() const override { return Elements::numbers; }

  bool wants_fit(ByteSpan parameters) const override {
    return parameters.size() == 1 && parameters[0] == automatic;
  }
  Result<Bytes> fit(ByteSpan raw, const Layout& layout, ByteSpan, Scratch& scratch) const override {
    return fit_stencil_parameters(raw, layout, scratch);
  }

  Result<void> encode(ByteSpan raw, const Layout& layout, ByteSpan parameters, Scratch&,
                      Bytes& out) const override {
    const Stencil stencil = MCR_TRY(stencil_of(layout, parameters));
    const std::size_t begin = out.size();
    out.resize(begin + raw.size());
    stencil_encode(stencil, layout, raw.data(), out.data() + begin);
    return {};
  }
  Result<void> decode(ByteSpan stored, const Layout& layout, ByteSpan parameters, Scratch&,
                      MutableByteSpan raw) const override {
    const Stencil stencil = MCR_TRY(stencil_of(layout, parameters));
    if (stored.size() != raw.size())
      return Error{Cause::damaged,
                   "stencil: the stored bytes have another size than the raw bytes"};
    stencil_decode(stencil, layout, stored.data(), raw.data());
    return {};
  }

  Result<Bytes> parse(std::string_view text) const override {
    if (text.empty()) return Bytes{};
    if (text == "auto") return Bytes{automatic};
    return Error{Cause::usage, "stencil: takes no parameters, or auto to have them fitted"};
  }
  std::string print(ByteSpan parameters) const override {
    return wants_fit(parameters) ? "auto" : "";
  }
};

constinit const StencilCodec codec;

}  // namespace

const Codec& stencil_codec() { return codec; }

Result<Bytes> fit_stencil_parameters(ByteSpan raw, const Layout& layout, Scratch& scratch) {
  MCR_TRY(check_layout_of(layout));
  const auto work = scratch.take<double>(stencil_fit_words);
  const Stencil stencil = stencil_fit(raw.data(), layout, work.span());
  Bytes parameters;
  Writer out(parameters);
  out.u8(static_cast<std::uint8_t>(stencil.rank));
  for (const double coefficient : stencil.coefficients) {
    out.u64(std::bit_cast<std::uint64_t>(coefficient));
  }
  return parameters;
}

}  // namespace mcr::codecs
