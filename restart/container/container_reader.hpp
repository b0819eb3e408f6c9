// SPDX-License-Identifier: BSD-3-Clause
// Reads a container's tables and frames by offset. Uses neither HDF5 nor threads, because it runs
// in a read callback of the host's HDF5, under HDF5's lock. Tables are read page by page as needed,
// and the pages used last are kept. So the cost of an open does not grow with variables that are
// not read.
//
// One thread at a time may use a reader. Exception: several threads may call stored_frame() and
// decode() at once, after frame_place() has returned for the frame.
#pragma once

#include <memory>
#include <string>

#include "codecs/base/scratch.hpp"
#include "restart/base/attributes.hpp"
#include "restart/base/file.hpp"
#include "restart/container/own_file.hpp"
#include "restart/format/index.hpp"

namespace mcr::restart {

class ContainerReader {
 public:
  /// Reads user block and directory, so the cost does not grow with the variables. Errors name the
  /// container. If `directory` is an open directory (not AT_FDCWD), the name must not be a link.
  static Result<std::shared_ptr<ContainerReader>> open(int directory, const std::string& name);
  /// The same for a file that is open already; `name` is for errors.
  static Result<std::shared_ptr<ContainerReader>> read(File file, const std::string& name);
  virtual ~ContainerReader() = default;

  /// Returns another reader of the same open file. Except for const functions, a reader serves one thread at a time.
  [[nodiscard]] virtual Result<std::shared_ptr<ContainerReader>> for_another_thread() const = 0;

  /// Treats the container's owner like this user (`allow=`): see decode().
  virtual void trust_owner() = 0;
  [[nodiscard]] virtual const std::string& name() const = 0;
  /// Returns the status of the open file.
  [[nodiscard]] virtual Result<struct stat> status() const = 0;
  /// Returns who may read the open file.
  [[nodiscard]] virtual Result<Access> access() const = 0;
  [[nodiscard]] virtual const UserBlock& user_block() const = 0;
  /// A time that orders a set (SetIdentity::order()), and is no time of a clock, counts as the oldest one, unless the container
  /// certainly lies where it was written.
  [[nodiscard]] virtual const SetIdentity& set() const = 0;
  [[nodiscard]] virtual const IndexDirectory& directory() const = 0;
  [[nodiscard]] virtual const FileOrigin& origin() const = 0;
  /// The part table, read at the first call.
  virtual Result<const std::vector<PartRecord>*> parts() = 0;
  /// Returns all datasets with their names, read at the first call. For tools: the cost grows with
  /// the datasets.
  virtual Result<const std::vector<DatasetEntry>*> datasets() = 0;
  /// Returns one dataset, without its name.
  virtual Result<DatasetEntry> dataset(std::uint32_t number) = 0;
  /// Returns a dataset's name, for messages; "dataset 7" if the name cannot be read.
  virtual std::string dataset_name(std::uint32_t number) = 0;
  virtual Result<std::vector<MapPage>> pages(const PartRecord& part) = 0;
  /// Returns the entries of page `page` of `pages`, which are the pages of `part`.
  virtual Result<std::vector<MapEntry>> page(const PartRecord& part,
                                             const std::vector<MapPage>& pages,
                                             std::size_t page) = 0;
  /// Returns the place of frame number `frame` of the dataset.
  virtual Result<FramePlace> frame_place(const DatasetEntry& dataset, std::uint32_t frame) = 0;
  /// Reads the frame's stored bytes and checks their checksum.
  [[nodiscard]] virtual Result<void> stored_frame(const FramePlace& place, Bytes& stored) const = 0;
  /// Decodes a frame into `raw`, of exactly place.raw_bytes. fpzip does not check its input, so its
  /// frames are decoded only if the file belongs to this user, to root, or to a trusted owner; else
  /// Cause::usage, with the remedy.
  [[nodiscard]] virtual Result<void> decode(const DatasetEntry& dataset, const FramePlace& place,
                                            Scratch& scratch, MutableByteSpan raw) const = 0;
};

}  // namespace mcr::restart
