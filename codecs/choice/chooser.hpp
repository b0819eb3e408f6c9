// SPDX-License-Identifier: BSD-3-Clause
// Chooses the pipeline of a variable from its data, within a profile. The same data and options
// give the same choice on every machine and at any load.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "codecs/base/bytes.hpp"
#include "codecs/base/codec_pipeline.hpp"
#include "codecs/base/layout.hpp"
#include "codecs/base/scratch.hpp"
#include "codecs/choice/profiles.hpp"
#include "codecs/records/columns.hpp"

namespace mcr::codecs {

struct Choice {
  Pipeline pipeline;
  std::string why;         ///< for `mcr ls -v`: what decided
  double ratio = 1;        ///< expected; 0: nothing is expected (the pipeline was named)
  double encode_mb_s = 0;  ///< expected, one thread; 0: unknown
  /// A second pipeline, that of `balanced`. The encoder tries both and keeps the smaller frame, so
  /// that `max` is never larger than `balanced`.
  std::optional<Pipeline> other;
};

/// `raw` is exactly `layout.raw_bytes()` long and holds the variable's data of one or more frames.
/// More data gives a better choice; only samples of it are read. `variable` is matched with the
/// settings' codec.<name>. `columns`, if known, are the members of elements that are records;
/// together they are as large as the element.
Choice choose(const ProfileOptions& options, const Layout& layout, ByteSpan raw, Scratch& scratch,
              std::string_view variable = {}, std::span<const Column> columns = {});

/// Returns everything that choose() may choose for such elements if no setting names a pipeline:
/// the candidates of an exhaustive trial.
std::vector<Pipeline> allowed_pipelines(const ProfileOptions& options, const ElementType& type);

}  // namespace mcr::codecs
