// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/mcr/trace_page.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <span>

#include "aggregation/commit/trace_file.hpp"
#include "aggregation/mcr/print.hpp"
#include "restart/base/name_text.hpp"

namespace mcr::aggregation {
namespace {

constexpr double width = 960;  // of the drawings, in SVG's units
constexpr double left = 70;
constexpr double plot = width - left - 10;

constexpr std::array<const char*, block_state_count> colours{"#4e79a7", "#c9d6e5", "#59a14f",
                                                             "#f28e2b", "#e5d5c9", "#b07aa1"};
constexpr std::array<const char*, block_state_count> titles{
    "fetch", "waiting for a thread", "encode", "verify", "waiting for its turn", "write"};
/// A trace may be another user's, so its page is bounded. mcr records no more blocks than this, and far less of the rest.
constexpr std::size_t most_blocks = DrainTrace::first_block_count;  // drawn one by one
constexpr std::size_t most_bins = 4096;
constexpr std::size_t most_phases = 64;
constexpr std::size_t most_name_bytes = 1024;
constexpr double most_seconds = 1e9;

/// Formats into a string of any length, as sprintf does.
template <typename... Values>
std::string form(const char* format, Values... values) {
  std::string text(static_cast<std::size_t>(std::snprintf(nullptr, 0, format, values...)), '\0');
  std::snprintf(text.data(), text.size() + 1, format, values...);
  return text;
}

/// Returns the text for HTML: for an element or for an attribute in quotes of either kind.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : restart::cut_text(text, most_name_bytes)) {
    if (c == '&') {
      result += "&amp;";
    } else if (c == '<') {
      result += "&lt;";
    } else if (c == '>') {
      result += "&gt;";
    } else if (c == '"') {
      result += "&quot;";
    } else if (c == '\'') {
      result += "&#39;";
    } else {
      result += c;
    }
  }
  return result;
}

std::string box(double x, double y, double w, double h, const char* colour,
                const std::string& title) {
  return form("<rect x='%.2f' y='%.2f' width='%.2f' height='%.2f' fill='%s'>", x, y,
              std::max(w, 0.3), h, colour) +
         "<title>" + escaped(title) + "</title></rect>\n";
}

std::string label(double x, double y, const std::string& text, const char* anchor = "start") {
  return form("<text x='%.1f' y='%.1f' text-anchor='%s'>", x, y, anchor) + escaped(text) +
         "</text>\n";
}

std::string drawing(double height, const std::string& content) {
  return form("<svg viewBox='0 0 %.0f %.0f' role='img'>\n", width, height) + content + "</svg>\n";
}

/// Draws a scale of `seconds` below a plot.
std::string time_axis(double y, double seconds) {
  std::string text;
  for (int i = 0; i <= 8; ++i) {
    const double x = left + plot * i / 8;
    text += form("<line x1='%.1f' x2='%.1f' y1='%.1f' y2='%.1f' class='grid'/>", x, x, y, y + 4);
    text += label(x, y + 16, form(seconds < 1 ? "%.3f s" : "%.2f s", seconds * i / 8),
                  i < 8 ? "middle" : "end");
  }
  return text;
}

std::string phases_drawing(const Trace& trace) {
  constexpr std::array<const char*, 6> shades{"#86bcb6", "#9d7660", "#d4a6c8",
                                              "#4e79a7", "#8cd17d", "#e15759"};
  const double all = std::max(trace.all_phases(), 1e-9);
  std::string text;
  double x = left;
  for (std::size_t i = 0; i < trace.phases.size(); ++i) {
    const auto& [name, seconds] = trace.phases[i];
    const double w = plot * seconds / all;
    text += box(x, 8, w, 26, shades[i % shades.size()], name + form(": %.3f s", seconds));
    if (w > 70) text += label(x + 5, 25, name + form(" %.2f s", seconds));
    x += w;
  }
  return drawing(56, text + time_axis(36, all));
}

