// SPDX-License-Identifier: BSD-3-Clause
// How a rank gives the leader a descriptor of a stub that it has just put at its path:
//
//   <launch directory>/stubs    a socket (AF_UNIX, SOCK_SEQPACKET) on which the leader listens
//
// Each message is the 16 bytes of a part's id and the stub's modification time (8 bytes, nanoseconds,
// little-endian), with one descriptor (SCM_RIGHTS), opened with O_PATH.
// The descriptor leads to the stub wherever the program renames the stub, or a directory above it,
// later (docs/design/publish.md). A rank sends the message before H5Fclose returns and before it
// releases the part's lock. So a leader that holds that lock has the message already. Neither side
// ever waits for the other.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "restart/base/file.hpp"
#include "restart/base/part_id.hpp"

namespace mcr::restart {

/// Sends a descriptor of the open file `stub`, which was modified at `modified_ns` by its rank, over the socket
/// in the open launch directory. If no leader listens or too many messages wait, it returns an error and has no other effect.
Result<void> send_stub(int launch_directory, const PartId& part, int stub,
                       std::uint64_t modified_ns);

/// The leader's end of the socket. Movable. The destructor leaves the socket's name behind; the
/// next leader replaces it.
class StubSocket {
 public:
  /// Makes the socket, in place of one that an earlier leader left. The caller holds the leader's
  /// lock.
  static Result<StubSocket> listen(int launch_directory);

  /// Becomes readable when a message comes.
  [[nodiscard]] int descriptor() const { return socket_.descriptor(); }

  struct Message {
    PartId part;
    File stub;                      ///< O_PATH
    std::uint64_t modified_ns = 0;  ///< when the rank had written the stub
  };
  /// Returns all waiting messages.
  std::vector<Message> take();

 private:
  explicit StubSocket(File socket) : socket_(std::move(socket)) {}

  File socket_;
  std::vector<File> unfinished_;  ///< connected, but their message has not come yet
};

}  // namespace mcr::restart
