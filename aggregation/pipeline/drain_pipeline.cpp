// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/pipeline/drain_pipeline.hpp"

#include <oneapi/tbb/enumerable_thread_specific.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_pipeline.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "aggregation/pipeline/card_encode.hpp"
#include "aggregation/pipeline/cpu_turns.hpp"
#include "aggregation/pipeline/encode.hpp"
#include "aggregation/pipeline/write_streams.hpp"
#include "codecs/gpu/lanes/card_lanes.hpp"
#include "codecs/gpu/lanes/coding_speeds.hpp"

namespace mcr::aggregation {
namespace {

/// Bytes that lie in a part from `offset` on.
struct ReadPiece {
  std::size_t part = 0;
  std::uint64_t offset = 0;
  ByteSpan bytes;
};

struct Block {
  DatasetPlan::Frame frame;
  Bytes raw;
  std::vector<ReadPiece> pieces;  ///< of `raw`, for the parts' sums
  Bytes stored;
  BlockTimes times;
};

/// A smaller frame is stored by the thread that placed it: waking another thread takes as long.
constexpr std::size_t least_for_stream = 16U << 10;

/// Memory that a thread of the encode step keeps between frames.
struct Worker {
  Scratch scratch;
  Bytes from_card;  ///< a frame that the CPU encodes too
};

/// Reads through `reads`, and notes the pieces that the parts' sums can take.
class NotedReads final : public PartReads {
 public:
  NotedReads(PartReads& reads, std::vector<ReadPiece>& pieces) : reads_(reads), pieces_(pieces) {}

  Result<void> read(std::size_t part, std::uint64_t offset, MutableByteSpan out) override {
    MCR_TRY(reads_.read(part, offset, out));
    if (out.size() >= PartSums::least_bytes) pieces_.push_back({part, offset, out});
    return {};
  }

 private:
  PartReads& reads_;
  std::vector<ReadPiece>& pieces_;
};

namespace gpu = codecs::gpu;

/// How fast card and CPU were in this process, over all drains. Never destroyed.
gpu::CodingSpeeds& coding_speeds() {
  static auto* const speeds = new gpu::CodingSpeeds;
  return *speeds;
}

/// As many lanes as threads overlap uploads, work and downloads. The work of a lane's thread for its frame
/// is a small part of what encoding on the CPU would be. One thread gets two lanes.
unsigned wanted_lanes(unsigned threads) { return std::max(threads, 2U); }

/// No lanes take threads and memory if it is known already that the card cannot be used.
gpu::CardOptions usable(gpu::CardOptions options) {
  options.is_on = options.is_on && gpu::why_no_card().empty();
  return options;
}

class Drain {
  using Clock = std::chrono::steady_clock;

 public:
  Drain(const MergePlan& plan, PartReads& reads, PartSums& sums,
        const std::vector<Encoding>& encodings, const DrainOptions& options, const FrameSink& sink)
      : plan_(plan),
        reads_(reads),
        sums_(sums),
        encodings_(encodings),
        options_(options),
        sink_(sink),
        lanes_(usable(options.card), wanted_lanes(options.threads)),
        cpu_turns_(std::max(options.threads, 1U)) {
    if (plan.has_batches()) places_.add(plan.datasets[plan.batches]);
  }

