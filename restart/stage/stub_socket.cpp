// SPDX-License-Identifier: BSD-3-Clause
#include "restart/stage/stub_socket.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "restart/base/spare_numbers.hpp"
#include "restart/base/system.hpp"
#include "restart/stage/leader_files.hpp"

namespace mcr::restart {
namespace {

using leader_files::socket_name;

/// The kernel lowers this to net.core.somaxconn.
constexpr int most_waiting = 4096;

/// Returns an address through /proc, because the address of a socket has 108 bytes and a stage's path
/// may be longer.
sockaddr_un address_in(int directory) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = link_path(directory) + "/" + socket_name;
  std::copy_n(path.data(), std::min(path.size(), sizeof address.sun_path - 1), address.sun_path);
  return address;
}

const sockaddr* general(const sockaddr_un& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

Result<File> new_socket() {
  const int descriptor = system_calls().local_socket();
  if (descriptor < 0) return system_error("cannot make a socket", {});
  return File(spared_number(descriptor), socket_name);
}

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
  const File socket = MCR_TRY(new_socket());
  const sockaddr_un address = address_in(launch_directory);
  if (system_calls().connect(socket.descriptor(), general(address), sizeof address) != 0)
    return system_error("no leader listens at", socket_name);
  // A descriptor of its own: the caller's may be locked (flock), and that lock would live as long as
  // the sent copy.
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
  File socket = MCR_TRY(new_socket());
  (void)system_calls().unlinkat(launch_directory, socket_name, 0);
  const sockaddr_un address = address_in(launch_directory);
  if (system_calls().bind(socket.descriptor(), general(address), sizeof address) != 0)
    return system_error("cannot make the socket", socket_name);
  if (system_calls().listen(socket.descriptor(), most_waiting) != 0)
    return system_error("cannot listen at", socket_name);
  return StubSocket(std::move(socket));
}

std::vector<StubSocket::Message> StubSocket::take() {
  std::vector<Message> messages;
  for (;;) {
    const int descriptor = system_calls().accept(socket_.descriptor());
    if (descriptor < 0 && (errno == EINTR || errno == ECONNABORTED)) continue;
    if (descriptor < 0) break;  // EAGAIN, or no descriptor is free: the messages stay in the queue
    unfinished_.emplace_back(descriptor, socket_name);
  }
  std::erase_if(unfinished_, [&](const File& connection) {
    Message message;
    const Received received = receive(connection, message);
    if (received == Received::message) messages.push_back(std::move(message));
    return received != Received::nothing_yet;
  });
  return messages;
}

}  // namespace mcr::restart
