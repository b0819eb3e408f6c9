// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/leader/part_facts.hpp"

#include <algorithm>
#include <string_view>

#include "aggregation/merge/part_settings.hpp"
#include "restart/format/container_name.hpp"
#include "restart/format/masked_name.hpp"
#include "restart/settings/choices.hpp"

namespace mcr::aggregation {

namespace {

/// True if the rule `auto` may have found the rank in the path, judging by the setting `files`
/// alone.
bool is_guessed_by(std::string_view files) {
  if (files.empty()) return true;
  if (files.find("{rank") != std::string_view::npos) return false;
  while (!files.empty()) {
    const std::string_view item = files.substr(0, files.find(';'));
    if (item == "auto") return true;
    files.remove_prefix(std::min(files.size(), item.size() + 1));
  }
  return false;
}

}  // namespace

PartFacts facts_of(const restart::Journal& journal) {
  const restart::PartBegin& begin = journal.begin;
  const restart::Settings settings = settings_of(begin);

  PartFacts facts;
  facts.part = begin.part;
  facts.launch = begin.launch;
  facts.sequence = begin.sequence;
  facts.rank = begin.rank;
  facts.rank_count = begin.rank_count;
  facts.local_rank_count = begin.local_rank_count;
  facts.path = begin.path;
  facts.presence = begin.presence;
  facts.begin_ns = begin.begin_ns;
  facts.failed_attempts = begin.failed_attempts;
  facts.is_by_untrusted_links = begin.is_by_untrusted_links;
  facts.set_wait_ms = settings.milliseconds("set_wait");
  facts.group_size = static_cast<std::uint32_t>(settings.count("group_size"));
  facts.keep = static_cast<std::uint32_t>(settings.count("keep"));
  // With gc=on, stubs have a second name of ours, which hides that the program has overwritten them.
  const bool may_hold_back = restart::gc_of(settings) != restart::Gc::always;
  facts.flush = may_hold_back ? static_cast<std::uint32_t>(settings.count("flush")) : 1;
  facts.is_replicated = settings.text("replicas") == "1";
  facts.waits_for_replica = facts.flush > 1 && settings.text("close") == "replicated";
  facts.replaced = begin.replaced_part;
  facts.family = restart::pattern_of(begin.path);
  // A masked name without `{rank}` or `{part}` is the last candidate. It stands beside others only if
  // files= captures the file regardless of the rank that writes it.
  for (const std::string& name : begin.masked_names) {
    const bool is_lone = begin.rank_count > 1 && restart::is_of_one_file(name);
    if (is_lone && !facts.names.empty()) {
      facts.lone_name = name;
    } else {
      facts.names.push_back({name, restart::pattern_of(name)});
    }
  }
  if (facts.names.empty()) facts.names.push_back({begin.path, facts.family});
  const std::string& likeliest = facts.names.front().masked_name;
  const bool has_rank = likeliest.find("{rank") != std::string::npos;
  facts.writers = restart::is_of_one_file(likeliest) ? 1 : begin.rank_count;
  facts.is_unranked = begin.rank_count > 1 && restart::is_of_one_file(likeliest);
  const bool is_guess = !facts.lone_name.empty() || is_guessed_by(settings.text("files"));
  facts.may_be_lone = has_rank && begin.rank_count > 1 && is_guess;
  // A file of a one-process program that has no relation to other files. With gc=on each file is
  // removed by itself, and a native file that it replaces is handled by itself, so both exclude
  // bundles.
  const bool is_alone = begin.rank_count == 1 && begin.rank == 0 && facts.names.size() == 1 &&
                        likeliest == begin.path && facts.keep == 0 && facts.flush <= 1 &&
                        restart::gc_of(settings) != restart::Gc::always &&
                        begin.replaced != restart::Replaced::native_file;
  if (is_alone) {
    const std::string directory =
        restart::container_name(likeliest, settings.text("container_dir"), begin.launch, 0)
            .directory;
    facts.block = begin.part.block();
    facts.bundle_family =
        directory + "\n" + facts.family + "\n" + begin.settings + "\n" + std::to_string(begin.mode);
  }
  return facts;
}

}  // namespace mcr::aggregation
