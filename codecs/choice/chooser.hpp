// SPDX-License-Identifier: BSD-3-Clause
// Chooses a variable's pipeline from its data, among those of a profile. The same data and options
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
  std::string why;   ///< the reason of the choice, for `mcr ls -v`
  double ratio = 1;  ///< the expected ratio; 0: not known, because a setting named the pipeline
  double encode_mb_s = 0;  ///< the expected speed of one thread; 0: not known
  /// A second pipeline: the one that `balanced` would use. The encoder tries both and keeps the
  /// smaller frame, so that frames of `max` are never larger than frames of `balanced`.
  std::optional<Pipeline> other;
};

class SimilarChoices;
struct TriedChoice;

/// Choices of earlier variables that this one may share (codecs/choice/similar_choices).
struct ChoiceSharing {
  const SimilarChoices& earlier;
  /// Set to the new choice, if trials were made that later variables may share.
  std::optional<TriedChoice>& tried;
};

/// `raw` is exactly `layout.raw_bytes()` long and holds the variable's data of one or more frames.
/// More data gives a better choice, although only samples are read. `variable` is compared with the
/// names in the settings codec.<name>. `columns`, if known, are the members of elements that are
/// records; together they are as large as the element. With `sharing`, no trials are made for a
/// variable that looks like an earlier one.
Choice choose(const ProfileOptions& options, const Layout& layout, ByteSpan raw, Scratch& scratch,
              std::string_view variable = {}, std::span<const Column> columns = {},
              const ChoiceSharing* sharing = nullptr);

/// Returns the choice for which choose() would not look at the data, because settings or profile
/// name the pipeline; nothing if it depends on the data. `variable`: see choose().
std::optional<Choice> choice_without_data(const ProfileOptions& options, const ElementType& type,
                                          std::string_view variable);

/// Returns all pipelines that choose() may choose for elements of `type` if no setting names a
/// pipeline. They are the candidates of an exhaustive trial.
std::vector<Pipeline> allowed_pipelines(const ProfileOptions& options, const ElementType& type);

}  // namespace mcr::codecs
