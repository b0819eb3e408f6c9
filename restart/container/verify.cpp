// SPDX-License-Identifier: BSD-3-Clause
#include "restart/container/verify.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <set>

#include "codecs/base/checksum.hpp"
#include "codecs/frames/frame.hpp"
#include "restart/container/linked_frames.hpp"
#include "restart/container/part_image.hpp"

namespace mcr::restart {
namespace {

constexpr std::size_t block_bytes = 1U << 20;
constexpr std::uint32_t max_link_bytes = 1U << 16;  // a link frame usually has some forty bytes

struct FrameToCheck {
  std::uint32_t dataset = 0;
  FramePlace place;
};

class Verifier {
 public:
  Verifier(ContainerReader& container, const VerifyOptions& options)
      : container_(container), options_(options) {}

  Result<VerifyReport> run() {
    parts_ = MCR_TRY(container_.parts());
    datasets_ = MCR_TRY(container_.datasets());
    std::vector<FrameToCheck> frames = find_frames();
    if (!options_.decodes) keep_separate(frames);
    for (const PartRecord& part : *parts_) {
      if (options_.whole_parts) total_ += part.entry.size;
    }
    options_.parallel_for(frames.size(), [&](std::size_t i) { check_frame(frames[i]); });
    check_links();
    check_parts();
    report_.frames = frames.size();
    report_.parts = parts_->size();
    report_.damaged_ranks.assign(ranks_.begin(), ranks_.end());
    return std::move(report_);
  }

 private:
  std::vector<FrameToCheck> find_frames() {
    std::vector<FrameToCheck> frames;
    for (std::uint32_t i = 0; i < datasets_->size(); ++i) {
      const DatasetEntry& dataset = (*datasets_)[i];
      for (std::uint32_t frame = 0; frame < dataset.frame_count; ++frame) {
        const auto place = container_.frame_place(dataset, frame);
        if (!place) {
          report_.damage.push_back(place.error().message + " (variable " + dataset.name + ")");
          continue;
        }
        frames.push_back({i, *place});
        report_.raw_bytes += place->raw_bytes;
        total_ += place->raw_bytes;
      }
    }
    return frames;
  }

  /// Leaves frames out that share bytes with others. mcr writes no such frames, and a container that was forged may have many.
  void keep_separate(std::vector<FrameToCheck>& frames) {
    std::sort(frames.begin(), frames.end(), [](const FrameToCheck& a, const FrameToCheck& b) {
      return a.place.file_offset < b.place.file_offset;
    });
    std::uint64_t end = 0;
    const auto shares_bytes = [&](const FrameToCheck& frame) {
      const FramePlace& place = frame.place;
      if (place.stored_bytes == 0 || place.file_offset >= end) {
        end = std::max(end, place.file_offset + place.stored_bytes);
        return false;
      }
      report_.damage.push_back(
          container_.name() + ": frame at byte " + std::to_string(place.file_offset) +
          " shares bytes with another frame (variable " + (*datasets_)[frame.dataset].name + ")");
      return true;
    };
    const auto last = std::remove_if(frames.begin(), frames.end(), shares_bytes);
    frames.erase(last, frames.end());
  }

  void check_frame(const FrameToCheck& frame) {
    const DatasetEntry& dataset = (*datasets_)[frame.dataset];
    Scratch scratch;
    if (!options_.decodes) {
      const auto stored = scratch.take_vector();
      if (const auto read = container_.stored_frame(frame.place, *stored); !read) {
        const std::lock_guard lock(mutex_);
        report_.damage.push_back(read.error().message + " (variable " + dataset.name + ")");
      }
      advance(frame.place.raw_bytes);
      return;
    }
    if (is_link(dataset, frame.place)) {
      const std::lock_guard lock(mutex_);
      links_.push_back(frame);
      return;
    }
    const auto raw = scratch.take<std::byte>(frame.place.raw_bytes);
    const auto decoded = container_.decode(dataset, frame.place, scratch, raw.span());
    if (!decoded) {
      const std::lock_guard lock(mutex_);
      report_.damage.push_back(decoded.error().message + " (variable " + dataset.name + ")");
    }
    advance(frame.place.raw_bytes);
  }

  /// True for a link frame, which is small. The bytes that it names are checked in their solid
  /// frame; check_links() then checks the link itself.
  bool is_link(const DatasetEntry& dataset, const FramePlace& place) const {
    if (dataset.kind != DatasetKind::variable || dataset.storage != DatasetStorage::frames ||
        place.stored_bytes > max_link_bytes) {
      return false;
    }
    Bytes stored;
    if (!container_.stored_frame(place, stored)) return false;
    const auto info = codecs::read_frame_info(stored);
    return info && info->link;
  }

