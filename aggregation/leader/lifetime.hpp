// SPDX-License-Identifier: BSD-3-Clause
// How the leader's process begins and ends: apart from the job, in nobody's way, and not for longer
// than it is needed.
#pragma once

#include <string>
#include <vector>

#include "codecs/base/result.hpp"

namespace mcr::aggregation {

/// Leaves the process group, session, descriptors and working directory of whoever started us;
/// returns in a grandchild (the caller's process ends with status 0). Must come before any thread
/// and any file. Descriptors 0 to 2 lead to /dev/null, all others are closed: launchers wait for
/// every inherited one. Where the environment would change what this program does (LD_PRELOAD, a
/// connector), it starts again without it; `words` are its arguments then, which must not ask for
/// detaching.
Result<void> detach(const std::vector<std::string>& words);

/// The limits on a file's size and on descriptors as high as this process may set them: a container
/// is larger than any of its files, and all files of a set are open at once.
void lift_limits();

/// Lifts limits; lowest CPU and I/O priority, first in line when memory runs out, and the cores of `cpus`
/// ("auto": all that there are; else a list as "0-3,8"). What the system refuses is left as it is.
Result<void> step_back(const std::string& cpus);

/// Where the kernel weighs sessions against each other (sched(7), autogroups), niceness counts
/// within a session only: gives this session, which detach() made for us, the weight of a niceness
/// from 0 to 19. False where that is to be tried again: the kernel takes ten such wishes a second,
/// of all users together.
bool weigh_session(int niceness);

/// Starts `mcr WORDS…`, this very program, as a process of its own that nobody waits for.
Result<void> start_again(const std::vector<std::string>& words);

/// "0-3,8" -> {0,1,2,3,8}; Cause::usage otherwise.
Result<std::vector<unsigned>> parse_cpus(const std::string& text);

/// SIGTERM and SIGINT of this process as a readable descriptor; they are blocked in all threads
/// made afterwards, SIGPIPE and SIGHUP are ignored.
class Signals {
 public:
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  [[nodiscard]] int descriptor() const { return descriptor_; }
  /// True when one came since the last call.
  bool take();

 private:
  int descriptor_ = -1;
};

/// Changes in some directories as a readable descriptor. Where the system has no more watches to
/// give, is_complete() is false and the caller looks by himself, often.
class Watch {
 public:
  /// All changes, or only names that are new in the directories.
  enum class For { changes, creations };
  explicit Watch(const std::vector<std::string>& directories, For what = For::changes);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  [[nodiscard]] int descriptor() const { return descriptor_; }
  [[nodiscard]] bool is_complete() const { return complete_; }
  /// True when something has changed since the last call.
  bool take() const;

 private:
  int descriptor_ = -1;
  bool complete_ = false;
};

}  // namespace mcr::aggregation
