// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/choice/chosen_frame.hpp"

namespace mcr::codecs {
namespace {

/// A frame that is larger than expected by this factor gets a new choice. Errors of estimates are
/// smaller than this.
constexpr double disappointing = 1.3;
/// A frame that shrinks by this factor keeps its choice, even if a smaller frame was expected.
constexpr std::size_t small_enough = 32;
/// Smaller frames are not worth another choice.
constexpr std::size_t least_bytes = 4096;

/// Replaces the bytes of `out` from `begin` on by a frame under `pipeline` if that frame is
/// smaller.
Result<void> keep_smaller(const Pipeline& pipeline, ByteSpan raw, const Layout& layout,
                          Scratch& scratch, std::size_t begin, Bytes& out,
                          const FrameEncoder& encode) {
  const auto frame = scratch.take_vector();
  MCR_TRY(encode(raw, layout, pipeline, scratch, *frame));
  if (frame->size() >= out.size() - begin) return {};
  out.resize(begin);
  out.insert(out.end(), frame->begin(), frame->end());
  return {};
}

}  // namespace

Result<void> encode_chosen_frame(const Choice& choice, const ProfileOptions& options, ByteSpan raw,
                                 const Layout& layout, std::span<const Column> columns,
                                 Scratch& scratch, Bytes& out, const FrameEncoder& encode) {
  const std::size_t begin = out.size();
  MCR_TRY(encode(raw, layout, choice.pipeline, scratch, out));
  if (choice.other) MCR_TRY(keep_smaller(*choice.other, raw, layout, scratch, begin, out, encode));
  if (choice.ratio <= 0 || raw.size() < least_bytes) return {};
  const double expected = static_cast<double>(raw.size()) / choice.ratio + max_frame_overhead;
  const std::size_t stored = out.size() - begin;
  if (static_cast<double>(stored) <= expected * disappointing ||
      stored < raw.size() / small_enough) {
    return {};
  }
  const Choice own = choose(options, layout, raw, scratch, {}, columns);
  if (own.pipeline == choice.pipeline) return {};
  return keep_smaller(own.pipeline, raw, layout, scratch, begin, out, encode);
}

}  // namespace mcr::codecs
