// SPDX-License-Identifier: BSD-3-Clause
#include "restart/stage/stub_socket.hpp"

#include <fcntl.h>

#include <cstring>
#include <span>

#include "restart/base/local_socket.hpp"
#include "restart/base/system.hpp"
#include "restart/stage/leader_files.hpp"

namespace mcr::restart {
namespace {

using leader_files::socket_name;

Received receive(const File& connection, StubSocket::Message& message) {
  SocketMessage received;
  const Received what = receive_message(connection, message.part.bytes.size(), received);
  if (what != Received::message) return what;
  if (received.bytes.size() != message.part.bytes.size() || !received.file.is_open())
    return Received::end;
  std::memcpy(message.part.bytes.data(), received.bytes.data(), received.bytes.size());
  message.stub = File(received.file.release(), message.part.text());
  return Received::message;
}

}  // namespace

Result<void> send_stub(int launch_directory, const PartId& part, int stub) {
  const File socket = MCR_TRY(connect_socket_in(launch_directory, socket_name));
  // Send a descriptor that was opened anew. The caller's descriptor may be locked (flock), and the
  // lock would last as long as the sent copy.
  const File path = MCR_TRY(File::open(AT_FDCWD, link_path(stub), O_PATH));
  return send_message(socket, std::as_bytes(std::span(part.bytes)), path.descriptor());
}

Result<StubSocket> StubSocket::listen(int launch_directory) {
  return StubSocket(MCR_TRY(listen_in(launch_directory, socket_name)));
}

std::vector<StubSocket::Message> StubSocket::take() {
  std::vector<Message> messages;
  for (File& connection : accept_all(socket_)) unfinished_.push_back(std::move(connection));
  std::erase_if(unfinished_, [&](const File& connection) {
    Message message;
    const Received received = receive(connection, message);
    if (received == Received::message) messages.push_back(std::move(message));
    return received != Received::nothing_yet;
  });
  return messages;
}

}  // namespace mcr::restart
