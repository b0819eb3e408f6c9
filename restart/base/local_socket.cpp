// SPDX-License-Identifier: BSD-3-Clause
#include "restart/base/local_socket.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <ctime>
#include <string>

#include "restart/base/spare_numbers.hpp"
#include "restart/base/system.hpp"

namespace mcr::restart {
namespace {

/// Length of the queue; the kernel limits it to net.core.somaxconn.
constexpr int most_waiting = 4096;

/// Returns an address through /proc, because the address of a socket has 108 bytes and a directory's path
/// may be longer.
sockaddr_un address_in(int directory, const std::string& name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = link_path(directory) + "/" + name;
  std::copy_n(path.data(), std::min(path.size(), sizeof address.sun_path - 1), address.sun_path);
  return address;
}

/// Space for one descriptor, aligned as the kernel requires.
union Control {
  cmsghdr header;
  char bytes[CMSG_SPACE(sizeof(int))];
};

/// Returns the descriptor that came with the message; -1 if there is none.
int descriptor_in(msghdr& header) {
  const cmsghdr* const rights = CMSG_FIRSTHDR(&header);
  int descriptor = -1;
  if (rights != nullptr && rights->cmsg_level == SOL_SOCKET && rights->cmsg_type == SCM_RIGHTS &&
      rights->cmsg_len == CMSG_LEN(sizeof(int)))
    std::memcpy(&descriptor, CMSG_DATA(rights), sizeof descriptor);
  return descriptor;
}

const sockaddr* general(const sockaddr_un& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

Result<File> new_socket(const std::string& name) {
  const int descriptor = system_calls().local_socket();
  if (descriptor < 0) return system_error("cannot make a socket", {});
  return File(spared_number(descriptor), name);
}

/// An address of Linux's abstract name space: no file, and it vanishes with the socket.
struct AbstractAddress {
  sockaddr_un address{};
  socklen_t bytes = 0;

  explicit AbstractAddress(std::string_view name) {
    address.sun_family = AF_UNIX;
    const std::size_t size = std::min(name.size(), sizeof address.sun_path - 1);
    std::copy_n(name.data(), size, address.sun_path + 1);
    bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + size);
  }
};

/// True if the process that listens there belongs to this user.
bool does_this_user_listen(const AbstractAddress& where) {
  // A process that has just taken the name listens in a moment.
  constexpr int looks = 20;
  constexpr timespec pause{0, 1'000'000};
  for (int look = 0; look < looks; ++look) {
    const auto socket = new_socket("a name on this node");
    if (!socket) return false;
    if (system_calls().connect(socket->descriptor(), general(where.address), where.bytes) == 0) {
      ucred owner{};
      socklen_t bytes = sizeof owner;
      return ::getsockopt(socket->descriptor(), SOL_SOCKET, SO_PEERCRED, &owner, &bytes) == 0 &&
             owner.uid == ::geteuid();
    }
    if (errno != ECONNREFUSED) return false;
    ::nanosleep(&pause, nullptr);
  }
  return false;
}

}  // namespace

bool take_name_on_node(std::string_view name) {
  const AbstractAddress where(name);
  auto socket = new_socket("a name on this node");
  if (!socket) return true;
  if (system_calls().bind(socket->descriptor(), general(where.address), where.bytes) != 0)
    return errno != EADDRINUSE || !does_this_user_listen(where);
  (void)system_calls().listen(socket->descriptor(), most_waiting);
  (void)socket->release();  // the kernel closes it when the process ends
  return true;
}

Result<File> connect_socket_in(int directory, const std::string& name) {
  File socket = MCR_TRY(new_socket(name));
  const sockaddr_un address = address_in(directory, name);
  if (system_calls().connect(socket.descriptor(), general(address), sizeof address) != 0)
    return system_error("no leader listens at", name);
  return socket;
}

Result<File> listen_in(int directory, const std::string& name) {
  File socket = MCR_TRY(new_socket(name));
  (void)system_calls().unlinkat(directory, name.c_str(), 0);
  const sockaddr_un address = address_in(directory, name);
  if (system_calls().bind(socket.descriptor(), general(address), sizeof address) != 0)
    return system_error("cannot make the socket", name);
  // Processes of this user must be able to write to it, whatever the umask is.
  (void)system_calls().fchmodat(directory, name.c_str(), 0600, 0);
  if (system_calls().listen(socket.descriptor(), most_waiting) != 0)
    return system_error("cannot listen at", name);
  return socket;
}

Result<void> send_message(const File& socket, ByteSpan bytes, int descriptor) {
  Control control{};
  iovec content{const_cast<std::byte*>(bytes.data()), bytes.size()};
  msghdr header{};
  header.msg_iov = &content;
  header.msg_iovlen = 1;
  if (descriptor >= 0) {
    header.msg_control = &control;
    header.msg_controllen = sizeof control;
    cmsghdr* const rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(rights), &descriptor, sizeof descriptor);
  }
  ssize_t sent = 0;
  do {
    sent = system_calls().sendmsg(socket.descriptor(), &header, MSG_NOSIGNAL | MSG_DONTWAIT);
  } while (sent < 0 && errno == EINTR);
  if (sent < 0) return system_error("cannot send to", socket.name());
  return {};
}

Received receive_message(const File& connection, std::size_t most_bytes, SocketMessage& message) {
  message.bytes.resize(most_bytes);
  Control control{};
  iovec content{message.bytes.data(), message.bytes.size()};
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
  message.bytes.resize(static_cast<std::size_t>(got));
  if (const int descriptor = descriptor_in(header); descriptor >= 0)
    message.file = File(descriptor, connection.name());
  return Received::message;
}

std::vector<File> accept_all(const File& socket) {
  std::vector<File> connections;
  for (;;) {
    const int descriptor = system_calls().accept(socket.descriptor());
    if (descriptor < 0 && (errno == EINTR || errno == ECONNABORTED)) continue;
    if (descriptor < 0) break;  // EAGAIN, or no descriptor is free: connections wait in the queue
    connections.emplace_back(descriptor, socket.name());
  }
  return connections;
}

}  // namespace mcr::restart
