// SPDX-License-Identifier: BSD-3-Clause
// Profiles: one word by which a user chooses among pipelines. The table is in profiles.cpp.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "codecs/base/codec_pipeline.hpp"
#include "codecs/base/layout.hpp"
#include "codecs/choice/estimate.hpp"

namespace mcr::codecs {

enum class Profile : std::uint8_t {
  fast,      ///< about 500 MB/s to encode, 800 to decode, a thread
  balanced,  ///< the default: about 150 and 500 at worst, usually several times that
  max,       ///< small before all else
  none,      ///< nothing is encoded
  paper,     ///< what mcrEngine's authors used: for comparison
  portable,  ///< HDF5's own shuffle and deflate: readable by any HDF5
};

/// Parses a profile. The message of Cause::usage lists the profiles.
Result<Profile> parse_profile(std::string_view name);
std::string_view profile_name(Profile profile);

/// What the settings say about compression.
struct ProfileOptions {
  Profile profile = Profile::balanced;
  /// Bytes per second that the storage accepts. Above 0, the pipeline with the least time to encode
  /// and write is chosen, among those of all profiles except `paper` and `portable`.
  double bandwidth = 0;
  /// Pipelines by name of a variable or of a type; see set_pipeline.
  std::vector<std::pair<std::string, Pipeline>> named;

  /// Applies a setting `codec.<name>=<text>`. The name is a variable's (with or without its path),
  /// one of type_name's, or `integer` for all integers. Cause::usage if the text is not a pipeline.
  Result<void> set_pipeline(std::string_view name, std::string_view text);
};

/// Returns "double", "float", "half", "int8" … "int64", "uint8" … "uint64", "bytes".
std::string_view type_name(const ElementType& type);

/// Returns the pipeline that the settings name for this variable, or else for its type; null if
/// there is none.
const Pipeline* named_pipeline(const ProfileOptions& options, std::string_view variable,
                               const ElementType& type);

/// The kinds of elements for which a candidate is meant.
enum class ElementClass : std::uint8_t { bytes, integer, floating };
ElementClass element_class(const ElementType& type);

/// One pipeline that a profile may use. The speeds are one thread's on the machine of
/// docs/compression.md, rounded: choices must not depend on the moment's load, so that the same
/// data gives the same container.
struct Candidate {
  std::string_view pipeline;
  Model model;  ///< what estimates its size
  bool bytes, integer, floating;
  bool fast, balanced, max;
  float encode_mb_s;
  float decode_mb_s;
};

/// All candidates of fast, balanced and max.
std::span<const Candidate> candidates();

/// Returns the pipeline of the profiles `none`, `paper` and `portable`, which have only one.
Pipeline fixed_pipeline(Profile profile, const ElementType& type);

}  // namespace mcr::codecs
