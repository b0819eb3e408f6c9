// SPDX-License-Identifier: BSD-3-Clause
// The part of the filter plugin that looks for the container. The container is opened anew for
// every chunk (a few system calls), so that it does not stay open after the program has closed it.
// The solid frame that was decoded last is kept, because consecutive chunks of a variable lie in
// it.
#include "restart/filter/linked_chunk.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <vector>

#include "restart/base/file.hpp"
#include "restart/container/linked_frames.hpp"

namespace mcr::restart {
namespace {

// Never destroyed, because HDF5 may call filters after this library's destructors ran. A second
// concurrent caller makes a frame of its own.
constinit std::atomic<KeptFrame*> kept{nullptr};

class BorrowedFrame {
 public:
  BorrowedFrame() : frame_(kept.exchange(nullptr)) {
    if (frame_ == nullptr) frame_ = new KeptFrame;
  }
  ~BorrowedFrame() {
    KeptFrame* none = nullptr;
    if (!kept.compare_exchange_strong(none, frame_)) delete frame_;
  }
  BorrowedFrame(const BorrowedFrame&) = delete;
  BorrowedFrame& operator=(const BorrowedFrame&) = delete;
  KeptFrame& operator*() const { return *frame_; }

 private:
  KeptFrame* frame_;
};

}  // namespace

Result<void> decode_linked_chunk(const std::array<std::uint8_t, 16>& uuid, ByteSpan frame,
                                 Scratch& scratch, MutableByteSpan raw) {
  const BorrowedFrame frame_kept;
  return decode_by_open_container(uuid, frame, scratch, raw, *frame_kept);
}

Result<void> may_decode_unchecked_here() {
  const auto names = list_directory(AT_FDCWD, "/proc/self/fd");
  std::string stranger;
  bool is_own_open = false;
  for (const std::string& number : names ? *names : std::vector<std::string>()) {
    struct stat status {};
    const std::string name = "/proc/self/fd/" + number;
    if (::stat(name.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
    if (status.st_uid == ::geteuid() || status.st_uid == 0) {
      is_own_open = true;
      continue;
    }
    std::array<char, 4096> place{};
    const ssize_t length = ::readlink(name.c_str(), place.data(), place.size());
    stranger = std::string(place.data(), static_cast<std::size_t>(std::max<ssize_t>(length, 0))) +
               " belongs to user " + std::to_string(status.st_uid);
  }
  if (stranger.empty() && is_own_open) return {};
  if (stranger.empty()) stranger = "the file is not open as a plain file";
  return Error{Cause::usage,
               stranger +
                   ": frames of the codec fpzip are decoded only while all open files belong to "
                   "you or to root, because forged data can harm the fpzip library; if you trust "
                   "the owner, `mcr unpack` with MCR_ALLOW=DIRECTORY restores the original files"};
}

}  // namespace mcr::restart
