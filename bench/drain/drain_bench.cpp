// SPDX-License-Identifier: BSD-3-Clause
// Measures what the leader's work from parts to a container costs beyond the work of the codecs.
// The codecs' work is measured by a bare loop in memory, which encodes the same blocks by the same
// choices, and decodes them again for verification. A second bare loop (`known`) uses the results
// of the first one, as if the parameters of pipelines, and the better one of two pipelines, had
// been known before.
//
//   drain_bench [--rounds N] [--threads N] [--profile WORD] [--no-verify] [--cold] OUT FILE…
//
// OUT is a directory for the containers. As in a leader, codecs are chosen at the first drain, and
// the measured drains use these choices; with --cold, each drain chooses anew. us_per_fragment is
// the CPU time that a drain takes beyond the bare loop, divided by the number of variables of all
// parts. It includes work that grows with the bytes (reading, checksums, writing), so that only
// sets of small variables show its fixed share. Drains and bare loops alternate in one process. The
// figures are ratios of medians, of CPU time and of time by the clock. CPU time is hardly disturbed
// by other processes on the machine, and includes the child that rehearses. Prints one JSON value.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "aggregation/commit/write_container.hpp"
#include "codecs/choice/chosen_frame.hpp"
#include "codecs/frames/frame.hpp"
#include "restart/base/file.hpp"
#include "restart/container/container_reader.hpp"

namespace mcr::aggregation {
namespace {

struct Options {
  unsigned rounds = 5;
  bool cold = false;
  MergeOptions merge;
  std::string output;
  std::vector<std::string> files;
};

/// A frame that the leader made, in memory.
struct BareFrame {
  Bytes raw;
  codecs::Layout layout;
  codecs::Choice choice;  ///< the leader's
  codecs::Choice known;   ///< the choice that the leader's frame shows
};

struct Cost {
  double cpu = 0;
  double wall = 0;
};

Cost now() {
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  Cost cost;
  for (const int whose : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    struct rusage usage {};
    ::getrusage(whose, &usage);
    cost.cpu += seconds(usage.ru_utime) + seconds(usage.ru_stime);
  }
  const auto wall = std::chrono::steady_clock::now().time_since_epoch();
  cost.wall = std::chrono::duration<double>(wall).count();
  return cost;
}

template <typename Work>
Result<Cost> cost_of(Work work) {
  const Cost before = now();
  MCR_TRY(work());
  const Cost after = now();
  return Cost{after.cpu - before.cpu, after.wall - before.wall};
}

Result<CommitReport> drain_once(const Options& options) {
  SetToCommit set;
  set.directory = options.output;
  set.name = "drain_bench.h5";
  set.set.masked_name = "bench.{rank}";
  set.set.launch = "bench";
  set.set.rank_count = static_cast<std::uint32_t>(options.files.size());
  std::vector<std::unique_ptr<restart::File>> files;
  for (const std::string& name : options.files) {
    files.push_back(
        std::make_unique<restart::File>(MCR_TRY(restart::File::open(AT_FDCWD, name, O_RDONLY))));
    set.parts.push_back({MCR_TRY(restart::PartId::random()),
                         static_cast<std::uint32_t>(set.parts.size()), name, files.back().get(),
                         MCR_TRY(files.back()->size())});
  }
  return write_container(set, options.merge);
}

/// Keeps the frames out of the rehearsal's child process: in a leader they are not in memory, so
/// its child does not get them either.
void keep_from_children(const Bytes& bytes) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = (reinterpret_cast<std::uintptr_t>(bytes.data()) + page - 1) / page * page;
  const auto end = reinterpret_cast<std::uintptr_t>(bytes.data() + bytes.size()) / page * page;
  if (end > begin) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTFORK);
}

