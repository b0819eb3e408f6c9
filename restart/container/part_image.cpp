// SPDX-License-Identifier: BSD-3-Clause
#include "restart/container/part_image.hpp"

#include <algorithm>
#include <optional>

#include "restart/container/frame_bytes.hpp"

namespace mcr::restart {
namespace {

/// Number of dataset entries that are cached: those of a skeleton, its base, a variable.
constexpr std::size_t known_datasets = 4;
/// If a container's parts have fewer bytes in all, each rank decodes alone, because the decoding
/// ends before a leader has started.
constexpr std::uint64_t least_shared_set = 1U << 20;
class PartImage final : public PartSource {
 public:
  PartImage(std::shared_ptr<ContainerReader> container, PartRecord part,
            std::optional<SkeletonPlace> base, std::vector<MapPage> pages,
            std::shared_ptr<FrameShare> share)
      : container_(std::move(container)),
        part_(std::move(part)),
        base_(base),
        pages_(std::move(pages)),
        frames_(container_, std::move(share), part_.entry.rank) {}

  std::uint64_t size() const override { return part_.entry.size; }

  Result<void> read_at(std::uint64_t offset, MutableByteSpan out) override {
    if (offset > size() || out.size() > size() - offset) {
      return Error{Cause::usage, describe("a read ends behind the end of the part")};
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
    std::uint64_t begin;  ///< offset in the part
  };

  /// Loads the page that covers `offset`, which lies in the part.
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

  /// Finds the entry for `offset` in the loaded page, which covers it.
  Found find_entry(std::uint64_t offset) const {
    const auto behind = std::upper_bound(begins_.begin(), begins_.end(), offset);
    const auto number = static_cast<std::size_t>(behind - begins_.begin()) - 1;
    return {entries_[number], begins_[number]};
  }

  Result<void> read_entry(const MapEntry& entry, std::uint64_t inside, MutableByteSpan out) {
    if (entry.dataset == MapEntry::skeleton) {
      return read_skeleton(entry.skeleton_position + inside, out);
    }
    return read_dataset(entry.dataset, entry.frame, entry.frame_offset + inside, out, inside,
                        entry.length - inside - out.size());
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

  /// Reads from a linear position in the dataset of skeletons, whose frames are all equally long.
  Result<void> read_skeletons(std::uint64_t position, MutableByteSpan out) {
    const std::uint32_t number = container_->directory().skeleton_dataset;
    const DatasetEntry* dataset = MCR_TRY(find_dataset(number));
    const std::uint64_t frame = position / dataset->chunk_bytes;
    if (frame >= dataset->frame_count)
      return Error{Cause::damaged, describe("the part's skeleton is missing")};
    return read_dataset(number, static_cast<std::uint32_t>(frame), position % dataset->chunk_bytes,
                        out, 0, 0);
  }

  /// Reads from byte `inside` on, counted from the beginning of frame `frame`; that byte may lie in
  /// a later frame. `before` bytes in front of the read range and `after` bytes behind it belong to
  /// the same entry of the map.
  Result<void> read_dataset(std::uint32_t number, std::uint32_t frame, std::uint64_t inside,
                            MutableByteSpan out, std::uint64_t before, std::uint64_t after) {
    WantedFrame wanted{*MCR_TRY(find_dataset(number)), number, frame, {}};
    while (!out.empty()) {
      wanted.place =
          MCR_TRY(frames_.explained(container_->frame_place(wanted.dataset, wanted.frame), number));
      const std::uint64_t raw_bytes = wanted.place.raw_bytes;
      if (inside >= raw_bytes) {
        inside -= raw_bytes;
        ++wanted.frame;  // frame_place fails if there are no more frames
        continue;
      }
      const auto begin = static_cast<std::size_t>(inside);
      const std::size_t count = std::min<std::size_t>(out.size(), raw_bytes - begin);
      const bool is_whole = before >= inside && out.size() + after >= raw_bytes - inside;
      const bool is_shared = !is_whole && frames_.may_share() && !is_ours_alone(wanted);
      MCR_TRY(frames_.read(wanted, begin, out.first(count), is_shared,
                           [this, &wanted](std::size_t most) { return behind(wanted, most); }));
      out = out.subspan(count);
      before += count;
      inside = 0;
      ++wanted.frame;
    }
    return {};
  }

  /// True if the entries of the loaded page cover the whole frame, so that it belongs to this part
  /// alone.
  bool is_ours_alone(const WantedFrame& wanted) {
    const std::uint64_t number = wanted.of_container().number;
    if (number == asked_alone_) return is_alone_;
    std::uint64_t ours = 0;
    for (const MapEntry& entry : entries_) {
      if (is_in(entry, wanted) && entry.frame_offset < wanted.place.raw_bytes)
        ours += std::min<std::uint64_t>(entry.length, wanted.place.raw_bytes - entry.frame_offset);
    }
    asked_alone_ = number;
    is_alone_ = ours >= wanted.place.raw_bytes;
    return is_alone_;
  }

  static bool is_in(const MapEntry& entry, const WantedFrame& frame) {
    return entry.dataset == frame.dataset_number && entry.frame == frame.frame;
  }

  /// Returns the next shared frames that the loaded page names after `wanted`. For a skeleton,
  /// which HDF5 reads first, it starts at the page's beginning.
  std::vector<WantedFrame> behind(const WantedFrame& wanted, std::size_t most) {
    std::vector<WantedFrame> frames;
    bool is_behind = wanted.dataset_number == container_->directory().skeleton_dataset;
    for (const MapEntry& entry : entries_) {
      if (frames.size() == most) break;
      if (is_in(entry, wanted)) is_behind = true;
      if (!is_behind || is_in(entry, wanted) || entry.dataset == MapEntry::skeleton) continue;
      if (std::any_of(frames.begin(), frames.end(),
                      [&](const WantedFrame& known) { return is_in(entry, known); })) {
        continue;
      }
      const auto dataset = find_dataset(entry.dataset);
      if (!dataset) continue;
      const auto place = container_->frame_place(**dataset, entry.frame);
      const bool is_part = place && place->raw_bytes >= FrameBytes::least_shared_bytes &&
                           (entry.frame_offset != 0 || entry.length < place->raw_bytes);
      if (!is_part) continue;
      frames.push_back({**dataset, entry.dataset, entry.frame, *place});
      if (is_ours_alone(frames.back())) frames.pop_back();
    }
    return frames;
  }

  Result<const DatasetEntry*> find_dataset(std::uint32_t number) {
    if (number == MapEntry::skeleton)
      return Error{Cause::damaged, describe("the container has no skeletons")};
    for (const auto& [known, entry] : datasets_) {
      if (known == number) return &entry;
    }
    if (datasets_.size() == known_datasets) datasets_.erase(datasets_.begin());
    datasets_.emplace_back(number, MCR_TRY(frames_.explained(container_->dataset(number), number)));
    return &datasets_.back().second;
  }

  [[nodiscard]] std::string describe(const std::string& what) const {
    return container_->name() + ", rank " + std::to_string(part_.entry.rank) + ": " + what;
  }

  std::shared_ptr<ContainerReader> container_;
  PartRecord part_;
  std::optional<SkeletonPlace> base_;
  std::vector<MapPage> pages_;
  std::size_t page_ = 0;
  std::vector<MapEntry> entries_;      // of the loaded page
  std::vector<std::uint64_t> begins_;  // where each entry begins in the part
  std::vector<std::pair<std::uint32_t, DatasetEntry>> datasets_;
  FrameBytes frames_;
  std::uint64_t asked_alone_ = ~std::uint64_t{0};  // number of the frame that is_alone_ is about
  bool is_alone_ = false;
};

}  // namespace

Result<std::unique_ptr<PartSource>> open_part_image(std::shared_ptr<ContainerReader> container,
                                                    const PartRecord& part,
                                                    std::shared_ptr<FrameShare> share) {
  std::optional<SkeletonPlace> base;
  if (share != nullptr || part.entry.skeleton.base != SkeletonPlace::no_base) {
    const std::vector<PartRecord>* parts = MCR_TRY(container->parts());
    std::uint64_t bytes = 0;
    for (const PartRecord& one : *parts) bytes += one.entry.size;
    if (parts->size() == 1 || bytes < least_shared_set) share.reset();
    if (part.entry.skeleton.base != SkeletonPlace::no_base)
      base = (*parts)[part.entry.skeleton.base].entry.skeleton;  // checked with the table
  }
  std::vector<MapPage> pages = MCR_TRY(container->pages(part));
  return std::unique_ptr<PartSource>(std::make_unique<PartImage>(
      std::move(container), part, base, std::move(pages), std::move(share)));
}

}  // namespace mcr::restart
