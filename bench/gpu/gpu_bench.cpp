// SPDX-License-Identifier: BSD-3-Clause
// Codes sets of rank files on a card and on the CPU: are the bytes the same, and how fast is each, with
// the transfers to and from the card?
//
//   gpu_bench [options] NAME=DIRECTORY…
//     --profile P[,P…]   profiles (default fast,balanced,max)
//     --card INDEX       (default: the first that may be used)
//     --lanes N          lanes to the card at a time (default 8)
//     --threads N        threads of the CPU (default 16), besides the figures of one
//     --mib N            raw MiB that are coded in a measurement: a set is repeated or cut (default 512)
//     --repeats N        shortest time of N runs (default 3)
//     --memory MIB       as gpu_memory= (default 512)
//     --raw DIRECTORY    also writes NAME.raw there, the raw frames, for nvcomp_codecs.py
//     --drain SECONDS    only encodes and decodes, again and again, for so long
//     --solver SECONDS   only runs a memory-bound kernel, and prints how often in a second; without sets
//
// A line for each set and profile; frames that the card does not take are coded by its lane's thread, and
// counted. Times are wall-clock. Exit code 1: some bytes differ.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <thread>

#include "bench/compression/rank_files.hpp"
#include "codecs/choice/chooser.hpp"
#include "codecs/frames/frame.hpp"
#include "codecs/frames/frame_plan.hpp"
#include "codecs/gpu/coder/frame_coder.hpp"
#include "codecs/gpu/device/card.hpp"
#include "codecs/gpu/kernels/kernel_names.hpp"
#include "codecs/gpu/kernels/module_text.hpp"

