// SPDX-License-Identifier: BSD-3-Clause
// The bytes that a stub stands for.
#pragma once

#include <memory>
#include <string>

#include "restart/format/part_source.hpp"
#include "restart/format/stub.hpp"

namespace mcr::vol {

/// Opens the part of the stub at `path`: a finished one from the stage or a container, or one that its
/// writer has flushed but not closed.
Result<std::unique_ptr<restart::PartSource>> open_source(const restart::Stub& stub,
                                                         const std::string& path);

/// Opens a part that was flushed but not closed: its writer still writes, or has died. The bytes are
/// those that native HDF5 would have left at the path. Whether a living writer's file may be read is
/// decided by HDF5's lock.
Result<std::unique_ptr<restart::PartSource>> open_flushed(const restart::Stub& stub);

}  // namespace mcr::vol
