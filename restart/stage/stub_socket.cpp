// SPDX-License-Identifier: BSD-3-Clause
#include "restart/stage/stub_socket.hpp"

#include <fcntl.h>

#include <cstring>
#include <span>

#include "codecs/base/bytes.hpp"
#include "restart/base/local_socket.hpp"
#include "restart/base/system.hpp"
#include "restart/stage/leader_files.hpp"

namespace mcr::restart {
namespace {

using leader_files::socket_name;

constexpr std::size_t message_bytes = sizeof(PartId::bytes) + sizeof(std::uint64_t);

Received receive(const File& connection, StubSocket::Message& message) {
  SocketMessage received;
  const Received what = receive_message(connection, message_bytes, received);
  if (what != Received::message) return what;
  Reader reader(received.bytes);
  const auto part = reader.bytes(message.part.bytes.size());
  const auto modified_ns = reader.u64();
  if (!part || !modified_ns || received.bytes.size() != message_bytes || !received.file.is_open())
    return Received::end;
  std::memcpy(message.part.bytes.data(), part->data(), part->size());
  message.modified_ns = *modified_ns;
  message.stub = File(received.file.release(), message.part.text());
  return Received::message;
}

}  // namespace

Result<void> send_stub(int launch_directory, const PartId& part, int stub,
                       std::uint64_t modified_ns) {
  const File socket = MCR_TRY(connect_socket_in(launch_directory, socket_name));
  // Send a descriptor that was opened anew. The caller's descriptor may be locked (flock), and the
  // lock would last as long as the sent copy.
  const File path = MCR_TRY(File::open(AT_FDCWD, link_path(stub), O_PATH));
  Bytes message;
  Writer writer(message);
  writer.bytes(std::as_bytes(std::span(part.bytes)));
  writer.u64(modified_ns);
  return send_message(socket, message, path.descriptor());
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