  Result<DrainTimes> run() {
    times_.threads = std::max(options_.threads, 1U);
    const BlockCounts counts = allowed_blocks();
    times_.blocks_allowed = counts.encoding + counts.storing;
    begin_ = Clock::now();
    for (unsigned i = 0; i < times_.blocks_allowed; ++i) {
      free_.push_back(std::make_unique<Block>());
    }
    // Each block that is being stored has left the pipeline, so a step never waits for a free block.
    const unsigned streams = std::min(options_.streams, (counts.storing + 1) / 2);
    streams_.emplace(streams, counts.storing - streams);
    namespace tbb = oneapi::tbb;
    // The threads of the lanes come on top, because they mostly wait for the card.
    const unsigned threads = times_.threads + lanes_.count();
    std::optional<tbb::global_control> more_threads;
    if (lanes_.count() > 0) {
      more_threads.emplace(
          tbb::global_control::max_allowed_parallelism,
          std::max<std::size_t>(threads, tbb::global_control::active_value(
                                             tbb::global_control::max_allowed_parallelism)));
    }
    tbb::task_arena arena(static_cast<int>(threads));
    arena.execute([&] {
      tbb::parallel_pipeline(
          counts.encoding,
          tbb::make_filter<void, Block*>(tbb::filter_mode::serial_in_order,
                                         [this](tbb::flow_control& flow) { return fetch(flow); }) &
              tbb::make_filter<Block*, Block*>(tbb::filter_mode::serial_in_order,
                                               [this](Block* block) { return sum(block); }) &
              tbb::make_filter<Block*, Block*>(tbb::filter_mode::parallel,
                                               [this](Block* block) { return encode(block); }) &
              tbb::make_filter<Block*, void>(tbb::filter_mode::serial_in_order,
                                             [this](Block* block) { place(block); }));
    });
    streams_->finish();
    if (error_) return *error_;
    times_.wall = now();
    times_.fetch = times_.trace.seconds(BlockState::fetch);
    times_.encode = times_.trace.seconds(BlockState::encode);
    times_.verify = times_.trace.seconds(BlockState::verify);
    times_.write = times_.trace.seconds(BlockState::write);
    times_.encoded_bytes = encoded_bytes_;
    times_.card_bytes = card_bytes_;
    if (options_.card.is_on) times_.card_problem = gpu::why_no_card();
    return std::move(times_);
  }

 private:
  struct BlockCounts {
    unsigned encoding = 2;  ///< blocks in the pipeline
    unsigned storing = 2;   ///< blocks that are being stored, or wait for it
  };
  /// Returns how many blocks fit into the memory setting. A block holds raw and stored bytes. In
  /// addition, each thread needs memory for decoding and for the codecs' intermediate results.
  /// Encoding threads come first: fewer blocks for the streams only mean fewer writes in flight. Two
  /// blocks of each kind are needed for encoding and storing at the same time, whatever the setting says.
  [[nodiscard]] BlockCounts allowed_blocks() const {
    std::uint64_t largest = 1;
    for (const DatasetPlan& dataset : plan_.datasets) {
      largest = std::max(largest, dataset.chunk_bytes());
    }
    const std::uint64_t threads = std::max(options_.threads, 1U) + lanes_.count();
    const std::uint64_t for_blocks =
        options_.memory_bytes - std::min(options_.memory_bytes, threads * 6 * largest);
    const std::uint64_t fitting = for_blocks / (largest * 2 + largest / 8);
    BlockCounts counts;
    const std::uint64_t least = counts.encoding + counts.storing;
    if (fitting <= least) return counts;
    const std::uint64_t more = fitting - least;
    const std::uint64_t encoding = std::min(counts.encoding + more, threads * 4);
    counts.encoding = static_cast<unsigned>(std::max<std::uint64_t>(encoding, counts.encoding));
    const std::uint64_t wanted = std::uint64_t{std::max(options_.streams, 1U)} * 2;
    counts.storing = static_cast<unsigned>(std::min(fitting - counts.encoding, wanted));
    return counts;
  }

  Block* fetch(oneapi::tbb::flow_control& flow) {
    while (dataset_ < plan_.datasets.size() && frame_ == plan_.datasets[dataset_].frame_count()) {
      ++dataset_;
      frame_ = 0;
    }
    if (dataset_ == plan_.datasets.size() || failed_) {
      flow.stop();
      return nullptr;
    }
    Block* block = take_block();
    block->times = {.dataset = dataset_, .frame = frame_++};
    enter(*block, BlockState::fetch);
    const DatasetPlan& dataset = plan_.datasets[dataset_];
    block->frame = dataset.frame(block->times.frame);
    block->raw.resize(static_cast<std::size_t>(block->frame.bytes));
    block->pieces.clear();
    NotedReads noted(reads_, block->pieces);
    // The bytes of skeletons change when they are fetched, so their sums need another read.
    const bool is_summed = dataset.kind != restart::DatasetKind::skeletons;
    keep(fetch_frame(plan_, is_summed ? static_cast<PartReads&>(noted) : reads_, dataset,
                     block->frame, block->raw));
    return block;
  }