/// Draws how many blocks were in each state over time. Blocks in work are drawn above, waiting
/// blocks below.
std::string stages_drawing(const Trace& trace) {
  if (trace.bins.empty() || trace.bin_seconds <= 0) return {};
  constexpr double height = 150;
  const double seconds = trace.bin_seconds * static_cast<double>(trace.bins.size());
  const double step = plot / static_cast<double>(trace.bins.size());
  double most_worked = 1;
  double most_waiting = 1;
  const auto is_waiting = [](std::size_t state) {
    const auto s = static_cast<BlockState>(state);
    return s == BlockState::encode_queue || s == BlockState::write_queue;
  };
  for (const DrainTrace::Bin& bin : trace.bins) {
    std::array<double, 2> sums{};
    for (std::size_t s = 0; s < block_state_count; ++s) sums[is_waiting(s) ? 1 : 0] += bin[s];
    most_worked = std::max(most_worked, sums[0] / trace.bin_seconds);
    most_waiting = std::max(most_waiting, sums[1] / trace.bin_seconds);
  }
  std::string text = label(left - 6, 16, form("%.1f busy", most_worked), "end") +
                     label(left - 6, height + 28, form("%.1f wait", most_waiting), "end");
  for (std::size_t i = 0; i < trace.bins.size(); ++i) {
    const double x = left + step * static_cast<double>(i);
    std::array<double, 2> bases{height, height + 20};
    for (std::size_t s = 0; s < block_state_count; ++s) {
      const double blocks = trace.bins[i][s] / trace.bin_seconds;
      if (blocks <= 0) continue;
      const double h = is_waiting(s) ? blocks / most_waiting * 60 : blocks / most_worked * height;
      if (!is_waiting(s)) bases[0] -= h;
      text += box(x, is_waiting(s) ? bases[1] : bases[0], step + 0.3, h, colours[s],
                  std::string(titles[s]) + form(": %.2f blocks", blocks));
      if (is_waiting(s)) bases[1] += h;
    }
  }
  return drawing(height + 105, text + time_axis(height + 82, seconds));
}

/// Draws these blocks one by one, a lane for each block in flight. The search for a lane is quadratic, so the
/// caller bounds the blocks.
std::string blocks_drawing(const Trace& trace, std::span<const BlockTimes> blocks) {
  if (blocks.empty()) return {};
  const double seconds = std::max(blocks.back().begins.back(), 1e-9);
  std::vector<double> free_at;
  std::string text;
  for (const BlockTimes& block : blocks) {
    std::size_t lane = 0;
    while (lane < free_at.size() && free_at[lane] > block.begins.front()) ++lane;
    if (lane == free_at.size()) free_at.push_back(0);
    free_at[lane] = block.begins.back();
    const std::string name = block.dataset < trace.block_variables.size()
                                 ? trace.block_variables[block.dataset]
                                 : std::string();
    for (std::size_t s = 0; s < block_state_count; ++s) {
      const double time = block.begins[s + 1] - block.begins[s];
      if (time <= 0) continue;
      text += box(left + plot * block.begins[s] / seconds, 6 + 16 * static_cast<double>(lane),
                  plot * time / seconds, 13, colours[s],
                  name +
                      form(", %u -> %u bytes, thread %u, ", block.raw_bytes, block.stored_bytes,
                           block.thread) +
                      titles[s] + form(": %.3f ms", time * 1000));
    }
  }
  const double bottom = 10 + 16 * static_cast<double>(free_at.size());
  return drawing(bottom + 22, text + time_axis(bottom, seconds));
}

std::string legend() {
  std::string text = "<p class='legend'>";
  for (std::size_t s = 0; s < block_state_count; ++s) {
    text +=
        std::string("<span style='background:") + colours[s] + "'></span>" + titles[s] + "&ensp;";
  }
  return text + "</p>\n";
}

std::string section(const Trace& trace) {
  const double seconds = std::max(trace.all_phases(), 1e-9);
  std::string text =
      "<h2>" + escaped(trace.container) + "</h2>\n<p>" + size_text(trace.raw_bytes) + " in " +
      std::to_string(trace.parts) + " parts and " + std::to_string(trace.variables) +
      " variables &rarr; " + size_text(trace.container_bytes) + " (" +
      ratio_text(trace.raw_bytes, trace.container_bytes) + "&times;), " +
      form("%.3f s, %.0f MB/s, %u threads, %u blocks allowed", seconds,
           static_cast<double>(trace.raw_bytes) / seconds / 1e6, trace.threads,
           trace.blocks_allowed) +
      (trace.card_bytes > 0 ? form(", %.0f %% encoded by the GPU", trace.card_percent())
                            : std::string()) +
      "</p>\n<h3>Phases</h3>\n" + phases_drawing(trace) +
      "<h3>Steps over the time of the drain: blocks that are worked on, and blocks "
      "that wait</h3>\n" +
      legend() + stages_drawing(trace);
  text += "<p>Blocks in each step, on average:";
  for (std::size_t s = 0; s < block_state_count; ++s) {
    text += form(" %s %.2f%s", titles[s], trace.occupancy(static_cast<BlockState>(s)),
                 s + 1 < block_state_count ? "," : ".");
  }
  const auto blocks =
      std::span(trace.first_blocks).first(std::min(trace.first_blocks.size(), most_blocks));
  const std::size_t left_out = trace.first_blocks.size() - blocks.size();
  return text +
         form(
             "</p>\n<h3>The first %zu blocks, one line for each block that is in memory at the "
             "same time</h3>\n",
             blocks.size()) +
         blocks_drawing(trace, blocks) +
         (left_out > 0 ? form("<p>%zu further blocks of the trace are not drawn.</p>\n", left_out)
                       : std::string());
}

