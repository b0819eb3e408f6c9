// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/chosen_frame.hpp"

#include "codecs/frame.hpp"

namespace mcr::codecs {
namespace {

/// A frame so much larger than expected is chosen for anew; estimates are wrong by less.
constexpr double disappointing = 1.3;
/// What shrinks so well anyway is left alone.
constexpr std::size_t small_enough = 32;
/// Frames so small do not pay for another choice.
constexpr std::size_t least_bytes = 4096;

/// Replaces `out` from `begin` on by a frame under `pipeline`, if that is smaller.
Result<void> keep_smaller(const Pipeline& pipeline, ByteSpan raw, const Layout& layout,
                          Scratch& scratch, std::size_t begin, Bytes& out) {
  const auto frame = scratch.take_vector();
  MCR_TRY(encode_frame(raw, layout, pipeline, scratch, *frame));
  if (frame->size() >= out.size() - begin) return {};
  out.resize(begin);
  out.insert(out.end(), frame->begin(), frame->end());
  return {};
}

/// True where a frame of `stored` bytes is far from what was expected.
bool disappoints(double ratio, std::size_t raw_bytes, std::size_t stored) {
  if (ratio <= 0 || raw_bytes < least_bytes || stored < raw_bytes / small_enough) return false;
  const double expected = static_cast<double>(raw_bytes) / ratio + max_frame_overhead;
  return static_cast<double>(stored) > expected * disappointing;
}

/// Appends a frame under `pipeline`, or, where that disappoints, under what the frame itself says.
Result<void> encode_expecting(const Pipeline& pipeline, double ratio, const ProfileOptions& options,
                              ByteSpan raw, const Layout& layout, std::span<const Column> columns,
                              Scratch& scratch, Bytes& out) {
  const std::size_t begin = out.size();
  MCR_TRY(encode_frame(raw, layout, pipeline, scratch, out));
  if (!disappoints(ratio, raw.size(), out.size() - begin)) return {};
  const Choice own = choose(options, layout, raw, scratch, {}, columns, Care::more);
  if (own.pipeline == pipeline) return {};
  return keep_smaller(own.pipeline, raw, layout, scratch, begin, out);
}

}  // namespace

Result<void> encode_chosen_frame(const Choice& choice, const ProfileOptions& options, ByteSpan raw,
                                 const Layout& layout, std::span<const Column> columns,
                                 Scratch& scratch, Bytes& out) {
  const std::size_t begin = out.size();
  MCR_TRY(
      encode_expecting(choice.pipeline, choice.ratio, options, raw, layout, columns, scratch, out));
  if (!choice.balanced) return {};
  // As `balanced` does it, to the last trial: whatever that finds, `max` has it too.
  ProfileOptions balanced = options;
  balanced.profile = Profile::balanced;
  const auto other = scratch.take_vector();
  MCR_TRY(encode_expecting(choice.balanced->pipeline, choice.balanced->ratio, balanced, raw, layout,
                           columns, scratch, *other));
  if (other->size() >= out.size() - begin) return {};
  out.resize(begin);
  out.insert(out.end(), other->begin(), other->end());
  return {};
}

}  // namespace mcr::codecs