namespace mcr::bench {
namespace {

using namespace codecs;

struct Options {
  std::vector<Profile> profiles;
  std::optional<int> card;
  unsigned lanes = 8;
  unsigned threads = 16;
  std::size_t raw_bytes = std::size_t{512} << 20;
  int repeats = 3;
  std::size_t memory_bytes = std::size_t{512} << 20;
  std::string raw_directory;
  double solver_seconds = 0;
  double drain_seconds = 0;
};

/// One frame's source, and what each coder makes of it.
struct Frame {
  ByteSpan raw;
  const Layout* layout = nullptr;
  const Pipeline* pipeline = nullptr;
  Bytes stored;
  Bytes from_card;
  Bytes back;
};

[[noreturn]] void fail(const std::string& message) {
  std::fprintf(stderr, "gpu_bench: %s\n", message.c_str());
  std::exit(1);
}

/// Runs work(thread, frame) for all frames on `threads` threads; returns the shortest time of all runs.
double time_of(std::size_t frames, unsigned threads, int repeats,
               const std::function<void(unsigned, std::size_t)>& work) {
  double best = 1e30;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    std::atomic<std::size_t> next{0};
    const auto begin = std::chrono::steady_clock::now();
    std::vector<std::thread> all;
    for (unsigned thread = 0; thread < threads; ++thread) {
      all.emplace_back([&, thread] {
        for (std::size_t i = next++; i < frames; i = next++) work(thread, i);
      });
    }
    for (std::thread& one : all) one.join();
    best = std::min(
        best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return best;
}

/// The queues to the card, one for each thread.
class Lanes {
 public:
  Lanes(gpu::Card& card, const Options& options) : card_(card) {
    for (unsigned i = 0; i < options.lanes; ++i) {
      auto queue = card.make_queue(options.memory_bytes / options.lanes);
      if (!queue) fail("no queue: " + queue.error().message);
      queues_.push_back(*std::move(queue));
    }
  }
  gpu::Queue& operator[](unsigned lane) { return *queues_[lane]; }
  [[nodiscard]] gpu::Card& card() { return card_; }

 private:
  gpu::Card& card_;
  std::vector<std::unique_ptr<gpu::Queue>> queues_;
};

void encode(Frame& frame, Scratch& scratch) {
  frame.stored.clear();
  const auto done = encode_frame(frame.raw, *frame.layout, *frame.pipeline, scratch, frame.stored);
  if (!done) fail(done.error().message);
}

void decode(Frame& frame, Scratch& scratch) {
  frame.back.resize(frame.raw.size());
  const auto done = decode_frame(frame.stored, scratch, frame.back);
  if (!done) fail(done.error().message);
}

/// Returns true if the card encoded the frame.
bool encode_on_card(Frame& frame, gpu::Queue& queue, Scratch& scratch) {
  frame.from_card.clear();
  const bool is_taken = gpu::can_encode(*frame.pipeline, *frame.layout);
  const auto done =
      is_taken ? gpu::encode_frame(queue, frame.raw, *frame.layout, *frame.pipeline, scratch,
                                   frame.from_card)
               : encode_frame(frame.raw, *frame.layout, *frame.pipeline, scratch, frame.from_card);
  if (!done) fail("card: " + done.error().message);
  return is_taken;
}

bool decode_on_card(Frame& frame, gpu::Queue& queue, Scratch& scratch) {
  frame.back.resize(frame.raw.size());
  const auto info = read_frame_info(frame.stored);
  const bool is_taken = info && gpu::can_decode(*info);
  const auto done = is_taken ? gpu::decode_frame(queue, frame.stored, scratch, frame.back)
                             : decode_frame(frame.stored, scratch, frame.back);
  if (!done) fail("card: " + done.error().message);
  return is_taken;
}

/// What a set is coded from: its variables' frames, repeated until they have the wanted size.
struct Work {
  std::vector<Choice> choices;
  std::vector<std::vector<FramePiece>> pieces;
  std::vector<Frame> frames;
  std::size_t raw_bytes = 0;
};

Work make_work(const Set& set, Profile profile, std::size_t wanted) {
  Work work;
  ProfileOptions options;
  options.profile = profile;
  Scratch scratch;
  for (const Variable& variable : set.variables) {
    work.choices.push_back(
        choose(options, variable.layout, variable.raw, scratch, variable.name, variable.columns));
    work.pieces.push_back(plan_frames(variable.layout, usual_frame_bytes));
  }
  while (work.raw_bytes < wanted) {
    const std::size_t before = work.raw_bytes;
    for (std::size_t v = 0; v < set.variables.size(); ++v) {
      for (const FramePiece& piece : work.pieces[v]) {
        if (work.raw_bytes >= wanted) break;
        work.frames.push_back({ByteSpan(set.variables[v].raw).subspan(piece.begin, piece.bytes),
                               &piece.layout,
                               &work.choices[v].pipeline,
                               {},
                               {},
                               {}});
        work.raw_bytes += piece.bytes;
      }
    }
    if (work.raw_bytes == before) fail("a set has no data");
  }
  return work;
}

bool run(const std::string& name, const Set& set, Profile profile, Lanes& lanes,
         const Options& options) {
  Work work = make_work(set, profile, options.raw_bytes);
  std::vector<Frame>& frames = work.frames;
  std::vector<Scratch> scratches(std::max({options.threads, options.lanes, 1U}));
  const auto gb_s = [&](double seconds) {
    return static_cast<double>(work.raw_bytes) / 1e9 / seconds;
  };
  struct Pair {
    double encode, decode;
  };
  const auto on_cpu = [&](unsigned threads) {
    const auto all = [&](void (*code)(Frame&, Scratch&)) {
      return time_of(frames.size(), threads, options.repeats,
                     [&](unsigned thread, std::size_t i) { code(frames[i], scratches[thread]); });
    };
    const double encoding = all(encode);
    return Pair{encoding, all(decode)};
  };
  const Pair one = on_cpu(1);
  const Pair many = on_cpu(options.threads);
  std::size_t stored_bytes = 0;
  for (const Frame& frame : frames) stored_bytes += frame.stored.size();

  std::atomic<std::size_t> taken_bytes{0};
  std::atomic<std::size_t> decoded_bytes{0};
  std::atomic<std::size_t> wrong{0};
  const auto on_card = [&](int repeats, const auto& code, auto& bytes) {
    bytes = 0;
    return time_of(frames.size(), options.lanes, repeats, [&](unsigned lane, std::size_t i) {
      if (code(frames[i], lanes[lane], scratches[lane])) bytes += frames[i].raw.size();
    });
  };
  on_card(1, encode_on_card, taken_bytes);  // the driver does much at the first use
  const double card_encode = on_card(options.repeats, encode_on_card, taken_bytes);
  for (const Frame& frame : frames) wrong += frame.from_card != frame.stored ? 1 : 0;
  for (Frame& frame : frames) std::fill(frame.back.begin(), frame.back.end(), std::byte{0});
  on_card(1, decode_on_card, decoded_bytes);
  for (const Frame& frame : frames) {
    const bool is_same = frame.back.size() == frame.raw.size() &&
                         std::memcmp(frame.back.data(), frame.raw.data(), frame.raw.size()) == 0;
    wrong += is_same ? 0 : 1;
  }
  const double card_decode = on_card(options.repeats, decode_on_card, decoded_bytes);
  const auto percent = [&](std::size_t bytes, int repeats) {
    return 100 * static_cast<double>(bytes) / static_cast<double>(work.raw_bytes) / repeats;
  };
  std::printf(
      "%-16s %-9s ratio %7.3f  encode GB/s: card %6.2f (%3.0f %% of the bytes)  %u threads %6.2f  "
      "one %5.2f  decode GB/s: card %6.2f (%3.0f %%)  %u threads %6.2f  one %5.2f  %s\n",
      name.c_str(), std::string(profile_name(profile)).c_str(),
      static_cast<double>(work.raw_bytes) / static_cast<double>(stored_bytes), gb_s(card_encode),
      percent(taken_bytes, options.repeats), options.threads, gb_s(many.encode), gb_s(one.encode),
      gb_s(card_decode), percent(decoded_bytes, options.repeats), options.threads,
      gb_s(many.decode), gb_s(one.decode),
      wrong == 0 ? "same bytes" : (std::to_string(wrong) + " FRAMES DIFFER").c_str());
  std::fflush(stdout);
  return wrong == 0;
}

/// A kernel that reads and writes all of its memory, as a solver does: out[i] = in[i] * 3 + 1.
constexpr char solver_text[] = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry mcr_solver(.param .align 8 .b8 arguments[128])
{
  .reg .pred %p<2>;
  .reg .f64 %d<3>;
  .reg .b32 %r<5>;
  .reg .b64 %l<8>;
  ld.param.u64 %l0, [arguments];
  ld.param.u64 %l1, [arguments+8];
  ld.param.u64 %l2, [arguments+16];
  mov.u32 %r0, %ctaid.x;
  mov.u32 %r1, %ntid.x;
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, %nctaid.x;
  mul.wide.u32 %l3, %r0, %r1;
  cvt.u64.u32 %l4, %r2;
  add.u64 %l3, %l3, %l4;
  mul.wide.u32 %l5, %r3, %r1;
LOOP:
  setp.ge.u64 %p1, %l3, %l2;
  @%p1 bra DONE;
  shl.b64 %l6, %l3, 3;
  add.u64 %l7, %l0, %l6;
  ld.global.f64 %d0, [%l7];
  fma.rn.f64 %d1, %d0, 0d4008000000000000, 0d3FF0000000000000;
  add.u64 %l7, %l1, %l6;
  st.global.f64 [%l7], %d1;
  add.u64 %l3, %l3, %l5;
  bra LOOP;
DONE:
  ret;
}
)";

/// Returns the runs of the solver's kernel in a second, over `seconds`.
double solver_speed(gpu::Queue& queue, double seconds) {
  constexpr std::uint64_t numbers = std::uint64_t{32} << 20;
  const auto in = queue.reserve(numbers * 8);
  const auto out = queue.reserve(numbers * 8);
  if (!in || !out) fail("no memory for the solver");
  gpu::KernelArguments arguments;
  arguments.words[0] = *in;
  arguments.words[1] = *out;
  arguments.words[2] = numbers;
  if (!queue.fill_zero(*in, numbers * 8)) fail("the solver cannot begin");
  const auto begin = std::chrono::steady_clock::now();
  const auto passed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  std::uint64_t runs = 0;
  while (passed() < seconds) {
    constexpr int at_once = 16;
    for (int i = 0; i < at_once; ++i) {
      if (const auto done = queue.launch(0, 2048, arguments); !done) fail(done.error().message);
    }
    if (const auto done = queue.finish(); !done) fail(done.error().message);
    runs += at_once;
  }
  const double speed = static_cast<double>(runs) / passed();
  queue.release();
  return speed;
}

/// Runs the solver alone, and prints its speed.
void run_solver(const Options& options) {
  static constexpr const char* solver_name = "mcr_solver";
  auto card = gpu::Card::open(gpu::DriverUse::own_process, options.card,
                              {std::string_view(solver_text, sizeof solver_text),
                               std::span<const char* const>(&solver_name, 1)},
                              &gpu::make_thread_runner);
  if (!card) fail("solver: " + card.error().message);
  auto queue = (*card)->make_queue(std::size_t{1} << 30);
  if (!queue) fail("solver: " + queue.error().message);
  solver_speed(**queue, options.solver_seconds / 4);
  std::printf("solver %.1f runs/s\n", solver_speed(**queue, options.solver_seconds));
}

/// Encodes and decodes the set again and again, as a leader without pauses does.
void run_drain(const std::string& name, const Set& set, Profile profile, Lanes& lanes,
               const Options& options) {
  Work work = make_work(set, profile, options.raw_bytes);
  std::vector<Scratch> scratches(options.lanes);
  const auto begin = std::chrono::steady_clock::now();
  const auto passed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  std::atomic<std::uint64_t> coded{0};
  while (passed() < options.drain_seconds) {
    time_of(work.frames.size(), options.lanes, 1, [&](unsigned lane, std::size_t i) {
      Frame& frame = work.frames[i];
      if (passed() >= options.drain_seconds) return;
      encode_on_card(frame, lanes[lane], scratches[lane]);
      std::swap(frame.stored, frame.from_card);
      decode_on_card(frame, lanes[lane], scratches[lane]);
      coded += frame.raw.size();
    });
  }
  std::printf("%-16s %-9s drain %.2f GB/s, encoded and decoded\n", name.c_str(),
              std::string(profile_name(profile)).c_str(),
              static_cast<double>(coded) / 1e9 / passed());
}

/// Writes the raw frames: for each, its bytes and the size of an element as 8-byte numbers, then them.
void write_raw(const std::string& name, const Set& set, const Options& options) {
  std::ofstream out(options.raw_directory + "/" + name + ".raw", std::ios::binary);
  const Work work = make_work(set, Profile::none, options.raw_bytes);
  for (const Frame& frame : work.frames) {
    const std::uint64_t head[] = {frame.raw.size(), frame.layout->type.size};
    out.write(reinterpret_cast<const char*>(head), sizeof head);
    out.write(reinterpret_cast<const char*>(frame.raw.data()),
              static_cast<std::streamsize>(frame.raw.size()));
  }
  if (!out.flush()) fail("cannot write below " + options.raw_directory);
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
    const auto number = [&] { return std::strtoull(value().c_str(), nullptr, 10); };
    if (word == "--profile") {
      std::string list = value();
      for (std::size_t begin = 0; begin <= list.size();) {
        const std::size_t end = std::min(list.find(',', begin), list.size());
        const auto profile = parse_profile(std::string_view(list).substr(begin, end - begin));
        if (!profile) fail(profile.error().message);
        options.profiles.push_back(*profile);
        begin = end + 1;
      }
    } else if (word == "--card") {
      options.card = static_cast<int>(number());
    } else if (word == "--lanes") {
      options.lanes = std::max(1U, static_cast<unsigned>(number()));
    } else if (word == "--threads") {
      options.threads = std::max(1U, static_cast<unsigned>(number()));
    } else if (word == "--mib") {
      options.raw_bytes = static_cast<std::size_t>(number()) << 20;
    } else if (word == "--repeats") {
      options.repeats = std::max(1, static_cast<int>(number()));
    } else if (word == "--memory") {
      options.memory_bytes = static_cast<std::size_t>(number()) << 20;
    } else if (word == "--raw") {
      options.raw_directory = value();
    } else if (word == "--solver") {
      options.solver_seconds = std::strtod(value().c_str(), nullptr);
    } else if (word == "--drain") {
      options.drain_seconds = std::strtod(value().c_str(), nullptr);
    } else if (const std::size_t equal = word.find('='); equal != std::string_view::npos) {
      sets.emplace_back(word.substr(0, equal), word.substr(equal + 1));
    } else {
      fail("'" + std::string(word) + "' is neither an option nor NAME=DIRECTORY");
    }
  }
  if (options.profiles.empty()) options.profiles = {Profile::fast, Profile::balanced, Profile::max};
  if (options.solver_seconds > 0) {
    run_solver(options);
    return 0;
  }
  const auto card =
      gpu::Card::open(gpu::DriverUse::own_process, options.card,
                      {gpu::module_text(), gpu::kernel_names()}, &gpu::make_thread_runner);
  if (!card) fail(card.error().message);
  std::printf("# GPU %d: %s, compute capability %d.%d; %u lanes, %zu MiB\n", (*card)->facts().index,
              (*card)->facts().name.c_str(), (*card)->facts().capability_major,
              (*card)->facts().capability_minor, options.lanes, options.raw_bytes >> 20);
  Lanes lanes(**card, options);
  bool is_right = true;
  for (const auto& [name, directory] : sets) {
    const auto files = files_in(directory);
    if (!files) fail(files.error().message);
    const auto set = read_set(*files);
    if (!set) fail(set.error().message);
    if (!options.raw_directory.empty()) write_raw(name, *set, options);
    for (const Profile profile : options.profiles) {
      if (options.drain_seconds > 0) {
        run_drain(name, *set, profile, lanes, options);
      } else {
        is_right &= run(name, *set, profile, lanes, options);
      }
    }
  }
  return is_right ? 0 : 1;
}

}  // namespace
}  // namespace mcr::bench

int main(int argc, char** argv) { return mcr::bench::main(argc, argv); }
