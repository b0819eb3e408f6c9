// SPDX-License-Identifier: BSD-3-Clause
// What lies at a path where a stub may lie. Opens, captures, the leader and the commands use it.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string>

#include "restart/base/file.hpp"
#include "restart/format/stub.hpp"

namespace mcr::restart {

struct FileAt {
  enum class Kind : std::uint8_t {
    nothing,
    stub,
    damaged_stub,  ///< it begins like a stub; Cause::unsupported if a newer version wrote it
    plain_file,    ///< any other regular file
    other,         ///< not a regular file: a directory, a link, a pipe, a device
    closed,        ///< it cannot be opened or looked at
  };
  Kind kind = Kind::nothing;
  File file;              ///< open for reading, unless the kind is nothing, closed or a link
  struct stat status {};  ///< of that file
  Stub stub;              ///< of Kind::stub
  Error error;            ///< why the stub is damaged, or why the file cannot be opened

  [[nodiscard]] bool is_stub() const { return kind == Kind::stub; }
  [[nodiscard]] bool is_stub_of(const PartId& part) const { return is_stub() && stub.part == part; }
};

enum class Links : std::uint8_t { followed, not_followed };

/// Looks at a path. Never blocks, not even on a pipe.
FileAt file_at(int directory, const std::string& path, Links links);
/// The same for a file that is open for reading, or whose open failed.
FileAt file_at(Result<File> file);

}  // namespace mcr::restart
