// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/commit/trace_file.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <numeric>

#include "restart/base/durable_replace.hpp"
#include "restart/base/printable.hpp"
#include "restart/base/system.hpp"
#include "restart/stage/leader_files.hpp"

namespace mcr::aggregation {
namespace {

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.7g", value);
  return text;
}
std::string number(std::uint64_t value) { return std::to_string(value); }

/// Returns `text` as a JSON string. The text may be in any encoding, because names come from other
/// programs' files.
std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : restart::printable(text)) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

std::string member(const char* key, const std::string& value) {
  return '"' + std::string(key) + "\":" + value;
}

template <typename Range, typename Print>
std::string list(const Range& range, Print print) {
  std::string text = "[";
  for (const auto& item : range) text += (text.size() > 1 ? "," : "") + print(item);
  return text + "]";
}

std::string phases(const CommitReport& report) {
  const std::initializer_list<std::pair<const char*, double>> all{
      {"inventory", report.inventory_seconds}, {"plan", report.plan_seconds},
      {"choose", report.choose_seconds},       {"drain", report.drain.wall},
      {"finish", report.finish_seconds},       {"commit", report.commit_seconds}};
  return list(all, [](const auto& phase) {
    return '[' + quoted(phase.first) + ',' + number(phase.second) + ']';
  });
}

std::string bin_text(const DrainTrace::Bin& bin) {
  return list(bin, [](double seconds) { return number(seconds); });
}

}  // namespace

std::string trace_text(const CommitReport& report) {
  const DrainTrace& trace = report.drain.trace;
  // Names only the variables whose blocks are listed, because a set may have ten thousand others.
  std::map<std::uint32_t, std::size_t> numbers;
  std::vector<std::string> names;
  for (const BlockTimes& block : trace.first_blocks()) {
    if (numbers.try_emplace(block.dataset, names.size()).second) {
      names.push_back(block.dataset < report.variables.size() ? report.variables[block.dataset].name
                                                              : std::string());
    }
  }
  const auto block_text = [&](const BlockTimes& block) {
    return '[' + number(std::uint64_t{numbers[block.dataset]}) + ',' +
           number(std::uint64_t{block.raw_bytes}) + ',' +
           number(std::uint64_t{block.stored_bytes}) + ',' + number(std::uint64_t{block.thread}) +
           ',' + list(block.begins, [](double seconds) { return number(seconds); }) + ']';
  };
  std::vector<std::string> states;
  for (std::size_t i = 0; i < block_state_count; ++i) {
    states.emplace_back(block_state_name(static_cast<BlockState>(i)));
  }
  std::string text = "{" + member("mcr_trace", std::to_string(trace_version));
  const auto add = [&](const char* key, const std::string& value) {
    text += ",\n" + member(key, value);
  };
  add("container", quoted(report.path));
  add("parts", number(std::uint64_t{report.checksums.size()}));
  add("parts_not_walked", number(std::uint64_t{report.parts_not_walked}));
  add("variables",
      number(std::accumulate(report.variables.begin(), report.variables.end(), std::uint64_t{0},
                             [](std::uint64_t sum, const VariableReport& variable) {
                               return sum + variable.variables;
                             })));
  add("raw_bytes", number(report.raw_bytes));
  add("container_bytes", number(report.container_bytes));
  add("threads", number(std::uint64_t{report.drain.threads}));
  add("encoded_bytes", number(report.drain.encoded_bytes));
  add("card_bytes", number(report.drain.card_bytes));
  add("blocks_allowed", number(std::uint64_t{report.drain.blocks_allowed}));
  add("blocks", number(trace.block_count()));
  add("phases", phases(report));
  add("states", list(states, quoted));
  add("bin_seconds", number(trace.bin_seconds()));
  add("bins", list(trace.bins(), bin_text));
  add("block_variables", list(names, quoted));
  add("first_blocks", list(trace.first_blocks(), block_text));
  return text + "}\n";
}

namespace {

Result<void> fill(const restart::File& file, const CommitReport& report) {
  // The trace names the container's variables.
  MCR_TRY(restart::give_access(file, report.access));
  const std::string text = trace_text(report);
  return file.write_at(0, as_bytes(text));
}

}  // namespace

Result<void> write_trace(int directory, const std::string& name, const CommitReport& report) {
  const std::string unfinished = name + std::string(restart::leader_files::unfinished_suffix);
  {
    // A dead leader may have left the file. If another user's file is there, it stays, and no trace
    // is written.
    (void)restart::system_calls().unlinkat(directory, unfinished.c_str(), 0);
    const restart::File file = MCR_TRY(
        restart::File::open(directory, unfinished, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600));
    MCR_TRY(fill(file, report));
  }
  return restart::put_in_place(directory, unfinished, directory, name);
}

Result<void> write_users_trace(int directory, const std::string& name, const CommitReport& report) {
  restart::PendingFile pending = MCR_TRY(restart::PendingFile::create(directory, name, 0600));
  MCR_TRY(fill(pending.file(), report));
  return pending.finish(restart::Durability::none);
}

std::string trace_name(std::uint64_t container_number) {
  char number[16];
  std::snprintf(number, sizeof number, "%02u",
                static_cast<unsigned>(container_number % kept_traces));
  return std::string(restart::leader_files::trace_prefix) + number;
}

}  // namespace mcr::aggregation
