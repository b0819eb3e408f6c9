// SPDX-License-Identifier: BSD-3-Clause
// A part that another node's stage holds and no container has yet. Its bytes cannot be had from
// here; but its leader can bring them: who reads waits for the container, who writes, in the same
// launch, asks for the native file (docs/design/capture.md). Both are bounded by read_wait=.
#pragma once

#include <functional>
#include <string>

#include "restart/base/file.hpp"
#include "restart/format/stub.hpp"
#include "vol/process/process.hpp"

namespace mcr::vol {

struct AwaitedPart {
  const restart::Stub& stub;
  const std::string& path;         ///< absolute; where the stub lies
  const restart::File& stub_file;  ///< open
  const restart::Settings& settings;
  const restart::Launcher& launcher;
  bool for_writing = false;
};

/// True where the part lies in another node's stage, if in any.
bool is_elsewhere(const AwaitedPart& part);
/// True where the open must not go on with what a stage may have of it: another node's rank of this
/// launch wants to write into it, and nothing says that such files are captured.
bool must_become_native(const AwaitedPart& part);

/// True where the stub is not at its path any more: its part may have gone with it.
bool is_replaced(const AwaitedPart& part);

enum class Arrival {
  opened,    ///< `try_open` has succeeded
  replaced,  ///< something else lies at the path now: the native file, or another stub
};

/// Waits until one of the two has come about; `try_open`, which must not wait itself, is asked
/// again and again. Error: the bound has passed, or a wait would be in vain; it names stub, node
/// and remedy. A process waits only once for a launch's stage that does not answer.
Result<Arrival> await_part(const AwaitedPart& part, const std::function<bool()>& try_open);

}  // namespace mcr::vol
