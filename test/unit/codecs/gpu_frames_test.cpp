// SPDX-License-Identifier: BSD-3-Clause
// The accelerator's coders, run on the CPU: they make the frames that the CPU's coders make, in
// whatever order threads and blocks run.
#include <functional>
#include <set>

#include "codecs/base/registry.hpp"
#include "codecs/frames/plain_frame.hpp"
#include "codecs/gpu/coder/frame_coder.hpp"
#include "codecs/gpu/coder/lorenzo_transform.hpp"
#include "codecs/gpu/kernels/cpu_queue.hpp"
#include "codecs/lorenzo/predictor.hpp"
#include "sample_data.hpp"
#include "test/support/catch.hpp"

namespace mcr::codecs {
namespace {

using gpu::CpuQueue;
using gpu::RunOrder;
using sample::Pattern;

const std::vector<std::string>& encoded_pipelines() {
  static const std::vector<std::string> pipelines{
      "lorenzo(auto)|class_coder",
      "lorenzo(auto)|class_coder(smallest)",
      "lorenzo(auto)|class_coder(smallest,contexts)",
      "lorenzo(auto)|planes",
      "lorenzo(auto)|planes(smallest)",
      "structure_split|lorenzo(auto)|class_coder",
      "structure_split|lorenzo(auto)|class_coder(smallest,contexts)",
      "structure_split|lorenzo(auto)|planes(smallest)",
      "structure_split|planes(smallest,zstd=3)",
      "structure_split(f4)|lorenzo(auto)|class_coder",
      "planes",
      "planes(smallest)",
      "planes(zstd=0)",
      "top_bits",
      "top_bits(3,smallest)",
      "top_bits(4)",
      "dictionary",
      "structure_split|dictionary",
      "entropy",
      "entropy(smallest)",
      "transpose|entropy",
      "transpose(3)|entropy(smallest)",
      "ordered_int|delta|zigzag|class_coder",
      "delta|zigzag|planes",
      "ordered_int|planes",
  };
  return pipelines;
}

Pipeline parsed(const std::string& text) {
  auto pipeline = Pipeline::parse(text);
  if (!pipeline) FAIL(pipeline.error().message);
  return *pipeline;
}

/// Encodes `raw` by both coders and compares; false if accelerators do not take the pipeline.
bool same_frame(const Pipeline& pipeline, const Layout& layout, const Bytes& raw, RunOrder order) {
  if (!gpu::can_encode(pipeline, layout)) return false;
  static Scratch scratch;
  Bytes expected{std::byte{42}};  // encode_frame() appends
  Bytes frame{std::byte{42}};
  const auto by_cpu = encode_frame(raw, layout, pipeline, scratch, expected);
  if (!by_cpu) FAIL(by_cpu.error().message);
  CpuQueue queue(SIZE_MAX, order);
  const auto by_gpu = gpu::encode_frame(queue, raw, layout, pipeline, scratch, frame);
  if (!by_gpu) FAIL(by_gpu.error().message);
  REQUIRE(frame == expected);
  return true;
}

/// Decodes the CPU's frame of `raw` and compares; false if accelerators do not take the frame.
bool comes_back(const Pipeline& pipeline, const Layout& layout, const Bytes& raw, RunOrder order) {
  static Scratch scratch;
  Bytes frame;
  const auto encoded = encode_frame(raw, layout, pipeline, scratch, frame);
  if (!encoded) FAIL(encoded.error().message);
  if (!gpu::can_decode(*read_frame_info(frame))) return false;
  Bytes back(raw.size(), std::byte{0x55});
  CpuQueue queue(SIZE_MAX, order);
  const auto decoded = gpu::decode_frame(queue, frame, scratch, back);
  if (!decoded) FAIL(decoded.error().message);
  REQUIRE(back == raw);
  return true;
}

/// Calls `visit(predictor, pipeline, layout, raw, order)` for each byte that may name a predictor, with all types
/// of numbers and all patterns.
template <typename Visit>
void for_each_predictor(const Visit& visit) {
  for (unsigned byte = 0; byte < 64; ++byte) {
    Pipeline pipeline = parsed("lorenzo|class_coder");
    pipeline.steps[0].parameters = {static_cast<std::byte>(byte)};
    for (const ElementType& type : sample::number_types()) {
      const Layout layout{type,
                          {{3, {4, 5, 6}},
                           Shape::flat(27),
                           {4, {2, 3, 4, 5}},
                           {2, {3, 9}},
                           Shape::flat(3),
                           {3, {1, 2, 1}}}};
      for (int p = 0; p < static_cast<int>(Pattern::last); ++p) {
        const auto count = static_cast<std::size_t>(layout.count());
        const Bytes raw = sample::make(type, count, static_cast<Pattern>(p), byte);
        INFO(byte << " " << sample::describe(layout));
        visit(byte, pipeline, layout, raw, static_cast<RunOrder>(p % 3));
      }
    }
  }
}

TEST_CASE("an accelerator's frames are the CPU's for every type, shape and bit pattern") {
  for (const std::string& text : encoded_pipelines()) {
    DYNAMIC_SECTION(text) {
      const Pipeline pipeline = parsed(text);
      bool taken = false;
      for (const ElementType& type : sample::all_types()) {
        for (const auto& bricks : sample::odd_shapes()) {
          const Layout layout{type, bricks};
          INFO(sample::describe(layout));
          for (int p = 0; p < static_cast<int>(Pattern::last); ++p) {
            const Bytes raw = sample::make(type, static_cast<std::size_t>(layout.count()),
                                           static_cast<Pattern>(p), 7);
            taken |= same_frame(pipeline, layout, raw, static_cast<RunOrder>(p % 3));
          }
        }
      }
      REQUIRE(taken);
    }
  }
}

TEST_CASE("an accelerator's frames are the CPU's at every edge of segments, streams and tiles") {
  for (const std::string& text : encoded_pipelines()) {
    DYNAMIC_SECTION(text) {
      const Pipeline pipeline = parsed(text);
      for (const std::uint32_t count :
           {1U, 2U, 3U, 4U, 5U, 255U, 256U, 257U, 4095U, 4097U, 32767U, 32768U, 32769U, 70001U}) {
        for (const ElementType& type : {sample::f8, sample::f4, sample::i4,
                                        ElementType{ElementKind::unsigned_integer, 1, false},
                                        ElementType{ElementKind::signed_integer, 2, false}}) {
          const Layout layout{type, {Shape::flat(count)}};
          INFO(sample::describe(layout));
          for (const auto pattern : {Pattern::smooth, Pattern::few, Pattern::specials}) {
            same_frame(pipeline, layout, sample::make(type, count, pattern, count),
                       static_cast<RunOrder>(count % 3));
          }
        }
      }
    }
  }
}

TEST_CASE("an accelerator decodes the CPU's frames of every type, shape and bit pattern") {
  for (const std::string& text : encoded_pipelines()) {
    DYNAMIC_SECTION(text) {
      const Pipeline pipeline = parsed(text);
      bool taken = false;
      for (const ElementType& type : sample::all_types()) {
        for (const auto& bricks : sample::odd_shapes()) {
          const Layout layout{type, bricks};
          INFO(sample::describe(layout));
          for (int p = 0; p < static_cast<int>(Pattern::last); ++p) {
            const Bytes raw = sample::make(type, static_cast<std::size_t>(layout.count()),
                                           static_cast<Pattern>(p), 7);
            taken |= comes_back(pipeline, layout, raw, static_cast<RunOrder>(p % 3));
          }
        }
      }
      REQUIRE(taken == !text.ends_with("contexts)"));
    }
  }
}

TEST_CASE("an accelerator decodes the CPU's frames at every edge of segments and streams") {
  for (const std::string& text : encoded_pipelines()) {
    const Pipeline pipeline = parsed(text);
    for (const std::uint32_t count :
         {1U, 2U, 3U, 4U, 5U, 2047U, 2049U, 32767U, 32768U, 32769U, 70001U}) {
      for (const ElementType& type :
           {sample::f8, sample::i4, ElementType{ElementKind::unsigned_integer, 1, false}}) {
        const Layout layout{type, {Shape::flat(count)}};
        INFO(text << " " << sample::describe(layout));
        for (const auto pattern : {Pattern::smooth, Pattern::few}) {
          comes_back(pipeline, layout, sample::make(type, count, pattern, count),
                     static_cast<RunOrder>(count % 3));
        }
      }
    }
  }
}

TEST_CASE("an accelerator decodes every predictor") {
  for_each_predictor([](unsigned, const auto&... frame) { comes_back(frame...); });
}

TEST_CASE("an accelerator refuses exactly the damaged payloads that the CPU refuses") {
  Scratch scratch;
  std::mt19937_64 random(11);
  for (const std::string& text : encoded_pipelines()) {
    for (const auto pattern : {Pattern::smooth, Pattern::few, Pattern::stepped}) {
      const Layout layout{sample::f8, {{2, {19, 31}}, Shape::flat(500)}};
      const auto count = static_cast<std::size_t>(layout.count());
      const Bytes raw = sample::make(layout.type, count, pattern, 3);
      Bytes frame;
      REQUIRE(encode_frame(raw, layout, parsed(text), scratch, frame));
      const auto plain = open_plain_frame(frame);
      if (!gpu::can_decode(plain->info)) continue;
      INFO(text);
      const auto try_both = [&](const Bytes& payload) {
        Bytes bad;
        REQUIRE(write_plain_frame(raw, layout, plain->info.pipeline, {}, payload, bad));
        Bytes by_cpu(raw.size());
        Bytes by_gpu(raw.size());
        const auto cpu = decode_frame(bad, scratch, by_cpu);
        CpuQueue queue;
        const auto gpu = gpu::decode_frame(queue, bad, scratch, by_gpu);
        REQUIRE(cpu.has_value() == gpu.has_value());
        if (!gpu) REQUIRE(gpu.error().cause == cpu.error().cause);
        if (gpu) REQUIRE(by_gpu == raw);
      };
      const Bytes good(plain->payload.begin(), plain->payload.end());
      for (std::size_t length = 0; length < good.size(); length += 1 + good.size() / 40) {
        try_both(Bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(length)));
      }
      for (int flips = 0; flips < 150; ++flips) {
        Bytes bad = good;
        const std::size_t reach =
            flips % 2 == 0 ? std::min<std::size_t>(60, bad.size()) : bad.size();
        for (int k = 0; k < 1 + flips % 3; ++k) {
          bad[random() % reach] ^= static_cast<std::byte>(1U << (random() % 8));
        }
        try_both(bad);
      }
    }
  }
}

TEST_CASE("an accelerator's frames do not depend on the order of threads and blocks") {
  for (const std::string& text : encoded_pipelines()) {
    const Pipeline pipeline = parsed(text);
    const Layout layout{sample::f8, {{3, {40, 50, 60}}, {2, {1000, 3}}}};
    const auto count = static_cast<std::size_t>(layout.count());
    for (const auto pattern : {Pattern::smooth, Pattern::stepped, Pattern::random}) {
      const Bytes raw = sample::make(layout.type, count, pattern, 5);
      INFO(text);
      for (const auto order : {RunOrder::forward, RunOrder::reversed, RunOrder::shuffled}) {
        same_frame(pipeline, layout, raw, order);
        comes_back(pipeline, layout, raw, order);
      }
    }
  }
}

TEST_CASE("an accelerator's frames are the CPU's for every predictor") {
  std::set<unsigned> seen;
  for_each_predictor([&](unsigned predictor, const auto&... frame) {
    if (same_frame(frame...)) seen.insert(predictor);
  });
  REQUIRE(seen.size() == 36);
}

TEST_CASE("an accelerator's frames of big-endian numbers are the CPU's") {
  const Layout layout{{ElementKind::floating, 8, true}, {{3, {8, 9, 10}}}};
  for (const std::string& text : encoded_pipelines()) {
    for (int p = 0; p < static_cast<int>(Pattern::last); ++p) {
      const Bytes raw = sample::make(layout.type, static_cast<std::size_t>(layout.count()),
                                     static_cast<Pattern>(p), 3);
      INFO(text);
      same_frame(parsed(text), layout, raw, RunOrder::forward);
      comes_back(parsed(text), layout, raw, RunOrder::forward);
    }
  }
}

/// Both decoders must refuse the frame of `raw` that has this payload.
void both_refuse(const Pipeline& pipeline, const Layout& layout, const Bytes& raw,
                 const Bytes& payload) {
  Scratch scratch;
  Bytes frame;
  REQUIRE(write_plain_frame(raw, layout, pipeline, {}, payload, frame));
  Bytes back(raw.size());
  REQUIRE_FALSE(decode_frame(frame, scratch, back));
  CpuQueue queue;
  const auto decoded = gpu::decode_frame(queue, frame, scratch, back);
  REQUIRE_FALSE(decoded);
  REQUIRE(decoded.error().cause == Cause::damaged);
}

TEST_CASE(
    "an accelerator refuses streams with a byte too many, though all numbers come out right") {
  const Layout layout{{ElementKind::unsigned_integer, 1, false}, {Shape::flat(20000)}};
  for (const char* text : {"entropy", "entropy(smallest)"}) {
    const Pipeline pipeline = parsed(text);
    Scratch scratch;
    Bytes frame;
    Bytes raw(20000);
    for (std::size_t i = 0; i < raw.size(); ++i) {
      raw[i] = static_cast<std::byte>(i % 97 == 0 ? 1 + i % 5 : 0);
    }
    REQUIRE(encode_frame(raw, layout, pipeline, scratch, frame));
    Bytes payload(open_plain_frame(frame)->payload.begin(), open_plain_frame(frame)->payload.end());
    REQUIRE(payload[0] == std::byte(pipeline.steps[0].parameters.empty() ? 2 : 3));
    // The last stream ends the payload; its size is the last one of the directory, and is found as
    // the four sizes that add up to all that follows them.
    std::size_t directory = 0;
    for (std::size_t at = 2; at + 8 < payload.size() && directory == 0; ++at) {
      std::size_t sum = 0;
      for (std::size_t k = 0; k < 4; ++k) {
        sum += little_endian(load<std::uint16_t>(payload.data() + at + 2 * k));
      }
      if (at + 8 + sum == payload.size()) directory = at;
    }
    REQUIRE(directory != 0);
    std::byte* const last = payload.data() + directory + 6;
    store(last,
          little_endian(static_cast<std::uint16_t>(little_endian(load<std::uint16_t>(last)) + 1)));
    payload.push_back(std::byte{0});
    INFO(text);
    both_refuse(pipeline, layout, raw, payload);
  }
}

TEST_CASE(
    "an accelerator refuses rest bits with a byte too many, though all numbers come out right") {
  const Layout layout{sample::f8, {Shape::flat(1000)}};
  const Bytes raw = sample::make(layout.type, 1000, Pattern::smooth, 1);
  const Pipeline pipeline = parsed("top_bits");
  Scratch scratch;
  Bytes frame;
  REQUIRE(encode_frame(raw, layout, pipeline, scratch, frame));
  Bytes payload(open_plain_frame(frame)->payload.begin(), open_plain_frame(frame)->payload.end());
  // One segment: its length is the u32 that is as large as what follows.
  std::size_t directory = payload.size() - 4;
  while (little_endian(load<std::uint32_t>(payload.data() + directory)) !=
         payload.size() - directory - 4) {
    --directory;
  }
  store(payload.data() + directory,
        little_endian(static_cast<std::uint32_t>(payload.size() - directory - 3)));
  payload.push_back(std::byte{0});
  both_refuse(pipeline, layout, raw, payload);
}

TEST_CASE("an accelerator's dictionary has as many words as the CPU's at most") {
  constexpr std::uint32_t count = 2000;
  const Layout layout{sample::i4, {Shape::flat(count)}};
  for (const std::uint32_t words : {515U, 516U, 517U}) {  // a quarter of the numbers, plus 16
    Bytes raw(count * 4);
    for (std::uint32_t i = 0; i < count; ++i) {
      // (All ones, which marks an empty slot in wider words, is one of them.)
      store(raw.data() + i * 4, ~(i % words * 77777U));
    }
    for (const auto order : {RunOrder::forward, RunOrder::shuffled}) {
      REQUIRE(same_frame(parsed("dictionary"), layout, raw, order));
    }
    Layout wide{{ElementKind::unsigned_integer, 8, false}, {Shape::flat(count)}};
    Bytes wide_raw(count * 8);
    for (std::uint64_t i = 0; i < count; ++i) {
      store(wide_raw.data() + i * 8, ~(i % words * 0x123456789U));
    }
    REQUIRE(same_frame(parsed("dictionary"), wide, wide_raw, RunOrder::reversed));
    comes_back(parsed("dictionary"), wide, wide_raw, RunOrder::reversed);
  }
}

TEST_CASE(
    "an accelerator refuses numbers outside of a dictionary, though all words come out right") {
  const Layout layout{{ElementKind::unsigned_integer, 2, false}, {Shape::flat(4)}};
  Bytes raw(8);  // 0 500 0 500
  store(raw.data() + 2, std::uint16_t{500});
  store(raw.data() + 6, std::uint16_t{500});
  Scratch scratch;
  Bytes payload;
  REQUIRE(find_codec(codec_id::dictionary)->codec().encode(raw, layout, {}, scratch, payload));
  // It ends with the raw block of the numbers 0 1 0 1.
  REQUIRE(payload[payload.size() - 3] == std::byte{1});
  payload[payload.size() - 4] = std::byte{2};
  both_refuse(parsed("dictionary"), layout, raw, payload);
}

TEST_CASE("frames whose list of boxes would be larger than their bytes stay on the CPU") {
  const ElementType byte{ElementKind::unsigned_integer, 1, false};
  const Bytes parameters{std::byte{Predictor{.dimensions = 2, .order = 2}.byte()}};
  const Layout tiny{byte, {{3, {1'000'000, 1, 1}}}};
  const Layout squares{byte, {{3, {100, 100, 100}}}};
  CHECK(!gpu::lorenzo_undoes_fast(tiny, parameters));
  CHECK(gpu::lorenzo_undoes_fast(squares, parameters));
}

/// Does nothing before finish(), as late as a card may be, and fails at one of its operations.
class LateQueue final : public gpu::Queue {
 public:
  explicit LateQueue(int fails_at) : left_(fails_at) {}

