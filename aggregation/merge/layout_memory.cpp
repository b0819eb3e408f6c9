// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/merge/layout_memory.hpp"

#include <algorithm>

namespace mcr::aggregation {

std::vector<ReferencePart> LayoutMemory::take(const std::string& key) {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& entry) { return entry.key == key; });
  if (found == entries_.end()) return {};
  std::vector<ReferencePart> references = std::move(found->references);
  bytes_ -= found->bytes;
  entries_.erase(found);
  return references;
}

void LayoutMemory::keep(const std::string& key, std::vector<ReferencePart> references,
                        std::uint64_t most_bytes) {
  (void)take(key);
  std::stable_partition(references.begin(), references.end(), [](const ReferencePart& reference) {
    return reference.layout() != nullptr;
  });
  Entry entry{key, {}, 0};
  for (ReferencePart& reference : references) {
    if (entry.references.size() == most_references) break;
    if (entry.bytes + reference.memory_bytes() > most_bytes) continue;
    reference.end_set();
    entry.bytes += reference.memory_bytes();
    entry.references.push_back(std::move(reference));
  }
  if (!entry.references.empty()) {
    bytes_ += entry.bytes;
    entries_.push_back(std::move(entry));
  }
  if (types_->memory_bytes() > most_bytes) {
    // The present set goes on with the old types.
    types_ = std::make_shared<Datatypes>();
    entries_.clear();
    bytes_ = 0;
  }
  while (memory_bytes() > most_bytes && !entries_.empty()) {
    bytes_ -= entries_.front().bytes;
    entries_.pop_front();
  }
}

std::uint64_t LayoutMemory::memory_bytes() const { return bytes_ + types_->memory_bytes(); }

}  // namespace mcr::aggregation
