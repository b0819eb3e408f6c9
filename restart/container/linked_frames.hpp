// SPDX-License-Identifier: BSD-3-Clause
// Follows links: the frames of a linked variable name runs of bytes in the container's solid frames
// (docs/format.md, "Frame"). A restart never does: the map of a part points straight into the solid
// frames. HDF5's filter and `mcr verify` do.
#pragma once

#include <memory>

#include "codecs/frames/linked_data.hpp"
#include "restart/container/container_reader.hpp"

namespace mcr::restart {

/// One decoded solid frame, kept for the next link into it.
struct KeptFrame {
  std::array<std::uint8_t, 16> container{};
  std::uint32_t dataset = 0;
  std::uint64_t frame = 0;
  bool is_set = false;
  Bytes raw;
};

/// The linked data of one container; `kept` may come from another one. Both must outlive this.
class LinkedFrames final : public codecs::LinkedData {
 public:
  LinkedFrames(ContainerReader& container, KeptFrame& kept) : container_(container), kept_(kept) {}
  Result<void> read(std::uint32_t dataset, std::uint64_t raw_offset, MutableByteSpan out) override;

 private:
  ContainerReader& container_;
  KeptFrame& kept_;
  Scratch scratch_;
};

/// The container with that UUID among this process's open descriptors, opened anew. Other files of
/// the process are never opened: closing a descriptor would release the process's fcntl(2) locks on
/// the file.
/// Cause::unsupported where there is none (a file image, a remote driver): the message says so and
/// names the remedy.
Result<std::shared_ptr<ContainerReader>> find_open_container(
    const std::array<std::uint8_t, 16>& uuid);

}  // namespace mcr::restart
