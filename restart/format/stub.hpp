// SPDX-License-Identifier: BSD-3-Clause
// The small file at the path that the program used. docs/format.md, "Stub".
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "codecs/base/bytes.hpp"
#include "restart/base/file_identity.hpp"
#include "restart/base/part_id.hpp"

namespace mcr::restart {

struct Stub {
  static constexpr std::size_t max_bytes = 64 * 1024;
  static constexpr std::size_t head_bytes = 18;  ///< enough for looks_like_stub

  PartId part;
  std::string launch;
  std::uint64_t sequence = 0;
  std::uint32_t rank = 0;
  std::uint32_t rank_count = 1;
  std::string node;
  /// Full paths as in the journal; candidates, most likely first. A candidate, container_directory
  /// and the stub's own place determine directory and name of the part's container
  /// (container_name.hpp).
  std::vector<std::string> masked_names;
  std::string container_directory;  ///< the setting container_dir: "mcr" or "../mcr"
  std::string launch_directory;     ///< absolute, in the stage: `<stage>/<node>.<launch>`
  std::string path;                 ///< absolute path at which the program wrote the file
  /// The file that the stub was read from. How far the content is believed depends on the file's
  /// owner (trust.hpp). Not stored in the file.
  struct Origin {
    uid_t owner = 0;
    FileIdentity file;
  };
  std::optional<Origin> origin;
  /// Where the text for people begins, if the file has one. Not stored in the file.
  std::optional<std::uint64_t> text_offset;
  /// True if a program has begun to write the file anew after this stub was written
  /// (stage/rewrite_mark.hpp). write_stub() ignores it.
  bool is_rewritten = false;
};

/// The first byte of the text for people: as write_stub() writes it, and in a stub that is_rewritten.
inline constexpr std::byte text_begin{'\n'};
inline constexpr std::byte rewrite_mark{'w'};

/// Returns the bytes of the file: signature, record, checksum, and a text for people. At most
/// max_bytes: if names are too long for that, the least likely candidates are omitted.
Bytes write_stub(const Stub& stub);

/// True if `head`, the first bytes of a file, begins with the signature of a stub. The rest may be
/// damaged.
bool looks_like_stub(ByteSpan head);

/// Cause::damaged if the file is no stub or was altered, Cause::unsupported if a newer version
/// wrote it.
Result<Stub> read_stub(ByteSpan file);

}  // namespace mcr::restart
