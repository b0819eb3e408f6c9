// SPDX-License-Identifier: BSD-3-Clause
// How a rank gives the leader a descriptor of a stub that it has just put at its path:
//
//   <launch directory>/stubs    a socket (AF_UNIX, SOCK_SEQPACKET) on which the leader listens
//
// Each message is the 16 bytes of a part's id with one descriptor (SCM_RIGHTS), opened with O_PATH. The
// descriptor leads to the stub wherever the program renames the stub, or a directory above it, later
// (docs/design/publish.md). A rank sends before H5Fclose returns and before it gives the part's lock back,
// so the leader has the message once it holds that lock. Neither side ever waits for the other.
#pragma once

#include <optional>
#include <vector>

#include "restart/base/file.hpp"
#include "restart/base/part_id.hpp"

namespace mcr::restart {

/// Sends a descriptor of the open file `stub` over the socket in the open directory of a launch. An
/// error, and nothing else, where no leader listens or too many messages wait.
Result<void> send_stub(int launch_directory, const PartId& part, int stub);

/// The leader's end. Movable; closing it leaves the socket's name behind, for the next leader.
class StubSocket {
 public:
  /// Replaces what an earlier leader left under the name. The caller holds the leader's lock.
  static Result<StubSocket> listen(int launch_directory);

  /// Becomes readable when a message comes.
  [[nodiscard]] int descriptor() const { return socket_.descriptor(); }

  struct Message {
    PartId part;
    File stub;  ///< O_PATH
  };
  /// All messages that wait.
  std::vector<Message> take();

 private:
  explicit StubSocket(File socket) : socket_(std::move(socket)) {}

  File socket_;
  std::vector<File> unfinished_;  ///< connected, and their message has not come yet
};

}  // namespace mcr::restart
