// SPDX-License-Identifier: BSD-3-Clause
// The interface of a codec, as pipelines see it.
//
// A pipeline is a chain of codecs. A *transform* maps typed elements to the same number of bytes,
// and tells the type of the results (lorenzo, delta, ordered_int, structure_split). A *coder* turns
// typed elements into another number of bytes (zstd, planes, class_coder). The layouts between
// codecs are not stored, because encoder and decoder compute them from the frame's layout.
//
// A codec has no state and is never destroyed: each folder defines one `constinit const` object and
// returns it from `const Codec& <name>_codec()`. The destructor is protected and trivial, so that
// no destructor runs at exit, when the plugin may already be unloaded.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "codecs/base/bytes.hpp"
#include "codecs/base/layout.hpp"
#include "codecs/base/scratch.hpp"

namespace mcr::codecs {

/// Number of a codec in frames, which is never reused. The table of all codecs is in
/// codecs/base/registry.
using CodecId = std::uint8_t;

/// How a codec treats elements. The pipeline converts their byte order accordingly, so that stored
/// bytes are the same on every machine and no codec depends on the machine.
enum class Elements : std::uint8_t {
  numbers,  ///< does arithmetic: elements have this machine's byte order
  bytes,    ///< moves or models bytes: elements are little-endian on every machine
};

class Codec {
 public:
  /// Returns the layout that encode() makes of `in`; a coder returns flat bytes of an arbitrary
  /// count. Cause::usage: this codec cannot take the layout or the parameters. Layout and
  /// parameters may come from a damaged frame, so that only the limits of frame.hpp hold for them.
  /// `in.type.big_endian` is always false, because the frame has reversed big-endian elements.
  [[nodiscard]] virtual Result<Layout> output(const Layout& in, ByteSpan parameters) const = 0;

  /// True for a coder, whose output may have another size than its input.
  [[nodiscard]] virtual bool changes_size() const = 0;

  /// The byte order that encode() expects in `raw` and decode() leaves there. The output of a
  /// transform's encode() has the same byte order.
  [[nodiscard]] virtual Elements elements() const = 0;

  /// True if `parameters` depend on the data ("auto"). For each frame, the encoder then replaces
  /// them by the result of fit() before it calls output(). "auto" itself is never stored.
  [[nodiscard]] virtual bool wants_fit(ByteSpan /*parameters*/) const { return false; }

  /// Returns parameters that suit `raw`, whose elements are as in encode().
  [[nodiscard]] virtual Result<Bytes> fit(ByteSpan /*raw*/, const Layout& /*layout*/,
                                          ByteSpan parameters, Scratch& /*scratch*/) const {
    return Bytes(parameters.begin(), parameters.end());
  }

  /// Appends the encoded bytes of `raw`, which is exactly `layout.raw_bytes()` long, to `out`.
  /// `parameters` are the ones that output() accepted. Neither span needs to be aligned.
  [[nodiscard]] virtual Result<void> encode(ByteSpan raw, const Layout& layout, ByteSpan parameters,
                                            Scratch& scratch, Bytes& out) const = 0;

  /// Fills `raw` (exactly `layout.raw_bytes()` long) from `stored`. Even if `stored` holds
  /// arbitrary bytes, reads and writes stay inside both spans. Invalid bytes are Cause::damaged.
  [[nodiscard]] virtual Result<void> decode(ByteSpan stored, const Layout& layout,
                                            ByteSpan parameters, Scratch& scratch,
                                            MutableByteSpan raw) const = 0;

  /// Convert parameters between their text form ("19,long") and their byte form. The empty text
  /// stands for the default.
  [[nodiscard]] virtual Result<Bytes> parse(std::string_view text) const = 0;
  [[nodiscard]] virtual std::string print(ByteSpan parameters) const = 0;

 protected:
  constexpr Codec() = default;
  ~Codec() = default;
};

}  // namespace mcr::codecs
