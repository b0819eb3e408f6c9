// SPDX-License-Identifier: BSD-3-Clause
// Lays variables into solid frames. A frame holds the pieces of all linked variables of some
// consecutive parts, about solid_frame_bytes together. Large parts are cut into slabs, the same
// rows of every variable; a slab with more variables than a frame may list takes several frames.
// The result is the dataset /batches, whose frames are rows of equal (padded) length. Pure
// functions.
#pragma once

#include <vector>

#include "aggregation/merge/plan.hpp"
#include "codecs/frames/frame.hpp"
#include "codecs/frames/solid_frame.hpp"
#include "codecs/solid/solid_encode.hpp"

namespace mcr::aggregation {

/// Returns the dataset of solid frames for the datasets with `linked` set; it has no frames if
/// there are none. A piece too large for a frame is cut along its slowest axis. The dataset's type
/// is `bytes_type`.
DatasetPlan plan_batches(const std::vector<DatasetPlan>& datasets, std::uint32_t bytes_type,
                         std::uint64_t frame_bytes);

/// Returns the layout of a dataset's section in a solid frame, made from that of its elements.
/// Records become unsigned words in a last dimension, so that a record may repeat another one word
/// by word.
codecs::Layout section_layout(codecs::Layout elements);

/// Where the bytes of linked datasets lie in the dataset of batches.
class BatchPlaces {
 public:
  void add(const DatasetPlan& batches);
  /// Returns the runs for a frame of dataset `dataset`. Offsets count padded frames of `row` bytes
  /// each.
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
