// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/gpu/coder/frame_coder.hpp"

#include <bit>

#include "codecs/base/byte_order.hpp"
#include "codecs/base/registry.hpp"
#include "codecs/class_coder/class_parameters.hpp"
#include "codecs/frames/plain_frame.hpp"
#include "codecs/gpu/coder/coders.hpp"
#include "codecs/gpu/coder/decoders.hpp"
#include "codecs/lorenzo/predictor.hpp"
#include "codecs/planes/plane_parameters.hpp"
#include "codecs/structure_split/split_plan.hpp"

namespace mcr::codecs::gpu {
namespace {

Error not_for_accelerators() {
  return {Cause::usage, "gpu: the pipeline or the layout is not for accelerators"};
}

/// Returns the coder for the last step, number `index`; null if there is none.
Coder coder_of(CodecId codec, std::size_t index) {
  switch (codec) {
    case codec_id::class_coder:
      return encode_class;
    case codec_id::dictionary:
      return encode_dictionary;
    case codec_id::entropy:
      return encode_entropy;
    case codec_id::planes:
      return encode_planes;
    case codec_id::top_bits:
      return index == 0 ? encode_top_bits : nullptr;
    default:
      return nullptr;
  }
}

Layout as_little_endian(const Layout& layout) {
  Layout turned = layout;
  turned.type.big_endian = false;
  return turned;
}

bool is_lorenzo_after_split(const Pipeline& pipeline, std::size_t index) {
  return index == 1 && pipeline.steps[0].codec == codec_id::structure_split &&
         pipeline.steps[1].codec == codec_id::lorenzo;
}

/// Returns the layouts before each step; nothing if a step is not for accelerators. Parameters that
/// depend on the data are taken for the default.
std::optional<std::vector<Layout>> layouts_of(const Pipeline& pipeline, const Layout& layout) {
  std::vector<Layout> layouts{as_little_endian(layout)};
  for (std::size_t i = 0; i < pipeline.steps.size(); ++i) {
    const Step& step = pipeline.steps[i];
    const CodecEntry* const entry = find_codec(step.codec);
    if (entry == nullptr) return std::nullopt;
    const bool last = i + 1 == pipeline.steps.size();
    if (last ? coder_of(step.codec, i) == nullptr : !is_transform(step)) return std::nullopt;
    // The host can look at numbers only where they are still near those of the frame.
    const bool fits = entry->codec().wants_fit(step.parameters);
    if (fits && i != 0 && !is_lorenzo_after_split(pipeline, i)) return std::nullopt;
    const auto next = entry->codec().output(layouts.back(), fits ? Bytes{} : step.parameters);
    if (!next) return std::nullopt;
    layouts.push_back(*next);
  }
  return layouts;
}

/// Chooses predictors for bricks that structure_split makes of `raw`.
Result<Bytes> fit_after_split(const Step& split, const Layout& before, const Layout& after,
                              ByteSpan raw) {
  if (after.type.kind == ElementKind::bytes) return not_for_accelerators();
  const SplitPlan plan = MCR_TRY(split_plan(before, split.parameters));
  std::vector<BrickWords> words;
  words.reserve(after.bricks.size());
  const std::byte* brick = raw.data();
  for (std::size_t b = 0; b < before.bricks.size(); ++b) {
    for (std::uint32_t member = 0; member < plan.members[b]; ++member) {
      words.push_back({brick + member * plan.word_bytes, plan.members[b] * plan.word_bytes});
    }
    brick += before.bricks[b].count() * before.type.size;
  }
  return choose_predictors(after, words);
}

/// Replaces parameters that depend on the data.
Result<void> fit(Pipeline& pipeline, const std::vector<Layout>& layouts, ByteSpan raw,
                 Scratch& scratch) {
  for (std::size_t i = 0; i < pipeline.steps.size(); ++i) {
    Step& step = pipeline.steps[i];
    const Codec& codec = find_codec(step.codec)->codec();
    if (!codec.wants_fit(step.parameters)) continue;
    step.parameters =
        i == 0 ? MCR_TRY(codec.fit(raw, layouts[0], step.parameters, scratch))
               : MCR_TRY(fit_after_split(pipeline.steps[0], layouts[0], layouts[1], raw));
  }
  return {};
}

/// Appends the payload of `raw`, whose elements are little-endian.
Result<void> encode_payload(Queue& queue, ByteSpan raw, const Pipeline& pipeline,
                            const std::vector<Layout>& layouts, Scratch& scratch, Bytes& payload) {
  Device device(queue);
  DeviceData data{MCR_TRY(device.upload(raw))};
  const std::size_t last = pipeline.steps.size() - 1;
  for (std::size_t i = 0; i < last; ++i) {
    MCR_TRY(transform(device, pipeline.steps[i], layouts[i], data));
  }
  const Step& coder = pipeline.steps[last];
  return coder_of(coder.codec, last)({device, data, layouts[last], raw, coder.parameters, scratch},
                                     payload);
}

Decoder decoder_of(CodecId codec) {
  switch (codec) {
    case codec_id::class_coder:
      return decode_class;
    case codec_id::dictionary:
      return decode_dictionary;
    case codec_id::entropy:
      return decode_entropy;
    case codec_id::planes:
      return decode_planes;
    default:
      return decode_top_bits;
  }
}

Error damaged(std::string message) { return {Cause::damaged, "frame: " + std::move(message)}; }

/// Fills `raw` with little-endian elements.
Result<void> decode_payload(Queue& queue, const PlainFrame& frame, Scratch& scratch,
                            MutableByteSpan raw) {
  const std::vector<Step>& steps = frame.info.pipeline.steps;
  const auto layouts = *layouts_of(frame.info.pipeline, frame.info.layout);
  std::uint32_t error = 0;  // outlives the device's work, as `kept` does
  std::vector<Bytes> kept;
  kept.reserve(largest_plane_element + 1);
  Device device(queue);
  const std::size_t last = steps.size() - 1;
  const DeviceAddress device_error = MCR_TRY(device.zeros(sizeof(error)));
  const StoredBytes stored{frame.payload, MCR_TRY(device.upload(frame.payload))};
  DeviceData data{MCR_TRY(device.reserve(raw.size()))};
  MCR_TRY(decoder_of(steps[last].codec)(
      {device, stored, layouts[last], steps[last].parameters, device_error, scratch, kept},
      data.at));
  for (std::size_t i = last; i-- > 0;) {
    MCR_TRY(undo_transform(device, steps[i], layouts[i], data));
  }
  MCR_TRY(device.download(raw, data.at));
  MCR_TRY(device.download(std::as_writable_bytes(std::span(&error, 1)), device_error));
  MCR_TRY(device.finish());
  if (error != 0) return damaged("the payload is damaged");
  return {};
}

}  // namespace

bool can_encode(const Pipeline& pipeline, const Layout& layout) {
  return std::endian::native == std::endian::little && !pipeline.steps.empty() &&
         layout.count() != 0 && check_layout(layout) && layouts_of(pipeline, layout);
}

Result<void> encode_frame(Queue& queue, ByteSpan raw, const Layout& layout,
                          const Pipeline& pipeline, Scratch& scratch, Bytes& out) {
  if (!can_encode(pipeline, layout) || raw.size() != layout.raw_bytes()) {
    return not_for_accelerators();
  }
  const bool reverse = layout.type.big_endian && layout.type.size > 1;
  const auto turned = scratch.take<std::byte>(reverse ? raw.size() : 0);
  if (reverse) reverse_elements(raw, layout.type.size, turned.span());
  const ByteSpan little = reverse ? ByteSpan(turned.span()) : raw;
  const auto layouts = layouts_of(pipeline, layout);
  Pipeline fitted = pipeline;
  MCR_TRY(fit(fitted, *layouts, little, scratch));
  const auto payload = scratch.take_vector();
  const auto encoded = encode_payload(queue, little, fitted, *layouts, scratch, *payload);
  // The codec cannot take these numbers: as on the CPU, the frame stores them unchanged.
  const bool is_refused = !encoded && encoded.error().cause == Cause::usage;
  if (!encoded && !is_refused) return encoded.error();
  if (is_refused || payload->size() >= raw.size()) {
    return write_plain_frame(raw, layout, {}, {}, raw, out);
  }
  return write_plain_frame(raw, layout, fitted, {}, *payload, out);
}

bool can_decode(const FrameInfo& info) {
  const Pipeline& pipeline = info.pipeline;
  if (std::endian::native != std::endian::little || info.solid || info.link ||
      pipeline.steps.empty() || info.raw_bytes == 0) {
    return false;
  }
  const auto layouts = layouts_of(pipeline, info.layout);
  if (!layouts) return false;
  const Step& last = pipeline.steps.back();
  if (last.codec == codec_id::class_coder) {
    const auto parameters = read_class_parameters(last.parameters);
    if (!parameters || parameters->contexts) return false;
  }
  for (std::size_t i = 0; i < pipeline.steps.size(); ++i) {
    // Parameters that depend on the data are never stored.
    const Step& step = pipeline.steps[i];
    if (find_codec(step.codec)->codec().wants_fit(step.parameters)) return false;
    if (!undoes_fast(step, (*layouts)[i])) return false;
  }
  return true;
}

Result<void> decode_frame(Queue& queue, ByteSpan frame, Scratch& scratch, MutableByteSpan raw) {
  const PlainFrame plain = MCR_TRY(open_plain_frame(frame));
  const FrameInfo& info = plain.info;
  if (!can_decode(info)) return not_for_accelerators();
  MCR_TRY(check_stored(frame, info, raw.size()));
  const auto decoded = decode_payload(queue, plain, scratch, raw);
  if (!decoded && decoded.error().cause == Cause::usage) return damaged(decoded.error().message);
  if (!decoded) return decoded.error();
  if (info.layout.type.big_endian) reverse_elements(raw, info.layout.type.size, raw);
  return check_decoded(info, raw);
}

}  // namespace mcr::codecs::gpu