/// False for times and counts that no drain has.
bool is_plausible(const Trace& trace) {
  const auto is_time = [](double seconds) { return std::abs(seconds) <= most_seconds; };
  const auto are_times = [&](const auto& times) {
    return std::all_of(times.begin(), times.end(), is_time);
  };
  const auto has_times = [&](const BlockTimes& block) { return are_times(block.begins); };
  const auto has_time = [&](const auto& phase) { return is_time(phase.second); };
  return trace.phases.size() <= most_phases && trace.bins.size() <= most_bins &&
         is_time(trace.bin_seconds) &&
         std::all_of(trace.phases.begin(), trace.phases.end(), has_time) &&
         std::all_of(trace.bins.begin(), trace.bins.end(), are_times) &&
         std::all_of(trace.first_blocks.begin(), trace.first_blocks.end(), has_times);
}

Trace from_json(const nlohmann::json& json) {
  Trace trace;
  json.at("container").get_to(trace.container);
  json.at("parts").get_to(trace.parts);
  json.at("variables").get_to(trace.variables);
  json.at("raw_bytes").get_to(trace.raw_bytes);
  json.at("container_bytes").get_to(trace.container_bytes);
  json.at("threads").get_to(trace.threads);
  trace.encoded_bytes = json.value("encoded_bytes", std::uint64_t{0});  // older traces lack it
  trace.card_bytes = json.value("card_bytes", std::uint64_t{0});
  json.at("blocks_allowed").get_to(trace.blocks_allowed);
  json.at("blocks").get_to(trace.blocks);
  json.at("phases").get_to(trace.phases);
  json.at("bin_seconds").get_to(trace.bin_seconds);
  json.at("bins").get_to(trace.bins);
  json.at("block_variables").get_to(trace.block_variables);
  for (const nlohmann::json& block : json.at("first_blocks")) {
    BlockTimes times;
    block.at(0).get_to(times.dataset);
    block.at(1).get_to(times.raw_bytes);
    block.at(2).get_to(times.stored_bytes);
    block.at(3).get_to(times.thread);
    block.at(4).get_to(times.begins);
    trace.first_blocks.push_back(times);
  }
  return trace;
}

}  // namespace

double Trace::phase(const std::string& name) const {
  for (const auto& [phase, seconds] : phases) {
    if (phase == name) return seconds;
  }
  return 0;
}

double Trace::all_phases() const {
  double sum = 0;
  for (const auto& [name, seconds] : phases) sum += seconds;
  return sum;
}

double Trace::card_percent() const {
  if (encoded_bytes == 0) return 0;
  return 100 * static_cast<double>(card_bytes) / static_cast<double>(encoded_bytes);
}

double Trace::occupancy(BlockState state) const {
  double sum = 0;
  for (const DrainTrace::Bin& bin : bins) sum += bin[static_cast<std::size_t>(state)];
  const double wall = phase("drain");
  return wall > 0 ? sum / wall : 0;
}

Result<Trace> read_trace(const std::string& text) {
  try {
    const auto json = nlohmann::json::parse(text);
    if (json.at("mcr_trace").get<int>() != trace_version) {
      return Error{Cause::unsupported, "another version of mcr wrote this trace"};
    }
    Trace trace = from_json(json);
    if (!is_plausible(trace))
      return Error{Cause::damaged, "the trace has times or counts that no drain has"};
    return trace;
  } catch (const nlohmann::json::exception&) {  // the library reports errors by exceptions only
    return Error{Cause::damaged, "the file is not a trace"};
  }
}

std::string trace_page(const std::vector<Trace>& traces) {
  std::string text =
      "<!doctype html><html lang='en'><meta charset='utf-8'><title>mcr trace</title>\n"
      "<meta name='viewport' content='width=device-width'>\n<style>"
      "body{font:15px/1.5 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem;"
      "color:#222}h2{font-size:1.05rem;overflow-wrap:anywhere;border-top:1px solid #ddd;"
      "padding-top:1.2rem}h3{font-size:.9rem;color:#666;margin:.9rem 0 .1rem;font-weight:600}"
      "svg{width:100%;height:auto}svg text{font-size:11px;fill:#444}.grid{stroke:#999}"
      ".legend{font-size:.85rem;margin:.2rem 0}.legend span{display:inline-block;width:.8rem;"
      "height:.8rem;margin-right:.3rem;vertical-align:-1px}"
      "</style>\n<h1>Drains</h1>\n";
  for (const Trace& trace : traces) text += section(trace);
  return text + "</html>\n";
}

}  // namespace mcr::aggregation
