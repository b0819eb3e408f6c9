// SPDX-License-Identifier: BSD-3-Clause
// From a stub to its bytes: the stage if the part is still there, else the container that lists it.
#pragma once

#include <memory>
#include <string>

#include "restart/format/stub.hpp"
#include "restart/part_source.hpp"

namespace mcr::restart {

/// The part that the stub at `stub_path` names. The stage is looked at only where it belongs to this
/// user; the absolute container directory only where design.md section 5 allows it (or below `allow`).
/// An error names the part, what was looked for and where, and the remedy.
Result<std::unique_ptr<PartSource>> open_part(const Stub& stub, const std::string& stub_path,
                                              const std::string& allow);

}  // namespace mcr::restart
