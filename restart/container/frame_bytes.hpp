// SPDX-License-Identifier: BSD-3-Clause
// Decoded frames of a container for one part. A frame comes from a cache of the frames used last,
// or from another rank of the node that has decoded it (restart/container/shared_frames), or is
// decoded here.
//
// While another rank decodes a frame, this rank decodes frames that it will need next. So all ranks
// of a node together decode a set in parallel, each frame once.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "codecs/base/large_buffer.hpp"
#include "restart/container/container_reader.hpp"
#include "restart/container/shared_frames.hpp"

namespace mcr::restart {

/// One frame, named by its dataset.
struct WantedFrame {
  DatasetEntry dataset;
  std::uint32_t dataset_number = 0;
  std::uint32_t frame = 0;  ///< within the dataset
  FramePlace place;

  [[nodiscard]] FrameOfContainer of_container() const {
    return {dataset.first_frame + frame, place};
  }
};

class FrameBytes {
 public:
  /// `share` may be null. `rank` is for messages.
  FrameBytes(std::shared_ptr<ContainerReader> container, std::shared_ptr<FrameShare> share,
             std::uint32_t rank)
      : container_(std::move(container)), share_(std::move(share)), rank_(rank) {}
  ~FrameBytes();
  FrameBytes(const FrameBytes&) = delete;
  FrameBytes& operator=(const FrameBytes&) = delete;

  /// Returns frames that may be needed next, in order; at most `most`.
  using Ahead = std::function<std::vector<WantedFrame>(std::size_t most)>;

  /// Fills `out` from byte `begin` of the frame on; the range lies within the frame. `is_shared`:
  /// the frame also holds bytes of other parts.
  Result<void> read(const WantedFrame& wanted, std::size_t begin, MutableByteSpan out,
                    bool is_shared, const Ahead& ahead);
  [[nodiscard]] bool may_share() const { return share_ != nullptr; }
  /// Smaller frames are not shared, because decoding one takes less time than a look into the
  /// shared file.
  static constexpr std::size_t least_shared_bytes = 4U << 10;

  /// Appends the variable's name and the rank to an error.
  template <typename T>
  Result<T> explained(Result<T> result, std::uint32_t dataset) {
    if (!result) {
      result.error().message += " (variable " + container_->dataset_name(dataset) + ", rank " +
                                std::to_string(rank_) + ")";
    }
    return result;
  }

 private:
  struct Decoded {
    std::uint64_t number = 0;  ///< in the container's table of frames
    std::uint64_t used = 0;    ///< time of last use; 0: holds nothing
    Buffer memory;
    std::size_t capacity = 0;  ///< of `memory`
    std::size_t size = 0;

    [[nodiscard]] MutableByteSpan raw() const { return {memory.get(), size}; }
    void resize(std::size_t bytes);
    void release();
  };
  /// The cache is bounded mainly by its bytes (cached_bytes). This number is generous, because
  /// readers of adaptive meshes go grid by grid through a frame of each of dozens of variables.
  static constexpr std::size_t cached_frames = 64;

  Result<void> decode(const WantedFrame& wanted, MutableByteSpan raw);
  Decoded* find_cached(const WantedFrame& wanted);
  Result<ByteSpan> decoded(const WantedFrame& wanted);
  void make_room(Decoded& next, std::size_t bytes);
  SharedFrames* shared();
  Result<bool> read_shared(SharedFrames& others, const WantedFrame& wanted, std::size_t begin,
                           MutableByteSpan out, const Ahead& ahead);
  Result<void> make(SharedFrames& others, const WantedFrame& wanted);
  bool help(SharedFrames& others, const WantedFrame& awaited, const Ahead& ahead);

  std::shared_ptr<ContainerReader> container_;
  std::shared_ptr<FrameShare> share_;
  std::uint32_t rank_;
  std::unique_ptr<SharedFrames> shared_;
  std::array<Decoded, cached_frames> cache_;
  std::uint64_t clock_ = 0;
  Scratch scratch_;
  std::size_t shared_frames_ = 0;  ///< number of shared frames that were read so far
  std::uint64_t last_shared_ = ~std::uint64_t{0};  ///< number of the last one of these frames
  /// A wait for another rank's frame has timed out: this part never waits again.
  bool has_waited_in_vain_ = false;
  // For log=debug.
  std::uint64_t decoded_bytes_ = 0;
  std::uint64_t stored_bytes_ = 0;
  std::uint64_t shared_bytes_ = 0;
};

}  // namespace mcr::restart
