// SPDX-License-Identifier: BSD-3-Clause
// The small file at the path that the program used. docs/format.md, "Stub".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "codecs/base/bytes.hpp"
#include "restart/format/part_id.hpp"

namespace mcr::restart {

struct Stub {
  static constexpr std::size_t max_bytes = 64 * 1024;

  PartId part;
  std::string launch;
  std::uint64_t sequence = 0;
  std::uint32_t rank = 0;
  std::uint32_t rank_count = 1;
  std::string node;
  std::vector<std::string> masked_names;   ///< candidates, most likely first; relative to `container_base`
  std::string container_directory;         ///< relative to the stub's own directory, e.g. "mcr" or "../mcr"
  std::string container_directory_absolute;
  std::string launch_directory;            ///< absolute, in the stage: `<stage>/<node>.<launch>`
  std::string path;                        ///< absolute path at which the program wrote
};

/// The bytes of the file: signature, record, checksum, and a text for people.
Bytes write_stub(const Stub& stub);

/// True where `head` (the first bytes of a file, at least 17) says that this is a stub, whole or not.
bool looks_like_stub(ByteSpan head);

/// Cause::damaged where it is no stub or was altered, Cause::unsupported for a newer version.
Result<Stub> read_stub(ByteSpan file);

}  // namespace mcr::restart
