// SPDX-License-Identifier: BSD-3-Clause
// The exit codes of all subcommands; the man pages list them.
#pragma once

#include "codecs/base/result.hpp"

namespace mcr::aggregation {

namespace exit_code {
inline constexpr int success = 0;
inline constexpr int failure = 1;  ///< a system call failed, or something is missing
inline constexpr int usage = 2;    ///< wrong options or arguments
inline constexpr int damaged = 3;  ///< data is damaged; intact data was processed
inline constexpr int pending = 4;  ///< not finished within the time given
}  // namespace exit_code

int exit_code_of(const Error& error);

}  // namespace mcr::aggregation
