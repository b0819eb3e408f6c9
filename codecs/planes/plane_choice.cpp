// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/planes/plane_choice.hpp"

#include <zstd.h>

#include <algorithm>

namespace mcr::codecs {
namespace {

constexpr std::size_t sample_bytes = 16384;
constexpr int quick_level = -5;

Error no_memory() { return {Cause::system, "planes: not enough memory for zstd's context"}; }

Result<std::size_t> compress(ByteSpan plane, int level, Scratch& scratch, MutableByteSpan out) {
  ZSTD_CCtx* const context = scratch.context<ZSTD_createCCtx, ZSTD_freeCCtx>();
  if (context == nullptr) return no_memory();
  ZSTD_CCtx_reset(context, ZSTD_reset_session_and_parameters);
  ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
  ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0);
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 0);
  const std::size_t size =
      ZSTD_compress2(context, out.data(), out.size(), plane.data(), plane.size());
  if (ZSTD_isError(size) != 0) {
    return Error{Cause::system, std::string("planes: zstd: ") + ZSTD_getErrorName(size)};
  }
  return size;
}

}  // namespace

PlaneSample sample_of_plane(std::size_t plane_bytes) {
  // One piece from the middle: a matcher needs contiguous data, and the beginning is often special.
  const std::size_t taken = std::min(plane_bytes, sample_bytes);
  return {(plane_bytes - taken) / 2, taken};
}

Result<bool> repeats_pay(ByteSpan sample, std::size_t plane_bytes, std::size_t entropy_bytes,
                         entropy::Method method, int level, Scratch& scratch) {
  const std::size_t taken = sample.size();
  const auto space = scratch.take<std::byte>(ZSTD_compressBound(taken));
  // If data looks like noise, only long repeats can pay off, and the fastest search finds those.
  const bool noise = entropy_bytes + entropy_bytes / 32 > plane_bytes;
  const std::size_t matched =
      MCR_TRY(compress(sample, noise ? quick_level : level, scratch, space.span()));
  const std::size_t share = plane_bytes == 0 ? 0 : entropy_bytes * taken / plane_bytes;
  const std::size_t least = matched + matched / 40;
  if (least >= share) return false;
  const entropy::Symbols symbols(reinterpret_cast<const std::uint8_t*>(sample.data()), taken);
  // The sample may be less varied than the plane. So zstd must also beat the entropy coder on
  // the sample itself.
  const std::size_t alone = entropy::estimate_block(entropy::count_symbols(symbols), method);
  return least < alone;
}

Result<bool> repeats_pay(ByteSpan plane, std::size_t entropy_bytes, entropy::Method method,
                         int level, Scratch& scratch) {
  const PlaneSample sample = sample_of_plane(plane.size());
  return repeats_pay(plane.subspan(sample.begin, sample.bytes), plane.size(), entropy_bytes, method,
                     level, scratch);
}

Result<void> encode_repeats(ByteSpan plane, int level, Scratch& scratch, Bytes& out) {
  const auto space = scratch.take<std::byte>(ZSTD_compressBound(plane.size()));
  const std::size_t size = MCR_TRY(compress(plane, level, scratch, space.span()));
  Writer(out).bytes(space.span().first(size));
  return {};
}

Result<void> decode_repeats(ByteSpan stored, Scratch& scratch, MutableByteSpan plane) {
  ZSTD_DCtx* const context = scratch.context<ZSTD_createDCtx, ZSTD_freeDCtx>();
  if (context == nullptr) return no_memory();
  const std::size_t size =
      ZSTD_decompressDCtx(context, plane.data(), plane.size(), stored.data(), stored.size());
  if (ZSTD_isError(size) != 0) {
    return Error{Cause::damaged, std::string("planes: zstd: ") + ZSTD_getErrorName(size)};
  }
  if (size != plane.size()) return Error{Cause::damaged, "planes: a plane holds too few bytes"};
  return {};
}

}  // namespace mcr::codecs
