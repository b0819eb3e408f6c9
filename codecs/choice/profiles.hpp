// SPDX-License-Identifier: BSD-3-Clause
// Profiles: a word by which a user says which pipelines may be chosen. The table is in
// profiles.cpp.
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
  fast,      ///< one thread encodes about 500 MB/s and decodes 800
  balanced,  ///< the default: at worst about 150 and 500 MB/s, usually several times as much
  max,       ///< the smallest size, whatever the time
  none,      ///< nothing is encoded
  paper,     ///< the codec that mcrEngine's authors used, for comparison
  portable,  ///< HDF5's own shuffle and deflate: readable by any HDF5
};

/// Parses a profile. The message of Cause::usage lists the profiles.
Result<Profile> parse_profile(std::string_view name);
std::string_view profile_name(Profile profile);

/// What the settings say about compression.
struct ProfileOptions {
  Profile profile = Profile::balanced;
  /// Bytes per second that the storage accepts; 0: not given. If it is given, the pipeline with the
  /// least time to encode and write is chosen, among the pipelines of all profiles except `paper`
  /// and `portable`.
  double bandwidth = 0;
  /// Pipelines by the name of a variable or of a type; see set_pipeline().
  std::vector<std::pair<std::string, Pipeline>> named;

  /// Applies a setting `codec.<name>=<text>`. The name is a variable's (with or without its path),
  /// one of type_name's, or `integer` for all integers. Cause::usage: the text is not a pipeline.
  Result<void> set_pipeline(std::string_view name, std::string_view text);
};

/// Returns "double", "float", "half", "int8" … "int64", "uint8" … "uint64", "bytes".
std::string_view type_name(const ElementType& type);

/// Returns the pipeline of the setting `codec.NAME=` for this variable. If no setting names the
/// variable, the setting for its type counts; null if there is none either.
const Pipeline* named_pipeline(const ProfileOptions& options, std::string_view variable,
                               const ElementType& type);

/// The kinds of elements for which a candidate is meant.
enum class ElementClass : std::uint8_t { bytes, integer, floating };
ElementClass element_class(const ElementType& type);

/// A pipeline that a profile may use. The speeds are those of one thread on the machine of
/// docs/compression.md, rounded. They are constants, so that choices do not depend on the machine's
/// load, and the same data gives the same container.
struct Candidate {
  std::string_view pipeline;
  Model model;  ///< the model that estimates the pipeline's size
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
