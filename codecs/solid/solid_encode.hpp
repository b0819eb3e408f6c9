// SPDX-License-Identifier: BSD-3-Clause
// Encodes solid frames (see frames/solid_frame.hpp).
#pragma once

#include <vector>

#include "codecs/base/bytes.hpp"
#include "codecs/base/scratch.hpp"
#include "codecs/choice/profiles.hpp"
#include "codecs/frames/solid_frame.hpp"
#include "codecs/word_candidates/word_candidates.hpp"

namespace mcr::codecs {

/// About how many raw bytes are put into one solid frame.
inline constexpr std::uint64_t solid_frame_bytes = std::uint64_t{16} << 20;

/// How much effort the encoder makes.
struct SolidOptions {
  bool formulas = true;
  bool references = true;
  words::Coding coding = words::Coding::fast;
  int level = 3;           ///< of zstd, for symbols and joined streams
  ProfileOptions profile;  ///< for sections that are coded alone
};

/// Returns the options for a profile.
SolidOptions solid_options(const ProfileOptions& profile);

/// Appends one solid frame with `raw`, the sections' bytes one after the other, to `out`. The
/// profile `max` also makes the frame that `balanced` would make, and keeps the smaller one.
Result<void> encode_solid_frame(ByteSpan raw, const std::vector<Section>& sections,
                                const SolidOptions& options, Scratch& scratch, Bytes& out,
                                std::vector<SectionReport>* report = nullptr);

/// Returns what the sections would cost in such a frame, and in plain frames, at a fraction of the
/// time. Codes only sections that are related to others; the sizes of all other sections are 0.
Result<std::vector<SectionReport>> weigh_sections(ByteSpan raw,
                                                  const std::vector<Section>& sections,
                                                  const SolidOptions& options, Scratch& scratch);

}  // namespace mcr::codecs
