// SPDX-License-Identifier: BSD-3-Clause
// Lays variables into solid frames. A frame holds the pieces that all linked variables have in some
// consecutive parts, together about solid_frame_bytes. Large parts are cut into slabs; a slab has
// the same rows of every variable. If a slab has more variables than a frame may list, it takes
// several frames. The result is the dataset /batches, whose frames are padded to one length. Pure
// functions.
#pragma once

#include <vector>

#include "aggregation/merge/plan.hpp"
#include "codecs/frames/frame.hpp"
#include "codecs/frames/solid_frame.hpp"
#include "codecs/solid/solid_encode.hpp"

namespace mcr::aggregation {

/// Returns the dataset of solid frames for the datasets with `linked` set. It has no frames if
/// there are no such datasets. A piece that is too large for a frame is cut along its slowest axis.
/// The dataset's type is `bytes_type`.
DatasetPlan plan_batches(const std::vector<DatasetPlan>& datasets, std::uint32_t bytes_type,
                         std::uint64_t frame_bytes);

/// Returns the layout of a dataset's section in a solid frame, made from the layout of its
/// elements. A record becomes unsigned words along an added last dimension, so that a record may
/// repeat words of another one.
codecs::Layout section_layout(codecs::Layout elements);

/// Where the bytes of linked datasets lie in the dataset of batches.
class BatchPlaces {
 public:
  void add(const DatasetPlan& batches);
  /// Returns the runs of bytes in /batches that a frame of dataset `dataset` links to. Offsets
  /// count all `row` bytes of each frame of /batches, padding included.
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
