// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/commit/written_since.hpp"

#include <sys/stat.h>

#include "restart/base/birth_time.hpp"
#include "restart/container/own_file.hpp"

namespace mcr::aggregation {
namespace {

constexpr std::size_t most_directories = 1024;

}  // namespace

WrittenSince::Key WrittenSince::key_of(const restart::File& directory) {
  const auto status = directory.status();
  return {status ? restart::FileIdentity(*status) : restart::FileIdentity(),
          restart::birth_time_of(directory)};
}

std::uint64_t WrittenSince::of(const restart::File& directory) {
  {
    const std::scoped_lock lock(mutex_);
    const auto known = known_.find(key_of(directory));
    if (known != known_.end()) return known->second;
  }
  return restart::written_since(directory);
}

void WrittenSince::note(const restart::File& directory, std::uint64_t since_ns) {
  const std::scoped_lock lock(mutex_);
  if (known_.size() >= most_directories) known_.clear();
  known_.try_emplace(key_of(directory), since_ns);
}

}  // namespace mcr::aggregation