/// Returns all plain frames of the container, decoded. Solid frames and link frames are left out,
/// because they have no pipeline of their own.
Result<std::vector<BareFrame>> frames_of(const CommitReport& report) {
  const auto container = MCR_TRY(restart::ContainerReader::open(AT_FDCWD, report.path));
  std::vector<BareFrame> frames;
  Scratch scratch;
  Bytes stored;
  std::size_t variable = 0;
  for (const restart::DatasetEntry& dataset : *MCR_TRY(container->datasets())) {
    const codecs::Choice& choice = report.variables[variable++].choice;
    for (std::uint32_t number = 0; number < dataset.frame_count; ++number) {
      const restart::FramePlace place = MCR_TRY(container->frame_place(dataset, number));
      MCR_TRY(container->stored_frame(place, stored));
      codecs::FrameInfo info = MCR_TRY(codecs::read_frame_info(stored));
      if (info.solid || info.link) {
        return Error{Cause::usage, dataset.name + " is solid: a set without repeats is needed"};
      }
      codecs::Choice known;
      known.pipeline = std::move(info.pipeline);
      known.ratio = 0;
      BareFrame frame{Bytes(place.raw_bytes), std::move(info.layout), choice, std::move(known)};
      MCR_TRY(codecs::decode_frame(stored, scratch, frame.raw));
      keep_from_children(frame.raw);
      frames.push_back(std::move(frame));
    }
  }
  return frames;
}

Result<void> bare_loop(const std::vector<BareFrame>& frames, const MergeOptions& merge,
                       codecs::Choice BareFrame::*choice) {
  Scratch scratch;
  Bytes stored;
  for (const BareFrame& frame : frames) {
    stored.clear();
    MCR_TRY(codecs::encode_chosen_frame(frame.*choice, merge.profile, frame.raw, frame.layout, {},
                                        scratch, stored));
    if (!merge.drain.verify) continue;
    const auto decoded = scratch.take<std::byte>(frame.raw.size());
    MCR_TRY(codecs::decode_frame(stored, scratch, decoded.span()));
    if (std::memcmp(decoded.data(), frame.raw.data(), frame.raw.size()) != 0) {
      return Error{Cause::damaged, "a frame does not come back"};
    }
  }
  return {};
}

double at(std::vector<double> values, double place) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(place * static_cast<double>(values.size() - 1) + 0.5)];
}

void print_ratio(const char* name, const std::vector<double>& ratios, bool last) {
  std::printf("\"%s\": {\"median\": %.4f, \"low\": %.4f, \"high\": %.4f}%s\n", name,
              at(ratios, 0.5), at(ratios, 0.25), at(ratios, 0.75), last ? "" : ",");
}

