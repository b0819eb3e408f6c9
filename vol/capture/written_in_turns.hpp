// SPDX-License-Identifier: BSD-3-Clause
// A file that several ranks write one after another (N→M, a baton; docs/design/capture.md). The
// ranks of one node go on in the same stage file while it is there. Beyond that it goes native,
// unless files= says by {part} that such files are captured.
#pragma once

#include <string>

#include "restart/format/stub.hpp"
#include "restart/settings/launcher.hpp"

namespace mcr::vol {

/// True where the stub's part is of another rank of this launch, and files= does not say by {part}
/// that ranks take turns in it.
bool is_of_other_rank(const restart::Stub& stub, const restart::Launcher& launcher);

/// Asked before such a part is written: true where it goes on as a native file, and then its pattern
/// has been marked native for the launch on this node. False: it is still in this node's stage, or
/// of this rank.
bool goes_on_natively(const restart::Stub& stub, const std::string& path);

/// One line that says what would capture files as this one.
void tell_how_to_capture(const restart::Stub& stub, const std::string& path);

}  // namespace mcr::vol
