// SPDX-License-Identifier: BSD-3-Clause
// The transforms of pipelines on an accelerator.
#pragma once

#include "codecs/base/codec_pipeline.hpp"
#include "codecs/gpu/coder/device.hpp"

namespace mcr::codecs::gpu {

/// Elements in the accelerator's memory.
struct DeviceData {
  DeviceAddress at = 0;
  DeviceAddress spare = 0;  ///< memory of the same size for the next result; 0: not yet reserved
  Layout layout;
};

/// True if transform() takes the step. Its parameters must be those that the codec accepts.
bool is_transform(const Step& step);

/// Replaces the data by what the step's codec encodes. `layout` is what the codec's output() returns.
Result<void> transform(Device& device, const Step& step, const Layout& layout, DeviceData& data);

}  // namespace mcr::codecs::gpu