Result<void> run(const Options& options) {
  Options first = options;
  first.merge.replace = true;
  if (!options.cold) first.merge.memory = std::make_shared<ChoiceMemory>();
  const CommitReport report = MCR_TRY(drain_once(first));
  const std::vector<BareFrame> frames = MCR_TRY(frames_of(report));
  MCR_TRY(bare_loop(frames, first.merge, &BareFrame::choice));
  std::vector<double> cpu;
  std::vector<double> wall;
  std::vector<double> known_cpu;
  std::vector<double> bare_cpu;
  std::vector<double> drain_cpu;
  CommitReport last;
  for (unsigned i = 0; i < options.rounds; ++i) {
    const Cost bare =
        MCR_TRY(cost_of([&] { return bare_loop(frames, first.merge, &BareFrame::choice); }));
    const Cost known =
        MCR_TRY(cost_of([&] { return bare_loop(frames, first.merge, &BareFrame::known); }));
    // A leader's container is a new file. Without this, the drain's time would include freeing the
    // pages of the old one.
    ::unlink(report.path.c_str());
    const Cost drain = MCR_TRY(cost_of([&]() -> Result<void> {
      last = MCR_TRY(drain_once(first));
      return {};
    }));
    cpu.push_back(bare.cpu / drain.cpu);
    wall.push_back(bare.wall / drain.wall);
    known_cpu.push_back(known.cpu / drain.cpu);
    bare_cpu.push_back(bare.cpu);
    drain_cpu.push_back(drain.cpu);
  }
  const auto speed = [&](const std::vector<double>& seconds) {
    return static_cast<double>(report.raw_bytes) / at(seconds, 0.5) / 1e6;
  };
  std::printf("{\"raw_bytes\": %llu, \"container_bytes\": %llu, \"threads\": %u, \"verify\": %s,\n",
              static_cast<unsigned long long>(report.raw_bytes),
              static_cast<unsigned long long>(report.container_bytes), first.merge.drain.threads,
              first.merge.drain.verify ? "true" : "false");
  std::printf("\"bare_mb_per_cpu_second\": %.1f, \"drain_mb_per_cpu_second\": %.1f,\n",
              speed(bare_cpu), speed(drain_cpu));
  std::size_t fragments = 0;
  for (const VariableReport& variable : last.variables) {
    if (variable.name != "skeletons") fragments += variable.fragments;
  }
  std::printf(
      "\"fragments\": %zu, \"seconds_beyond_codecs\": %.4f, \"us_per_fragment\": %.2f, "
      "\"parts_not_walked\": %zu,\n",
      fragments, at(drain_cpu, 0.5) - at(bare_cpu, 0.5),
      (at(drain_cpu, 0.5) - at(bare_cpu, 0.5)) * 1e6 / static_cast<double>(fragments),
      last.parts_not_walked);
  std::printf("\"skeleton_bytes\": %llu, \"skeleton_stored_bytes\": %llu,\n",
              static_cast<unsigned long long>(last.skeleton_bytes),
              static_cast<unsigned long long>(
                  last.variables.empty() ? 0 : last.variables.back().stored_bytes));
  std::printf(
      "\"seconds_of_last\": {\"inventory\": %.3f, \"plan\": %.3f, \"choose\": %.3f, "
      "\"drain\": %.3f, \"fetch\": %.3f, \"encode\": %.3f, \"verify\": %.3f, \"write\": %.3f, "
      "\"finish\": %.3f, \"commit\": %.3f},\n",
      last.inventory_seconds, last.plan_seconds, last.choose_seconds, last.drain.wall,
      last.drain.fetch, last.drain.encode, last.drain.verify, last.drain.write, last.finish_seconds,
      last.commit_seconds);
  print_ratio("throughput_over_bare_cpu", cpu, false);
  print_ratio("throughput_over_known_cpu", known_cpu, false);
  print_ratio("throughput_over_bare_wall", wall, true);
  std::printf("}\n");
  return {};
}

Result<Options> parse(int count, char** words) {
  Options options;
  options.merge.drain.threads = 1;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    const bool has_value = i + 1 < count;
    if (word == "--rounds" && has_value) {
      options.rounds = std::max(1U, static_cast<unsigned>(std::atoi(words[++i])));
    } else if (word == "--threads" && has_value) {
      options.merge.drain.threads = std::max(1U, static_cast<unsigned>(std::atoi(words[++i])));
    } else if (word == "--profile" && has_value) {
      options.merge.profile.profile = MCR_TRY(codecs::parse_profile(words[++i]));
    } else if (word == "--cold") {
      options.cold = true;
    } else if (word == "--no-verify") {
      options.merge.drain.verify = false;
    } else if (options.output.empty()) {
      options.output = word;
    } else {
      options.files.push_back(word);
    }
  }
  if (options.files.empty()) return Error{Cause::usage, "see the program's first lines"};
  return options;
}

}  // namespace
}  // namespace mcr::aggregation

int main(int count, char** words) {
  const auto options = mcr::aggregation::parse(count, words);
  const auto done = options ? mcr::aggregation::run(*options) : mcr::Result<void>(options.error());
  if (done) return 0;
  std::fprintf(stderr, "drain_bench: %s\n", done.error().message.c_str());
  return 1;
}
