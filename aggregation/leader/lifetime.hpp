// SPDX-License-Identifier: BSD-3-Clause
// How the leader's process begins and ends: detached from the job, with low priority, and only as
// long as it is needed.
#pragma once

#include <string>
#include <vector>

#include "codecs/base/result.hpp"

namespace mcr::aggregation {

/// Leaves the process group, session, descriptors and working directory of the starter; returns in
/// a grandchild (the caller's process ends with status 0). Call it before any thread is started or
/// file is opened. Descriptors 0 to 2 lead to /dev/null; all others are closed, because launchers
/// wait until every inherited descriptor is closed.
/// Signals that mean something to the program alone are ignored from then on (signals.hpp).
/// If LD_PRELOAD or LD_AUDIT has loaded libraries into this process, the program starts again
/// without these variables, with the arguments `words`. These must not ask for detaching.
Result<void> detach(const std::vector<std::string>& words);

/// Raises the limits on a file's size and on descriptors as far as possible: a container is larger
/// than each of its files, and all files of a set are open at once.
void lift_limits();

/// Lifts limits; takes the lowest CPU and I/O priority, makes this process the first victim when
/// memory runs out, and binds it to the cores of `cpus` ("auto": all; else a list such as "0-3,8").
/// Steps that the system refuses are skipped.
Result<void> step_back(const std::string& cpus);

/// Gives this session, which detach() made, the weight of a niceness from 0 to 19. With autogroups
/// (sched(7)) the kernel weighs sessions against each other, and niceness counts only within a
/// session. Returns false if the caller must try again: the kernel accepts ten such changes a
/// second, of all users together.
bool weigh_session(int niceness);

/// Starts `mcr WORDS…`, this very program, as a detached process.
Result<void> start_again(const std::vector<std::string>& words);

/// Parses "0-3,8" to {0,1,2,3,8}; Cause::usage if the text is not such a list.
Result<std::vector<unsigned>> parse_cpus(const std::string& text);

/// Makes SIGTERM and SIGINT readable from a descriptor. The constructor blocks both in this thread
/// and in all threads that it starts later, and makes the process ignore the other signals that users and
/// schedulers send (signals.hpp).
class Signals {
 public:
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  [[nodiscard]] int descriptor() const { return descriptor_; }
  /// Returns true if a signal came since the last call.
  bool take();

 private:
  int descriptor_ = -1;
};

/// The processes of a program that was told to end may need so long for it.
inline constexpr std::uint64_t dying_ms = 2000;

/// Changes in some directories as a readable descriptor. If the system has no more watches,
/// is_complete() is false, and the caller must poll the directories.
class Watch {
 public:
  /// Watch all changes, or only new directories in the directories.
  enum class For { changes, new_directories };
  explicit Watch(const std::vector<std::string>& directories, For what = For::changes);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  [[nodiscard]] int descriptor() const { return descriptor_; }
  [[nodiscard]] bool is_complete() const { return complete_; }
  /// Returns true if anything has changed since the last call.
  bool take() const;

 private:
  For what_;
  int descriptor_ = -1;
  bool complete_ = false;
};

}  // namespace mcr::aggregation
