// SPDX-License-Identifier: BSD-3-Clause
// mcr trace [--html PAGE] [FILE…]: shows when each step of a drain (fetch, encode, write) was busy.
// Without files, shows the drains of the launches in the stage.
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <span>

#include "aggregation/commit/trace_file.hpp"
#include "aggregation/mcr/commands.hpp"
#include "aggregation/mcr/exit_codes.hpp"
#include "aggregation/mcr/print.hpp"
#include "aggregation/mcr/surroundings.hpp"
#include "aggregation/mcr/trace_page.hpp"
#include "restart/base/file.hpp"
#include "restart/stage/stage.hpp"

namespace mcr::aggregation {
namespace {

// Limit of a trace; real ones take some tens of kilobytes.
constexpr std::uint64_t most_bytes = 16U << 20;

struct TraceOptions {
  std::vector<std::string> files;
  std::string stage;
  std::string page;
};

Result<Trace> load(const std::string& path) {
  const restart::File file = MCR_TRY(restart::File::open(AT_FDCWD, path, O_RDONLY | O_NONBLOCK));
  const std::uint64_t bytes = MCR_TRY(file.size());
  if (bytes > most_bytes) return Error{Cause::damaged, path + " is not a trace"};
  std::string text(static_cast<std::size_t>(bytes), '\0');
  MCR_TRY(file.read_at(0, std::as_writable_bytes(std::span(text))));
  auto trace = read_trace(text);
  if (!trace) trace.error().message = path + ": " + trace.error().message;
  return trace;
}

/// Returns the traces of all launches in the stage, oldest first within each launch.
Result<std::vector<std::string>> traces_in_stage(const std::string& given) {
  std::vector<std::pair<std::int64_t, std::string>> found;
  for (const std::string& launch :
       MCR_TRY(restart::launch_directories(MCR_TRY(stage_path(given))))) {
    for (unsigned i = 0; i < kept_traces; ++i) {
      const std::string path = launch + "/" + trace_name(i);
      struct stat status {};
      if (::stat(path.c_str(), &status) != 0) continue;
      found.emplace_back(
          std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec, path);
    }
  }
  std::sort(found.begin(), found.end());
  std::vector<std::string> paths;
  for (auto& [time, path] : found) paths.push_back(std::move(path));
  return paths;
}

nlohmann::json to_json(const Trace& trace) {
  nlohmann::json phases = nlohmann::json::object();
  for (const auto& [name, seconds] : trace.phases) phases[name] = seconds;
  nlohmann::json blocks = nlohmann::json::object();
  for (std::size_t s = 0; s < block_state_count; ++s) {
    const auto state = static_cast<BlockState>(s);
    blocks[block_state_name(state)] = trace.occupancy(state);
  }
  return {{"container", trace.container},
          {"parts", trace.parts},
          {"variables", trace.variables},
          {"raw_bytes", trace.raw_bytes},
          {"container_bytes", trace.container_bytes},
          {"threads", trace.threads},
          {"encoded_bytes", trace.encoded_bytes},
          {"card_bytes", trace.card_bytes},
          {"blocks", trace.blocks},
          {"blocks_allowed", trace.blocks_allowed},
          {"seconds", phases},
          {"average_blocks", blocks}};
}

void print_traces(const std::vector<Trace>& traces) {
  const auto milliseconds = [](double seconds) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f ms", seconds * 1000);
    return std::string(text);
  };
  const auto decimal = [](double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.2f", value);
    return std::string(text);
  };
  for (const Trace& trace : traces) {
    const double seconds = std::max(trace.all_phases(), 1e-9);
    print_line(stdout, "%s", trace.container.c_str());
    print_line(stdout, "  %s in %llu parts -> %s (%sx), %.1f MB/s, %u threads, %llu blocks",
               size_text(trace.raw_bytes).c_str(), static_cast<unsigned long long>(trace.parts),
               size_text(trace.container_bytes).c_str(),
               ratio_text(trace.raw_bytes, trace.container_bytes).c_str(),
               static_cast<double>(trace.raw_bytes) / seconds / 1e6, trace.threads,
               static_cast<unsigned long long>(trace.blocks));
    if (trace.card_bytes > 0)
      print_line(stdout, "  %s %% encoded by the GPU", decimal(trace.card_percent()).c_str());
    Table phases({"  phase", "time", "share"}, {false, true, true});
    for (const auto& [name, time] : trace.phases) {
      phases.add({"  " + name, milliseconds(time), decimal(time / seconds * 100) + " %"});
    }
    phases.print();
    Table states({"  step of the drain", "busy", "blocks on average"}, {false, true, true});
    for (std::size_t s = 0; s < block_state_count; ++s) {
      const auto state = static_cast<BlockState>(s);
      const double blocks = trace.occupancy(state);
      states.add({std::string("  ") + block_state_name(state),
                  milliseconds(blocks * trace.phase("drain")), decimal(blocks)});
    }
    states.print();
  }
}

Result<void> write_page(const std::string& path, const std::vector<Trace>& traces) {
  const restart::File file =
      MCR_TRY(restart::File::open(AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, 0666));
  const std::string page = trace_page(traces);
  return file.write_at(0, as_bytes(page));
}

Result<std::vector<Trace>> load_all(const TraceOptions& options) {
  std::vector<std::string> paths = options.files;
  if (paths.empty()) paths = MCR_TRY(traces_in_stage(options.stage));
  std::vector<Trace> traces;
  for (const std::string& path : paths) traces.push_back(MCR_TRY(load(path)));
  return traces;
}

}  // namespace

RunCommand declare_trace(CLI::App& app) {
  const auto options = std::make_shared<TraceOptions>();
  app.add_option("FILE", options->files,
                 "traces that `mcr pack --trace` or a leader with the setting trace= wrote; "
                 "default: the traces of the launches in the stage");
  app.add_option("--stage", options->stage, "directory of the stage (the setting stage=)");
  app.add_option("--html", options->page, "draw timelines into this file, an HTML page");
  app.footer(usual_exit_codes);
  return [options](const CommonOptions& common) {
    const auto traces = load_all(*options);
    if (!traces) return print_error(common, "trace", traces.error());
    if (!options->page.empty()) {
      const auto written = write_page(options->page, *traces);
      if (!written) return print_error(common, "trace", written.error());
    }
    if (common.json) {
      nlohmann::json all = nlohmann::json::array();
      for (const Trace& trace : *traces) all.push_back(to_json(trace));
      print_json({{"traces", all}});
    } else if (traces->empty()) {
      print_line(stdout,
                 "the stage has no traces of drains; `mcr pack --trace FILE` writes a trace, and "
                 "with the setting trace= a leader keeps its traces");
    } else {
      print_traces(*traces);
    }
    return exit_code::success;
  };
}

}  // namespace mcr::aggregation
