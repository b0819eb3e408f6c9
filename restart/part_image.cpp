// SPDX-License-Identifier: BSD-3-Clause
#include "restart/part_image.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "restart/base/log.hpp"

namespace mcr::restart {
namespace {

/// Decoded frames that were used last. What bounds them is their bytes: adaptive meshes have a frame
/// for each of dozens of variables, and their files go from grid to grid, through all of them.
constexpr std::size_t cached_frames = 64;
// Solid frames are large: of them it keeps one or two.
constexpr std::size_t cached_bytes = 24U << 20;
/// Entries of datasets: a skeleton's, its base's, a variable's.
constexpr std::size_t known_datasets = 4;

struct DecodedFrame {
  std::uint32_t dataset = 0;
  std::uint32_t frame = 0;
  std::uint64_t used = 0;  ///< time of last use; 0: holds nothing
  Bytes raw;
};

class PartImage final : public PartSource {
 public:
  PartImage(std::shared_ptr<ContainerReader> container, PartRecord part,
            std::optional<SkeletonPlace> base, std::vector<MapPage> pages)
      : container_(std::move(container)),
        part_(std::move(part)),
        base_(base),
        pages_(std::move(pages)) {}

  ~PartImage() override {
    log_debug(container_->name(), ", rank ", std::to_string(part_.entry.rank), ": ",
              std::to_string(decoded_bytes_), " bytes of frames decoded from ",
              std::to_string(stored_bytes_));
  }
  PartImage(const PartImage&) = delete;
  PartImage& operator=(const PartImage&) = delete;

  std::uint64_t size() const override { return part_.entry.size; }

  Result<void> read_at(std::uint64_t offset, MutableByteSpan out) override {
    if (offset > size() || out.size() > size() - offset) {
      return Error{Cause::usage, describe("read behind the end of the part")};
    }
    while (!out.empty()) {
      MCR_TRY(load_page(offset));
      auto [entry, entry_begin] = find_entry(offset);
      const std::uint64_t inside = offset - entry_begin;
      const auto count =
          static_cast<std::size_t>(std::min<std::uint64_t>(entry.length - inside, out.size()));
      MCR_TRY(read_entry(entry, inside, out.first(count)));
      offset += count;
      out = out.subspan(count);
    }
    return {};
  }

 private:
  struct Found {
    MapEntry entry;
    std::uint64_t begin;  ///< in the part
  };

  /// Makes the page that covers `offset` (which lies in the part) the present one.
  Result<void> load_page(std::uint64_t offset) {
    const auto behind = std::upper_bound(
        pages_.begin(), pages_.end(), offset,
        [](std::uint64_t place, const MapPage& page) { return place < page.first_part_offset; });
    const auto number = static_cast<std::size_t>(behind - pages_.begin()) - 1;
    if (!entries_.empty() && number == page_) return {};
    entries_ = MCR_TRY(container_->page(part_, pages_, number));
    begins_.clear();
    std::uint64_t begin = pages_[number].first_part_offset;
    for (const MapEntry& entry : entries_) {
      begins_.push_back(begin);
      begin += entry.length;
    }
    page_ = number;
    return {};
  }

  /// Of the present page, which covers `offset`.
  Found find_entry(std::uint64_t offset) const {
    const auto behind = std::upper_bound(begins_.begin(), begins_.end(), offset);
    const auto number = static_cast<std::size_t>(behind - begins_.begin()) - 1;
    return {entries_[number], begins_[number]};
  }

  Result<void> read_entry(const MapEntry& entry, std::uint64_t inside, MutableByteSpan out) {
    if (entry.dataset == MapEntry::skeleton) {
      return read_skeleton(entry.skeleton_position + inside, out);
    }
    return read_dataset(entry.dataset, entry.frame, entry.frame_offset + inside, out);
  }

  Result<void> read_skeleton(std::uint64_t position, MutableByteSpan out) {
    MCR_TRY(read_skeletons(part_.entry.skeleton.begin + position, out));
    if (!base_ || position >= base_->bytes) return {};
    const auto count =
        static_cast<std::size_t>(std::min<std::uint64_t>(out.size(), base_->bytes - position));
    Bytes base(count);
    MCR_TRY(read_skeletons(base_->begin + position, base));
    for (std::size_t i = 0; i < count; ++i) out[i] ^= base[i];
    return {};
  }

  /// From a linear position in the dataset of skeletons, whose frames are all equally long.
  Result<void> read_skeletons(std::uint64_t position, MutableByteSpan out) {
    const std::uint32_t number = container_->directory().skeleton_dataset;
    const DatasetEntry* dataset = MCR_TRY(find_dataset(number));
    const std::uint64_t frame = position / dataset->chunk_bytes;
    if (frame >= dataset->frame_count)
      return Error{Cause::damaged, describe("skeleton is not there")};
    return read_dataset(number, static_cast<std::uint32_t>(frame), position % dataset->chunk_bytes,
                        out);
  }

