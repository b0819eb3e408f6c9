// SPDX-License-Identifier: BSD-3-Clause
// Measures sizes and speeds: compresses every set of rank files under every profile. One thread,
// CPU time.
//
//   compression_bench [options] NAME=DIRECTORY…
//     --profile P[,P…]   profiles (default fast,balanced,max)
//     --pipeline TEXT    this pipeline for everything instead (may be repeated)
//     --solid            also all numbers of a set in one solid frame of `balanced`, up to its size
//     --oracle           also what a full trial of all the profile's candidates would have reached
//     --repeats N        minimum time of N runs (default 3)
//     --frame BYTES      raw bytes of a frame (default 1048576)
//     --variables        a line for each variable
//     --csv              set,profile,raw bytes,frame bytes: what bench/sizes.csv holds
//
// Sizes are the sizes of frames with headers and checksums. They do not depend on the machine.
#include <time.h>
#include <zstd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "bench/compression/rank_files.hpp"
#include "codecs/choice/chooser.hpp"
#include "codecs/choice/chosen_frame.hpp"
#include "codecs/frames/frame.hpp"
#include "codecs/frames/frame_plan.hpp"
#include "codecs/frames/solid_frame.hpp"
#include "codecs/solid/solid_encode.hpp"

namespace mcr::bench {
namespace {

using namespace codecs;

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

struct Options {
  std::vector<Profile> profiles;
  std::vector<std::string> pipelines;
  bool solid = false;
  bool oracle = false;
  int repeats = 3;
  std::size_t frame_bytes = std::size_t{1} << 20;
  bool variables = false;
  bool csv = false;
};

/// Sizes and times of a variable or of a set.
struct Measure {
  std::uint64_t raw_bytes = 0;
  std::uint64_t frame_bytes = 0;
  std::uint64_t oracle_bytes = 0;
  double choose_seconds = 0;
  double encode_seconds = 0;
  double decode_seconds = 0;

