// SPDX-License-Identifier: BSD-3-Clause
// Lays variables into solid frames: some consecutive parts' pieces of all linked variables, about
// solid_frame_bytes together; large parts are cut into slabs, the same rows of every variable. A slab
// of more variables than a frame may list takes several frames. The
// result is the dataset /batches, whose frames are rows of equal (padded) length. Pure.
#pragma once

#include <vector>

#include "aggregation/merge/plan.hpp"
#include "codecs/frames/frame.hpp"
#include "codecs/frames/solid_frame.hpp"
#include "codecs/solid/solid_encode.hpp"

namespace mcr::aggregation {

/// The dataset of solid frames for the datasets with `linked` set; one without frames where there
/// are none. A piece too large for a frame is cut along its slowest axis. `bytes_type` is its type.
DatasetPlan plan_batches(const std::vector<DatasetPlan>& datasets, std::uint32_t bytes_type,
                         std::uint64_t frame_bytes);

/// The layout of a dataset's section in a solid frame, from that of its elements: records become
/// unsigned words in a last dimension, so that they may repeat others word by word.
codecs::Layout section_layout(codecs::Layout elements);

/// Where the bytes of linked datasets lie in the dataset of batches.
class BatchPlaces {
 public:
  void add(const DatasetPlan& batches);
  /// Of a frame of dataset `dataset`; offsets count padded frames, `row` bytes each.
  [[nodiscard]] std::vector<codecs::LinkRun> runs_of(std::uint32_t dataset,
                                                     const DatasetPlan::Frame& frame,
                                                     std::uint64_t row) const;

 private:
  struct Place {
    std::uint64_t position;  ///< in the linked dataset
    std::uint64_t bytes;
    std::uint64_t in_batches;
  };
  std::vector<std::vector<Place>> places_;  // by dataset
};

}  // namespace mcr::aggregation