  /// A step of its own, so that the next block is fetched meanwhile: with many threads, these two steps limit the drain.
  Block* sum(Block* block) {
    for (const ReadPiece& piece : block->pieces) {
      if (!failed_) keep(sums_.add(piece.part, piece.offset, piece.bytes));
    }
    enter(*block, BlockState::encode_queue);
    return block;
  }

  Block* encode(Block* block) {
    if (failed_) return block;
    BlockTimes& times = block->times;
    times.thread = static_cast<std::uint32_t>(oneapi::tbb::this_task_arena::current_thread_index());
    Worker& worker = workers_.local();
    const bool is_coded = lanes_.count() > 0 && encode_by_card(*block, worker);
    if (!is_coded) encode_by_cpu(*block, worker);
    encoded_bytes_ += block->raw.size();
    enter(*block, BlockState::write_queue);
    return block;
  }

  /// Waits for a turn, because the lanes' threads would be more than leader_threads= allows.
  void encode_by_cpu(Block& block, Worker& worker) {
    const BlockTimes& times = block.times;
    const Encoding& encoding = encodings_[times.dataset];
    const Turn turn(cpu_turns_);
    enter(block, BlockState::encode);
    keep(encode_block(plan_, {times.dataset, times.frame}, places_, encoding, block.raw,
                      worker.scratch, block.stored));
    enter(block, BlockState::verify);
    if (options_.verify && !failed_) {
      keep(verify_block(plan_.datasets[times.dataset], encoding, block.stored, block.raw,
                        worker.scratch));
    }
  }

  /// Returns false if the CPU has to encode the frame: the card does not have its codecs, is slower, is
  /// busy with other frames, or failed.
  bool encode_by_card(Block& block, Worker& worker) {
    const BlockTimes& times = block.times;
    const DatasetPlan& dataset = plan_.datasets[times.dataset];
    const Encoding& encoding = encodings_[times.dataset];
    if (!suits_card(dataset, block.frame, encoding)) return false;
    gpu::CardLanes::Lane lane = lanes_.take();
    if (!lane) return false;
    const std::string kind = gpu::kind_of(encoding.choice.pipeline, dataset.layout_of(block.frame));
    const gpu::Coder coder = coding_speeds().next(kind);
    if (coder == gpu::Coder::cpu) return false;

    enter(block, BlockState::encode);
    const double begin = now();
    Bytes& stored = coder == gpu::Coder::both ? worker.from_card : block.stored;
    auto coded = encode_block_on_card(lane.queue(), plan_, {times.dataset, times.frame}, encoding,
                                      block.raw, worker.scratch, stored);
    enter(block, BlockState::verify);
    // Also with verify=off: no checksum of the frame would show that the card was wrong, before the frame is read.
    if (coded) {
      if (decodes_on_card(stored)) {
        coded = verify_block_on_card(lane.queue(), stored, block.raw, worker.scratch);
      } else {
        const Turn turn(cpu_turns_);
        coded = verify_block(dataset, encoding, stored, block.raw, worker.scratch);
      }
    }
    if (!coded) {
      note_error(coded.error(), lane, kind);
      return false;
    }
    if (!lane.is_new())
      coding_speeds().measured(kind, gpu::Coder::card, block.raw.size(), now() - begin);
    if (coder == gpu::Coder::card) {
      card_bytes_ += block.raw.size();
      return true;
    }
    encode_by_cpu(block, worker);
    const auto state_begin = [&](BlockState state) {
      return block.times.begins[static_cast<std::size_t>(state)];
    };
    coding_speeds().measured(kind, gpu::Coder::cpu, block.raw.size(),
                             now() - state_begin(BlockState::encode));
    if (!failed_ && stored != block.stored)
      give_card_up("it encodes a frame to other bytes than the CPU");
    return true;
  }

