// SPDX-License-Identifier: BSD-3-Clause
// A chain of codecs with their parameters. Its text form is like `lorenzo(float)|zigzag|class`;
// frames have its byte form.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "codecs/base/bytes.hpp"
#include "codecs/base/codec.hpp"

namespace mcr::codecs {

/// One codec of a pipeline.
struct Step {
  CodecId codec = 0;
  Bytes parameters;

  bool operator==(const Step&) const = default;
};

/// Steps in the order of encoding. Empty: the bytes are stored unchanged.
struct Pipeline {
  static constexpr std::size_t max_steps = 8;
  static constexpr std::size_t max_parameter_bytes = 4096;

  std::vector<Step> steps;

  bool operator==(const Pipeline&) const = default;

  /// Parses codec names with optional parameters in parentheses, joined by `|`; "none" is the empty
  /// pipeline. Cause::usage: a codec is not known; the message names it and lists the known codecs.
  static Result<Pipeline> parse(std::string_view text);
  [[nodiscard]] std::string print() const;

  /// Byte form: the number of steps, then for each step the codec's id, the length of its
  /// parameters, and the parameters.
  void write(Writer& out) const;
  static Result<Pipeline> read(Reader& in);
};

/// Returns the largest output that a coder may have if another codec follows it, for `raw_bytes` of
/// data. A decoder allocates no more than this between two steps.
inline std::uint64_t max_coded_bytes(std::uint64_t raw_bytes) { return raw_bytes * 2 + 4096; }

/// Encodes `raw` (exactly `layout.raw_bytes()` long, little-endian elements) and appends the result
/// to `out`, without a frame. Replaces parameters in `pipeline` that depend on the data, because a
/// decoder needs the final ones. `coded_bytes` receives the output size of each coder that is not
/// the last step; the decoder can compute all other sizes.
Result<void> run_encode(Pipeline& pipeline, ByteSpan raw, const Layout& layout, Scratch& scratch,
                        Bytes& out, std::vector<std::uint64_t>& coded_bytes);

/// The inverse of run_encode(): fills `raw` (exactly `layout.raw_bytes()` long). No input is
/// trusted.
Result<void> run_decode(const Pipeline& pipeline, ByteSpan stored, const Layout& layout,
                        const std::vector<std::uint64_t>& coded_bytes, Scratch& scratch,
                        MutableByteSpan raw);

/// Returns how many numbers run_encode stores in `coded_bytes`. Cause::unsupported for an unknown
/// codec.
Result<std::size_t> coded_count(const Pipeline& pipeline);

}  // namespace mcr::codecs
