// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/commit/locked_parts.hpp"

#include <sys/resource.h>

#include <cerrno>
#include <chrono>
#include <thread>

namespace mcr::aggregation {

using restart::File;
using restart::LaunchDirectory;
using restart::PartId;

namespace {

constexpr int lock_turns = 2000;  // the writer may hold its lock while slow storage takes its stub
constexpr auto lock_pause = std::chrono::milliseconds(5);
/// Descriptors that a leader needs beside the parts while it writes their container.
constexpr rlim_t other_descriptors = 32;

/// True if the limit of descriptors is near. The kernel gives the lowest free number, so `newest`
/// tells how many are in use.
bool are_descriptors_few(const File& newest) {
  struct rlimit limit {};
  return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
         static_cast<rlim_t>(newest.descriptor()) + other_descriptors > limit.rlim_cur;
}

/// Opens the bytes and locks them; waits while the part's writer holds the lock. A writer holds it
/// from publish until storage has renamed the stub. A writer that takes the part back holds the
/// lock as well, but the part is then no longer published.
Result<File> lock_bytes(const LaunchDirectory& directory, const PartId& id) {
  for (int turn = 0;; ++turn) {
    auto bytes = directory.open_bytes(id);
    const bool busy = !bytes && bytes.error().system_error == EWOULDBLOCK;
    if (!busy || turn == lock_turns || !directory.is_in(LaunchDirectory::State::published, id)) {
      return bytes;
    }
    std::this_thread::sleep_for(lock_pause);
  }
}

}  // namespace

std::vector<LockedPart> lock_parts(const LaunchDirectory& directory,
                                   const std::vector<PartId>& ids) {
  std::vector<LockedPart> parts;
  for (const PartId& id : ids) {
    LockedPart part;
    part.id = id;
    // Lock first, then read the journal: only the lock keeps the journal where it is.
    auto bytes = lock_bytes(directory, id);
    auto journal = directory.journal(LaunchDirectory::State::published, id);
    if (!journal) continue;
    part.is_native = journal->publish && journal->publish->native;
    if (!part.is_native) {
      if (!bytes) continue;
      const auto size = bytes->size();
      if (!size) continue;
      if (!parts.empty() && are_descriptors_few(*bytes)) break;
      part.size = *size;
      part.bytes = std::move(*bytes);
    }
    part.journal = std::move(*journal);
    parts.push_back(std::move(part));
  }
  return parts;
}

}  // namespace mcr::aggregation
