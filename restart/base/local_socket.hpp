// SPDX-License-Identifier: BSD-3-Clause
// Sockets by which processes of one node talk (AF_UNIX, SOCK_SEQPACKET), under names in directories that
// are held open. None of these calls waits for another process.
#pragma once

#include <vector>

#include "restart/base/file.hpp"

namespace mcr::restart {

/// Returns a socket that is connected to the one under that name; an error if nobody listens there or too
/// many processes wait.
Result<File> connect_socket_in(int directory, const std::string& name);

/// Returns a socket that listens under that name. Replaces the one that an earlier process left there: the
/// caller knows that nobody listens any more.
Result<File> listen_in(int directory, const std::string& name);

/// Returns all new connections of a listening socket.
std::vector<File> accept_all(const File& socket);

}  // namespace mcr::restart
