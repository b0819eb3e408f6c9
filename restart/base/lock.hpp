// SPDX-License-Identifier: BSD-3-Clause
// Locks that die with their holder (flock on an open file): who lives is known by them and by nothing
// else, because process numbers mean nothing across containers.
#pragma once

#include <cstdint>
#include <optional>

#include "restart/base/file.hpp"

namespace mcr::restart {

enum class LockKind { shared, exclusive };

/// Takes the lock at once or says that another holds it (false). The lock lives as long as the open file
/// description: until the last descriptor of it (forked copies included) is closed.
Result<bool> try_lock(const File& file, LockKind kind);

/// Gives the lock back while the file stays open.
void unlock(const File& file);

/// One byte of a file, which need not be there, as a lock of its own: exclusive, at once or not at
/// all, of the open file description like the lock above. The file is open for writing.
Result<bool> try_lock_place(const File& file, std::uint64_t place);
void unlock_place(const File& file, std::uint64_t place);

}  // namespace mcr::restart
