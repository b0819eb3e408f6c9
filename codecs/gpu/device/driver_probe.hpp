// SPDX-License-Identifier: BSD-3-Clause
// Finds out whether the driver's library can be loaded at all. If dlopen() does not return (a file system that does
// not answer, a constructor that waits), it keeps the C library's lock, without which no thread begins or ends.
#pragma once

#include <chrono>

#include "codecs/base/result.hpp"

namespace mcr::codecs::gpu {

/// Lets another process load the library, and waits for that process. Cause::unsupported if it has not loaded the library
/// within `limit`, or if the library ends it. Not for the program's process.
Result<void> probe_driver(std::chrono::milliseconds limit);

}  // namespace mcr::codecs::gpu
