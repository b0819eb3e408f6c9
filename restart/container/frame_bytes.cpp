// SPDX-License-Identifier: BSD-3-Clause
#include "restart/container/frame_bytes.hpp"

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <utility>

#include "restart/base/log.hpp"
#include "restart/base/system.hpp"
#include "restart/container/frame_decoding.hpp"

namespace mcr::restart {
namespace {

// Solid frames are large: the cache holds only one or two of them.
constexpr std::size_t cached_bytes = 24U << 20;
/// While a rank waits, it decodes at most this many frames ahead, and not more than it has read so
/// far, because the program may read only one variable.
constexpr std::size_t most_ahead = 8;
constexpr long first_pause_ns = 200'000;
constexpr long longest_pause_ns = 5'000'000;

}  // namespace

void FrameBytes::Decoded::resize(std::size_t bytes) {
  if (bytes > capacity) {
    release();
    memory = make_buffer(bytes);
    capacity = bytes;
  }
  size = bytes;
}

void FrameBytes::Decoded::release() {
  memory.reset();
  capacity = 0;
  size = 0;
}

FrameBytes::~FrameBytes() {
  if (const auto after_file = frame_decoding().after_file; after_file != nullptr) after_file();
  log_debug(container_->name(), ", rank ", std::to_string(rank_), ": ",
            std::to_string(decoded_bytes_), " bytes of frames decoded from ",
            std::to_string(stored_bytes_), ", ", std::to_string(shared_bytes_),
            " read that other ranks decoded");
}

Result<void> FrameBytes::read(const WantedFrame& wanted, std::size_t begin, MutableByteSpan out,
                              bool is_shared, const Ahead& ahead) {
  if (find_cached(wanted) == nullptr) {
    SharedFrames* const others =
        is_shared && wanted.place.raw_bytes >= least_shared_bytes ? shared() : nullptr;
    if (others != nullptr && MCR_TRY(read_shared(*others, wanted, begin, out, ahead))) return {};
    if (out.size() == wanted.place.raw_bytes && find_cached(wanted) == nullptr)
      return decode(wanted, out);
  }
  const ByteSpan raw = MCR_TRY(decoded(wanted));
  std::ranges::copy(raw.subspan(begin, out.size()), out.begin());
  return {};
}

// Returns true if `out` is filled. False: this rank must decode the frame itself, or has done so.
Result<bool> FrameBytes::read_shared(SharedFrames& others, const WantedFrame& wanted,
                                     std::size_t begin, MutableByteSpan out, const Ahead& ahead) {
  const FrameOfContainer frame = wanted.of_container();
  if (std::exchange(last_shared_, frame.number) != frame.number) ++shared_frames_;
  timespec pause{0, first_pause_ns};
  std::uint64_t waited_ns = 0;
  for (;;) {
    if (others.read(frame, begin, out)) {
      shared_bytes_ += out.size();
      return true;
    }
    if (!others.fits(frame)) return false;
    if (others.begin_making(frame)) {
      // The rank that held the frame's lock may have stored the frame since the look above.
      const bool is_there = others.has(frame) && others.read(frame, begin, out);
      const auto made = is_there ? Result<void>() : make(others, wanted);
      others.end_making(frame);
      if (!made) return made.error();
      if (is_there) shared_bytes_ += out.size();
      return is_there;
    }
    if (has_waited_in_vain_ || waited_ns > share_->longest_wait_ns) {
      has_waited_in_vain_ = true;
      MCR_TRY(make(others, wanted));
      return false;
    }
    const std::uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC);
    if (help(others, wanted, ahead)) continue;
    ::nanosleep(&pause, nullptr);
    pause.tv_nsec = std::min(pause.tv_nsec * 2, longest_pause_ns);
    waited_ns += clock_ns(CLOCK_MONOTONIC) - begin_ns;
  }
}

/// Decodes the frame into the cache and shares it with the other ranks.
Result<void> FrameBytes::make(SharedFrames& others, const WantedFrame& wanted) {
  others.put(wanted.of_container(), MCR_TRY(decoded(wanted)));
  return {};
}

/// Decodes the next frame that this part will need and that no rank has decoded. False: there is no
/// such frame.
bool FrameBytes::help(SharedFrames& others, const WantedFrame& awaited, const Ahead& ahead) {
  for (const WantedFrame& next : ahead(std::min(shared_frames_, most_ahead))) {
    const FrameOfContainer frame = next.of_container();
    if (frame.number == awaited.of_container().number || others.has(frame)) continue;
    if (!others.fits(frame) || !others.begin_making(frame)) continue;
    const bool made = others.has(frame) || make(others, next);  // damage is reported on use
    others.end_making(frame);
    if (made) return true;
  }
  return false;
}

SharedFrames* FrameBytes::shared() {
  if (share_ == nullptr) return nullptr;
  if (shared_ != nullptr && shared_->is_gone()) shared_.reset();
  // Another launch's leader may remove the directory before this launch's leader has begun. place()
  // then makes it again.
  for (int tries = 3; shared_ == nullptr && share_ != nullptr && tries > 0; --tries) {
    const LaunchDirectory* const place = share_->place();
    if (place == nullptr) {
      share_.reset();  // from now on this part decodes alone
      return nullptr;
    }
    auto opened = SharedFrames::open(*share_, *place, *container_);
    if (opened) {
      shared_ = std::move(*opened);
    } else if (opened.error().system_error != ENOENT || tries == 1) {
      log_debug(container_->name(), ": nothing is shared: ", opened.error().message);
      share_.reset();
    }
  }
  return shared_.get();
}

Result<void> FrameBytes::decode(const WantedFrame& wanted, MutableByteSpan raw) {
  decoded_bytes_ += raw.size();
  stored_bytes_ += wanted.place.stored_bytes;
  return explained(container_->decode(wanted.dataset, wanted.place, scratch_, raw),
                   wanted.dataset_number);
}

FrameBytes::Decoded* FrameBytes::find_cached(const WantedFrame& wanted) {
  for (Decoded& cached : cache_) {
    if (cached.used != 0 && cached.number == wanted.of_container().number) return &cached;
  }
  return nullptr;
}

Result<ByteSpan> FrameBytes::decoded(const WantedFrame& wanted) {
  Decoded* cached = find_cached(wanted);
  if (cached == nullptr) {
    cached = &*std::min_element(cache_.begin(), cache_.end(),
                                [](const Decoded& a, const Decoded& b) { return a.used < b.used; });
    cached->used = 0;
    make_room(*cached, wanted.place.raw_bytes);
    cached->resize(wanted.place.raw_bytes);
    MCR_TRY(decode(wanted, cached->raw()));
    cached->number = wanted.of_container().number;
  }
  cached->used = ++clock_;
  return ByteSpan(cached->raw());
}

/// Drops the least recently used frames until `bytes` more fit; `next` will hold these bytes.
void FrameBytes::make_room(Decoded& next, std::size_t bytes) {
  if (next.capacity > 2 * bytes) next.release();
  std::size_t held = bytes;
  for (const Decoded& cached : cache_) held += &cached == &next ? 0 : cached.capacity;
  while (held > cached_bytes) {
    Decoded* oldest = nullptr;
    for (Decoded& cached : cache_) {
      const bool holds = &cached != &next && cached.capacity != 0;
      if (holds && (oldest == nullptr || cached.used < oldest->used)) oldest = &cached;
    }
    if (oldest == nullptr) return;
    held -= oldest->capacity;
    oldest->used = 0;
    oldest->release();
  }
}

}  // namespace mcr::restart
