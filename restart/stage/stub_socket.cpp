// SPDX-License-Identifier: BSD-3-Clause
#include "restart/stage/stub_socket.hpp"

#include <fcntl.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "restart/base/local_socket.hpp"
#include "restart/base/system.hpp"
#include "restart/stage/leader_files.hpp"

namespace mcr::restart {
namespace {

using leader_files::socket_name;

/// Space for one descriptor, aligned as the kernel requires.
union Control {
  cmsghdr header;
  char bytes[CMSG_SPACE(sizeof(int))];
};

enum class Received { message, nothing_yet, end };

Received receive(const File& connection, StubSocket::Message& message) {
  Control control{};
  iovec content{message.part.bytes.data(), message.part.bytes.size()};
  msghdr header{};
  header.msg_iov = &content;
  header.msg_iovlen = 1;
  header.msg_control = &control;
  header.msg_controllen = sizeof control;
  ssize_t got = 0;
  do {
    got = system_calls().recvmsg(connection.descriptor(), &header, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  if (got < 0 && errno == EAGAIN) return Received::nothing_yet;
  if (got <= 0) return Received::end;
  const cmsghdr* const rights = CMSG_FIRSTHDR(&header);
  if (rights == nullptr || rights->cmsg_level != SOL_SOCKET || rights->cmsg_type != SCM_RIGHTS ||
      rights->cmsg_len != CMSG_LEN(sizeof(int))) {
    return Received::end;
  }
  int descriptor = -1;
  std::memcpy(&descriptor, CMSG_DATA(rights), sizeof descriptor);
  message.stub = File(descriptor, message.part.text());
  return static_cast<std::size_t>(got) == message.part.bytes.size() ? Received::message
                                                                    : Received::end;
}

}  // namespace

Result<void> send_stub(int launch_directory, const PartId& part, int stub) {
  const File socket = MCR_TRY(connect_socket_in(launch_directory, socket_name));
  // Send a descriptor that was opened anew. The caller's descriptor may be locked (flock), and the
  // lock would last as long as the sent copy.
  const File path = MCR_TRY(File::open(AT_FDCWD, link_path(stub), O_PATH));
  const int descriptor = path.descriptor();
  Control control{};
  PartId content = part;
  iovec bytes{content.bytes.data(), content.bytes.size()};
  msghdr header{};
  header.msg_iov = &bytes;
  header.msg_iovlen = 1;
  header.msg_control = &control;
  header.msg_controllen = sizeof control;
  cmsghdr* const rights = CMSG_FIRSTHDR(&header);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(rights), &descriptor, sizeof descriptor);
  ssize_t sent = 0;
  do {
    sent = system_calls().sendmsg(socket.descriptor(), &header, MSG_NOSIGNAL | MSG_DONTWAIT);
  } while (sent < 0 && errno == EINTR);
  if (sent < 0) return system_error("cannot send to", socket_name);
  return {};
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
