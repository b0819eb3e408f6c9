// SPDX-License-Identifier: BSD-3-Clause
// Where the stubs of parts in the stage are now. Programs rename a checkpoint's directory
// (`step.tmp` to `step`), move files out of it, or remove it, while its parts still wait for their
// commit. A descriptor of the stub, taken when the part is first seen, follows all of that.
#pragma once

#include <map>
#include <mutex>
#include <string>

#include "restart/base/file.hpp"
#include "restart/container_name.hpp"
#include "restart/format/journal.hpp"

namespace mcr::aggregation {

/// Thread-safe: the leader's loop remembers, the drain asks.
class StubHandles {
 public:
  /// Opens what lies at the part's path and keeps it where it is this part's stub, or will be. At
  /// most `most_handles` are kept, fewer where descriptors are few; parts without one are looked
  /// for by their directory's identity.
  void remember(const restart::PartBegin& begin);
  void forget(const restart::PartId& part);

  enum class Fate { unknown, removed, present };
  struct Found {
    Fate fate = Fate::unknown;
    std::string path;  ///< absolute, where present; where removed, the last one, as far as known
  };
  [[nodiscard]] Found find(const restart::PartId& part) const;

 private:
  static constexpr std::size_t most_handles = 512;

  mutable std::mutex mutex_;
  std::map<restart::PartId, restart::File> stubs_;
};

/// The present place of `where.base`, which a part was begun below.
struct BaseNow {
  bool removed = false;  ///< the program removed the file, and nothing lies at its path
  std::string base;      ///< empty: not found
};
BaseNow find_base(const restart::ContainerName& where, const restart::PartBegin& begin,
                  const StubHandles* stubs);

}  // namespace mcr::aggregation
