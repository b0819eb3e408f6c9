// SPDX-License-Identifier: BSD-3-Clause
// HDF5's filters equal our codecs transpose and zlib, but without the frame around them.
#include "restart/format/plain_chunk.hpp"

#include <algorithm>

#include "codecs/base/codec_pipeline.hpp"
#include "codecs/base/registry.hpp"
#include "codecs/frames/frame.hpp"

namespace mcr::restart {
namespace {

// Codec transpose gets the element size from the layout, because its parameters have only one byte
// for the size.
codecs::Pipeline pipeline_of(std::uint32_t element_bytes) {
  codecs::Pipeline pipeline;
  if (element_bytes > 1) pipeline.steps.push_back({codecs::codec_id::transpose, {}});
  pipeline.steps.push_back({codecs::codec_id::zlib, {}});
  return pipeline;
}

codecs::Layout layout_of(std::uint32_t element_bytes, std::uint32_t chunk_bytes) {
  return {{codecs::ElementKind::bytes, element_bytes, false},
          {codecs::Shape::flat(chunk_bytes / element_bytes)}};
}

}  // namespace

Result<void> encode_plain_chunk(ByteSpan raw, std::uint32_t element_bytes,
                                std::uint32_t chunk_bytes, Scratch& scratch, Bytes& out) {
  const auto whole = scratch.take<std::byte>(chunk_bytes);
  std::copy(raw.begin(), raw.end(), whole.span().begin());
  std::fill(whole.span().begin() + static_cast<std::ptrdiff_t>(raw.size()), whole.span().end(),
            std::byte{0});
  std::vector<std::uint64_t> coded;
  codecs::Pipeline pipeline = pipeline_of(element_bytes);
  return codecs::run_encode(pipeline, whole.span(), layout_of(element_bytes, chunk_bytes), scratch,
                            out, coded);
}

Result<void> decode_plain_chunk(ByteSpan stored, std::uint32_t element_bytes,
                                std::uint32_t chunk_bytes, Scratch& scratch, MutableByteSpan raw) {
  const codecs::Layout layout = layout_of(element_bytes, chunk_bytes);
  if (raw.size() > chunk_bytes || layout.raw_bytes() != chunk_bytes) {
    return Error{Cause::damaged, "the sizes of a plain chunk do not fit"};
  }
  if (const auto checked = codecs::check_layout(layout); !checked) {
    return Error{Cause::damaged, checked.error().message};
  }
  if (raw.size() == chunk_bytes) {
    return codecs::run_decode(pipeline_of(element_bytes), stored, layout, {}, scratch, raw);
  }
  const auto whole = scratch.take<std::byte>(chunk_bytes);
  MCR_TRY(
      codecs::run_decode(pipeline_of(element_bytes), stored, layout, {}, scratch, whole.span()));
  std::copy_n(whole.span().begin(), raw.size(), raw.begin());
  return {};
}

}  // namespace mcr::restart
