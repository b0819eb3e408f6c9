// SPDX-License-Identifier: BSD-3-Clause
// The coders of bytes: one entropy block, or one for each byte plane.
#include "codecs/entropy/method_parameter.hpp"
#include "codecs/gpu/coder/block_coder.hpp"
#include "codecs/gpu/coder/coders.hpp"
#include "codecs/planes/plane_choice.hpp"
#include "codecs/planes/plane_parameters.hpp"

namespace mcr::codecs::gpu {
namespace {

/// Byte planes in the accelerator's memory.
struct Planes {
  DeviceAddress at = 0;
  std::size_t count = 0;  ///< of planes
  std::size_t bytes = 0;  ///< of each
};

Result<Planes> planes_of(const CoderInput& input) {
  const DeviceData& data = input.data;
  Planes planes{data.at, input.layout.type.size, static_cast<std::size_t>(input.layout.count())};
  if (planes.count > 1) {
    const std::uint64_t bytes = input.layout.raw_bytes();
    planes.at = data.spare != 0 ? data.spare : MCR_TRY(input.device.reserve(bytes));
    MCR_TRY(input.device.launch_for(kernel::transpose, bytes,
                                    {data.at, planes.at, bytes, planes.count, 0}));
  }
  return planes;
}

/// The planes that the host codes with zstd, because they have repeats. Empty for all others.
using Repeats = std::vector<Bytes>;

/// `histogram(plane)` and the samples, one after the other, must be known.
Result<Repeats> code_repeats(const CoderInput& input, const PlanesParameters& parameters,
                             const Planes& planes, const BlockCoder& blocks, ByteSpan samples) {
  Repeats repeats(planes.count);
  std::vector<Bytes> fetched(planes.count);
  std::vector<std::size_t> expected(planes.count);
  const std::size_t sample = sample_of_plane(planes.bytes).bytes;
  for (std::size_t p = 0; p < planes.count; ++p) {
    expected[p] = entropy::estimate_block(blocks.histogram(p), parameters.method);
    if (expected[p] <= 2 ||
        !MCR_TRY(repeats_pay(samples.subspan(p * sample, sample), planes.bytes, expected[p],
                             parameters.method, parameters.level, input.scratch))) {
      continue;
    }
    fetched[p].resize(planes.bytes);
    MCR_TRY(input.device.download(std::span(fetched[p]), planes.at + p * planes.bytes));
  }
  MCR_TRY(input.device.finish());
  for (std::size_t p = 0; p < planes.count; ++p) {
    if (fetched[p].empty()) continue;
    MCR_TRY(encode_repeats(fetched[p], parameters.level, input.scratch, repeats[p]));
    if (repeats[p].size() >= expected[p]) repeats[p].clear();
  }
  return repeats;
}

}  // namespace

Result<void> encode_entropy(const CoderInput& input, Bytes& payload) {
  const entropy::Method method = MCR_TRY(entropy::read_method(input.parameters, "entropy"));
  BlockCoder blocks(input.device);
  blocks.add(input.data.at, static_cast<std::size_t>(input.layout.raw_bytes()));
  MCR_TRY(blocks.count());
  MCR_TRY(input.device.finish());
  blocks.plan(0, method);
  MCR_TRY(blocks.code());
  blocks.append(0, payload);
  return {};
}

Result<void> encode_planes(const CoderInput& input, Bytes& payload) {
  const PlanesParameters parameters = MCR_TRY(read_planes_parameters(input.parameters));
  const Planes planes = MCR_TRY(planes_of(input));
  const bool may_repeat = parameters.level != 0 && planes.bytes >= 64;
  const PlaneSample sample = sample_of_plane(planes.bytes);
  Bytes samples(may_repeat ? planes.count * sample.bytes : 0);
  BlockCoder blocks(input.device);
  for (std::size_t p = 0; p < planes.count; ++p) {
    blocks.add(planes.at + p * planes.bytes, planes.bytes);
    if (!may_repeat) continue;
    MCR_TRY(input.device.download(std::span(samples).subspan(p * sample.bytes, sample.bytes),
                                  planes.at + p * planes.bytes + sample.begin));
  }
  MCR_TRY(blocks.count());
  MCR_TRY(input.device.finish());
  Repeats repeats(planes.count);
  if (may_repeat) {
    repeats = MCR_TRY(code_repeats(input, parameters, planes, blocks, samples));
  }
  for (std::size_t p = 0; p < planes.count; ++p) {
    if (repeats[p].empty()) blocks.plan(p, parameters.method);
  }
  MCR_TRY(blocks.code());
  Writer writer(payload);
  for (std::size_t p = 0; p < planes.count; ++p) {
    if (repeats[p].empty()) {
      writer.varint(blocks.bytes(p) * 2);
      blocks.append(p, payload);
    } else {
      writer.varint(repeats[p].size() * 2 + 1);
      writer.bytes(repeats[p]);
    }
  }
  return {};
}

}  // namespace mcr::codecs::gpu
