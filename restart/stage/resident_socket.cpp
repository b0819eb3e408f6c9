// SPDX-License-Identifier: BSD-3-Clause
#include "restart/stage/resident_socket.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>

#include "restart/base/durable_replace.hpp"
#include "restart/base/local_socket.hpp"
#include "restart/base/lock.hpp"
#include "restart/base/name_text.hpp"
#include "restart/base/system.hpp"
#include "restart/stage/stage_files.hpp"

namespace mcr::restart {
namespace {

constexpr std::size_t most_request_bytes = 64 * 1024;

constexpr std::size_t most_switches_bytes = 4096;

constexpr std::string_view lock_suffix = ".lock";

std::string name_in_job(const std::string& job) {
  return job.empty() ? "resident" : "resident-" + safe_name(job, 32);
}

std::string socket_name(const ResidentAddress& where) {
  return stage_files::launch_directory_name(where.node, name_in_job(where.job));
}
std::string lock_name(const std::string& socket) { return socket + std::string(lock_suffix); }

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
Result<std::optional<File>> lock_place_of(const File& stage, const std::string& socket, int flags) {
  const std::string name = lock_name(socket);
  File lock = MCR_TRY(File::open(stage.descriptor(), name, O_RDWR | O_NOFOLLOW | flags));
  if (!MCR_TRY(try_lock(lock, LockKind::exclusive))) return std::optional<File>();
  if (!leads_to(stage.descriptor(), name, FileIdentity(MCR_TRY(lock.status()))))
    return std::optional<File>();
  return std::optional<File>(std::move(lock));
}

Result<File> connect_to_resident(const std::string& stage, const ResidentAddress& where) {
  const File directory = MCR_TRY(stage_files::open_directory(AT_FDCWD, stage));
  MCR_TRY(stage_files::check_stage(directory, stage));
  return connect_socket_in(directory.descriptor(), socket_name(where));
}

bool is_lock_of_job(const std::string& name, const std::string& job) {
  return name.ends_with("." + lock_name(name_in_job(job)));
}
bool is_held(const File& lock) { return !try_lock(lock, LockKind::shared).value_or(false); }

/// Opens the stage, and returns the names in it.
Result<std::vector<std::string>> names_in(const std::string& stage, File& directory) {
  directory = MCR_TRY(stage_files::open_directory(AT_FDCWD, stage));
  return list_directory(directory.descriptor(), ".");
}

/// The caller holds the lock.
void remove_names(const File& stage, const std::string& socket) {
  (void)system_calls().unlinkat(stage.descriptor(), socket.c_str(), 0);
  (void)system_calls().unlinkat(stage.descriptor(), lock_name(socket).c_str(), 0);
}

}  // namespace

Result<File> ask_resident(const std::string& stage, const ResidentAddress& where,
                          const ResidentRequest& request) {
  File socket = MCR_TRY(connect_to_resident(stage, where));
  MCR_TRY(send_message(socket, bytes_of(request)));
  return socket;
}

bool has_resident(const std::string& stage, const ResidentAddress& where) {
  return connect_to_resident(stage, where).has_value();
}

Result<std::optional<ResidentSocket>> ResidentSocket::listen(const std::string& stage,
                                                             const ResidentAddress& where,
                                                             const std::string& switches) {
  File directory = MCR_TRY(stage_files::open_stage(stage));
  const std::string name = socket_name(where);
  auto lock = MCR_TRY(lock_place_of(directory, name, O_CREAT));
  if (!lock) return std::optional<ResidentSocket>();
  MCR_TRY(lock->truncate(0));
  MCR_TRY(lock->write_at(0, as_bytes(switches)));
  File socket = MCR_TRY(listen_in(directory.descriptor(), name));
  return std::optional(ResidentSocket(std::move(directory), *std::move(lock), std::move(socket)));
}

void ResidentSocket::remove() const { remove_names(stage_, socket_.name()); }

bool serves_job(const std::string& stage, const std::string& job) {
  File directory;
  const auto names = names_in(stage, directory);
  if (!names) return names.error().system_error != ENOENT;
  return std::any_of(names->begin(), names->end(), [&](const std::string& name) {
    if (!is_lock_of_job(name, job)) return false;
    const auto lock = File::open(directory.descriptor(), name, O_RDONLY | O_NOFOLLOW);
    if (!lock) return lock.error().system_error != ENOENT;
    return is_held(*lock);
  });
}

std::string switches_of_resident(const std::string& stage, const std::string& job) {
  File directory;
  const auto names = names_in(stage, directory);
  if (!names) return {};
  for (const std::string& name : *names) {
    if (!is_lock_of_job(name, job)) continue;
    const auto lock = File::open(directory.descriptor(), name, O_RDONLY | O_NOFOLLOW);
    const auto text = lock && is_held(*lock) ? lock->read_all(most_switches_bytes)
                                             : Result<Bytes>(Error{Cause::system, "no resident"});
    if (text) return std::string(as_text(*text));
  }
  return {};
}

void remove_dead_residents(const std::string& stage) {
  File directory;
  const auto names = names_in(stage, directory);
  if (!names) return;
  for (const std::string& name : *names) {
    if (!name.ends_with(lock_suffix) || name.find(".resident") == std::string::npos) continue;
    const std::string socket = name.substr(0, name.size() - lock_suffix.size());
    const auto lock = lock_place_of(directory, socket, 0);
    if (lock && *lock) remove_names(directory, socket);
  }
}

std::vector<ResidentRequest> ResidentSocket::take() {
  for (File& connection : accept_all(socket_)) unfinished_.push_back(std::move(connection));
  std::vector<ResidentRequest> requests;
  std::erase_if(unfinished_, [&](File& connection) {
    SocketMessage message;
    const Received received = receive_message(connection, 2 * most_request_bytes, message);
    if (received == Received::nothing_yet) return false;
    auto request = request_of(message.bytes);
    if (received == Received::end || !request) return true;
    requests.push_back(*std::move(request));
    if (requests.back().kind == ResidentRequest::Kind::end)
      waiting_.push_back(std::move(connection));
    return true;
  });
  return requests;
}

}  // namespace mcr::restart
