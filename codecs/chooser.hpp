// SPDX-License-Identifier: BSD-3-Clause
// Chooses the pipeline of a variable from its data, within a profile. The same data and options
// give the same choice on every machine and at any load.
#pragma once

#include <string>
#include <string_view>

#include "codecs/base/bytes.hpp"
#include "codecs/base/scratch.hpp"
#include "codecs/codec_pipeline.hpp"
#include "codecs/layout.hpp"
#include "codecs/profiles.hpp"

namespace mcr::codecs {

struct Choice {
  Pipeline pipeline;
  std::string why;         ///< for `mcr ls -v`: what decided
  double ratio = 1;        ///< expected
  double encode_mb_s = 0;  ///< expected, one thread; 0: unknown
};

/// `raw` is exactly `layout.raw_bytes()` long: the variable's data of one frame or more, the more
/// the better; only samples of it are looked at. `variable` is matched with the settings'
/// codec.<name>.
Choice choose(const ProfileOptions& options, const Layout& layout, ByteSpan raw, Scratch& scratch,
              std::string_view variable = {});

/// Everything that choose() may choose for such elements where nothing is named: what an exhaustive
/// trial would try.
std::vector<Pipeline> allowed_pipelines(const ProfileOptions& options, const ElementType& type);

}  // namespace mcr::codecs
