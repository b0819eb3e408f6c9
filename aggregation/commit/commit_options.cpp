// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/commit/commit_options.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "restart/base/limits.hpp"

namespace mcr::aggregation {

namespace {

/// More threads than this cannot be started on many systems.
constexpr std::uint64_t most_leader_threads = 1024;

}  // namespace

restart::ContainerName container_name_of(const restart::PartBegin& begin,
                                         const std::string& masked_name) {
  return restart::container_name(masked_name, settings_of(begin).text("container_dir"),
                                 begin.launch, begin.sequence);
}

Result<MergeOptions> merge_options(const restart::Settings& settings, bool fast) {
  MergeOptions options;
  // `auto` leaves aware merging in place; the codecs look for repeats over ranks themselves.
  if (const auto scheme = settings.text("scheme"); !scheme.empty() && scheme != "auto") {
    options.scheme = MCR_TRY(parse_scheme(scheme));
  }
  if (const auto block = settings.bytes("block"); block > 0) options.block_bytes = block;
  if (const auto profile = settings.text("profile"); !profile.empty()) {
    options.profile.profile = MCR_TRY(codecs::parse_profile(profile));
  }
  for (const auto& [key, text] : settings.codec_overrides()) {
    constexpr std::string_view prefix = "codec.";
    MCR_TRY(options.profile.set_pipeline(std::string_view(key).substr(prefix.size()), text));
  }
  if (settings.is_set("bandwidth")) {
    options.profile.bandwidth = static_cast<double>(settings.bytes("bandwidth"));
  }
  if (fast && options.profile.profile != codecs::Profile::none) {
    options.profile.profile = codecs::Profile::fast;
    options.profile.named.clear();
    options.profile.bandwidth = 0;
  }
  if (const auto match = settings.text("match"); match != "none") options.match.match = match;
  if (settings.is_set("min_size")) options.match.min_size = settings.bytes("min_size");
  if (const auto memory = settings.bytes("leader_memory"); memory > 0)
    options.drain.memory_bytes = memory;
  const auto threads =
      static_cast<unsigned>(std::min(settings.count("leader_threads"), most_leader_threads));
  options.drain.threads = threads > 0 ? threads : restart::usable_cpu_count();
  options.drain.streams = static_cast<unsigned>(settings.count("write_streams"));
  options.drain.verify = settings.flag("verify");
  options.drain.card =
      codecs::gpu::card_options(settings.text("gpu"), settings.bytes("gpu_memory"));
  return options;
}

}  // namespace mcr::aggregation
