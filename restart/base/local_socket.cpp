// SPDX-License-Identifier: BSD-3-Clause
#include "restart/base/local_socket.hpp"

#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>

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

const sockaddr* general(const sockaddr_un& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

Result<File> new_socket(const std::string& name) {
  const int descriptor = system_calls().local_socket();
  if (descriptor < 0) return system_error("cannot make a socket", {});
  return File(spared_number(descriptor), name);
}

}  // namespace

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
  if (system_calls().listen(socket.descriptor(), most_waiting) != 0)
    return system_error("cannot listen at", name);
  return socket;
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
