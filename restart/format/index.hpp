// SPDX-License-Identifier: BSD-3-Clause
// A container's own table: where each frame lies and which bytes of which part it gives. Read without
// HDF5. docs/format.md, "Index". All numbers from a file are checked against the bytes that are there.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "codecs/base/bytes.hpp"
#include "restart/format/part_id.hpp"

namespace mcr::restart {

/// First 512 bytes of a container, HDF5's user block.
struct UserBlock {
  static constexpr std::size_t bytes = 512;
  std::array<std::uint8_t, 16> uuid{};
  std::uint64_t index_offset = 0;  ///< in the file
  std::uint64_t index_bytes = 0;
  std::uint64_t directory_bytes = 0;  ///< the directory is the first so many bytes of the index
  std::uint64_t directory_checksum = 0;
};
Bytes write_user_block(const UserBlock& block);  ///< exactly UserBlock::bytes long
Result<UserBlock> read_user_block(ByteSpan file_head);

/// One frame: 24 bytes on disk.
struct FramePlace {
  std::uint64_t file_offset = 0;
  std::uint32_t stored_bytes = 0;
  std::uint32_t raw_bytes = 0;
  std::uint64_t checksum = 0;  ///< XXH3-64 of the stored bytes
};

enum class DatasetKind : std::uint8_t { variable = 0, skeletons = 1, batch = 2 };

/// One dataset of the container: a run of frames that is its bytes in linear order.
struct DatasetEntry {
  std::string name;  ///< "Grid{n}/Density"; without /variables
  DatasetKind kind = DatasetKind::variable;
  std::uint64_t raw_bytes = 0;
  std::uint64_t first_frame = 0;  ///< into the container's one frame table
  std::uint64_t frame_count = 0;
};

/// `length` bytes of a part that lie in `dataset` from byte `frame_offset` of its frame `frame` (counted
/// within the dataset) on, running on into the following frames.
struct MapEntry {
  std::uint64_t length = 0;
  std::uint32_t dataset = 0;
  std::uint32_t frame = 0;
  std::uint32_t frame_offset = 0;
};

struct PartEntry {
  PartId part;
  std::uint32_t rank = 0;
  std::string path;               ///< as the program used it, relative to the container's parent where below it
  std::uint64_t size = 0;
  std::uint64_t checksum = 0;     ///< XXH3-64 of the whole part
  std::uint32_t mode = 0;
  std::vector<MapEntry> map;      ///< in order of part bytes, covers [0, size) without gaps
};

/// Which set this is and who is accounted for (design.md 4.6).
struct SetIdentity {
  std::string masked_name;
  std::string launch;
  std::uint64_t sequence = 0;
  std::uint32_t rank_count = 1;             ///< of the launch
  std::vector<std::uint32_t> passed_ranks;  ///< known to have written nothing of this set
  std::string scheme;
  std::string profile;
  std::string writer;                       ///< "mcr 0.1.0"
  std::uint64_t created_ns = 0;
};

/// What a container's writer puts into the index.
struct Index {
  SetIdentity set;
  std::vector<DatasetEntry> datasets;
  std::vector<FramePlace> frames;
  std::vector<PartEntry> parts;
};

/// The index's bytes; `directory_bytes` and `directory_checksum` of the user block come with it.
struct IndexBytes {
  Bytes bytes;
  std::uint64_t directory_bytes = 0;
  std::uint64_t directory_checksum = 0;
};
IndexBytes write_index(const Index& index);

/// Reading goes piece by piece (restart/container_reader): the directory first, then dataset table, frame
/// records, part table and map pages as they are asked for, each with a checksum of its own.
struct TablePlace {
  std::uint64_t offset = 0;  ///< within the index
  std::uint64_t bytes = 0;
  std::uint64_t count = 0;
  std::uint64_t checksum = 0;
};
struct IndexDirectory {
  SetIdentity set;
  TablePlace datasets;
  TablePlace frames;  ///< checksum unused: each frame carries its own, bounds are checked
  TablePlace parts;
};
struct PartRecord {  ///< PartEntry without its map
  PartEntry entry;
  TablePlace page_table;
};
struct MapPage {
  std::uint64_t first_part_offset = 0;
  TablePlace place;
};

Result<IndexDirectory> read_index_directory(ByteSpan bytes, std::uint64_t index_bytes);
Result<std::vector<DatasetEntry>> read_dataset_table(ByteSpan bytes, std::uint64_t count,
                                                     std::uint64_t frame_count);
Result<FramePlace> read_frame_place(ByteSpan record, std::uint64_t file_bytes);
Result<std::vector<PartRecord>> read_part_table(ByteSpan bytes, std::uint64_t count,
                                                std::uint64_t index_bytes);
Result<std::vector<MapPage>> read_page_table(ByteSpan bytes, std::uint64_t count,
                                             std::uint64_t part_bytes, std::uint64_t index_bytes);
Result<std::vector<MapEntry>> read_map_page(ByteSpan bytes, std::uint64_t count,
                                            std::uint64_t dataset_count);

}  // namespace mcr::restart
