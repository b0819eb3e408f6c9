// SPDX-License-Identifier: BSD-3-Clause
// Includes Catch2, whichever version is installed: version 2 in Debian 12, version 3 in Debian 13.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>

namespace Catch {
/// Version 2's names of the matchers.
inline auto Contains(const std::string& part) { return Matchers::ContainsSubstring(part); }
using Matchers::StartsWith;
using Matchers::WithinRel;
}  // namespace Catch
#else
#include <catch2/catch.hpp>
#endif
