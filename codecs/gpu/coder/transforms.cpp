// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/gpu/coder/transforms.hpp"

#include "codecs/base/registry.hpp"
#include "codecs/gpu/kernels/lorenzo_kernels.hpp"
#include "codecs/gpu/kernels/word_kernels.hpp"
#include "codecs/lorenzo/brick_views.hpp"
#include "codecs/lorenzo/lorenzo_rows.hpp"
#include "codecs/structure_split/split_plan.hpp"

namespace mcr::codecs::gpu {
namespace {

std::uint64_t words_in(const DeviceData& data) { return data.layout.count(); }

Result<void> step_words(Device& device, const DeviceData& data, WordStep how) {
  const std::uint64_t count = words_in(data);
  return device.launch_for(
      kernel::words, count,
      {data.at, data.spare, count, data.layout.type.size, static_cast<std::uint64_t>(how)});
}

/// Returns the step of `ordered_int`; zigzag and delta do not depend on the type.
std::optional<WordStep> ordering(const ElementType& type) {
  if (type.kind == ElementKind::floating) return WordStep::ordered_from_float;
  if (type.kind == ElementKind::signed_integer) return WordStep::flip_sign;
  return std::nullopt;
}

Result<void> transpose(Device& device, const DeviceData& data, ByteSpan parameters) {
  const std::uint64_t bytes = data.layout.raw_bytes();
  const std::uint64_t size =
      parameters.empty() ? data.layout.type.size : std::to_integer<std::uint64_t>(parameters[0]);
  return device.launch_for(kernel::transpose, bytes, {data.at, data.spare, bytes, size, 0});
}

Result<void> split(Device& device, const DeviceData& data, ByteSpan parameters) {
  const SplitPlan plan = MCR_TRY(split_plan(data.layout, parameters));
  const std::uint64_t words_of_element = data.layout.type.size / plan.word_bytes;
  std::vector<SplitBrick> bricks;
  std::uint64_t begin = 0;
  for (std::size_t b = 0; b < data.layout.bricks.size(); ++b) {
    const std::uint64_t words = data.layout.bricks[b].count() * words_of_element;
    if (words != 0) bricks.push_back({begin, words / plan.members[b], plan.members[b]});
    begin += words;
  }
  const DeviceAddress table = MCR_TRY(device.upload_copy(bricks));
  return device.launch_for(kernel::split, begin,
                           {data.at, data.spare, begin, plan.word_bytes, table, bricks.size(), 0});
}

Result<void> lorenzo(Device& device, const DeviceData& data, ByteSpan parameters) {
  const std::uint64_t size = data.layout.type.size;
  std::vector<LorenzoBrick> bricks;
  bool with_order = false;
  bool without_order = false;
  for_each_brick(
      data.layout, parameters, [&](const BrickView& view, std::size_t offset, std::size_t) {
        const LorenzoBox box = box_for(view.dimensions, view.box);
        bricks.push_back({offset / size, box.planes, box.rows, box.columns,
                          static_cast<std::uint32_t>(view.dimensions),
                          static_cast<std::uint32_t>(view.order), view.floating ? 1U : 0U});
        (view.order > 1 ? with_order : without_order) = true;
      });
  const DeviceAddress table = MCR_TRY(device.upload_copy(bricks));
  const std::uint64_t count = words_in(data);
  const std::uint64_t ordered = data.layout.type.kind == ElementKind::floating ? 1 : 0;
  const auto launch = [&](KernelNumber kernel) {
    return device.launch_for(kernel, count,
                             {data.at, data.spare, count, size, table, bricks.size(), ordered});
  };
  if (without_order) MCR_TRY(launch(kernel::lorenzo));
  if (with_order) MCR_TRY(launch(kernel::lorenzo_order));
  return {};
}

/// Writes the result to the spare memory. Returns false if nothing changes.
Result<bool> run(Device& device, const Step& step, const DeviceData& data) {
  switch (step.codec) {
    case codec_id::ordered_int: {
      const auto how = ordering(data.layout.type);
      if (!how) return false;
      MCR_TRY(step_words(device, data, *how));
      return true;
    }
    case codec_id::delta:
      MCR_TRY(step_words(device, data, WordStep::difference));
      return true;
    case codec_id::zigzag:
      MCR_TRY(step_words(device, data, WordStep::zigzag));
      return true;
    case codec_id::transpose:
      MCR_TRY(transpose(device, data, step.parameters));
      return true;
    case codec_id::structure_split:
      MCR_TRY(split(device, data, step.parameters));
      return true;
    case codec_id::lorenzo:
      MCR_TRY(lorenzo(device, data, step.parameters));
      return true;
    default:
      return Error{Cause::usage, "gpu: a codec is not for accelerators"};
  }
}

}  // namespace

bool is_transform(const Step& step) {
  switch (step.codec) {
    case codec_id::ordered_int:
    case codec_id::delta:
    case codec_id::zigzag:
    case codec_id::transpose:
    case codec_id::structure_split:
    case codec_id::lorenzo:
      return true;
    default:
      return false;
  }
}

Result<void> transform(Device& device, const Step& step, const Layout& layout, DeviceData& data) {
  if (data.spare == 0) data.spare = MCR_TRY(device.reserve(data.layout.raw_bytes()));
  if (MCR_TRY(run(device, step, data))) std::swap(data.at, data.spare);
  data.layout = layout;
  return {};
}

}  // namespace mcr::codecs::gpu
