// SPDX-License-Identifier: BSD-3-Clause
// A container's index: where each frame lies, and which bytes of which part it holds. It is read
// without HDF5 (docs/format.md, "Index"). All numbers from a file are checked against the bytes
// that exist.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "codecs/base/bytes.hpp"
#include "restart/base/part_id.hpp"
#include "restart/format/index_tables.hpp"
#include "restart/format/part_map.hpp"
#include "restart/format/user_block.hpp"

namespace mcr::restart {

/// One frame: 24 bytes on disk.
struct FramePlace {
  static constexpr std::size_t record_bytes = 24;

  std::uint64_t file_offset = 0;
  std::uint32_t stored_bytes = 0;
  std::uint32_t raw_bytes = 0;
  std::uint64_t checksum = 0;  ///< XXH3-64 of the stored bytes

  bool operator==(const FramePlace&) const = default;
};

enum class DatasetKind : std::uint8_t { variable = 0, skeletons = 1, batch = 2 };

/// How the chunks of a dataset are stored.
enum class DatasetStorage : std::uint8_t {
  frames = 0,  ///< one frame per chunk (codecs/frames/frame.hpp), with raw_bytes of its FramePlace
  /// HDF5's own shuffle (element_bytes above 1) and deflate filters (profile `portable`). A chunk
  /// holds chunk_bytes, of which the first raw_bytes are data.
  deflate = 1,
};

/// One dataset of the container: a run of frames that is its bytes in linear order. 44 bytes on
/// disk, and the name.
struct DatasetEntry {
  static constexpr std::size_t record_bytes = 44;
  static constexpr std::uint32_t max_chunk_bytes = 1U << 30;

  std::string name;  ///< "Grid{n}/Density", without the leading "/variables/"
  DatasetKind kind = DatasetKind::variable;
  DatasetStorage storage = DatasetStorage::frames;
  std::uint32_t element_bytes = 1;  ///< of the HDF5 datatype
  std::uint32_t chunk_bytes = 0;    ///< of a whole HDF5 chunk: the limit on a frame's raw bytes
  std::uint64_t raw_bytes = 0;
  std::uint64_t first_frame = 0;  ///< index in the container's one frame table
  std::uint32_t frame_count = 0;

  bool operator==(const DatasetEntry&) const = default;
};

/// Where a part's skeleton lies in the dataset of skeletons, whose frames all hold chunk_bytes
/// (except the last). With a base, the skeleton's first bytes, up to the length of the base's
/// skeleton, are stored as the exclusive or with the base's skeleton. A base has no base itself.
struct SkeletonPlace {
  static constexpr std::uint32_t no_base = 0xffffffff;

  /// Offset of the skeleton's first byte in the raw bytes of the dataset of skeletons.
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;
  std::uint32_t base = no_base;  ///< number of a part of this container

  bool operator==(const SkeletonPlace&) const = default;
};

struct PartEntry {
  PartId part;
  std::uint32_t rank = 0;
  /// The path as the program used it; relative to the container's parent directory if it lies below
  /// that.
  std::string path;
  std::uint64_t size = 0;
  std::uint64_t checksum = 0;  ///< XXH3-64 of the whole part
  std::uint32_t mode = 0;
  SkeletonPlace skeleton;
  std::vector<MapEntry> map;  ///< in order of part bytes, covers [0, size) without gaps
};

/// A member of a set whose bytes are in no container: a rank's file that went to its path natively.
struct NativeMember {
  std::uint32_t rank = 0;
  std::string path;  ///< as PartEntry::path
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t size = 0;

  bool operator==(const NativeMember&) const = default;
};

/// The least and the greatest PartBegin::failed_attempts of a set's parts. Only whether they are equal has a meaning.
struct FailedAttempts {
  std::uint64_t least = 0;
  std::uint64_t greatest = 0;

  /// True if not the same attempts failed in all parts' processes. Parts of one sequence may then belong to different steps.
  [[nodiscard]] bool differ() const { return least != greatest; }
  bool operator==(const FailedAttempts&) const = default;
};
/// Adds what is known of further parts. Nothing: no part tells its attempts (an amendment, or a part of an earlier build), which
/// proves nothing.
inline void add_attempts(std::optional<FailedAttempts>& known,
                         const std::optional<FailedAttempts>& further) {
  if (!known) {
    known = further;
  } else if (further) {
    known->least = std::min(known->least, further->least);
    known->greatest = std::max(known->greatest, further->greatest);
  }
}

/// One of the sets of a bundle: a set of one rank. Set number i consists of part number i of the
/// part table.
struct BundledSet {
  std::string masked_name;
  std::uint64_t sequence = 0;
  std::uint64_t begun_ns = 0;
  std::uint64_t order_ns = 0;

