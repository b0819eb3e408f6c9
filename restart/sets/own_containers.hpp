// SPDX-License-Identifier: BSD-3-Clause
// The directory of containers as a place for this user's own files: containers, notes, links,
// decisions, requests. Whoever keeps something there opens it here, so that nothing is put where a
// neighbour could take it away or exchange it (restart/base/trust).
#pragma once

#include <string>

#include "restart/base/file.hpp"

namespace mcr::restart {

/// Opens it. ENOENT: it is not there. EPERM: it may not be used, and the message says why and what
/// to do.
Result<File> open_own_containers(const std::string& directory);
/// The same, made where it is missing (not those above it), no more open than where it stands. One of
/// this user's that is more open is closed as far.
Result<File> make_own_containers(const std::string& directory);
/// The same for `below`, a path that may begin with "..", from a directory that is open: a neighbour above
/// may have put another one at its path.
Result<File> open_own_containers(const File& directory, const std::string& below);
Result<File> make_own_containers(const File& directory, const std::string& below);
/// The same, and a new one is as open to readers as the directory above, whatever the umask.
struct MadeContainers {
  File directory;
  bool is_new = false;
};
Result<MadeContainers> make_open_containers(const File& directory, const std::string& name);

/// A directory in one of ours, such as set-natives/, made in the same way.
Result<File> make_in_own_containers(const File& containers, const std::string& name);

/// A file there to which lines are added, made where it is missing: a regular one with no other name.
Result<File> open_log(const File& containers, const std::string& name);

/// As far as one look at its owner shows: true where open_own_containers() has to be asked.
bool is_doubtful(const std::string& directory);

}  // namespace mcr::restart
