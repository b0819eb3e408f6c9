// SPDX-License-Identifier: BSD-3-Clause
// The binding of one codec: what a pipeline knows of it.
//
// A pipeline is a chain of codecs. A *transform* maps typed elements to the same number of bytes,
// and says what the elements are afterwards (lorenzo, delta, ordered_int, an array-of-structures
// split). A *coder* turns typed elements into bytes of another number (zstd, planes, class coder).
// The layouts between codecs are computed forward from the frame's layout, by encoder and decoder
// alike, so that nothing of them is stored.
//
// A codec has no state and is never destroyed: each folder defines one `constinit const` object and
// answers it from `const Codec& <name>_codec()`. The destructor is protected and trivial, so that
// such an object leaves nothing to run at exit, which the plugin could not survive.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "codecs/base/bytes.hpp"
#include "codecs/base/layout.hpp"
#include "codecs/base/scratch.hpp"

namespace mcr::codecs {

/// Number of a codec in frames; never reused. The table of all is codecs/base/registry.
using CodecId = std::uint8_t;

/// How a codec looks at elements. The pipeline hands them over accordingly, so that stored bytes
/// are the same from every machine and no codec has to know which one it runs on.
enum class Elements : std::uint8_t {
  numbers,  ///< does arithmetic: elements come and go in this machine's byte order
  bytes,    ///< moves or models bytes: elements come and go little-endian, on every machine
};

class Codec {
 public:
  /// What leaves encode() for `in`; a coder answers flat bytes whose count means nothing.
  /// Cause::usage where this codec cannot take such a layout or such parameters. Both may come from
  /// a damaged frame: anything but a layout that keeps the limits of frame.hpp is possible here.
  /// `in.type.big_endian` is always false: the frame has put the elements in order.
  [[nodiscard]] virtual Result<Layout> output(const Layout& in, ByteSpan parameters) const = 0;

  /// True for a coder: its output size is not its input size.
  [[nodiscard]] virtual bool changes_size() const = 0;

  /// Byte order that encode() expects of `raw` and decode() leaves in it; for a transform also that
  /// of the other side.
  [[nodiscard]] virtual Elements elements() const = 0;

  /// True where `parameters` leave something to the data ("auto"): the encoder then replaces them
  /// by what fit() answers, for each frame anew, before output() sees them. They are never stored.
  [[nodiscard]] virtual bool wants_fit(ByteSpan /*parameters*/) const { return false; }

  /// Parameters that suit `raw`; elements as in encode().
  [[nodiscard]] virtual Result<Bytes> fit(ByteSpan /*raw*/, const Layout& /*layout*/,
                                          ByteSpan parameters, Scratch& /*scratch*/) const {
    return Bytes(parameters.begin(), parameters.end());
  }

  /// Appends the encoded bytes of `raw`, which is exactly `layout.raw_bytes()` long, to `out`.
  /// `parameters` are the ones that output() accepted. Neither span needs to be aligned.
  [[nodiscard]] virtual Result<void> encode(ByteSpan raw, const Layout& layout, ByteSpan parameters,
                                            Scratch& scratch, Bytes& out) const = 0;

  /// Fills `raw` (exactly `layout.raw_bytes()` long) from `stored`. `stored` may be anything: reads
  /// and writes stay inside both spans, and what does not fit is Cause::damaged.
  [[nodiscard]] virtual Result<void> decode(ByteSpan stored, const Layout& layout,
                                            ByteSpan parameters, Scratch& scratch,
                                            MutableByteSpan raw) const = 0;

  /// Parameters between their text form ("19,long") and their byte form. The empty text is the
  /// default.
  [[nodiscard]] virtual Result<Bytes> parse(std::string_view text) const = 0;
  [[nodiscard]] virtual std::string print(ByteSpan parameters) const = 0;

 protected:
  constexpr Codec() = default;
  ~Codec() = default;
};

}  // namespace mcr::codecs
