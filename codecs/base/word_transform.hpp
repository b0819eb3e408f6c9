// SPDX-License-Identifier: BSD-3-Clause
// The Codec class of all transforms of single numbers without parameters.
#pragma once

#include "codecs/base/codec.hpp"

namespace mcr::codecs {

/// `Kernel` provides: name; output(ElementType) -> Result<ElementKind>; encode and
/// decode(ElementType, from, count, to), for numbers of 1, 2, 4 or 8 bytes at any address.
template <typename Kernel>
class WordTransform final : public Codec {
 public:
  constexpr WordTransform() = default;

  Result<Layout> output(const Layout& in, ByteSpan parameters) const override {
    if (!parameters.empty()) {
      return Error{Cause::usage, std::string(Kernel::name) + ": takes no parameters"};
    }
    if (in.type.kind == ElementKind::bytes) {
      return Error{Cause::usage, std::string(Kernel::name) + ": takes numbers only"};
    }
    Layout out = in;
    out.type.kind = MCR_TRY(Kernel::output(in.type));
    return out;
  }
  bool changes_size() const override { return false; }
  Elements elements() const override { return Elements::numbers; }

  Result<void> encode(ByteSpan raw, const Layout& layout, ByteSpan, Scratch&,
                      Bytes& out) const override {
    const std::size_t begin = out.size();
    out.resize(begin + raw.size());
    Kernel::encode(layout.type, raw.data(), raw.size() / layout.type.size, out.data() + begin);
    return {};
  }
  Result<void> decode(ByteSpan stored, const Layout& layout, ByteSpan, Scratch&,
                      MutableByteSpan raw) const override {
    if (stored.size() != raw.size()) {
      return Error{Cause::damaged, std::string(Kernel::name) + ": another size"};
    }
    Kernel::decode(layout.type, stored.data(), raw.size() / layout.type.size, raw.data());
    return {};
  }

  Result<Bytes> parse(std::string_view text) const override {
    if (text.empty()) return Bytes{};
    return Error{Cause::usage, std::string(Kernel::name) + ": takes no parameters"};
  }
  std::string print(ByteSpan) const override { return ""; }
};

}  // namespace mcr::codecs
