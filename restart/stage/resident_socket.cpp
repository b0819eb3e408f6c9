// SPDX-License-Identifier: BSD-3-Clause
#include "restart/stage/resident_socket.hpp"

#include <fcntl.h>
#include <sys/socket.h>

#include <cerrno>

#include "restart/base/durable_replace.hpp"
#include "restart/base/local_socket.hpp"
#include "restart/base/lock.hpp"
#include "restart/base/system.hpp"
#include "restart/stage/stage_files.hpp"

namespace mcr::restart {
namespace {

constexpr std::size_t most_request_bytes = 64 * 1024;

std::string socket_name(const std::string& node) {
  return stage_files::launch_directory_name(node, "resident");
}
std::string lock_name(const std::string& node) { return socket_name(node) + ".lock"; }

Bytes bytes_of(const ResidentRequest& request) {
  Bytes bytes;
  Writer writer(bytes);
  writer.u8(static_cast<std::uint8_t>(request.kind));
  writer.text(request.subject);
  writer.text(request.settings);
  return bytes;
}

Result<ResidentRequest> request_of(ByteSpan bytes) {
  Reader reader(bytes);
  ResidentRequest request;
  const std::uint8_t kind = MCR_TRY(reader.u8());
  if (kind > static_cast<std::uint8_t>(ResidentRequest::Kind::end))
    return Error{Cause::unsupported, "a newer mcr sent the request"};
  request.kind = static_cast<ResidentRequest::Kind>(kind);
  request.subject = MCR_TRY(reader.text(most_request_bytes));
  request.settings = MCR_TRY(reader.text(most_request_bytes));
  return request;
}

/// Returns the lock file, locked; nothing if another process holds it, or has just removed it.
Result<std::optional<File>> lock_place_of(const File& stage, const std::string& node, int flags) {
  const std::string name = lock_name(node);
  File lock = MCR_TRY(File::open(stage.descriptor(), name, O_RDWR | O_NOFOLLOW | flags));
  if (!MCR_TRY(try_lock(lock, LockKind::exclusive))) return std::optional<File>();
  if (!leads_to(stage.descriptor(), name, FileIdentity(MCR_TRY(lock.status()))))
    return std::optional<File>();
  return std::optional<File>(std::move(lock));
}

/// The caller holds the lock.
void remove_names(const File& stage, const std::string& node) {
  (void)system_calls().unlinkat(stage.descriptor(), socket_name(node).c_str(), 0);
  (void)system_calls().unlinkat(stage.descriptor(), lock_name(node).c_str(), 0);
}

}  // namespace

Result<File> ask_resident(const std::string& stage, const std::string& node,
                          const ResidentRequest& request) {
  const File directory = MCR_TRY(stage_files::open_directory(AT_FDCWD, stage));
  MCR_TRY(stage_files::check_private(directory, stage));
  File socket = MCR_TRY(connect_socket_in(directory.descriptor(), socket_name(node)));
  Bytes bytes = bytes_of(request);
  iovec content{bytes.data(), bytes.size()};
  msghdr header{};
  header.msg_iov = &content;
  header.msg_iovlen = 1;
  ssize_t sent = 0;
  do {
    sent = system_calls().sendmsg(socket.descriptor(), &header, MSG_NOSIGNAL | MSG_DONTWAIT);
  } while (sent < 0 && errno == EINTR);
  if (sent < 0) return system_error("cannot send to", socket.name());
  return socket;
}

Result<std::optional<ResidentSocket>> ResidentSocket::listen(const std::string& stage,
                                                             const std::string& node) {
  File directory = MCR_TRY(stage_files::open_stage(stage));
  auto lock = MCR_TRY(lock_place_of(directory, node, O_CREAT));
  if (!lock) return std::optional<ResidentSocket>();
  File socket = MCR_TRY(listen_in(directory.descriptor(), socket_name(node)));
  return std::optional(
      ResidentSocket(node, std::move(directory), *std::move(lock), std::move(socket)));
}

void ResidentSocket::remove() const { remove_names(stage_, node_); }

void remove_dead_resident(const std::string& stage, const std::string& node) {
  const auto directory = stage_files::open_directory(AT_FDCWD, stage);
  const auto lock = directory ? lock_place_of(*directory, node, 0)
                              : Result<std::optional<File>>(directory.error());
  if (lock && *lock) remove_names(*directory, node);
}

std::vector<ResidentRequest> ResidentSocket::take() {
  for (File& connection : accept_all(socket_)) unfinished_.push_back(std::move(connection));
  std::vector<ResidentRequest> requests;
  Bytes bytes(2 * most_request_bytes);
  std::erase_if(unfinished_, [&](File& connection) {
    iovec content{bytes.data(), bytes.size()};
    msghdr header{};
    header.msg_iov = &content;
    header.msg_iovlen = 1;
    ssize_t got = 0;
    do {
      got = system_calls().recvmsg(connection.descriptor(), &header, MSG_CMSG_CLOEXEC);
    } while (got < 0 && errno == EINTR);
    if (got < 0 && errno == EAGAIN) return false;
    auto request = request_of(ByteSpan(bytes).first(got > 0 ? static_cast<std::size_t>(got) : 0));
    if (!request) return true;
    requests.push_back(*std::move(request));
    if (requests.back().kind == ResidentRequest::Kind::end)
      waiting_.push_back(std::move(connection));
    return true;
  });
  return requests;
}

}  // namespace mcr::restart
