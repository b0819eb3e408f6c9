// SPDX-License-Identifier: BSD-3-Clause
#include "restart/container/frame_scatter.hpp"

#include <algorithm>
#include <unordered_map>

namespace mcr::restart {
namespace {

class Scatterer {
 public:
  explicit Scatterer(ContainerReader& container) : container_(container) {}

  Result<void> add_part(std::uint32_t number, const PartRecord& part) {
    const std::vector<MapPage> pages = MCR_TRY(container_.pages(part));
    std::uint64_t offset = 0;
    for (std::size_t i = 0; i < pages.size(); ++i) {
      for (const MapEntry& entry : MCR_TRY(container_.page(part, pages, i))) {
        if (entry.dataset == MapEntry::skeleton) {
          result_.skeletons.push_back({number, offset, entry.length});
        } else {
          MCR_TRY(add_entry(number, offset, entry));
        }
        offset += entry.length;
      }
    }
    return {};
  }

  Scatter take() {
    std::sort(result_.frames.begin(), result_.frames.end(),
              [](const ScatteredFrame& a, const ScatteredFrame& b) {
                return a.place.file_offset < b.place.file_offset;
              });
    return std::move(result_);
  }

 private:
  Result<void> add_entry(std::uint32_t part, std::uint64_t offset, const MapEntry& entry) {
    const DatasetEntry dataset = MCR_TRY(container_.dataset(entry.dataset));
    std::uint32_t frame = entry.frame;
    std::uint64_t inside = entry.frame_offset;
    for (std::uint64_t left = entry.length; left != 0; ++frame) {
      ScatteredFrame* scattered = MCR_TRY(frame_of(entry.dataset, dataset, frame));
      const std::uint64_t raw_bytes = scattered->place.raw_bytes;
      if (inside >= raw_bytes) {
        inside -= raw_bytes;
        continue;
      }
      const std::uint64_t count = std::min(left, raw_bytes - inside);
      scattered->targets.push_back(
          {part, static_cast<std::uint32_t>(inside), static_cast<std::uint32_t>(count), offset});
      offset += count;
      left -= count;
      inside = 0;
    }
    return {};
  }

  Result<ScatteredFrame*> frame_of(std::uint32_t number, const DatasetEntry& dataset,
                                   std::uint32_t frame) {
    const std::uint64_t key = std::uint64_t{number} << 32 | frame;
    const auto [known, is_new] = numbers_.try_emplace(key, result_.frames.size());
    if (is_new) {
      const FramePlace place = MCR_TRY(container_.frame_place(dataset, frame));
      result_.frames.push_back({number, frame, place, {}});
    }
    return &result_.frames[known->second];
  }

  ContainerReader& container_;
  Scatter result_;
  // Index in result_.frames, by dataset and frame number.
  std::unordered_map<std::uint64_t, std::size_t> numbers_;
};

}  // namespace

Result<Scatter> scatter_of(ContainerReader& container, const std::vector<std::uint32_t>& parts) {
  const std::vector<PartRecord>* all = MCR_TRY(container.parts());
  Scatterer scatterer(container);
  for (const std::uint32_t part : parts) MCR_TRY(scatterer.add_part(part, (*all)[part]));
  return scatterer.take();
}

}  // namespace mcr::restart