  void operator+=(const Measure& other) {
    raw_bytes += other.raw_bytes;
    frame_bytes += other.frame_bytes;
    oracle_bytes += other.oracle_bytes;
    choose_seconds += other.choose_seconds;
    encode_seconds += other.encode_seconds;
    decode_seconds += other.decode_seconds;
  }
  [[nodiscard]] double ratio() const {
    return static_cast<double>(raw_bytes) /
           static_cast<double>(std::max<std::uint64_t>(frame_bytes, 1));
  }
  [[nodiscard]] double mb_s(double seconds) const {
    return static_cast<double>(raw_bytes) / 1e6 / std::max(seconds, 1e-9);
  }
};

[[noreturn]] void fail(const std::string& message) {
  std::fprintf(stderr, "compression_bench: %s\n", message.c_str());
  std::exit(1);
}

/// Encodes the frames of `variable` by `choice`, one after the other, and decodes them again;
/// measures both.
Measure measure(const Variable& variable, const Choice& choice, const ProfileOptions& profile,
                const Options& options, Scratch& scratch) {
  const std::vector<FramePiece> pieces = plan_frames(variable.layout, options.frame_bytes);
  Measure result;
  result.raw_bytes = variable.raw.size();
  result.encode_seconds = result.decode_seconds = 1e30;
  Bytes stored;
  stored.reserve(variable.raw.size() + pieces.size() * max_frame_overhead);
  for (int repeat = 0; repeat < options.repeats; ++repeat) {
    stored.clear();
    const double begin = cpu_seconds();
    for (const FramePiece& piece : pieces) {
      const auto raw = ByteSpan(variable.raw).subspan(piece.begin, piece.bytes);
      const auto encoded = encode_chosen_frame(choice, profile, raw, piece.layout, variable.columns,
                                               scratch, stored);
      if (!encoded) fail(variable.name + ": " + encoded.error().message);
    }
    result.encode_seconds = std::min(result.encode_seconds, cpu_seconds() - begin);
  }
  result.frame_bytes = stored.size();
  Bytes back(variable.raw.size());
  for (int repeat = 0; repeat < options.repeats; ++repeat) {
    const double begin = cpu_seconds();
    std::size_t at = 0;
    for (const FramePiece& piece : pieces) {
      const auto frame = ByteSpan(stored).subspan(at);
      const auto info = read_frame_info(frame);
      if (!info) fail(variable.name + ": " + info.error().message);
      const auto raw = MutableByteSpan(back).subspan(piece.begin, piece.bytes);
      const auto decoded = decode_frame(frame, scratch, raw);
      if (!decoded) fail(variable.name + ": " + decoded.error().message);
      at += static_cast<std::size_t>(info->frame_bytes);
    }
    result.decode_seconds = std::min(result.decode_seconds, cpu_seconds() - begin);
  }
  if (back != variable.raw)
    fail(variable.name + ": came back different under " + choice.pipeline.print());
  return result;
}

/// Returns the fewest bytes that a candidate of the profile makes of the whole variable, and that
/// candidate.
std::pair<std::uint64_t, std::string> oracle(const Variable& variable,
                                             const ProfileOptions& profile, const Options& options,
                                             Scratch& scratch) {
  Options once = options;
  once.repeats = 1;
  std::uint64_t best = variable.raw.size();
  std::string best_text = "none";
  for (const Pipeline& pipeline : allowed_pipelines(profile, variable.layout.type)) {
    const std::uint64_t bytes =
        measure(variable, {pipeline, {}, 0, 0, {}}, profile, once, scratch).frame_bytes;
    if (bytes < best) {
      best = bytes;
      best_text = pipeline.print();
    }
  }
  return {best, best_text};
}

void print_line(const std::string& name, const std::string& label, const Measure& m,
                const Options& options) {
  if (options.csv) {
    std::printf("%s,%s,%llu,%llu\n", name.c_str(), label.c_str(),
                static_cast<unsigned long long>(m.raw_bytes),
                static_cast<unsigned long long>(m.frame_bytes));
    return;
  }
  std::printf("%-16s %-10s %11llu %11llu %8.3f  encode %7.0f  decode %7.0f MB/s", name.c_str(),
              label.c_str(), static_cast<unsigned long long>(m.raw_bytes),
              static_cast<unsigned long long>(m.frame_bytes), m.ratio(), m.mb_s(m.encode_seconds),
              m.mb_s(m.decode_seconds));
  if (m.choose_seconds > 0) {
    std::printf("  choose %4.1f%%", 100 * m.choose_seconds / std::max(m.encode_seconds, 1e-9));
  }
  if (m.oracle_bytes > 0) {
    std::printf(
        "  lost %.2f%%",
        100 * (static_cast<double>(m.frame_bytes) / static_cast<double>(m.oracle_bytes) - 1));
  }
  std::printf("\n");
}

void run(const std::string& name, const Set& set, const std::string& label,
         const ProfileOptions* profile, const Pipeline* pipeline, const Options& options) {
  Scratch scratch;
  Measure total;
  for (const Variable& variable : set.variables) {
    Choice choice;
    double choose_seconds = 0;
    if (profile != nullptr) {
      choose_seconds = 1e30;
      for (int repeat = 0; repeat < options.repeats; ++repeat) {
        const double begin = cpu_seconds();
        choice = choose(*profile, variable.layout, variable.raw, scratch, variable.name,
                        variable.columns);
        choose_seconds = std::min(choose_seconds, cpu_seconds() - begin);
      }
    } else {
      choice = {*pipeline, {}, 0, 0, {}};
    }
    // The choice was made from this very frame, so a second choice would be the same.
    if (plan_frames(variable.layout, options.frame_bytes).size() <= 1) choice.ratio = 0;
    Measure one = measure(variable, choice, profile != nullptr ? *profile : ProfileOptions{},
                          options, scratch);
    one.choose_seconds = choose_seconds;
    std::string best = choice.why;
    if (profile != nullptr && options.oracle) {
      std::tie(one.oracle_bytes, best) = oracle(variable, *profile, options, scratch);
    }
    if (options.variables) {
      print_line("  " + variable.name, "", one, options);
      std::printf("      %s; %s\n", choice.pipeline.print().c_str(), best.c_str());
    }
    total += one;
  }
  print_line(name, label, total, options);
}

/// Encodes all numbers of `set` in one solid frame; the measured time includes the choice. Does
/// nothing if the numbers are too many for such a frame.
void run_solid(const std::string& name, const Set& set, const Options& options) {
  Bytes raw;
  std::vector<Section> sections;
  for (const Variable& variable : set.variables) {
    if (variable.layout.type.kind == ElementKind::bytes) continue;
    sections.push_back({variable.name, variable.layout});
    raw.insert(raw.end(), variable.raw.begin(), variable.raw.end());
  }
  if (raw.empty() || raw.size() > solid_frame_bytes) return;
  Scratch scratch;
  Measure result;
  result.raw_bytes = raw.size();
  result.encode_seconds = result.decode_seconds = 1e30;
  Bytes frame;
  Bytes back(raw.size());
  for (int repeat = 0; repeat < options.repeats; ++repeat) {
    frame.clear();
    const double begin = cpu_seconds();
    const auto encoded = encode_solid_frame(raw, sections, solid_options({}), scratch, frame);
    if (!encoded) fail(name + ": " + encoded.error().message);
    const double between = cpu_seconds();
    const auto decoded = decode_solid_frame(frame, scratch, back);
    if (!decoded) fail(name + ": " + decoded.error().message);
    result.encode_seconds = std::min(result.encode_seconds, between - begin);
    result.decode_seconds = std::min(result.decode_seconds, cpu_seconds() - between);
  }
  if (back != raw) fail(name + ": came back different from a solid frame");
  result.frame_bytes = frame.size();
  print_line(name, "solid", result, options);
}

int main(int argc, char** argv) {
  Options options;
  std::vector<std::pair<std::string, std::string>> sets;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const auto value = [&]() -> std::string {
      if (i + 1 == argc) fail(std::string(word) + " needs a value");
      return argv[++i];
    };
    if (word == "--solid") {
      options.solid = true;
    } else if (word == "--oracle") {
      options.oracle = true;
    } else if (word == "--variables") {
      options.variables = true;
    } else if (word == "--csv") {
      options.csv = true;
      options.repeats = 1;
    } else if (word == "--repeats") {
      options.repeats = std::max(1, std::atoi(value().c_str()));
    } else if (word == "--frame") {
      options.frame_bytes = std::strtoull(value().c_str(), nullptr, 10);
    } else if (word == "--pipeline") {
      options.pipelines.push_back(value());
    } else if (word == "--profile") {
      std::string list = value();
      for (std::size_t begin = 0; begin <= list.size();) {
        const std::size_t end = std::min(list.find(',', begin), list.size());
        const auto profile = parse_profile(std::string_view(list).substr(begin, end - begin));
        if (!profile) fail(profile.error().message);
        options.profiles.push_back(*profile);
        begin = end + 1;
      }
    } else if (const std::size_t equal = word.find('='); equal != std::string_view::npos) {
      sets.emplace_back(word.substr(0, equal), word.substr(equal + 1));
    } else {
      fail("'" + std::string(word) + "' is neither an option nor NAME=DIRECTORY");
    }
  }
  if (options.profiles.empty() && options.pipelines.empty()) {
    options.profiles = {Profile::fast, Profile::balanced, Profile::max};
  }
  // The sizes in --csv depend on the version of zstd.
  if (options.csv) std::printf("# zstd %s\n", ZSTD_versionString());
  for (const auto& [name, directory] : sets) {
    const auto files = files_in(directory);
    if (!files) fail(files.error().message);
    const auto set = read_set(*files);
    if (!set) fail(set.error().message);
    for (const Profile profile : options.profiles) {
      ProfileOptions profile_options;
      profile_options.profile = profile;
      run(name, *set, std::string(profile_name(profile)), &profile_options, nullptr, options);
    }
    for (const std::string& text : options.pipelines) {
      const auto pipeline = Pipeline::parse(text);
      if (!pipeline) fail(pipeline.error().message);
      run(name, *set, text, nullptr, &*pipeline, options);
    }
    if (options.solid) run_solid(name, *set, options);
  }
  return 0;
}

}  // namespace
}  // namespace mcr::bench

int main(int argc, char** argv) { return mcr::bench::main(argc, argv); }
