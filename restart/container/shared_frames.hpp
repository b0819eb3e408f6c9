// SPDX-License-Identifier: BSD-3-Clause
// Frames of one container that ranks of a launch on one node decoded for one another: a file below
// frames/ in the launch's directory in the stage.
//
// Invariants
//  1. The content of the file is not trusted. A reader compares it with checksums in a slot, and
//     the slot with the index's record of the frame. If anything does not match (never written,
//     torn by a death, cut off by the leader, changed by another user), the rank decodes the frame
//     itself.
//  2. The rank that decodes a frame holds the lock on the frame's number; the lock ends with the
//     process. A rank that does not get the lock waits a bounded time only
//     (restart/container/frame_bytes), then decodes the frame all the same.
//  3. Space in the file is allocated under a lock of its own; a death leaves at most one frame's
//     space unused. All files together never get more than the stage had left.
//  4. A process that has the file open holds LOCK_SH on it. The leader removes files that no
//     process holds, and files unused for a while. It also truncates the unused files to nothing,
//     so that their memory is freed although ranks have them open. All files go with the launch's
//     directory.
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

/// The place where the ranks of a launch share decoded frames, as a reading process sees it.
class FrameShare {
 public:
  virtual ~FrameShare() = default;
  /// Returns the launch's directory in the stage, for which a leader runs; null: this process
  /// decodes alone. Called at the first frame that holds bytes of several parts.
  virtual const LaunchDirectory* place() = 0;
  /// Returns how many bytes may be put into the stage now. Called before each frame.
  virtual std::uint64_t free_bytes() = 0;
  /// The longest wait for a frame that another rank decodes; far longer than any decoding that was
  /// measured. A rank whose wait timed out once never waits again.
  std::uint64_t longest_wait_ns = 5'000'000'000;
};

class SharedFrames {
 public:
  /// Opens the file for that container, and makes it if it is missing.
  static Result<std::unique_ptr<SharedFrames>> open(FrameShare& share,
                                                    const LaunchDirectory& directory,
                                                    const ContainerReader& container);

  /// Fills `out` from byte `begin` of the frame on. False: the frame is not there, and `out` is
  /// undefined.
  bool read(const FrameOfContainer& frame, std::size_t begin, MutableByteSpan out);
  [[nodiscard]] bool has(const FrameOfContainer& frame);
  /// True if there is room for the frame.
  [[nodiscard]] bool fits(const FrameOfContainer& frame);
  /// True if fits() found that the leader has removed the file.
  [[nodiscard]] bool is_gone() const { return is_gone_; }
  /// True if this rank may decode the frame, until end_making(). False: another rank is decoding
  /// it.
  bool begin_making(const FrameOfContainer& frame);
  void end_making(const FrameOfContainer& frame);
  /// Shares the decoded frame with the other ranks. A failure leaves nothing that a reader would
  /// accept, and from then on fits() is false.
  void put(const FrameOfContainer& frame, ByteSpan raw);

 private:
  /// The cached place of a frame: its slot and the checksums of its blocks.
  struct Known {
    std::uint64_t number = 0;
    std::uint64_t used = 0;  ///< time of last use; 0: empty
    std::uint64_t bytes_begin = 0;
    std::vector<std::uint64_t> sums;
  };

  SharedFrames(FrameShare& share, File file, std::string container, std::uint64_t frame_count);

  [[nodiscard]] Result<SharedFramesHead> head() const;
  /// A cached block. Small reads alternate between few blocks: those of a skeleton and of its base.
  struct Block {
    std::uint64_t frame = 0;
    std::uint64_t number = 0;
    std::uint64_t used = 0;  ///< time of last use; 0: empty
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
  /// Identity of the file. If the program closed our descriptor, its number may belong to a file of
  /// the program, which must never be written to.
  FileIdentity identity_;
  std::string container_;  ///< the name in the file's slots
  std::uint64_t frame_count_;
  std::uint64_t largest_file_;  ///< RLIMIT_FSIZE: beyond it a write raises SIGXFSZ
  std::vector<Known> known_;
  std::vector<Block> blocks_;
  std::uint64_t clock_ = 0;
  std::uint64_t touched_ns_ = 0;
  bool is_full_ = false;
  bool is_gone_ = false;
};

/// For the leader: removes files that no process holds and that were unused for `unheld_ns`, and
/// files unused for `idle_ns`. Returns true if some file is left.
Result<bool> drop_idle_frames(const LaunchDirectory& directory, std::uint64_t unheld_ns,
                              std::uint64_t idle_ns);

/// True if some shared frames of that launch are left.
bool holds_frames(const LaunchDirectory& directory);

}  // namespace mcr::restart