  Result<gpu::DeviceAddress> reserve(std::size_t bytes) override {
    if (fails()) return broken();
    return memory_.reserve(bytes);
  }
  void release() noexcept override {
    work_.clear();
    memory_.release();
  }
  Result<void> upload(gpu::DeviceAddress to, ByteSpan from) override {
    return later([this, to, from] { (void)memory_.upload(to, from); });
  }
  Result<void> download(MutableByteSpan to, gpu::DeviceAddress from) override {
    return later([this, to, from] { (void)memory_.download(to, from); });
  }
  Result<void> fill_zero(gpu::DeviceAddress to, std::size_t bytes) override {
    return later([this, to, bytes] { (void)memory_.fill_zero(to, bytes); });
  }
  Result<void> launch(gpu::KernelNumber kernel, unsigned blocks,
                      const gpu::KernelArguments& arguments) override {
    return later(
        [this, kernel, blocks, arguments] { (void)memory_.launch(kernel, blocks, arguments); });
  }
  Result<void> finish() override {
    if (fails()) return broken();
    for (const auto& work : work_) work();
    work_.clear();
    return {};
  }

 private:
  bool fails() { return left_-- == 0; }
  static Error broken() { return {Cause::system, "the card is broken"}; }
  Result<void> later(std::function<void()> work) {
    if (fails()) return broken();
    work_.push_back(std::move(work));
    return {};
  }

