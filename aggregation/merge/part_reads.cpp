// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/merge/part_reads.hpp"

#include <algorithm>
#include <cstring>

namespace mcr::aggregation {
namespace {

constexpr std::size_t least_window = 4096;
constexpr std::size_t largest_window = 64U << 10;
/// Larger reads are not served from a window, because the copy would cost as much as the system
/// call.
constexpr std::size_t small_read = 4096;
/// The largest gap at which a read counts as following the read before it.
constexpr std::uint64_t near = 4096;

}  // namespace

Result<void> WindowedFile::read_at(std::uint64_t offset, MutableByteSpan out) {
  const bool follows = offset >= end_ && offset - end_ <= near;
  end_ = offset + out.size();
  if (out.size() >= small_read || most_bytes_ < least_window) return file_->read_at(offset, out);
  const bool inside = offset >= begin_ && end_ <= begin_ + window_.size();
  if (!inside) {
    wanted_ = follows ? std::min(most_bytes_, std::max(2 * wanted_, out.size())) : 0;
    if (wanted_ <= out.size()) {
      wanted_ = out.size();
      return file_->read_at(offset, out);
    }
    begin_ = offset;
    window_.resize(wanted_);
    window_.resize(file_->read_some_at(offset, window_).value_or(0));
    if (window_.size() < out.size()) return file_->read_at(offset, out);
  }
  std::memcpy(out.data(), window_.data() + (offset - begin_), out.size());
  return {};
}

WindowedReads::WindowedReads(const PartFiles& files, std::uint64_t most_bytes) {
  const auto share =
      std::min<std::uint64_t>(most_bytes / std::max<std::size_t>(files.size(), 1), largest_window);
  for (const restart::File* file : files) {
    parts_.emplace_back(*file, static_cast<std::size_t>(share));
  }
}

}  // namespace mcr::aggregation
