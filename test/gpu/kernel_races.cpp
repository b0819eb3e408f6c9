// SPDX-License-Identifier: BSD-3-Clause
// Encodes and decodes small frames by kernels that have a thread of the machine for each thread of a
// block. test/gpu/kernel-races compiles this with the thread sanitizer.
#include <cstdio>

#include "codecs/gpu/coder/frame_coder.hpp"
#include "codecs/gpu/kernels/cpu_queue.hpp"
#include "test/unit/codecs/sample_data.hpp"

namespace mcr::codecs {
namespace {

bool is_right(const char* text, const Layout& layout, sample::Pattern pattern) {
  Scratch scratch;
  const auto pipeline = Pipeline::parse(text);
  const Bytes raw = sample::make(layout.type, static_cast<std::size_t>(layout.count()), pattern, 3);
  Bytes expected;
  Bytes frame;
  if (!pipeline || !encode_frame(raw, layout, *pipeline, scratch, expected)) return false;
  gpu::CpuQueue queue;
  if (!gpu::encode_frame(queue, raw, layout, *pipeline, scratch, frame)) return false;
  if (frame != expected) return false;
  if (!gpu::can_decode(*read_frame_info(frame))) return true;
  Bytes back(raw.size());
  return gpu::decode_frame(queue, frame, scratch, back) && back == raw;
}

}  // namespace
}  // namespace mcr::codecs

int main() {
  using namespace mcr::codecs;
  const Layout boxes{sample::f8, {{3, {3, 8, 9}}, {2, {60, 3}}, Shape::flat(70)}};
  const Layout row{sample::f8, {Shape::flat(60)}};
  bool right = true;
  for (const auto pattern : {sample::Pattern::few, sample::Pattern::stepped}) {
    for (const char* text :
         {"lorenzo(auto)|class_coder", "lorenzo(auto)|class_coder(smallest,contexts)",
          "structure_split|lorenzo(2,float)|class_coder(smallest)",
          "lorenzo(3,float,order2)|planes(smallest)", "lorenzo(2,integer)|planes",
          "top_bits(3,smallest)", "dictionary", "ordered_int|delta|zigzag|class_coder",
          "transpose|entropy"}) {
      if (is_right(text, boxes, pattern)) continue;
      std::printf("%s: other bytes than the CPU's\n", text);
      right = false;
    }
    right = right && is_right("lorenzo(1,float,order3)|class_coder", row, pattern);
  }
  return right ? 0 : 1;
}
