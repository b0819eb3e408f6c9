// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/gpu/coder/transforms.hpp"

#include <optional>

#include "codecs/base/registry.hpp"
#include "codecs/gpu/coder/lorenzo_transform.hpp"
#include "codecs/gpu/kernels/word_kernels.hpp"
#include "codecs/structure_split/split_plan.hpp"

namespace mcr::codecs::gpu {
namespace {

enum class Direction : std::uint8_t { encode, decode };

/// One step of one frame. Its functions write the result to the spare memory.
struct Run {
  Device& device;
  const DeviceData& data;
  const Layout& layout;  ///< of the decoded elements
  ByteSpan parameters;
  Direction direction;

  [[nodiscard]] bool decodes() const { return direction == Direction::decode; }
  [[nodiscard]] std::uint64_t decoding() const { return decodes() ? 1 : 0; }
};

Result<void> step_words(const Run& run, WordStep how) {
  const std::uint64_t count = run.layout.count();
  return run.device.launch_for(
      kernel::words, count,
      {run.data.at, run.data.spare, count, run.layout.type.size, static_cast<std::uint64_t>(how)});
}

Result<void> order_numbers(const Run& run) {
  if (run.layout.type.kind == ElementKind::signed_integer) {
    return step_words(run, WordStep::flip_sign);
  }
  return step_words(run,
                    run.decodes() ? WordStep::float_from_ordered : WordStep::ordered_from_float);
}

Result<void> difference(const Run& run) {
  if (!run.decodes()) return step_words(run, WordStep::difference);
  return sum_words(run.device, run.data.at, run.layout.count(), run.layout.type.size, false,
                   run.data.spare);
}

Result<void> transpose(const Run& run) {
  const std::uint64_t bytes = run.layout.raw_bytes();
  const std::uint64_t size = run.parameters.empty()
                                 ? run.layout.type.size
                                 : std::to_integer<std::uint64_t>(run.parameters[0]);
  return run.device.launch_for(kernel::transpose, bytes,
                               {run.data.at, run.data.spare, bytes, size, run.decoding()});
}

Result<void> split(const Run& run) {
  const SplitPlan plan = MCR_TRY(split_plan(run.layout, run.parameters));
  const std::uint64_t words_of_element = run.layout.type.size / plan.word_bytes;
  std::vector<SplitBrick> bricks;
  std::uint64_t begin = 0;
  for (std::size_t b = 0; b < run.layout.bricks.size(); ++b) {
    const std::uint64_t words = run.layout.bricks[b].count() * words_of_element;
    if (words != 0) bricks.push_back({begin, words / plan.members[b], plan.members[b]});
    begin += words;
  }
  const DeviceAddress table = MCR_TRY(run.device.upload_copy(bricks));
  return run.device.launch_for(
      kernel::split, begin,
      {run.data.at, run.data.spare, begin, plan.word_bytes, table, bricks.size(), run.decoding()});
}

Result<void> run_step(CodecId codec, const Run& run) {
  switch (codec) {
    case codec_id::ordered_int:
      return order_numbers(run);
    case codec_id::delta:
      return difference(run);
    case codec_id::zigzag:
      return step_words(run, run.decodes() ? WordStep::unzigzag : WordStep::zigzag);
    case codec_id::transpose:
      return transpose(run);
    case codec_id::structure_split:
      return split(run);
    case codec_id::lorenzo:
      return run.decodes() ? undo_lorenzo(run.device, run.data, run.layout, run.parameters)
                           : do_lorenzo(run.device, run.data, run.layout, run.parameters);
    default:
      return Error{Cause::usage, "gpu: a codec is not for accelerators"};
  }
}

Result<void> run(Device& device, const Step& step, const Layout& layout, Direction direction,
                 DeviceData& data) {
  const bool unsigned_stays =
      step.codec == codec_id::ordered_int && layout.type.kind == ElementKind::unsigned_integer;
  if (unsigned_stays) return {};
  if (data.spare == 0) data.spare = MCR_TRY(device.reserve(layout.raw_bytes()));
  MCR_TRY(run_step(step.codec, {device, data, layout, step.parameters, direction}));
  std::swap(data.at, data.spare);
  return {};
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
  return run(device, step, layout, Direction::encode, data);
}

Result<void> undo_transform(Device& device, const Step& step, const Layout& layout,
                            DeviceData& data) {
  return run(device, step, layout, Direction::decode, data);
}

bool undoes_fast(const Step& step, const Layout& layout) {
  return step.codec != codec_id::lorenzo || lorenzo_undoes_fast(layout, step.parameters);
}

}  // namespace mcr::codecs::gpu