  /// From byte `inside` of frame `frame` on, which may lie in a later frame.
  Result<void> read_dataset(std::uint32_t number, std::uint32_t frame, std::uint64_t inside,
                            MutableByteSpan out) {
    const DatasetEntry dataset = *MCR_TRY(find_dataset(number));
    while (!out.empty()) {
      const FramePlace place = MCR_TRY(explained(container_->frame_place(dataset, frame), number));
      if (inside >= place.raw_bytes) {
        inside -= place.raw_bytes;
        ++frame;  // frame_place ends this where there are no more
        continue;
      }
      const auto begin = static_cast<std::size_t>(inside);
      const std::size_t count = std::min(out.size(), place.raw_bytes - begin);
      if (count == place.raw_bytes && find_cached(number, frame) == nullptr) {
        MCR_TRY(decode(dataset, number, place, out.first(count)));
      } else {
        const Bytes* raw = MCR_TRY(decoded(dataset, number, frame, place));
        std::copy_n(raw->begin() + static_cast<std::ptrdiff_t>(begin), count, out.begin());
      }
      out = out.subspan(count);
      inside = 0;
      ++frame;
    }
    return {};
  }

  Result<const DatasetEntry*> find_dataset(std::uint32_t number) {
    if (number == MapEntry::skeleton) return Error{Cause::damaged, describe("has no skeletons")};
    for (const auto& [known, entry] : datasets_) {
      if (known == number) return &entry;
    }
    if (datasets_.size() == known_datasets) datasets_.erase(datasets_.begin());
    datasets_.emplace_back(number, MCR_TRY(explained(container_->dataset(number), number)));
    return &datasets_.back().second;
  }

  DecodedFrame* find_cached(std::uint32_t dataset, std::uint32_t frame) {
    for (DecodedFrame& cached : cache_) {
      if (cached.used != 0 && cached.dataset == dataset && cached.frame == frame) return &cached;
    }
    return nullptr;
  }

  Result<void> decode(const DatasetEntry& dataset, std::uint32_t number, const FramePlace& place,
                      MutableByteSpan raw) {
    decoded_bytes_ += raw.size();
    stored_bytes_ += place.stored_bytes;
    return explained(container_->decode(dataset, place, scratch_, raw), number);
  }

  Result<const Bytes*> decoded(const DatasetEntry& dataset, std::uint32_t number,
                               std::uint32_t frame, const FramePlace& place) {
    DecodedFrame* cached = find_cached(number, frame);
    if (cached == nullptr) {
      cached = &*std::min_element(
          cache_.begin(), cache_.end(),
          [](const DecodedFrame& a, const DecodedFrame& b) { return a.used < b.used; });
      cached->used = 0;
      make_room(*cached, place.raw_bytes);
      cached->raw.resize(place.raw_bytes);
      MCR_TRY(decode(dataset, number, place, cached->raw));
      cached->dataset = number;
      cached->frame = frame;
    }
    cached->used = ++clock_;
    return &cached->raw;
  }

  /// Gives up the frames used least lately, until `bytes` more fit; `next` is about to hold them.
  void make_room(DecodedFrame& next, std::size_t bytes) {
    if (next.raw.capacity() > 2 * bytes) Bytes().swap(next.raw);
    std::size_t held = bytes;
    for (const DecodedFrame& cached : cache_) held += &cached == &next ? 0 : cached.raw.capacity();
    while (held > cached_bytes) {
      DecodedFrame* oldest = nullptr;
      for (DecodedFrame& cached : cache_) {
        const bool holds = &cached != &next && cached.raw.capacity() != 0;
        if (holds && (oldest == nullptr || cached.used < oldest->used)) oldest = &cached;
      }
      if (oldest == nullptr) return;
      held -= oldest->raw.capacity();
      oldest->used = 0;
      Bytes().swap(oldest->raw);
    }
  }

  [[nodiscard]] std::string describe(const std::string& what) const {
    return container_->name() + ", rank " + std::to_string(part_.entry.rank) + ": " + what;
  }

  /// An error with the variable's name and the rank.
  template <typename T>
  Result<T> explained(Result<T> result, std::uint32_t dataset) {
    if (!result) {
      result.error().message += " (variable " + container_->dataset_name(dataset) + ", rank " +
                                std::to_string(part_.entry.rank) + ")";
    }
    return result;
  }

  std::shared_ptr<ContainerReader> container_;
  PartRecord part_;
  std::optional<SkeletonPlace> base_;
  std::vector<MapPage> pages_;
  std::size_t page_ = 0;
  std::vector<MapEntry> entries_;      // of the page
  std::vector<std::uint64_t> begins_;  // and where each begins in the part
  std::vector<std::pair<std::uint32_t, DatasetEntry>> datasets_;
  std::array<DecodedFrame, cached_frames> cache_;
  std::uint64_t clock_ = 0;
  Scratch scratch_;
  // For log=debug.
  std::uint64_t decoded_bytes_ = 0;
  std::uint64_t stored_bytes_ = 0;
};

}  // namespace

Result<std::unique_ptr<PartSource>> open_part_image(std::shared_ptr<ContainerReader> container,
                                                    const PartRecord& part) {
  std::optional<SkeletonPlace> base;
  if (part.entry.skeleton.base != SkeletonPlace::no_base) {
    const std::vector<PartRecord>* parts = MCR_TRY(container->parts());
    base = (*parts)[part.entry.skeleton.base].entry.skeleton;  // checked with the table
  }
  std::vector<MapPage> pages = MCR_TRY(container->pages(part));
  return std::unique_ptr<PartSource>(
      std::make_unique<PartImage>(std::move(container), part, base, std::move(pages)));
}

}  // namespace mcr::restart
