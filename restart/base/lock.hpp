// SPDX-License-Identifier: BSD-3-Clause
// Locks that end with their holder (flock on an open file). Only such locks tell whether a process
// lives, because process numbers mean nothing outside a Linux container.
#pragma once

#include <cstdint>
#include <optional>

#include "restart/base/file.hpp"

namespace mcr::restart {

enum class LockKind { shared, exclusive };

/// Takes the lock, or returns false at once if another process holds it. The lock lasts until the
/// last descriptor of the open file description (forked copies included) is closed.
Result<bool> try_lock(const File& file, LockKind kind);

/// Releases the lock; the file stays open.
void unlock(const File& file);

/// Locks the byte at offset `place` exclusively; returns false at once if the byte is locked
/// already. The byte need not exist. As with try_lock(), the lock belongs to the open file
/// description. The file must be open for writing.
Result<bool> try_lock_place(const File& file, std::uint64_t place);
void unlock_place(const File& file, std::uint64_t place);

}  // namespace mcr::restart
