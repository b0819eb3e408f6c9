// SPDX-License-Identifier: BSD-3-Clause
// The bytes that a stub stands for.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "restart/format/part_source.hpp"
#include "restart/format/stub.hpp"
#include "restart/open/part_origin.hpp"

namespace mcr::vol {

/// Opens the part that the stub at `path` names: a finished part in the stage or a container, or a
/// part that its writer has flushed but not closed. If `origin` is given, it gets what is recorded
/// about the part there.
Result<std::unique_ptr<restart::PartSource>> open_source(
    const restart::Stub& stub, const std::string& path,
    std::optional<restart::PartOrigin>* origin = nullptr);

/// Opens a part that was flushed but not closed, because its writer still writes or has died. The
/// bytes are those that native HDF5 would have left at the path. HDF5's own lock decides whether
/// the file of a living writer may be read.
Result<std::unique_ptr<restart::PartSource>> open_flushed(
    const restart::Stub& stub, std::optional<restart::PartOrigin>* origin = nullptr);

}  // namespace mcr::vol
