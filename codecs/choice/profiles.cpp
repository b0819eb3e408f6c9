// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/choice/profiles.hpp"

#include <array>

namespace mcr::codecs {
namespace {

struct ProfileName {
  Profile profile;
  std::string_view name;
};
constexpr std::array profile_names{
    ProfileName{Profile::fast, "fast"},   ProfileName{Profile::balanced, "balanced"},
    ProfileName{Profile::max, "max"},     ProfileName{Profile::none, "none"},
    ProfileName{Profile::paper, "paper"}, ProfileName{Profile::portable, "portable"},
};

constexpr bool yes = true;
constexpr bool no = false;

constexpr std::array candidate_table{
    // pipeline, model; for bytes, integers, floating; in fast, balanced, max; encode and decode
    // MB/s
    Candidate{"constant", Model::constant, yes, yes, yes, yes, yes, yes, 8000, 8000},

    Candidate{"planes", Model::planes, yes, yes, yes, yes, no, no, 800, 4000},
    Candidate{"planes(smallest)", Model::planes, yes, yes, yes, no, yes, no, 650, 3000},
    Candidate{"planes(smallest,zstd=9)", Model::planes, yes, yes, yes, no, no, yes, 100, 3000},
    Candidate{"top_bits", Model::top_bits, no, no, yes, yes, no, no, 1700, 3500},
    Candidate{"top_bits(3,smallest)", Model::top_bits, no, no, yes, no, yes, yes, 1400, 3000},
    Candidate{"lorenzo(auto)|class_coder", Model::predicted, no, yes, yes, yes, no, no, 1500, 2000},
    Candidate{"lorenzo(auto)|class_coder(smallest)", Model::predicted, no, yes, yes, no, yes, yes,
              1200, 1800},
    Candidate{"structure_split|lorenzo(auto)|class_coder", Model::split_predicted, no, yes, yes,
              yes, no, no, 1300, 1800},
    Candidate{"structure_split|lorenzo(auto)|class_coder(smallest)", Model::split_predicted, no,
              yes, yes, no, yes, yes, 1100, 1600},
    Candidate{"lorenzo(auto)|planes", Model::planes_predicted, no, yes, yes, yes, no, no, 650,
              2000},
    Candidate{"lorenzo(auto)|planes(smallest)", Model::planes_predicted, no, yes, yes, no, yes, yes,
              550, 1800},
    Candidate{"structure_split|lorenzo(auto)|planes", Model::split_planes_predicted, no, yes, yes,
              yes, no, no, 600, 2000},
    Candidate{"structure_split|lorenzo(auto)|planes(smallest)", Model::split_planes_predicted, no,
              yes, yes, no, yes, yes, 500, 1800},
    Candidate{"lorenzo(auto)|class_coder(smallest,contexts)", Model::contexts, no, yes, yes, no,
              yes, yes, 900, 900},
    Candidate{"structure_split|lorenzo(auto)|class_coder(smallest,contexts)", Model::split_contexts,
              no, yes, yes, no, yes, yes, 800, 850},
    Candidate{"structure_split|planes(smallest,zstd=3)", Model::split_planes, no, yes, yes, no, yes,
              no, 550, 2500},
    Candidate{"structure_split|planes(smallest,zstd=9)", Model::split_planes, no, yes, yes, no, no,
              yes, 100, 2500},
    Candidate{"dictionary", Model::dictionary, no, yes, yes, yes, yes, yes, 350, 2500},
    Candidate{"stencil(auto)|class_coder(smallest)", Model::fitted, no, no, yes, no, no, yes, 250,
              600},
    Candidate{"structure_split|stencil(auto)|class_coder(smallest)", Model::split_fitted, no, no,
              yes, no, no, yes, 250, 600},

    Candidate{"zstd(1)", Model::words, yes, yes, yes, yes, no, no, 700, 1500},
    Candidate{"zstd(3)", Model::words, yes, yes, yes, no, yes, no, 400, 1500},
    Candidate{"zstd(9)", Model::words, yes, yes, yes, no, yes, no, 80, 1500},
    Candidate{"zstd(12)", Model::words, yes, yes, yes, no, no, yes, 50, 1500},
    Candidate{"delta|zstd(3)", Model::words_delta, no, yes, no, yes, no, no, 800, 1500},
    Candidate{"delta|zstd(9)", Model::words_delta, no, yes, no, no, yes, yes, 300, 2000},
    Candidate{"delta|planes(smallest,zstd=9)", Model::words_delta, no, yes, no, no, no, yes, 60,
              1000},
};

Pipeline parsed(std::string_view text) {
  auto pipeline = Pipeline::parse(text);
  return pipeline ? *std::move(pipeline) : Pipeline{};
}

}  // namespace

Result<Profile> parse_profile(std::string_view name) {
  std::string known;
  for (const ProfileName& entry : profile_names) {
    if (entry.name == name) return entry.profile;
    known += (known.empty() ? "" : ", ") + std::string(entry.name);
  }
  return Error{Cause::usage, "unknown profile '" + std::string(name) + "'; known are " + known};
}

std::string_view profile_name(Profile profile) {
  for (const ProfileName& entry : profile_names) {
    if (entry.profile == profile) return entry.name;
  }
  return "?";
}

Result<void> ProfileOptions::set_pipeline(std::string_view name, std::string_view text) {
  if (name.empty()) return Error{Cause::usage, "codec.<name>: the name is missing"};
  named.emplace_back(name, MCR_TRY(Pipeline::parse(text)));
  return {};
}

std::string_view type_name(const ElementType& type) {
  static constexpr std::string_view unsigned_names[] = {"uint8", "uint16", "uint32", "uint64"};
  static constexpr std::string_view signed_names[] = {"int8", "int16", "int32", "int64"};
  static constexpr std::string_view floating_names[] = {"bytes", "half", "float", "double"};
  const bool word = type.size == 1 || type.size == 2 || type.size == 4 || type.size == 8;
  if (!word) return "bytes";
  const auto log2_size = static_cast<std::size_t>(__builtin_ctz(type.size));
  switch (type.kind) {
    case ElementKind::unsigned_integer:
      return unsigned_names[log2_size];
    case ElementKind::signed_integer:
      return signed_names[log2_size];
    case ElementKind::floating:
      return floating_names[log2_size];
    case ElementKind::bytes:
      break;
  }
  return "bytes";
}

ElementClass element_class(const ElementType& type) {
  if (type.kind == ElementKind::floating) return ElementClass::floating;
  return type.kind == ElementKind::bytes ? ElementClass::bytes : ElementClass::integer;
}

const Pipeline* named_pipeline(const ProfileOptions& options, std::string_view variable,
                               const ElementType& type) {
  const std::size_t slash = variable.rfind('/');
  const std::string_view last =
      slash == std::string_view::npos ? variable : variable.substr(slash + 1);
  const auto find = [&options](std::string_view name) -> const Pipeline* {
    if (name.empty()) return nullptr;
    // The last entry wins, as with any setting.
    for (auto entry = options.named.rbegin(); entry != options.named.rend(); ++entry) {
      if (entry->first == name) return &entry->second;
    }
    return nullptr;
  };
  if (const Pipeline* pipeline = find(variable)) return pipeline;
  if (const Pipeline* pipeline = find(last)) return pipeline;
  if (const Pipeline* pipeline = find(type_name(type))) return pipeline;
  return element_class(type) == ElementClass::integer ? find("integer") : nullptr;
}

std::span<const Candidate> candidates() { return candidate_table; }

Pipeline fixed_pipeline(Profile profile, const ElementType& type) {
  const std::string_view name = type_name(type);
  if (profile == Profile::portable) return parsed(type.size > 1 ? "transpose|zlib(6)" : "zlib(6)");
  if (profile != Profile::paper) return {};
  if (name == "double") return parsed("fpc|zlib(6)");
  if (name == "float") return parsed("fpzip(1d)|zlib(6)");
  return parsed("lz4|zlib(6)");
}

}  // namespace mcr::codecs
