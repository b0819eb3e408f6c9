// SPDX-License-Identifier: BSD-3-Clause
// The part of the filter plugin that looks for the container. The container is opened anew for
// every chunk (a few system calls) rather than kept open behind its owner's back; the solid frame
// that was decoded last is kept, since the chunks of a variable follow one another in it.
#include "codecs/filter/linked_chunk.hpp"

#include <atomic>

#include "codecs/frame.hpp"
#include "restart/linked_frames.hpp"

namespace mcr::codecs {
namespace {

// Never destroyed: HDF5 may call filters after this library's destructors ran. A second caller at
// the same time makes its own.
constinit std::atomic<restart::KeptFrame*> kept{nullptr};

class BorrowedFrame {
 public:
  BorrowedFrame() : frame_(kept.exchange(nullptr)) {
    if (frame_ == nullptr) frame_ = new restart::KeptFrame;
  }
  ~BorrowedFrame() {
    restart::KeptFrame* none = nullptr;
    if (!kept.compare_exchange_strong(none, frame_)) delete frame_;
  }
  BorrowedFrame(const BorrowedFrame&) = delete;
  BorrowedFrame& operator=(const BorrowedFrame&) = delete;
  restart::KeptFrame& operator*() const { return *frame_; }

 private:
  restart::KeptFrame* frame_;
};

}  // namespace

Result<void> decode_linked_chunk(const std::array<std::uint8_t, 16>& uuid, ByteSpan frame,
                                 Scratch& scratch, MutableByteSpan raw) {
  const auto container = MCR_TRY(restart::find_open_container(uuid));
  const BorrowedFrame frame_kept;
  restart::LinkedFrames linked(*container, *frame_kept);
  return decode_frame(frame, scratch, raw, &linked);
}

}  // namespace mcr::codecs
