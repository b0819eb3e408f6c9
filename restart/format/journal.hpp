// SPDX-License-Identifier: BSD-3-Clause
// The records about a part, in a file beside the part's bytes in the stage. Records are only
// appended, each with length and checksum. A torn last record is ignored. docs/format.md,
// "Journal".
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "codecs/base/bytes.hpp"
#include "restart/base/file_identity.hpp"
#include "restart/base/part_id.hpp"

namespace mcr::restart {

/// The file at the path when the part was begun.
enum class Replaced : std::uint8_t { nothing = 0, stub = 1, native_file = 2 };

/// What is known at create; never changes.
struct PartBegin {
  PartId part;
  std::string path_as_passed;
  std::string path;  ///< absolute; links in the directory resolved, last component unchanged
  /// Identity of the directory, which shows renames and mounts.
  std::uint64_t directory_device = 0;
  std::uint64_t directory_inode = 0;
  std::uint32_t rank = 0;
  std::uint32_t rank_count = 1;
  std::uint32_t local_rank_count = 0;  ///< ranks of the launch on this node; 0: unknown
  std::string node;
  std::string launch;
  std::uint64_t sequence = 0;
  std::vector<std::string> masked_names;  ///< full paths; candidates, most likely first
  std::string presence;                   ///< name of the writing process's file below ranks/
  Replaced replaced = Replaced::nothing;
  std::optional<PartId> replaced_part;  ///< the part that the stub at the path named
  std::uint32_t mode = 0;               ///< permission bits that native HDF5 would give the file
  std::uint64_t begin_ns = 0;           ///< CLOCK_REALTIME
  std::string settings;                 ///< settings that some source set: "key=value;…"
  /// Inode of the file that H5Fcreate made at the path; 0 if a file existed.
  std::uint64_t file_inode = 0;
  /// Stands for the attempts (H5Fcreate of this file, or H5Fopen for writing) that had failed in the writing process: equal
  /// numbers, equal attempts. Zero: none. Nothing: not recorded, as in amendments.
  std::optional<std::uint64_t> failed_attempts;
  /// A symbolic link that other users may have made leads here, so other ranks' files may lie elsewhere.
  bool is_by_untrusted_links = false;
  /// Identities of the directories above, nearest first, as directories_above() returns them. Empty: not recorded.
  std::vector<FileIdentity> above;
  /// The launch that wrote the part, if that is a later launch of several ranks than the one whose set it belongs to.
  std::string amended_by;
  /// Not in the file: the writer's clock is behind the kernel's, which gives files their times.
  bool has_slow_clock = false;

  /// The begin as a time that can be compared with birth times of files. If the clocks differ, no file
  /// counts as younger.
  [[nodiscard]] std::uint64_t begin_for_files_ns() const {
    return has_slow_clock ? std::numeric_limits<std::uint64_t>::max() : begin_ns;
  }
};

/// Written at publish. After a provisional record (H5Fflush) others may follow; the last one
/// counts.
struct PartPublish {
  /// The file at the part's path that holds its bytes, if the part went there natively and still
  /// belongs to its set.
  struct NativeFile {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
  };

  /// The file that the part's stub is to replace. It was written since if its time differs.
  struct OlderFile {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::uint64_t modified_ns = 0;

    bool operator==(const OlderFile&) const = default;
  };

  std::uint64_t size = 0;
  std::uint64_t publish_ns = 0;
  bool provisional = false;
  bool durable = false;              ///< the writer waits for this part (close=durable, close=replicated)
  std::optional<NativeFile> native;  ///< the bytes are in this file, not in the stage
  /// Storage refused the part's stub at the close: the path still shows this file.
  std::optional<OlderFile> shows_older;
  /// The stub was put in place. Whatever lies at the path now, the program has put it there.
  bool stub_is_placed = false;
};

struct Journal {
  PartBegin begin;
  std::optional<PartPublish> publish;
};

/// The limits within which a reader accepts a begin record. masked_names() stays within them.
inline constexpr std::size_t max_masked_names = 16;
inline constexpr std::size_t max_path_bytes = 8192;
inline constexpr std::size_t max_directories_above = 16;

/// The largest journal that is written or read.
inline constexpr std::size_t max_journal_bytes = 1 << 20;

/// A part of at most this many bytes may lie in its journal instead of in a file of its own.
inline constexpr std::size_t max_content_bytes = 32 * 1024;

Bytes write_begin(const PartBegin& begin);
Bytes write_content(ByteSpan content);
Bytes write_publish(const PartPublish& publish);

/// Cause::damaged if the begin record is torn.
Result<Journal> read_journal(ByteSpan file);
/// True if there is a whole publish record; its content is not checked.
bool has_publish(ByteSpan file);
/// Returns the bytes of a small part that lie in its journal, as a view into `file`.
std::optional<ByteSpan> read_content(ByteSpan file);

}  // namespace mcr::restart
