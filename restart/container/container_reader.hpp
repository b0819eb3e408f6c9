// SPDX-License-Identifier: BSD-3-Clause
// A container's tables and frames by offset, without HDF5 and without threads (it runs inside a
// read callback of the host's HDF5, under its lock). Tables come page by page, as they are asked
// for, and the pages used last are kept: an open does not grow with variables that nobody asks for.
//
// One reader belongs to one thread at a time. stored_frame() and decode() alone may be called by
// several at once, once frame_place() has answered for the frame.
#pragma once

#include <memory>
#include <string>

#include "codecs/base/scratch.hpp"
#include "restart/base/file.hpp"
#include "restart/format/index.hpp"

namespace mcr::restart {

class ContainerReader {
 public:
  /// Reads user block and directory, nothing that grows with variables. Errors name the container.
  /// In a directory that is held open (not AT_FDCWD) the name may be no link.
  static Result<std::shared_ptr<ContainerReader>> open(int directory, const std::string& name);
  /// The same for a file that is open already; `name` is for errors.
  static Result<std::shared_ptr<ContainerReader>> read(File file, const std::string& name);
  virtual ~ContainerReader() = default;

  /// Its owner counts as this user does (`allow=`): see decode().
  virtual void trust_owner() = 0;
  [[nodiscard]] virtual const std::string& name() const = 0;
  /// Of the file that is open.
  [[nodiscard]] virtual Result<struct stat> status() const = 0;
  [[nodiscard]] virtual const UserBlock& user_block() const = 0;
  [[nodiscard]] virtual const SetIdentity& set() const = 0;
  [[nodiscard]] virtual const IndexDirectory& directory() const = 0;
  /// The part table, read at the first call.
  virtual Result<const std::vector<PartRecord>*> parts() = 0;
  /// All datasets with their names, read at the first call (for tools: it grows with them).
  virtual Result<const std::vector<DatasetEntry>*> datasets() = 0;
  /// One dataset, without its name.
  virtual Result<DatasetEntry> dataset(std::uint32_t number) = 0;
  /// Its name alone, for messages; "dataset 7" where even that cannot be read.
  virtual std::string dataset_name(std::uint32_t number) = 0;
  virtual Result<std::vector<MapPage>> pages(const PartRecord& part) = 0;
  /// The entries of page number `page` of `pages`, which are those of `part`.
  virtual Result<std::vector<MapEntry>> page(const PartRecord& part,
                                             const std::vector<MapPage>& pages,
                                             std::size_t page) = 0;
  /// Place of frame number `frame` of the dataset.
  virtual Result<FramePlace> frame_place(const DatasetEntry& dataset, std::uint32_t frame) = 0;
  /// The frame's stored bytes, their checksum checked.
  [[nodiscard]] virtual Result<void> stored_frame(const FramePlace& place, Bytes& stored) const = 0;
  /// Decodes a frame into `raw`, which is exactly place.raw_bytes long. What a library decodes that
  /// does not check its input, fpzip, is decoded only if the file belongs to this user, to root, or
  /// to an owner that is trusted; else Cause::usage, with the remedy.
  [[nodiscard]] virtual Result<void> decode(const DatasetEntry& dataset, const FramePlace& place,
                                            Scratch& scratch, MutableByteSpan raw) const = 0;
};

}  // namespace mcr::restart
