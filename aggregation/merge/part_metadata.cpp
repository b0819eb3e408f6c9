// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/merge/part_metadata.hpp"

#include <algorithm>

#include "aggregation/merge/part_reads.hpp"

namespace mcr::aggregation {
namespace {

constexpr std::uint64_t max_metadata_bytes = 64U << 20;  // because it is kept in memory
constexpr std::size_t window_bytes = 64U << 10;

}  // namespace

std::optional<PartMetadata> PartMetadata::read(const restart::File& file, std::uint64_t size,
                                               const PartLayout& layout) {
  PartMetadata metadata;
  std::vector<Extent> raw;
  std::uint64_t raw_bytes = 0;
  for (const DatasetInfo& dataset : layout.datasets) {
    raw.insert(raw.end(), dataset.extents.begin(), dataset.extents.end());
    raw_bytes += dataset.bytes();
  }
  if (size - raw_bytes > max_metadata_bytes) return std::nullopt;
  metadata.bytes_.resize(static_cast<std::size_t>(size - raw_bytes));
  std::sort(raw.begin(), raw.end(),
            [](const Extent& a, const Extent& b) { return a.offset < b.offset; });
  raw.push_back({size, 0});
  WindowedFile windowed(file, window_bytes);
  std::uint64_t end = 0;
  std::size_t at = 0;
  for (const Extent& extent : raw) {
    if (extent.offset > end) {
      const Gap gap{end, static_cast<std::size_t>(extent.offset - end), at};
      if (!windowed.read_at(end, metadata.bytes().subspan(at, gap.bytes))) return std::nullopt;
      metadata.gaps_.push_back(gap);
      at += gap.bytes;
    }
    end = extent.offset + extent.bytes;
  }
  return metadata;
}

const PartMetadata::Gap* PartMetadata::gap_at(std::uint64_t offset) const {
  const auto behind =
      std::upper_bound(gaps_.begin(), gaps_.end(), offset,
                       [](std::uint64_t place, const Gap& gap) { return place < gap.offset; });
  if (behind == gaps_.begin()) return nullptr;
  const Gap& gap = *(behind - 1);
  return offset - gap.offset <= gap.bytes ? &gap : nullptr;
}

std::size_t PartMetadata::place_of(std::uint64_t offset, std::uint64_t bytes) const {
  const Gap* const gap = gap_at(offset);
  if (gap == nullptr || bytes > gap->bytes - (offset - gap->offset)) return nowhere;
  return gap->at + static_cast<std::size_t>(offset - gap->offset);
}

Result<ByteSpan> PartMetadata::at(std::uint64_t offset, std::uint64_t bytes) const {
  const std::size_t place = place_of(offset, bytes);
  if (place == nowhere) return Error{Cause::unsupported, "metadata lies in raw data"};
  return ByteSpan(bytes_).subspan(place, static_cast<std::size_t>(bytes));
}

ByteSpan PartMetadata::some_at(std::uint64_t offset, std::size_t most_bytes) const {
  const Gap* const gap = gap_at(offset);
  if (gap == nullptr) return {};
  const auto inside = static_cast<std::size_t>(offset - gap->offset);
  return ByteSpan(bytes_).subspan(gap->at + inside, std::min(most_bytes, gap->bytes - inside));
}

}  // namespace mcr::aggregation
