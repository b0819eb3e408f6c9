// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/commit/written_since.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <optional>

#include "restart/container/own_file.hpp"

namespace mcr::aggregation {
namespace {

constexpr std::size_t most_directories = 1024;

}  // namespace

std::uint64_t WrittenSince::of(const restart::File& directory) {
  const auto status = directory.status();
  if (!status) return 0;
  std::optional<Known> known;
  {
    const std::scoped_lock lock(mutex_);
    const auto found = known_.find(restart::FileIdentity(*status));
    if (found != known_.end()) known = found->second;
  }
  if (!known) return restart::written_since(directory);
  const auto origin = restart::origin_of(directory, known->container);
  return origin && !origin->is_copy ? known->since_ns : restart::written_since(directory);
}

void WrittenSince::note(const restart::File& directory, std::uint64_t since_ns,
                        const std::string& name) {
  const auto status = directory.status();
  if (!status) return;
  const std::scoped_lock lock(mutex_);
  if (known_.size() >= most_directories) known_.clear();
  known_[restart::FileIdentity(*status)] = {since_ns, name};
}

}  // namespace mcr::aggregation
