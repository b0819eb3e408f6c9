// SPDX-License-Identifier: BSD-3-Clause
// The bytes that a stub stands for.
#pragma once

#include <memory>
#include <string>

#include "restart/format/part_source.hpp"
#include "restart/format/stub.hpp"

namespace mcr::vol {

/// Of the stub at `path`: finished, in the stage or a container; or flushed by a writer that has not
/// closed them.
Result<std::unique_ptr<restart::PartSource>> open_source(const restart::Stub& stub,
                                                         const std::string& path);

/// Of a part that was flushed and not closed: its writer still writes, or died. What is there is what
/// native HDF5 would have left at the path; whether a living writer's file may be read is for HDF5's
/// lock to say.
Result<std::unique_ptr<restart::PartSource>> open_flushed(const restart::Stub& stub);

}  // namespace mcr::vol
