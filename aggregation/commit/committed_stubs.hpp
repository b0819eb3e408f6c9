// SPDX-License-Identifier: BSD-3-Clause
// For gc=auto: the stubs of the sets that this leader has committed, by descriptors that it keeps
// open. A stub whose last name is gone (link count 0) can never get a name again, so the program
// has certainly deleted or overwritten it, wherever it was moved or linked to. Nothing is known of
// a stub without such a descriptor, and of copies.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "aggregation/commit/stub_handles.hpp"
#include "aggregation/merge/sets.hpp"
#include "restart/base/file.hpp"
#include "restart/base/file_identity.hpp"
#include "restart/base/part_id.hpp"

namespace mcr::aggregation {

/// Used by the drain's thread alone.
class CommittedStubs {
 public:
  struct Container {
    SetName set;
    restart::FileIdentity directory;
    std::uint64_t bytes = 0;
    std::vector<restart::PartId> parts;
  };
  /// Keeps the stubs of a container that was just committed, as far as `stubs` has them.
  void add(const Container& container, const StubHandles& stubs);
  void forget(const SetName& set) { sets_.erase(set); }

  /// True if the program has certainly deleted or overwritten the stubs of all parts that this
  /// leader has committed for the set.
  [[nodiscard]] bool is_given_up(const SetName& set);
  /// True if the set is given up, and has only parts that this leader has committed.
  [[nodiscard]] bool is_given_up(const SetName& set, const std::vector<restart::PartId>& parts);
  /// True if some set in that directory is given up.
  [[nodiscard]] bool has_given_up(const restart::FileIdentity& directory);

  struct Bytes {
    std::uint64_t given_up = 0;
    std::uint64_t others = 0;
  };
  /// The sizes of the containers of all sets.
  [[nodiscard]] Bytes bytes();
  /// The size of the set's containers.
  [[nodiscard]] std::uint64_t bytes_of(const SetName& set) const;

 private:
  struct Set {
    restart::FileIdentity directory;
    std::uint64_t bytes = 0;
    std::set<restart::PartId> parts;
    std::map<restart::PartId, restart::File> named;  ///< stubs that had a name at the last look
    bool is_known = true;                            ///< each part has or had a descriptor
  };

  [[nodiscard]] static bool is_given_up(Set& set);

  std::map<SetName, Set> sets_;
  std::size_t open_ = 0;  ///< descriptors, at the last count
};

}  // namespace mcr::aggregation
