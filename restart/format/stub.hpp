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
  /// Full paths, candidates, most likely first, as in the journal. Where a candidate's container
  /// lies and what it is called follows from it, container_directory and the stub's own place
  /// (container_name.hpp).
  std::vector<std::string> masked_names;
  std::string container_directory;  ///< the setting container_dir: "mcr" or "../mcr"
  std::string launch_directory;     ///< absolute, in the stage: `<stage>/<node>.<launch>`
  std::string path;                 ///< absolute path at which the program wrote
  /// The file that it was read from, whose owner's word all this is. Not in the bytes.
  struct Origin {
    uid_t owner = 0;
    FileIdentity file;
  };
  std::optional<Origin> origin;
};

/// The bytes of the file: signature, record, checksum, and a text for people. At most max_bytes:
/// where names are too long for that, the least likely candidates are left out.
Bytes write_stub(const Stub& stub);

/// True where `head` (the first bytes of a file) says that this is a stub, whole or not.
bool looks_like_stub(ByteSpan head);

/// Cause::damaged where it is no stub or was altered, Cause::unsupported for a newer version.
Result<Stub> read_stub(ByteSpan file);

}  // namespace mcr::restart
