// SPDX-License-Identifier: BSD-3-Clause
// Sockets by which processes of one node talk (AF_UNIX, SOCK_SEQPACKET), under names in directories that
// are held open. None of these calls waits for another process.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "codecs/base/bytes.hpp"
#include "restart/base/file.hpp"

namespace mcr::restart {

/// Returns a socket that is connected to the one under that name; an error if nobody listens there or too
/// many processes wait.
Result<File> connect_socket_in(int directory, const std::string& name);

/// Returns a socket that listens under that name. Replaces the one that an earlier process left there: the
/// caller knows that nobody listens any more.
Result<File> listen_in(int directory, const std::string& name);

/// Takes a name among all processes of this user on this node (in this network namespace), until this process
/// ends. False if another process of this user has it. True if that cannot be known, and if another user has
/// taken the name. `name` has at most 100 bytes.
bool take_name_on_node(std::string_view name);

/// A message of one process: bytes and, if its file is open, a descriptor.
struct SocketMessage {
  Bytes bytes;
  File file;
};

/// Sends a message with the bytes and, if `descriptor` is not negative, a copy of that descriptor.
Result<void> send_message(const File& socket, ByteSpan bytes, int descriptor = -1);

enum class Received { message, nothing_yet, end };

/// Receives the next message, of at most `most_bytes`. What is longer is cut there.
Received receive_message(const File& connection, std::size_t most_bytes, SocketMessage& message);

/// Returns all new connections of a listening socket.
std::vector<File> accept_all(const File& socket);

}  // namespace mcr::restart
