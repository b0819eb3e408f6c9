// SPDX-License-Identifier: BSD-3-Clause
// Records of members of several types, each column by a pipeline of its own; see spec.md.
#pragma once

#include <vector>

#include "codecs/base/codec.hpp"
#include "codecs/base/codec_pipeline.hpp"
#include "codecs/records/columns.hpp"

namespace mcr::codecs {

const Codec& records_codec();

/// The codec's parameters: `pipelines` are those of the columns, as many. Cause::usage where they
/// do not fit a frame.
Result<Bytes> records_parameters(const std::vector<Column>& columns,
                                 const std::vector<Pipeline>& pipelines);

}  // namespace mcr::codecs
