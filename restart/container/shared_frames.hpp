// SPDX-License-Identifier: BSD-3-Clause
// Frames of one container that ranks of a launch on one node decoded for one another: a file below
// frames/ in the launch's directory in the stage.
//
// Invariants
//  1. Nothing in the file is believed. What is read of it is compared with checksums that a slot
//     carries, and the slot with what the container's index says of the frame; whatever does not
//     fit (never written, torn by a death, cut off by the leader, changed by a neighbour) is not
//     there, and the rank decodes for itself.
//  2. Who decodes a frame holds the lock on that frame's number: it dies with him. Who does not get
//     it waits a bounded time only (restart/container/frame_bytes), then decodes all the same.
//  3. Space in the file is given away under a lock of its own; a death leaves at most one frame's
//     space unused. All files together never get more than what the stage had left.
//  4. Who has the file open holds LOCK_SH on it. The leader takes away what nobody holds, and what
//     nobody used for a while: that it cuts to nothing too, so that the memory is free although
//     ranks have it open. With the launch's directory goes all of it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "restart/base/file.hpp"
#include "restart/base/file_identity.hpp"
#include "restart/container/container_reader.hpp"
#include "restart/format/shared_frame.hpp"
#include "restart/stage/stage.hpp"

namespace mcr::restart {

/// Where ranks of the launch share what they decode, as the process that reads knows it.
class FrameShare {
 public:
  virtual ~FrameShare() = default;
  /// The launch's directory in the stage, which a leader looks after; null: decode alone. Asked
  /// when a frame of several parts is met first.
  virtual const LaunchDirectory* place() = 0;
  /// Bytes that may be put into the stage now. Asked before each frame.
  virtual std::uint64_t room() = 0;
  /// Longest wait for a frame that another rank decodes; far above any decode time measured. A rank
  /// whose wait timed out once never waits again.
  std::uint64_t longest_wait_ns = 5'000'000'000;
};

class SharedFrames {
 public:
  /// The file for that container, made where it is missing.
  static Result<std::unique_ptr<SharedFrames>> open(FrameShare& share,
                                                    const LaunchDirectory& directory,
                                                    const ContainerReader& container);

  /// Fills `out` from byte `begin` of the frame on. False: it is not there, and `out` is anything.
  bool read(const FrameOfContainer& frame, std::size_t begin, MutableByteSpan out);
  [[nodiscard]] bool has(const FrameOfContainer& frame);
  /// False: there is no room for the frame.
  [[nodiscard]] bool fits(const FrameOfContainer& frame);
  /// The leader has taken the file away; found by fits().
  [[nodiscard]] bool is_gone() const { return is_gone_; }
  /// The frame is ours to decode, until end_making(). False: another is at it.
  bool begin_making(const FrameOfContainer& frame);
  void end_making(const FrameOfContainer& frame);
  /// Leaves the decoded frame to the others. Failing, it leaves nothing that anybody would take, and
  /// nothing fits from then on.
  void put(const FrameOfContainer& frame, ByteSpan raw);

 private:
  /// What was found of a frame: its slot and the checksums of its blocks.
  struct Known {
    std::uint64_t number = 0;
    std::uint64_t used = 0;  ///< 0: nothing
    std::uint64_t bytes_begin = 0;
    std::vector<std::uint64_t> sums;
  };

  SharedFrames(FrameShare& share, File file, std::string container, std::uint64_t frame_count);

  [[nodiscard]] Result<SharedFramesHead> head() const;
  /// A block that reads of a few bytes go to and fro between: of a skeleton, of its base.
  struct Block {
    std::uint64_t frame = 0;
    std::uint64_t number = 0;
    std::uint64_t used = 0;  ///< 0: nothing
    Bytes bytes;
  };

  const Known* find(const FrameOfContainer& frame);
  [[nodiscard]] bool read_block(const Known& known, std::uint64_t number,
                                MutableByteSpan out) const;
  const Bytes* find_block(const Known& known, std::uint64_t number, std::size_t bytes);
  [[nodiscard]] std::uint64_t left(const SharedFramesHead& head) const;
  Result<std::uint64_t> take_space(std::uint64_t bytes);
  bool write(const FrameOfContainer& frame, ByteSpan raw);
  void touch();

  FrameShare& share_;
  File file_;
  /// Of the file: a program that closes descriptors of others may have one of its own under our
  /// number, which is never written to.
  FileIdentity identity_;
  std::string container_;  ///< the name of the file
  std::uint64_t frame_count_;
  std::uint64_t largest_file_;  ///< of this process: beyond, a write is a signal
  std::vector<Known> known_;
  std::vector<Block> blocks_;
  std::uint64_t clock_ = 0;
  std::uint64_t touched_ns_ = 0;
  bool is_full_ = false;
  bool is_gone_ = false;
};

/// For the leader: takes away what nobody holds and nobody used for `unheld_ns`, and what nobody
/// used for `idle_ns`. True: something is left.
Result<bool> drop_idle_frames(const LaunchDirectory& directory, std::uint64_t unheld_ns,
                              std::uint64_t idle_ns);

/// Something is left of what ranks of that launch shared.
bool holds_frames(const LaunchDirectory& directory);

}  // namespace mcr::restart
