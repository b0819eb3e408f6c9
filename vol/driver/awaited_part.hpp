// SPDX-License-Identifier: BSD-3-Clause
// A part that another node's stage holds and that has no container yet. This node cannot read its
// bytes; the leader of that other node must first bring them to storage. A reader waits for the
// container; a writer of the same launch asks for the native file (docs/design/capture.md). Both
// waits are bounded by read_wait=.
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

/// True if the part was written on another node: if a stage still has it, that stage is not ours.
bool is_elsewhere(const AwaitedPart& part);
/// True if the part must become a native file first: it was written on another node by another rank
/// of this launch, this rank wants to write into it, and no setting says that such files are
/// captured. The open must then not use a stage.
bool must_become_native(const AwaitedPart& part);

/// True if the stub is no longer at its path; its part may then be gone too.
bool is_replaced(const AwaitedPart& part);

enum class Arrival {
  opened,    ///< `try_open` has succeeded
  replaced,  ///< another file lies at the path now: the native file, or another stub
};

/// Calls `try_open`, which must not wait itself, until it succeeds or the stub at the path is
/// replaced. Fails if read_wait= has passed or waiting is useless; the error names stub, node and
/// remedy. If the stage of a launch does not answer, a process waits for it only once.
Result<Arrival> await_part(const AwaitedPart& part, const std::function<bool()>& try_open);

}  // namespace mcr::vol
