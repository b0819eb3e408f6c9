// SPDX-License-Identifier: BSD-3-Clause
// The first bytes of a container, which a reader without HDF5 reads first. docs/format.md, "User
// block".
#pragma once

#include <array>
#include <cstdint>

#include "codecs/base/bytes.hpp"

namespace mcr::restart {

/// The format versions of a container of one set and of a bundle. This build reads versions up to
/// bundle_version.
inline constexpr std::uint32_t container_version = 1;
inline constexpr std::uint32_t bundle_version = 2;

/// First 512 bytes of a container, HDF5's user block.
struct UserBlock {
  static constexpr std::size_t bytes = 512;
  std::uint32_t version = container_version;
  std::array<std::uint8_t, 16> uuid{};
  std::uint64_t index_offset = 0;  ///< in the file
  std::uint64_t index_bytes = 0;
  std::uint64_t directory_bytes = 0;  ///< length of the directory, which begins the index
  std::uint64_t directory_checksum = 0;
};
Bytes write_user_block(const UserBlock& block);  ///< exactly UserBlock::bytes long
Result<UserBlock> read_user_block(ByteSpan file_head);

/// Which file the container was written into. A copy of the container is another file.
struct FileMark {
  static constexpr std::uint64_t offset = 128;  ///< in the user block
  std::uint64_t inode = 0;
  std::uint64_t born_ns = 0;  ///< as birth_time_of()
  std::uint64_t handle = 0;   ///< as handle_of()
  /// When mcr first wrote a container into this directory, by the file system's clock.
  std::uint64_t since_ns = 0;

  bool operator==(const FileMark&) const = default;
};
Bytes write_file_mark(const FileMark& mark);
/// Returns zeros if there is no mark (containers of earlier versions), or a damaged one.
FileMark read_file_mark(ByteSpan file_head);

}  // namespace mcr::restart
