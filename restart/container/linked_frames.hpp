// SPDX-License-Identifier: BSD-3-Clause
// Follows links: the frames of a linked variable name runs of bytes in the container's solid frames
// (docs/format.md, "Frame"). HDF5's filter and `mcr verify` need this. A restart does not, because
// a part's map points straight into the solid frames.
#pragma once

#include <optional>

#include "codecs/frames/linked_data.hpp"
#include "restart/base/file_identity.hpp"
#include "restart/container/container_reader.hpp"

namespace mcr::restart {

/// One decoded solid frame, kept for the next link into it.
struct KeptFrame {
  FileIdentity file;  // identifies the container, because a copy has the same UUID
  std::array<std::uint8_t, 16> uuid{};
  std::uint32_t dataset = 0;
  std::uint64_t frame = 0;
  bool is_set = false;
  Bytes raw;
};

/// The linked data of one container. `kept` may come from another container. Both must outlive this
/// object.
class LinkedFrames final : public codecs::LinkedData {
 public:
  LinkedFrames(ContainerReader& container, KeptFrame& kept) : container_(container), kept_(kept) {}
  Result<void> read(std::uint32_t dataset, std::uint64_t raw_offset, MutableByteSpan out) override;

 private:
  ContainerReader& container_;
  KeptFrame& kept_;
  std::optional<FileIdentity> file_;
  Scratch scratch_;
};

/// Decodes the link frame `frame` into `raw`. Its container is found by its UUID among this
/// process's open descriptors, and is opened anew. Other files of the process are never opened:
/// closing a descriptor would release the process's fcntl(2) locks on the file.
///
/// Several files may have the UUID: a copy, or a file that another user made to look like the
/// container. They are tried, first those of this user and root, until one gives bytes that match
/// the link's checksum. If no file does, the error of the first file is returned.
/// Cause::unsupported if no container is open as a plain file (a file image, a remote driver): the
/// message says so and names the remedy.
Result<void> decode_by_open_container(const std::array<std::uint8_t, 16>& uuid, ByteSpan frame,
                                      Scratch& scratch, MutableByteSpan raw, KeptFrame& kept);

}  // namespace mcr::restart
