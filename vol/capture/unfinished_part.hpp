// SPDX-License-Identifier: BSD-3-Clause
// Drops a new part if a later step of its creation fails.
#pragma once

#include "restart/stage/stage.hpp"

namespace mcr::vol {

/// The destructor drops the part from the stage, unless keep() was called.
class UnfinishedPart {
 public:
  UnfinishedPart(const restart::LaunchDirectory& directory, const restart::PartId& part)
      : directory_(&directory), part_(part) {}
  ~UnfinishedPart() {
    if (directory_ != nullptr) (void)directory_->drop(part_).has_value();
  }
  UnfinishedPart(const UnfinishedPart&) = delete;
  UnfinishedPart& operator=(const UnfinishedPart&) = delete;
  void keep() { directory_ = nullptr; }

 private:
  const restart::LaunchDirectory* directory_;
  restart::PartId part_;
};

}  // namespace mcr::vol
