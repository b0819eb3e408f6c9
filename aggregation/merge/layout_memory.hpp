// SPDX-License-Identifier: BSD-3-Clause
// Remembers the layouts of earlier sets' parts. The steps of a program mostly write files that
// differ in values, and in a number in their datasets' names, only. So from the second set on, such
// files are compared (layout_reuse) and not walked.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "aggregation/merge/datatypes.hpp"
#include "aggregation/merge/layout_reuse.hpp"

namespace mcr::aggregation {

/// Calls HDF5, so use it in one thread at a time. A leader has one for its whole life.
class LayoutMemory {
 public:
  /// Returns the types to which remembered layouts refer. A set that uses the memory must use them
  /// for all of its parts.
  [[nodiscard]] const std::shared_ptr<Datatypes>& types() const { return types_; }

  /// Returns what is remembered for `key`, which names a set without its step, and forgets it.
  std::vector<ReferencePart> take(const std::string& key);

  /// Remembers the references until `key` is taken: those that the set has used first, and as many
  /// as fit. Forgets the keys that were not used for the longest time, so that all together takes at
  /// most `most_bytes`.
  void keep(const std::string& key, std::vector<ReferencePart> references,
            std::uint64_t most_bytes);

  /// Returns about how much memory this takes.
  [[nodiscard]] std::uint64_t memory_bytes() const;

 private:
  /// With more, comparisons could take longer than walking.
  static constexpr std::size_t most_references = 32;

  struct Entry {
    std::string key;
    std::vector<ReferencePart> references;
    std::uint64_t bytes = 0;
  };
  std::shared_ptr<Datatypes> types_ = std::make_shared<Datatypes>();
  std::list<Entry> entries_;  // the last one was used last
  std::uint64_t bytes_ = 0;   // of the entries
};

}  // namespace mcr::aggregation
