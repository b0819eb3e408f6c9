// SPDX-License-Identifier: BSD-3-Clause
// Compares the frames of the coders for GPUs, which run on the CPU here, with the CPU's frames on
// sets of rank files, as they would lie in containers without solid frames.
//
//     gpu_frames NAME=DIRECTORY…
//
// For each profile and set: the share of raw bytes in frames that the kernels encode and decode, and
// the most memory of the accelerator that a frame took, in raw bytes. Exit status 1 if bytes differ.
#include <algorithm>
#include <cstdio>

#include "bench/compression/rank_files.hpp"
#include "codecs/choice/chooser.hpp"
#include "codecs/frames/frame_plan.hpp"
#include "codecs/gpu/coder/frame_coder.hpp"
#include "codecs/gpu/kernels/cpu_queue.hpp"

namespace mcr::bench {
namespace {

using codecs::FrameInfo;
using codecs::Layout;
using codecs::Pipeline;

struct Totals {
  double raw = 0;
  double encoded = 0;
  double decoded = 0;
  double memory = 0;
  std::size_t frames = 0;
  std::size_t different = 0;
};

/// Compares one frame in both directions.
Result<void> compare(ByteSpan raw, const Layout& layout, const Pipeline& pipeline,
                     codecs::gpu::RunOrder order, Scratch& scratch, Totals& totals) {
  ++totals.frames;
  totals.raw += static_cast<double>(raw.size());
  Bytes expected;
  MCR_TRY(codecs::encode_frame(raw, layout, pipeline, scratch, expected));
  const auto note_memory = [&](const codecs::gpu::CpuQueue& queue) {
    totals.memory = std::max(totals.memory, static_cast<double>(queue.most_reserved()) /
                                                static_cast<double>(std::max<std::size_t>(
                                                    raw.size(), codecs::usual_frame_bytes / 4)));
  };
  if (codecs::gpu::can_encode(pipeline, layout)) {
    totals.encoded += static_cast<double>(raw.size());
    Bytes frame;
    codecs::gpu::CpuQueue queue(SIZE_MAX, order);
    MCR_TRY(codecs::gpu::encode_frame(queue, raw, layout, pipeline, scratch, frame));
    note_memory(queue);
    if (frame != expected) ++totals.different;
  }
  const FrameInfo info = MCR_TRY(codecs::read_frame_info(expected));
  if (codecs::gpu::can_decode(info)) {
    totals.decoded += static_cast<double>(raw.size());
    Bytes back(raw.size());
    codecs::gpu::CpuQueue queue(SIZE_MAX, order);
    MCR_TRY(codecs::gpu::decode_frame(queue, expected, scratch, back));
    note_memory(queue);
    if (!std::equal(raw.begin(), raw.end(), back.begin())) ++totals.different;
  }
  return {};
}

Result<Totals> compare_set(const std::string& directory, codecs::Profile profile) {
  const Set set = MCR_TRY(read_set(MCR_TRY(files_in(directory))));
  codecs::ProfileOptions options;
  options.profile = profile;
  Scratch scratch;
  Totals totals;
  for (const Variable& variable : set.variables) {
    const Layout layout = codecs::mesh_layout(variable.layout);
    const auto choice =
        codecs::choose(options, layout, variable.raw, scratch, variable.name, variable.columns);
    for (const auto& piece : codecs::plan_frames(variable.layout, codecs::usual_frame_bytes)) {
      const auto order = static_cast<codecs::gpu::RunOrder>(totals.frames % 3);
      MCR_TRY(compare(ByteSpan(variable.raw).subspan(piece.begin, piece.bytes), piece.layout,
                      choice.pipeline, order, scratch, totals));
    }
  }
  return totals;
}

int run(int count, char** arguments) {
  bool same = true;
  std::printf("%-10s %-24s %8s %8s %8s %8s\n", "profile", "set", "frames", "encoded", "decoded",
              "memory");
  for (const char* profile : {"fast", "balanced", "max"}) {
    for (int i = 1; i < count; ++i) {
      const std::string argument = arguments[i];
      const std::size_t equals = argument.find('=');
      if (equals == std::string::npos) return 2;
      const auto totals = compare_set(argument.substr(equals + 1), *codecs::parse_profile(profile));
      if (!totals) {
        std::fprintf(stderr, "%s: %s\n", argument.c_str(), totals.error().message.c_str());
        return 1;
      }
      const double raw = std::max(totals->raw, 1.0);
      std::printf("%-10s %-24s %8zu %7.1f%% %7.1f%% %8.1f%s\n", profile,
                  argument.substr(0, equals).c_str(), totals->frames, 100 * totals->encoded / raw,
                  100 * totals->decoded / raw, totals->memory,
                  totals->different == 0 ? "" : "  DIFFERENT BYTES");
      same = same && totals->different == 0;
    }
  }
  return same ? 0 : 1;
}

}  // namespace
}  // namespace mcr::bench

int main(int count, char** arguments) { return mcr::bench::run(count, arguments); }
