// SPDX-License-Identifier: BSD-3-Clause
// A container's tables and frames by offset, without HDF5 and without threads (it runs inside a read
// callback of the host's HDF5, under its lock).
#pragma once

#include <memory>
#include <string>

#include "restart/base/file.hpp"
#include "restart/format/index.hpp"

namespace mcr::restart {

class ContainerReader {
 public:
  /// Reads user block and directory, nothing that grows with variables. Errors name the container.
  static Result<std::shared_ptr<ContainerReader>> open(int directory, const std::string& name);
  virtual ~ContainerReader() = default;

  [[nodiscard]] virtual const std::string& name() const = 0;
  [[nodiscard]] virtual const UserBlock& user_block() const = 0;
  [[nodiscard]] virtual const SetIdentity& set() const = 0;
  /// The part table, read at the first call.
  virtual Result<const std::vector<PartRecord>*> parts() = 0;
  virtual Result<const std::vector<DatasetEntry>*> datasets() = 0;
  virtual Result<const std::vector<MapPage>*> pages(const PartRecord& part) = 0;
  virtual Result<std::vector<MapEntry>> page(const MapPage& page) = 0;
  virtual Result<FramePlace> frame_place(const DatasetEntry& dataset, std::uint64_t frame) = 0;
  /// The frame's stored bytes, their checksum checked.
  virtual Result<Bytes> stored_frame(const DatasetEntry& dataset, std::uint64_t frame) = 0;
};

}  // namespace mcr::restart
