// SPDX-License-Identifier: BSD-3-Clause
// When a file or directory was made. Tells a new directory from a removed one whose path and inode
// number it has got: local file systems use inode numbers again at once.
#pragma once

#include <cstdint>
#include <string>

#include "restart/base/file.hpp"

namespace mcr::restart {

/// True if the file was certainly made after `moment_ns` (CLOCK_REALTIME). False if that cannot be
/// told: the file system records no birth times, its times are from a server's clock, or this
/// machine's clock was set back since the file was made.
bool was_made_after(const File& file, std::uint64_t moment_ns);

/// True if the file was certainly made before `moment_ns`. False if that cannot be told. File systems record birth times
/// up to 10 ms early; such a file counts as made at that moment.
bool was_made_before(const File& file, std::uint64_t moment_ns);

/// Returns the birth time that the file system records, in nanoseconds since 1970 by whatever clock; 0: none. No process can set it,
/// so a copy of a file has another one.
std::uint64_t birth_time_of(const File& file);

/// Returns a number that the file system gave the file and that nobody can foretell, unlike inode number and birth time: a hash of the
/// file's handle, with the generation of the inode. 0 if there is none: on file systems that other machines reach, handles may differ.
std::uint64_t handle_of(const File& file);

/// As was_made_after(), for a directory by its path. True also if nothing lies at the path.
bool is_gone_or_made_after(const std::string& directory, std::uint64_t moment_ns);

}  // namespace mcr::restart