  CpuQueue memory_;
  std::vector<std::function<void()>> work_;
  int left_;
};

TEST_CASE("a queue that works late or fails at any operation gives the CPU's bytes or its error") {
  const Layout layout{sample::f8, {{2, {900, 3}}}};
  const Bytes raw =
      sample::make(layout.type, static_cast<std::size_t>(layout.count()), Pattern::smooth, 1);
  Scratch scratch;
  for (const std::string& text : encoded_pipelines()) {
    const Pipeline pipeline = parsed(text);
    if (!gpu::can_encode(pipeline, layout)) continue;
    INFO(text);
    Bytes expected;
    REQUIRE(encode_frame(raw, layout, pipeline, scratch, expected));
    for (int operation = 0;; ++operation) {
      Bytes frame;
      LateQueue queue(operation);
      const auto encoded = gpu::encode_frame(queue, raw, layout, pipeline, scratch, frame);
      if (encoded) {
        REQUIRE(frame == expected);
        break;
      }
      REQUIRE(encoded.error().cause == Cause::system);
      REQUIRE(frame.empty());
    }
    if (!gpu::can_decode(*read_frame_info(expected))) continue;
    for (int operation = 0;; ++operation) {
      Bytes back(raw.size());
      LateQueue queue(operation);
      const auto decoded = gpu::decode_frame(queue, expected, scratch, back);
      if (decoded) {
        REQUIRE(back == raw);
        break;
      }
      REQUIRE(decoded.error().cause == Cause::system);
    }
  }
}

TEST_CASE("a queue without enough memory is full at every place, and the output is unchanged") {
  const Layout layout{sample::f8, {{3, {10, 20, 30}}}};
  const Bytes raw =
      sample::make(layout.type, static_cast<std::size_t>(layout.count()), Pattern::smooth, 1);
  Scratch scratch;
  for (const std::string& text : encoded_pipelines()) {
    const Pipeline pipeline = parsed(text);
    if (!gpu::can_encode(pipeline, layout)) continue;
    for (std::size_t limit = 0;; limit += 20000) {
      Bytes out{std::byte{42}};
      CpuQueue queue(limit);
      const auto encoded = gpu::encode_frame(queue, raw, layout, pipeline, scratch, out);
      if (encoded) break;
      REQUIRE(encoded.error().cause == Cause::full);
      REQUIRE(out == Bytes{std::byte{42}});
    }
  }
}

TEST_CASE("pipelines that search for repeats are not for accelerators") {
  const Layout layout{sample::f8, {Shape::flat(1000)}};
  for (const char* text : {"zstd(1)", "delta|zstd(3)", "constant", "none", "lz4", "fpc|zlib(6)",
                           "stencil(auto)|class_coder", "ordered_int|lorenzo(auto)|class_coder"}) {
    REQUIRE_FALSE(gpu::can_encode(parsed(text), layout));
  }
  REQUIRE_FALSE(gpu::can_encode(parsed("planes"), {sample::f8, {}}));
}

}  // namespace
}  // namespace mcr::codecs