  bool operator==(const BundledSet&) const = default;
};

/// Names the set, and lists the ranks that it accounts for (docs/design/sets.md).
struct SetIdentity {
  std::string masked_name;
  std::string launch;
  std::uint64_t sequence = 0;
  std::uint32_t rank_count = 1;             ///< of the launch
  std::vector<std::uint32_t> passed_ranks;  ///< known to have written nothing of this set
  std::string scheme;
  std::string profile;
  std::string writer;  ///< "mcr 0.1.0"
  std::uint64_t created_ns = 0;
  // The fields below are zero or empty in containers of the first builds.

  /// When the first part of the set on the leader's node was begun, by that node's clock.
  std::uint64_t begun_ns = 0;
  /// Ranks that wrote earlier sets, and ended or died without this one.
  std::vector<std::uint32_t> failed_ranks;
  bool drifted = false;  ///< as Account::drifted (restart/sets), as far as the leader knew
  std::vector<NativeMember> natives;
  /// Orders generations of different launches. Equal to `begun_ns`, unless the node's clock was
  /// behind the times of older sets when the launch began. Zero in containers of earlier builds.
  std::uint64_t order_ns = 0;
  /// In a bundle: one set for each part of the table. `masked_name` is then their common pattern.
  std::vector<BundledSet> bundled;
  std::optional<FailedAttempts> failed_attempts;  ///< missing in containers of earlier builds
  /// The launch that wrote these parts into the set, if that is a later launch of several ranks (PartBegin::amended_by);
  /// `failed_attempts` is then missing.
  std::string amended_by;
  /// How many directories container_dir= led upwards from the directory that all parts shared: 1 for
  /// ../NAME. Missing in containers of earlier builds, and where the name does not say where they lie
  /// (far_container_name, `mcr pack`).
  std::optional<std::uint32_t> steps_up;

  [[nodiscard]] std::uint64_t order() const {
    if (order_ns != 0) return order_ns;
    return begun_ns != 0 ? begun_ns : created_ns;
  }
};

/// What a container's writer puts into the index.
struct Index {
  SetIdentity set;
  std::vector<DatasetEntry> datasets;
  std::vector<FramePlace> frames;
  std::vector<PartEntry> parts;
};

/// The index's bytes, and `directory_bytes` and `directory_checksum` for the user block.
struct IndexBytes {
  Bytes bytes;
  std::uint64_t directory_bytes = 0;
  std::uint64_t directory_checksum = 0;
};
/// `index` must lie within the limits that the readers below check.
IndexBytes write_index(const Index& index);

/// Returns the user block of a container whose index lies at `offset` of its file. The caller sets
/// version and uuid.
UserBlock user_block_of(const IndexBytes& index, std::uint64_t offset);

/// The index is read piece by piece (restart/container/container_reader): first the directory, then
/// pages of dataset and frame records, part table and map pages as they are needed. Each piece has
/// a checksum.
struct IndexDirectory {
  static constexpr std::uint64_t max_bytes = 16U << 20;

  static constexpr std::uint32_t no_dataset = 0xffffffff;

  SetIdentity set;
  std::uint32_t skeleton_dataset = no_dataset;
  /// The checksum is unused here and in `frames`, because each page has its own.
  TablePlace datasets;
  TablePlace frames;
  TablePlace names;  ///< the checksum is unused, because each name has one in its dataset's record
  TablePlace parts;
};
struct PartRecord {  ///< PartEntry without its map
  PartEntry entry;
  TablePlace page_table;
};
inline constexpr RecordPages frame_pages{1, FramePlace::record_bytes, 256};
inline constexpr RecordPages dataset_pages{2, DatasetEntry::record_bytes, 64};

/// A dataset's record without its name, and the place of its name in the table of names.
struct DatasetRecord {
  DatasetEntry entry;
  std::uint32_t name_offset = 0;
  std::uint32_t name_bytes = 0;
  std::uint32_t name_checksum = 0;  ///< low half of the name's XXH3-64
};

/// Returns the set that part number `part` of a container belongs to: the container's set, or in a
/// bundle the set of that number.
SetIdentity set_of_part(const SetIdentity& set, std::size_t part);

Result<IndexDirectory> read_index_directory(ByteSpan bytes, std::uint64_t index_bytes);
Result<DatasetRecord> read_dataset_record(ByteSpan record, const IndexDirectory& directory);
Result<std::string> read_dataset_name(ByteSpan name, const DatasetRecord& record);
Result<FramePlace> read_frame_place(ByteSpan record, std::uint64_t file_bytes);
Result<std::vector<PartRecord>> read_part_table(ByteSpan bytes, const TablePlace& place,
                                                std::uint64_t index_bytes);

}  // namespace mcr::restart
