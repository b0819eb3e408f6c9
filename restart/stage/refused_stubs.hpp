// SPDX-License-Identifier: BSD-3-Clause
// Which closed parts wait for their stubs because storage refused them (PartPublish::shows_older):
// one file for each path below refused/ in the launch's directory. The journal of such a part names
// the older file at the path by its identity, so nobody may exchange that file: neither for an older
// part's bytes, nor for an older part's stub.
#pragma once

#include <optional>
#include <string>

#include "restart/base/file.hpp"
#include "restart/format/journal.hpp"
#include "restart/stage/stage.hpp"

namespace mcr::restart {

/// Access to these files. At most one process of a launch on a node has it at a time: a rank while it
/// records that its stub was refused, and the leader while it exchanges the file at a path.
class RefusedStubs {
 public:
  /// How long lock() waits. A leader that is stopped may hold the lock for any time.
  enum class Wait : std::uint8_t { briefly, long_enough };
  /// EWOULDBLOCK: another process kept the lock as long as this one waited.
  static Result<RefusedStubs> lock(const LaunchDirectory& directory, Wait wait);

  /// Records that the part's stub is not at its path. Call it before the journal says so.
  [[nodiscard]] Result<void> add(const PartBegin& begin) const;
  /// True if the file at `path`, which belongs to the part `begin`, must stay: a newer part's stub
  /// waits to replace it. `path` differs from the part's own path if the program has renamed the file.
  [[nodiscard]] bool keeps(const PartBegin& begin, const std::string& path) const;

 private:
  explicit RefusedStubs(File directory) : directory_(std::move(directory)) {}

  File directory_;  ///< refused/, locked
};

}  // namespace mcr::restart
