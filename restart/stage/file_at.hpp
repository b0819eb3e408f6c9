// SPDX-License-Identifier: BSD-3-Clause
// Finds out what lies at a path: a stub or another file. Used by opens, captures, the leader and
// the commands.
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
    /// It begins like a stub; `error` is Cause::unsupported if a newer version wrote it.
    damaged_stub,
    plain_file,  ///< any other regular file
    other,       ///< not a regular file: a directory, a link, a pipe, a device
    closed,      ///< it cannot be opened, examined or read
  };
  Kind kind = Kind::nothing;
  /// Open for reading if it is a regular file that can be opened.
  File file;
  struct stat status {};  ///< of that file
  Stub stub;              ///< of Kind::stub
  Error error;            ///< why the stub is damaged, or why the file cannot be opened

  [[nodiscard]] bool is_stub() const { return kind == Kind::stub; }
  [[nodiscard]] bool is_stub_of(const PartId& part) const { return is_stub() && stub.part == part; }
};

enum class Links : std::uint8_t { followed, not_followed };

/// Looks at a path. Opens regular files only: a pipe's other end would notice an open.
FileAt file_at(int directory, const std::string& path, Links links);
/// The same for a file that is open for reading, or whose open failed.
FileAt file_at(Result<File> file);

}  // namespace mcr::restart
