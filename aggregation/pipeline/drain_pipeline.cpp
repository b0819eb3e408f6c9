// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/pipeline/drain_pipeline.hpp"

#include <oneapi/tbb/concurrent_queue.h>
#include <oneapi/tbb/enumerable_thread_specific.h>
#include <oneapi/tbb/parallel_pipeline.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>

#include "aggregation/pipeline/encode.hpp"

namespace mcr::aggregation {
namespace {

struct Block {
  std::uint32_t dataset = 0;
  std::uint32_t number = 0;
  DatasetPlan::Frame frame;
  Bytes raw;
  Bytes stored;
};

/// Adds the time until its end to `sum`.
class Stopwatch {
 public:
  explicit Stopwatch(double& sum) : sum_(sum) {}
  ~Stopwatch() {
    sum_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  double& sum_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// What a thread of the encode stage keeps.
struct Worker {
  Scratch scratch;
  double encode = 0;
  double verify = 0;
};

class Drain {
 public:
  Drain(const MergePlan& plan, const PartFiles& files, const std::vector<Encoding>& encodings,
        const DrainOptions& options, const std::function<Result<void>(const EncodedFrame&)>& write)
      : plan_(plan), files_(files), encodings_(encodings), options_(options), write_(write) {
    if (plan.has_batches()) places_.add(plan.datasets[plan.batches]);
  }

  Result<DrainTimes> run() {
    times_.blocks_allowed = allowed_blocks();
    {
      const Stopwatch stopwatch(times_.wall);
      for (unsigned i = 0; i < times_.blocks_allowed; ++i) {
        blocks_.push_back(std::make_unique<Block>());
        free_.push(blocks_.back().get());
      }
      namespace tbb = oneapi::tbb;
      tbb::task_arena arena(static_cast<int>(std::max(options_.threads, 1U)));
      arena.execute([this] {
        tbb::parallel_pipeline(
            times_.blocks_allowed,
            tbb::make_filter<void, Block*>(
                tbb::filter_mode::serial_in_order,
                [this](tbb::flow_control& flow) { return fetch(flow); }) &
                tbb::make_filter<Block*, Block*>(tbb::filter_mode::parallel,
                                                 [this](Block* block) { return encode(block); }) &
                tbb::make_filter<Block*, void>(tbb::filter_mode::serial_in_order,
                                               [this](Block* block) { write(block); }));
      });
    }
    if (error_) return *error_;
    for (const Worker& worker : workers_) {
      times_.encode += worker.encode;
      times_.verify += worker.verify;
    }
    if (fetched_ != 0) times_.blocks_in_flight /= static_cast<double>(fetched_);
    return times_;
  }

 private:
  /// A block holds the raw and the stored bytes; beside it, each thread decodes and has room for
  /// steps.
  [[nodiscard]] unsigned allowed_blocks() const {
    std::uint64_t largest = 1;
    for (const DatasetPlan& dataset : plan_.datasets) {
      largest = std::max(largest, dataset.chunk_bytes());
    }
    const std::uint64_t threads = std::max(options_.threads, 1U);
    const std::uint64_t for_blocks =
        options_.memory_bytes - std::min(options_.memory_bytes, threads * 6 * largest);
    return static_cast<unsigned>(
        std::clamp<std::uint64_t>(for_blocks / (largest * 2 + largest / 8), 2, threads * 4));
  }

  Block* fetch(oneapi::tbb::flow_control& flow) {
    const Stopwatch stopwatch(times_.fetch);
    while (dataset_ < plan_.datasets.size() && frame_ == plan_.datasets[dataset_].frame_count()) {
      ++dataset_;
      frame_ = 0;
    }
    if (dataset_ == plan_.datasets.size() || failed_) {
      flow.stop();
      return nullptr;
    }
    Block* block = nullptr;
    free_.pop(block);  // never waits: as many blocks as tokens
    const DatasetPlan& dataset = plan_.datasets[dataset_];
    block->dataset = dataset_;
    block->number = frame_++;
    block->frame = dataset.frame(block->number);
    block->raw.resize(static_cast<std::size_t>(block->frame.bytes));
    keep(fetch_frame(plan_, files_, dataset, block->frame, block->raw));
    times_.blocks_in_flight += static_cast<double>(times_.blocks_allowed) -
                               static_cast<double>(std::max<std::ptrdiff_t>(free_.size(), 0));
    ++fetched_;
    return block;
  }

  Block* encode(Block* block) {
    if (failed_) return block;
    Worker& worker = workers_.local();
    const DatasetPlan& dataset = plan_.datasets[block->dataset];
    const Encoding& encoding = encodings_[block->dataset];
    {
      const Stopwatch stopwatch(worker.encode);
      keep(encode_block(plan_, {block->dataset, block->number}, places_, encoding, block->raw,
                        worker.scratch, block->stored));
    }
    if (options_.verify && !failed_) {
      const Stopwatch stopwatch(worker.verify);
      keep(verify_block(dataset, encoding, block->stored, block->raw, worker.scratch));
    }
    return block;
  }

  void write(Block* block) {
    const Stopwatch stopwatch(times_.write);
    if (!failed_) {
      keep(write_({block->dataset, block->number, static_cast<std::uint32_t>(block->frame.bytes),
                   block->stored}));
    }
    free_.push(block);
  }

  /// Keeps the first error, and ends the run.
  void keep(Result<void> result) {
    if (result) return;
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = std::move(result.error());
    failed_ = true;
  }

  const MergePlan& plan_;
  const PartFiles& files_;
  const std::vector<Encoding>& encodings_;
  const DrainOptions& options_;
  const std::function<Result<void>(const EncodedFrame&)>& write_;
  BatchPlaces places_;

  std::vector<std::unique_ptr<Block>> blocks_;
  oneapi::tbb::concurrent_bounded_queue<Block*> free_;
  oneapi::tbb::enumerable_thread_specific<Worker> workers_;

  std::uint32_t dataset_ = 0;  // the next frame; fetch stage only
  std::uint32_t frame_ = 0;
  std::uint64_t fetched_ = 0;
  DrainTimes times_;  // each member by one stage only

  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  std::optional<Error> error_;  // guarded by mutex_ until the run is over
};

}  // namespace

std::uint64_t solid_frame_target(const DrainOptions& options) {
  constexpr std::uint64_t least = 2U << 20;
  const std::uint64_t threads = std::max(options.threads, 1U);
  return std::clamp(options.memory_bytes / (threads * 10), least, codecs::solid_frame_bytes);
}

Result<DrainTimes> drain(const MergePlan& plan, const PartFiles& files,
                         const std::vector<Encoding>& encodings, const DrainOptions& options,
                         const std::function<Result<void>(const EncodedFrame&)>& write) {
  return Drain(plan, files, encodings, options, write).run();
}

}  // namespace mcr::aggregation