  /// The queue gives the card up for errors of the driver. Here it is given up for wrong bytes.
  static void note_error(const Error& error, gpu::CardLanes::Lane& lane, const std::string& kind) {
    if (error.cause == Cause::full) lane.was_full();
    if (error.cause == Cause::usage || error.cause == Cause::unsupported)
      coding_speeds().refuse(kind);
    if (error.cause == Cause::damaged) give_card_up(error.message);
  }
  static void give_card_up(const std::string& why) {
    if (gpu::Card* const card = gpu::card_in_use(); card != nullptr) card->give_up(why);
  }

  void place(Block* block) {
    BlockTimes& times = block->times;
    std::optional<std::uint64_t> place;
    if (!failed_) {
      times.raw_bytes = static_cast<std::uint32_t>(block->frame.bytes);
      times.stored_bytes = static_cast<std::uint32_t>(block->stored.size());
      auto placed = sink_.place({times.dataset, times.frame, times.raw_bytes, block->stored});
      if (placed) {
        place = *placed;
      } else {
        keep(placed.error());
      }
    }
    if (place && block->stored.size() >= least_for_stream) {
      streams_->add([this, block, place] { store(block, place); });
    } else {
      store(block, place);
    }
  }

  void store(Block* block, std::optional<std::uint64_t> place) {
    enter(*block, BlockState::write);
    if (place && !failed_) keep(sink_.store(*place, block->stored));
    BlockTimes& times = block->times;
    times.begins.back() = now();
    const std::lock_guard lock(free_mutex_);
    if (!failed_) times_.trace.add(times);
    free_.emplace_back(block);
  }

  /// Takes the block that was returned last, because most of its memory is still in a cache. There
  /// is always a free block: at most `encoding` blocks are in the pipeline, and at most `storing` blocks
  /// in the streams.
  Block* take_block() {
    const std::lock_guard lock(free_mutex_);
    Block* block = free_.back().release();
    free_.pop_back();
    return block;
  }

  [[nodiscard]] double now() const {
    return std::chrono::duration<double>(Clock::now() - begin_).count();
  }
  void enter(Block& block, BlockState state) const {
    block.times.begins[static_cast<std::size_t>(state)] = now();
  }

  /// Keeps the first error and ends the run.
  void keep(Result<void> result) {
    if (result) return;
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = std::move(result.error());
    failed_ = true;
  }

  const MergePlan& plan_;
  PartReads& reads_;
  PartSums& sums_;
  const std::vector<Encoding>& encodings_;
  const DrainOptions& options_;
  const FrameSink& sink_;
  BatchPlaces places_;

  std::mutex free_mutex_;
  std::vector<std::unique_ptr<Block>> free_;
  oneapi::tbb::enumerable_thread_specific<Worker> workers_;
  gpu::CardLanes lanes_;
  CpuTurns cpu_turns_;
  std::atomic<std::uint64_t> encoded_bytes_{0};
  std::atomic<std::uint64_t> card_bytes_{0};

  std::uint32_t dataset_ = 0;  // the next frame; used by the fetch step only
  std::uint32_t frame_ = 0;
  Clock::time_point begin_;
  DrainTimes times_;  // its trace is guarded by free_mutex_ during the run

  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  std::optional<Error> error_;           // guarded by mutex_ during the run
  std::optional<WriteStreams> streams_;  // its threads use the members above
};

}  // namespace

std::uint64_t solid_frame_target(const DrainOptions& options) {
  constexpr std::uint64_t least = 2U << 20;
  const std::uint64_t threads = std::max(options.threads, 1U);
  return std::clamp(options.memory_bytes / (threads * 10), least, codecs::solid_frame_bytes);
}

Result<DrainTimes> drain(const MergePlan& plan, PartReads& reads, PartSums& sums,
                         const std::vector<Encoding>& encodings, const DrainOptions& options,
                         const FrameSink& sink) {
  gpu::begin_to_open_card(options.card);
  gpu::await_card(options.card_wait);
  return Drain(plan, reads, sums, encodings, options, sink).run();
}

}  // namespace mcr::aggregation
