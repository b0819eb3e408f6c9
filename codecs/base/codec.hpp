// SPDX-License-Identifier: BSD-3-Clause
// The interface of a codec, as pipelines see it.
//
// A pipeline is a chain of codecs. A *transform* maps typed elements to the same number of bytes,
// and tells the type of the results (lorenzo, delta, ordered_int, structure_split). A *coder* turns
// typed elements into another number of bytes (zstd, planes, class_coder). Encoder and decoder both
// compute the layouts between codecs from the frame's layout, so these are not stored.
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

/// Number of a codec in frames; never reused. The table of all is codecs/base/registry.
using CodecId = std::uint8_t;

/// How a codec treats elements. The pipeline converts their byte order accordingly, so that stored
/// bytes are the same on every machine and no codec depends on the machine.
enum class Elements : std::uint8_t {
  numbers,  ///< does arithmetic: elements have this machine's byte order
  bytes,    ///< moves or models bytes: elements are little-endian on every machine
};

class Codec {
 public:
  /// Returns the layout after encode() of `in`; a coder returns flat bytes of an arbitrary count.
  /// Cause::usage if this codec cannot take such a layout or such parameters. Both may come from a
  /// damaged frame; only the limits of frame.hpp are certain. `in.type.big_endian` is always false,
  /// because the frame has reversed big-endian elements.
  [[nodiscard]] virtual Result<Layout> output(const Layout& in, ByteSpan parameters) const = 0;

  /// True for a coder: its output size is not its input size.
  [[nodiscard]] virtual bool changes_size() const = 0;

  /// The byte order that encode() expects of `raw` and decode() leaves in it. A transform has the
  /// same byte order on its other side.
  [[nodiscard]] virtual Elements elements() const = 0;

  /// True if `parameters` depend on the data ("auto"). The encoder then replaces them by the result
  /// of fit(), for each frame anew, before it calls output(). Such parameters are never stored.
  [[nodiscard]] virtual bool wants_fit(ByteSpan /*parameters*/) const { return false; }

  /// Returns parameters that suit `raw`; elements as in encode().
  [[nodiscard]] virtual Result<Bytes> fit(ByteSpan /*raw*/, const Layout& /*layout*/,
                                          ByteSpan parameters, Scratch& /*scratch*/) const {
    return Bytes(parameters.begin(), parameters.end());
  }

  /// Appends the encoded bytes of `raw`, which is exactly `layout.raw_bytes()` long, to `out`.
  /// `parameters` are the ones that output() accepted. Neither span needs to be aligned.
  [[nodiscard]] virtual Result<void> encode(ByteSpan raw, const Layout& layout, ByteSpan parameters,
                                            Scratch& scratch, Bytes& out) const = 0;

  /// Fills `raw` (exactly `layout.raw_bytes()` long) from `stored`, which may hold anything: reads
  /// and writes stay inside both spans, and invalid bytes are Cause::damaged.
  [[nodiscard]] virtual Result<void> decode(ByteSpan stored, const Layout& layout,
                                            ByteSpan parameters, Scratch& scratch,
                                            MutableByteSpan raw) const = 0;

  /// Convert parameters between their text form ("19,long") and their byte form. The empty text is
  /// the default.
  [[nodiscard]] virtual Result<Bytes> parse(std::string_view text) const = 0;
  [[nodiscard]] virtual std::string print(ByteSpan parameters) const = 0;

 protected:
  constexpr Codec() = default;
  ~Codec() = default;
};

}  // namespace mcr::codecs
