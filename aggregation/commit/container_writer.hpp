// SPDX-License-Identifier: BSD-3-Clause
// Writes a container. No other source of ours writes through HDF5. Encoded frames are written as
// chunks; the user block, from which a reader without HDF5 starts, is written last. docs/format.md,
// "Container", has names and shapes. Use it in one thread at a time.
#pragma once

#include <memory>
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
  /// Fills `file`, which must be empty and outlive the writer. HDF5 opens this very file, even if
  /// its name leads elsewhere meanwhile. `path`, its name in `directory`, is used only if /proc is
  /// not mounted and no other user may write to the directory. HDF5 older than 1.10 cannot read the
  /// container.
  static Result<std::unique_ptr<ContainerWriter>> create(const restart::File& file,
                                                         const restart::File& directory,
                                                         const std::string& path);
  virtual ~ContainerWriter() = default;

  /// Begins the next dataset; the frames that follow belong to it. `ranks` is parallel to the parts
  /// of the plan.
  virtual Result<void> begin_dataset(const DatasetPlan& plan, const Datatypes& types,
                                     const Encoding& encoding,
                                     const std::vector<AttributeValue>& attributes,
                                     const std::vector<std::uint32_t>& ranks) = 0;
  virtual Result<void> write_frame(const DatasetPlan& plan, const EncodedFrame& frame) = 0;

  /// Writes attributes of the group `path` below /variables ("": of /variables itself).
  virtual Result<void> write_group_attributes(const std::string& path, const Datatypes& types,
                                              const std::vector<AttributeValue>& attributes) = 0;

  struct Totals {
    std::uint64_t file_bytes = 0;
    std::vector<std::uint64_t> stored_bytes;  ///< of the frames of each dataset
  };
  /// Completes `index` with datasets and frames. Afterwards the file is closed, and its user block
  /// is valid; nothing is synced.
  virtual Result<Totals> finish(restart::Index& index) = 0;
};

}  // namespace mcr::aggregation
