// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/commit/committed_stubs.hpp"

#include <sys/stat.h>

#include <algorithm>

namespace mcr::aggregation {

using restart::File;
using restart::PartId;

namespace {

/// The most descriptors that are kept. The stubs of further sets are not kept, so these sets stay.
constexpr std::size_t most_descriptors = 4096;

}  // namespace

void CommittedStubs::add(const Container& container, const StubHandles& stubs) {
  Set& set = sets_[container.set];
  // After a directory was replaced, sets of the same name may lie in two directories.
  if (!set.parts.empty() && set.directory != container.directory) set.is_known = false;
  set.directory = container.directory;
  set.bytes += container.bytes;
  for (const PartId& part : container.parts) {
    set.parts.insert(part);
    if (!set.is_known) continue;
    File stub = open_ < most_descriptors ? stubs.open_again(part) : File();
    if (!stub.is_open()) {
      set.is_known = false;
      set.named.clear();
      continue;
    }
    set.named.insert_or_assign(part, std::move(stub));
    ++open_;
  }
}

bool CommittedStubs::is_given_up(Set& set) {
  if (!set.is_known) return false;
  while (!set.named.empty()) {
    const auto status = set.named.begin()->second.status();
    if (!status || status->st_nlink != 0) return false;
    set.named.erase(set.named.begin());
  }
  return true;
}

bool CommittedStubs::is_given_up(const SetName& name) {
  const auto set = sets_.find(name);
  return set != sets_.end() && is_given_up(set->second);
}

bool CommittedStubs::is_given_up(const SetName& name, const std::vector<PartId>& parts) {
  const auto set = sets_.find(name);
  return set != sets_.end() && is_given_up(set->second) &&
         std::all_of(parts.begin(), parts.end(),
                     [&](const PartId& part) { return set->second.parts.contains(part); });
}

bool CommittedStubs::has_given_up(const restart::FileIdentity& directory) {
  return std::any_of(sets_.begin(), sets_.end(), [&](auto& entry) {
    return entry.second.directory == directory && is_given_up(entry.second);
  });
}

CommittedStubs::Bytes CommittedStubs::bytes() {
  Bytes bytes;
  open_ = 0;
  for (auto& [name, set] : sets_) {
    (is_given_up(set) ? bytes.given_up : bytes.others) += set.bytes;
    open_ += set.named.size();
  }
  return bytes;
}

std::uint64_t CommittedStubs::bytes_of(const SetName& name) const {
  const auto set = sets_.find(name);
  return set == sets_.end() ? 0 : set->second.bytes;
}

}  // namespace mcr::aggregation
