// SPDX-License-Identifier: BSD-3-Clause
// How a process asks its node's resident (`mcr leaders`) to start a leader. Under a scheduler that kills all
// processes of a job step when the step ends, a leader that the resident starts outlives the program's step.
//
//   <stage>/<node>.resident-<job>        a socket (AF_UNIX, SOCK_SEQPACKET) on which the resident listens
//   <stage>/<node>.resident-<job>.lock   locked by the resident while it lives; its text: the switches above the node
//
// Each job has residents of its own, because its end kills them and their leaders.
//
// Each message is one request: its kind (1 byte) and two texts (record.hpp). The resident
// sends no answer: the connection shows that it lives. If no leader appears, the process starts one
// itself, as without a resident.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "restart/base/file.hpp"

namespace mcr::restart {

struct ResidentRequest {
  enum class Kind : std::uint8_t {
    lead,   ///< lead the launch `subject` with `settings`
    adopt,  ///< adopt the launch directory `subject`
    end     ///< end when nothing is left to do; the connection is closed at the end
  };
  Kind kind = Kind::lead;
  std::string subject;
  std::string settings;
};

struct ResidentAddress {
  std::string node;
  std::string job;  ///< the scheduler's name of the job; empty outside of any job
};

/// Sends the request to the resident, and returns the connection. An error if there is no resident.
Result<File> ask_resident(const std::string& stage, const ResidentAddress& where,
                          const ResidentRequest& request);

/// True if a resident listens. Asks it for nothing.
bool has_resident(const std::string& stage, const ResidentAddress& where);

/// True if a resident of this job serves the stage, whatever its node's name is; also if that cannot be determined.
bool serves_job(const std::string& stage, const std::string& job);

/// Returns what the resident of this job said of the switches above the node (scheduler_switches()). Empty: no resident, or it does not
/// know.
std::string switches_of_resident(const std::string& stage, const std::string& job);

/// Removes what residents that were killed have left in the stage.
void remove_dead_residents(const std::string& stage);

/// The resident's end of the socket.
class ResidentSocket {
 public:
  /// Makes the stage if it is missing. Returns nothing if another resident serves this job,
  /// or if one has just ended; the caller tries again later. `switches`: what switches_of_resident() returns.
  static Result<std::optional<ResidentSocket>> listen(const std::string& stage,
                                                      const ResidentAddress& where,
                                                      const std::string& switches = {});
  /// Removes the socket's name: from now on processes start leaders themselves.
  void remove() const;

  /// Becomes readable when a request comes.
  [[nodiscard]] int descriptor() const { return socket_.descriptor(); }
  /// Returns all waiting requests. Connections of those who ask for the end stay open as long as this
  /// object lives.
  std::vector<ResidentRequest> take();

 private:
  ResidentSocket(File stage, File lock, File socket)
      : stage_(std::move(stage)), lock_(std::move(lock)), socket_(std::move(socket)) {}

  File stage_;
  File lock_;  ///< held exclusively by the one that listens
  File socket_;
  std::vector<File> unfinished_;  ///< connected, but their request has not come yet
  std::vector<File> waiting_;     ///< for the end
};

}  // namespace mcr::restart
