// SPDX-License-Identifier: BSD-3-Clause
// A file that several ranks write in turn (docs/design/capture.md, "Files that ranks share"). Ranks
// of one node continue in the same stage file as long as it exists. In all other cases the file
// goes native, unless {part} in files= says that such files are captured.
#pragma once

#include <string>

#include "restart/format/stub.hpp"
#include "restart/settings/launcher.hpp"

namespace mcr::vol {

/// True if another rank of this launch wrote the stub's part, and no {part} in files= says that
/// ranks write the file in turn.
bool is_of_other_rank(const restart::Stub& stub, const restart::Launcher& launcher);

/// Decides how a part is written again. True: the file is written natively from now on, and its
/// pattern has been marked native for the launch on this node. False: the part is still in this
/// node's stage, or this rank wrote it.
bool goes_on_natively(const restart::Stub& stub, const std::string& path);

/// Logs one line that says how files like this one could be captured.
void tell_how_to_capture(const restart::Stub& stub, const std::string& path);

}  // namespace mcr::vol
