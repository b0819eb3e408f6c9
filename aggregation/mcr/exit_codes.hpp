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

/// For --help of commands that have no codes of their own.
inline constexpr const char* usual_exit_codes =
    "Exit codes: 0 done, 1 the system refused or something is missing, 2 wrong usage, 3 damaged "
    "data.";
inline constexpr const char* exit_codes_without_data =
    "Exit codes: 0 done, 1 the system refused or something is missing, 2 wrong usage.";

int exit_code_of(const Error& error);

}  // namespace mcr::aggregation
