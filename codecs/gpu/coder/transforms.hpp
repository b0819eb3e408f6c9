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
};

/// True if the functions below take the step.
bool is_transform(const Step& step);

/// Replace the data by what the step's codec encodes, and what it decodes. `layout` is the one of the
/// decoded elements; the codec must accept it together with the step's parameters.
Result<void> transform(Device& device, const Step& step, const Layout& layout, DeviceData& data);
Result<void> undo_transform(Device& device, const Step& step, const Layout& layout,
                            DeviceData& data);

/// False if undo_transform() is a long chain of steps that wait for one another.
bool undoes_fast(const Step& step, const Layout& layout);

}  // namespace mcr::codecs::gpu
