// SPDX-License-Identifier: BSD-3-Clause
// Parts of a payload that kernels write to slots of their own, and that are then brought together.
#pragma once

#include <algorithm>

#include "codecs/gpu/coder/device.hpp"
#include "codecs/gpu/kernels/bit_writer.hpp"

namespace mcr::codecs::gpu {

class PartList {
 public:
  /// Reserves slots of `slot_bytes` for `count` parts.
  Result<void> reserve(Device& device, std::uint64_t count, std::uint64_t slot_bytes) {
    slot_bytes_ = slot_bytes;
    sums_.resize(static_cast<std::size_t>(count) + 1);
    slots_ = MCR_TRY(device.reserve(count * slot_bytes));
    parts_ = MCR_TRY(device.reserve(count * sizeof(Part)));
    places_ = MCR_TRY(device.reserve(sums_.size() * sizeof(std::uint32_t)));
    gathered_ = MCR_TRY(device.reserve(count * slot_bytes));
    return {};
  }

  [[nodiscard]] DeviceAddress slots() const { return slots_; }
  [[nodiscard]] DeviceAddress parts() const { return parts_; }
  [[nodiscard]] std::uint64_t slot_bytes() const { return slot_bytes_; }

  /// Gathers the parts that were written before; their sizes are known at the next finish().
  Result<void> gather(Device& device) {
    const std::uint64_t count = sums_.size() - 1;
    MCR_TRY(device.launch(
        kernel::sums, 1,
        {parts_ + offsetof(Part, bytes), count, sizeof(Part) / sizeof(std::uint32_t), places_}));
    MCR_TRY(device.launch(kernel::gather, count, {parts_, places_, gathered_}));
    return device.download(sums_, places_);
  }
  /// Downloads all parts; their bytes are known at the next finish(). Cause::damaged: the card gave sizes
  /// that parts cannot have.
  Result<void> fetch(Device& device) {
    if (sums_.front() != 0 || !std::is_sorted(sums_.begin(), sums_.end()) ||
        sums_.back() > count() * slot_bytes_)
      return Error{Cause::damaged, "it returns impossible sizes"};
    bytes_.resize(sums_.back());
    return device.download(std::span(bytes_), gathered_);
  }

  [[nodiscard]] std::uint32_t size(std::size_t part) const { return sums_[part + 1] - sums_[part]; }
  /// Returns the bytes of the parts from `first` up to `end`.
  [[nodiscard]] ByteSpan bytes(std::size_t first, std::size_t end) const {
    return ByteSpan(bytes_).subspan(sums_[first], sums_[end] - sums_[first]);
  }
  [[nodiscard]] std::size_t bytes_between(std::size_t first, std::size_t end) const {
    return sums_[end] - sums_[first];
  }
  [[nodiscard]] std::size_t count() const { return sums_.size() - 1; }

 private:
  std::uint64_t slot_bytes_ = 0;
  DeviceAddress slots_ = 0;
  DeviceAddress parts_ = 0;
  DeviceAddress places_ = 0;
  DeviceAddress gathered_ = 0;
  std::vector<std::uint32_t> sums_;  ///< where each part begins, and the end
  Bytes bytes_;
};

}  // namespace mcr::codecs::gpu
