// SPDX-License-Identifier: BSD-3-Clause
// A part that another node's stage holds and that has no container yet. This node cannot read its
// bytes, but its leader can bring them. A reader waits for the container; a writer of the same launch
// asks for the native file (docs/design/capture.md). Both waits are bounded by read_wait=.
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

/// True if the part lies in another node's stage, if it is in a stage at all.
bool is_elsewhere(const AwaitedPart& part);
/// True if the open must not use what a stage has of the part: another node's rank of this launch wants
/// to write into the file, and no setting says that such files are captured.
bool must_become_native(const AwaitedPart& part);

/// True if the stub is no longer at its path: its part may be gone with it.
bool is_replaced(const AwaitedPart& part);

enum class Arrival {
  opened,    ///< `try_open` has succeeded
  replaced,  ///< something else lies at the path now: the native file, or another stub
};

/// Waits until `try_open` succeeds or the stub at the path is replaced. Calls `try_open` repeatedly; it
/// must not wait itself. Fails if read_wait= has passed or waiting is useless; the error names stub,
/// node and remedy. A process waits only once for the stage of a launch that does not answer.
Result<Arrival> await_part(const AwaitedPart& part, const std::function<bool()>& try_open);

}  // namespace mcr::vol
