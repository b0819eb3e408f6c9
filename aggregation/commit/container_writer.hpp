// SPDX-License-Identifier: BSD-3-Clause
// Writes a container. No other code of the project writes through HDF5. Encoded frames are written
// as chunks. The user block, where a reader without HDF5 starts, is written last. The names and
// shapes of the datasets are in docs/format.md, "Container". Use a writer in one thread at a time, except
// for store().
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "aggregation/merge/datatypes.hpp"
#include "aggregation/merge/part_inventory.hpp"
#include "aggregation/merge/plan.hpp"
#include "aggregation/pipeline/drain_pipeline.hpp"
#include "restart/base/file.hpp"
#include "restart/format/index.hpp"

namespace mcr::aggregation {

class ContainerWriter {
 public:
  /// Writes into `file`, which must be empty and outlive the writer. `path` is for messages. HDF5
  /// older than 1.10 cannot read the container.
  static Result<std::unique_ptr<ContainerWriter>> create(const restart::File& file,
                                                         const std::string& path);
  virtual ~ContainerWriter() = default;

  /// Begins the next dataset, to which the next frames belong. `ranks[i]` is the rank of the plan's
  /// part i.
  virtual Result<void> begin_dataset(const DatasetPlan& plan, const Datatypes& types,
                                     const Encoding& encoding,
                                     const std::vector<AttributeValue>& attributes,
                                     const std::vector<std::uint32_t>& ranks) = 0;
  /// Returns the place in the file at which the frame must be stored before finish(); nothing if HDF5 has
  /// stored the frame itself.
  virtual Result<std::optional<std::uint64_t>> place_frame(const DatasetPlan& plan,
                                                           const EncodedFrame& frame) = 0;
  /// Writes a frame to its place. May be called by several threads at a time, beside the other functions.
  virtual Result<void> store(std::uint64_t place, ByteSpan stored) const = 0;

  /// Writes attributes of the group `path` below /variables ("": of /variables itself). A group that is not there is
  /// made only if `is_needed`.
  virtual Result<void> write_group_attributes(const std::string& path, bool is_needed,
                                              const Datatypes& types,
                                              const std::vector<AttributeValue>& attributes) = 0;

  struct Totals {
    std::uint64_t file_bytes = 0;
    std::vector<std::uint64_t> stored_bytes;  ///< of the frames of each dataset
  };
  /// Adds the datasets and frames to `index`, writes the tables and the user block, and closes the
  /// file. Syncs nothing.
  virtual Result<Totals> finish(restart::Index& index) = 0;
};

}  // namespace mcr::aggregation