  /// Checks links in the order of their frames in the file, so that each solid frame is decoded
  /// once for a variable.
  void check_links() {
    std::sort(links_.begin(), links_.end(), [](const FrameToCheck& a, const FrameToCheck& b) {
      return a.place.file_offset < b.place.file_offset;
    });
    KeptFrame kept;
    LinkedFrames linked(container_, kept);
    Scratch scratch;
    Bytes stored;
    for (const FrameToCheck& frame : links_) {
      const auto raw = scratch.take<std::byte>(frame.place.raw_bytes);
      auto checked = container_.stored_frame(frame.place, stored);
      if (checked) checked = codecs::decode_frame(stored, scratch, raw.span(), &linked);
      if (!checked) {
        report_.damage.push_back(container_.name() + ": " + checked.error().message +
                                 " (variable " + (*datasets_)[frame.dataset].name + ")");
      }
      advance(frame.place.raw_bytes);
    }
  }

  void check_parts() {
    idle_readers_.emplace_back(&container_, [](ContainerReader*) {});
    std::vector<std::optional<Error>> errors(parts_->size());
    std::vector<std::size_t> left;  // for lack of descriptors or memory
    const auto check = [&](const std::shared_ptr<ContainerReader>& reader, std::size_t i) {
      if (const auto checked = read_part(reader, i); !checked) errors[i] = checked.error();
    };
    options_.parallel_for(parts_->size(), [&](std::size_t i) {
      const auto reader = take_reader();
      if (reader) check(*reader, i);
      const std::lock_guard lock(mutex_);
      if (reader) {
        idle_readers_.push_back(*reader);
      } else {
        left.push_back(i);
      }
    });
    for (const std::size_t i : left) check(idle_readers_.front(), i);
    for (std::size_t i = 0; i < errors.size(); ++i) {
      if (!errors[i]) continue;
      ranks_.insert((*parts_)[i].entry.rank);
      report_.damage.push_back(errors[i]->message);
    }
  }

  /// A reader for this thread. So there are as many readers as threads.
  Result<std::shared_ptr<ContainerReader>> take_reader() {
    const std::lock_guard lock(mutex_);
    if (idle_readers_.empty()) return container_.for_another_thread();
    auto reader = std::move(idle_readers_.back());
    idle_readers_.pop_back();
    return reader;
  }

  Result<void> read_part(const std::shared_ptr<ContainerReader>& reader, std::size_t number) {
    const std::vector<PartRecord>& parts = *MCR_TRY(reader->parts());
    if (parts.size() != parts_->size())
      return Error{Cause::damaged, container_.name() + ": the container was changed meanwhile"};
    const PartRecord& part = parts[number];
    const PartEntry& entry = part.entry;
    const auto image = MCR_TRY(open_part_image(reader, part));
    if (!options_.whole_parts) return check_map(*reader, part);
    RunningChecksum sum;
    Bytes block;
    for (std::uint64_t done = 0; done < entry.size; done += block.size()) {
      block.resize(
          static_cast<std::size_t>(std::min<std::uint64_t>(block_bytes, entry.size - done)));
      MCR_TRY(image->read_at(done, block));
      sum.add(block);
      advance(block.size());
    }
    if (sum.value() == entry.checksum) return {};
    return Error{Cause::damaged, container_.name() + ": the part of rank " +
                                     std::to_string(entry.rank) + " (" + entry.path +
                                     ") does not match its checksum"};
  }

  static Result<void> check_map(ContainerReader& reader, const PartRecord& part) {
    const std::vector<MapPage> pages = MCR_TRY(reader.pages(part));
    for (std::size_t i = 0; i < pages.size(); ++i) MCR_TRY(reader.page(part, pages, i));
    return {};
  }

  void advance(std::uint64_t bytes) {
    if (options_.progress) options_.progress(done_ += bytes, total_);
  }

  ContainerReader& container_;
  const VerifyOptions& options_;
  const std::vector<PartRecord>* parts_ = nullptr;
  const std::vector<DatasetEntry>* datasets_ = nullptr;
  VerifyReport report_;
  std::set<std::uint32_t> ranks_;
  std::vector<FrameToCheck> links_;  // guarded by mutex_ while frames are checked
  std::vector<std::shared_ptr<ContainerReader>> idle_readers_;  // guarded by mutex_
  std::uint64_t total_ = 0;
  std::atomic<std::uint64_t> done_{0};
  std::mutex mutex_;
};

}  // namespace

Result<VerifyReport> verify_container(ContainerReader& container, const VerifyOptions& options) {
  return Verifier(container, options).run();
}

}  // namespace mcr::restart
