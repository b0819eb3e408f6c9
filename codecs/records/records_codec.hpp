// SPDX-License-Identifier: BSD-3-Clause
// Coder of records with members of several types, each column with its own pipeline; see spec.md.
#pragma once

#include <vector>

#include "codecs/base/codec.hpp"
#include "codecs/base/codec_pipeline.hpp"
#include "codecs/records/columns.hpp"

namespace mcr::codecs {

const Codec& records_codec();

/// Returns the codec's parameters; `pipelines` has one entry for each of `columns`. Cause::usage if
/// the parameters do not fit into a frame.
Result<Bytes> records_parameters(const std::vector<Column>& columns,
                                 const std::vector<Pipeline>& pipelines);

}  // namespace mcr::codecs
