// SPDX-License-Identifier: BSD-3-Clause
// Opens the bytes of a stub's part: from the stage if the part is still there, else from the
// container that lists it.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "restart/container/shared_frames.hpp"
#include "restart/format/part_source.hpp"
#include "restart/format/stub.hpp"
#include "restart/open/part_origin.hpp"

namespace mcr::restart {

/// Opens the part that the stub at `stub_path` names. It comes from the stage if the stage belongs
/// to this user and still has the part, else from a container, which must list the part's id under
/// the stub's launch and sequence.
///
/// Containers are looked for first relative to the stub's own directory, so that a tree can be
/// moved as a whole. Then they are looked for by the absolute path where they were written, but
/// only if that directory and the container belong to the stub's owner, or lie below a directory of
/// `allow` (the setting: "none", or absolute paths joined by ':'). Nothing else of a stub is ever
/// used as a path.
///
/// If `origin` is given, it gets what is recorded about the part where it was found.
///
/// If `share` is given, frames that also hold bytes of other parts are decoded once for all ranks of
/// the node.
///
/// An error names the part, the containers that were looked for, the places, and the remedy. It is
/// Cause::damaged if a container of the set exists but cannot be read, else Cause::system with
/// ENOENT.
Result<std::unique_ptr<PartSource>> open_part(const Stub& stub, const std::string& stub_path,
                                              const std::string& allow,
                                              const std::shared_ptr<FrameShare>& share = nullptr,
                                              std::optional<PartOrigin>* origin = nullptr);

}  // namespace mcr::restart
