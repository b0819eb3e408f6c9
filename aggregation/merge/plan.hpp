// SPDX-License-Identifier: BSD-3-Clause
// Decides which bytes go into which frame of which dataset. A dataset's bytes are pieces of parts
// in a linear order. The dataset's HDF5 shape and chunks are chosen so that each chunk is a
// contiguous run in that order; each chunk is a frame. Schemes differ only in the order of pieces
// (merge/schemes). Pure functions: no HDF5, no file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "aggregation/merge/part_inventory.hpp"
#include "codecs/base/layout.hpp"
#include "codecs/frames/solid_frame.hpp"
#include "codecs/records/columns.hpp"
#include "restart/format/index.hpp"

namespace mcr::aggregation {

/// About how many raw bytes a frame has. The number is a compromise between ratio, speed, and the
/// bytes that must be decoded for a small read.
inline constexpr std::uint64_t frame_target_bytes = 1U << 20;

/// A run of bytes of one part at a linear position of a dataset.
struct Piece {
  std::uint32_t part = 0;
  std::uint32_t shape = 0;  ///< number in DatasetPlan::shapes
  std::uint64_t part_offset = 0;
  std::uint64_t bytes = 0;
  std::uint64_t position = 0;
};

struct DatasetPlan {
  struct Frame {
    std::uint64_t begin = 0;  ///< linear position
    std::uint64_t bytes = 0;
  };
  struct Place {
    std::uint32_t frame = 0;
    std::uint32_t offset = 0;
  };

  std::string name;
  restart::DatasetKind kind = restart::DatasetKind::variable;
  std::uint32_t type = 0;               ///< number in Datatypes
  std::uint64_t type_bytes = 1;         ///< of an element of that type
  codecs::ElementType element;          ///< what codecs see
  std::vector<codecs::Column> columns;  ///< of records: what an element is made of
  std::vector<Piece> pieces;            ///< by position, without gaps
  /// Shapes of pieces, of any number of dimensions, in units of `element`. An empty shape means
  /// flat.
  std::vector<std::vector<std::uint64_t>> shapes;

  std::vector<std::uint64_t> extents;  ///< HDF5 shape, in elements of the type
  std::vector<std::uint64_t> chunk;    ///< 1 before `axis`, full extents behind it
  /// The axis along which the length of a chunk is chosen.
  std::size_t axis = 0;

  /// For the attributes `ranks` and `offsets`: the parts that gave data, in order, and where the
  /// data of each part begins along the first axis (empty: piece i has index i). Both are empty for
  /// a dataset that is not a variable.
  std::vector<std::uint32_t> parts;
  std::vector<std::uint64_t> offsets;

  /// True if the dataset's bytes lie in solid frames, and its own frames are link frames
  /// (merge/solid_plan).
  bool linked = false;

  /// For the dataset of batches only: how many bytes of each frame are used, and what each frame
  /// contains. The frames are padded to one length, so there are gaps between the positions of
  /// pieces.
  struct SolidFrame {
    struct Source {
      std::uint32_t dataset = 0;
      std::uint64_t position = 0;  ///< in that dataset
    };
    std::vector<codecs::Section> sections;
    std::vector<codecs::Layout> elements;  ///< the sections as plain frames would have them
    std::vector<std::uint32_t> datasets;   ///< by section
    std::vector<Source> sources;           ///< by piece of the frame, in order
    std::uint32_t slab = 0;  ///< frames of one slab hold the same rows, of different datasets
  };
  std::vector<std::uint64_t> used;
  std::vector<SolidFrame> solid;

  /// Index of the dataset's variable in find_variables()'s result; -1: it is not a variable.
  std::int64_t variable = -1;
  /// For a table only (merge/tables): the variables whose pieces it holds, in order.
  std::vector<std::size_t> variables;
  /// For a table only: its pieces have different shapes, so that it has one dimension.
  bool is_flat_table = false;

  [[nodiscard]] bool is_table() const { return !variables.empty(); }

  [[nodiscard]] std::uint64_t raw_bytes() const;
  [[nodiscard]] std::uint64_t chunk_bytes() const;
  [[nodiscard]] std::uint32_t frame_count() const;
  [[nodiscard]] Frame frame(std::uint32_t number) const;
  /// Returns the HDF5 coordinates of that frame's chunk.
  [[nodiscard]] std::vector<std::uint64_t> chunk_offset(std::uint32_t number) const;
  [[nodiscard]] Place place_of(std::uint64_t position) const;

  /// Returns the first piece that ends after `position`.
  [[nodiscard]] std::size_t piece_at(std::uint64_t position) const;
  /// Returns the layout of a frame's bytes, as bricks.
  [[nodiscard]] codecs::Layout layout_of(const Frame& frame) const;

  /// Sets extents, chunk and axis so that a chunk has about `frame_bytes`.
  void set_shape(std::vector<std::uint64_t> hdf5_extents,
                 std::uint64_t frame_bytes = frame_target_bytes);

 private:
  [[nodiscard]] std::uint64_t row_bytes() const;  ///< of one step along `axis`
  [[nodiscard]] std::uint64_t chunks_on_axis() const;
};

/// What a container's index records of a part's bytes.
struct PartMap {
  std::vector<restart::MapEntry> entries;
  restart::SkeletonPlace skeleton;
};

struct MergePlan {
  std::vector<DatasetPlan> datasets;  ///< the skeletons, if there are any, come last
  std::vector<PartMap> parts;
  Bytes base_skeleton;  ///< the base of all parts whose skeleton.base is set

  [[nodiscard]] bool has_batches() const { return batches != no_batches; }
  static constexpr std::uint32_t no_batches = 0xffffffff;
  std::uint32_t batches = no_batches;  ///< number of the dataset of solid frames

  [[nodiscard]] bool has_skeletons() const {
    return !datasets.empty() && datasets.back().kind == restart::DatasetKind::skeletons;
  }
};

/// Appends the bricks of the elements [begin, end) of a piece of shape `extents`. Whole rows keep
/// their shape; cut rows are flat.
void append_bricks(const std::vector<std::uint64_t>& extents, std::uint64_t begin,
                   std::uint64_t end, std::vector<codecs::Shape>& bricks);

/// Adds the dataset of skeletons, which has all bytes of the parts that are in no piece, and maps
/// every part's bytes to frames. Pieces must not overlap in their part. `part_bytes` are the parts'
/// sizes; `bytes_type` is the type of skeletons.
MergePlan finish_plan(std::vector<DatasetPlan> datasets,
                      const std::vector<std::uint64_t>& part_bytes, std::uint32_t bytes_type,
                      std::uint64_t frame_bytes = frame_target_bytes);

}  // namespace mcr::aggregation
