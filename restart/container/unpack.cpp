// SPDX-License-Identifier: BSD-3-Clause
#include "restart/container/unpack.hpp"

#include <fcntl.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <memory>
#include <mutex>
#include <optional>
#include <set>

#include "codecs/base/checksum.hpp"
#include "restart/base/directories_below.hpp"
#include "restart/base/durable_replace.hpp"
#include "restart/base/path_names.hpp"
#include "restart/base/system.hpp"
#include "restart/container/frame_scatter.hpp"
#include "restart/container/part_image.hpp"
#include "restart/stage/stub_file.hpp"

namespace mcr::restart {
namespace {

constexpr std::size_t block_bytes = 1U << 20;

/// A part that is being written to a file.
struct Target {
  std::uint32_t part = 0;
  std::string path;  ///< relative to the output directory
  PendingFile file;
};

/// A pool of scratch buffers for the worker threads.
class Scratches {
 public:
  std::unique_ptr<Scratch> take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return std::make_unique<Scratch>();
    auto scratch = std::move(free_.back());
    free_.pop_back();
    return scratch;
  }
  void give(std::unique_ptr<Scratch> scratch) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(scratch));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Scratch>> free_;
};

class Unpacker {
 public:
  Unpacker(ContainerReader& container, const std::string& directory, const UnpackOptions& options)
      : container_(container), directory_name_(directory), options_(options) {}

  Result<UnpackReport> run() {
    parts_ = MCR_TRY(container_.parts());
    directories_.emplace(MCR_TRY(DirectoriesBelow::open(directory_name_)));
    std::vector<std::uint32_t> wanted;
    for (std::uint32_t i = 0; i < parts_->size(); ++i) {
      const std::uint32_t rank = (*parts_)[i].entry.rank;
      const auto& ranks = options_.ranks;
      if (options_.without.contains((*parts_)[i].entry.part)) continue;
      if (ranks.empty() || std::find(ranks.begin(), ranks.end(), rank) != ranks.end()) {
        wanted.push_back(i);
        report_.bytes += (*parts_)[i].entry.size;
      }
    }
    MCR_TRY(open_targets(wanted));
    const Scatter scatter = MCR_TRY(scatter_of(container_, wanted));
    MCR_TRY(write_frames(scatter));
    MCR_TRY(write_skeletons(scatter));
    MCR_TRY(check_parts());
    for (const Target& target : targets_)
      MCR_TRY(
          refuse_stub(target.file.file(), container_.name(), (*parts_)[target.part].entry.rank));
    const Existing existing = options_.replace ? Existing::replaced : Existing::kept;
    for (Target& target : targets_) {
      MCR_TRY(target.file.finish(Durability::none, existing));
      report_.files.push_back(target.path);
    }
    return std::move(report_);
  }

 private:
  Result<void> open_targets(const std::vector<std::uint32_t>& wanted) {
    const Access access = MCR_TRY(container_.access());
    std::set<std::string> paths;
    target_of_part_.resize(parts_->size());
    for (const std::uint32_t part : wanted) {
      const PartEntry& entry = (*parts_)[part].entry;
      std::string path = path_below(entry.path, entry.rank);
      if (!paths.insert(path).second) {
        return Error{Cause::usage, container_.name() + ": two parts have the path " + path +
                                       "; choose one of them with --rank"};
      }
      const std::size_t slash = path.rfind('/');
      const int home =
          MCR_TRY(directories_->make(slash == std::string::npos ? "" : path.substr(0, slash)));
      const std::string name = path.substr(slash == std::string::npos ? 0 : slash + 1);
      struct stat status {};
      if (!options_.replace &&
          system_calls().fstatat(home, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) {
        return Error{Cause::usage,
                     directory_name_ + "/" + path + " exists already; --force replaces it"};
      }
      PendingFile file = MCR_TRY(PendingFile::create(home, name, mode_within(entry.mode, access)));
      MCR_TRY(file.file().truncate(entry.size));
      target_of_part_[part] = targets_.size();
      targets_.push_back({part, path, std::move(file)});
    }
    return {};
  }

  Result<void> write_frames(const Scatter& scatter) {
    std::vector<DatasetEntry> datasets;
    for (const ScatteredFrame& frame : scatter.frames) {
      datasets.push_back(MCR_TRY(container_.dataset(frame.dataset)));
    }
    Scratches scratches;
    options_.parallel_for(scatter.frames.size(), [&](std::size_t i) {
      if (failed_) return;
      auto scratch = scratches.take();
      keep(write_frame(scatter.frames[i], datasets[i], *scratch));
      scratches.give(std::move(scratch));
    });
    if (error_) return *error_;
    return {};
  }

  Result<void> write_frame(const ScatteredFrame& frame, const DatasetEntry& dataset,
                           Scratch& scratch) {
    const auto raw = scratch.take<std::byte>(frame.place.raw_bytes);
    auto decoded = container_.decode(dataset, frame.place, scratch, raw.span());
    if (!decoded) {
      // dataset_name() reads from the container, in one thread at a time
      const std::lock_guard lock(mutex_);
      const std::uint32_t rank = (*parts_)[frame.targets.front().part].entry.rank;
      decoded.error().message += " (variable " + container_.dataset_name(frame.dataset) +
                                 ", rank " + std::to_string(rank) +
                                 (frame.targets.size() > 1 ? " and others)" : ")");
      return decoded.error();
    }
    for (const ScatteredFrame::Target& target : frame.targets) {
      const File& file = targets_[target_of_part_[target.part]].file.file();
      MCR_TRY(file.write_at(target.part_offset, raw.span().subspan(target.begin, target.bytes)));
      MCR_TRY(advance(target.bytes));
    }
    return {};
  }

  /// Sequentially, because skeletons are small.
  Result<void> write_skeletons(const Scatter& scatter) {
    std::unique_ptr<PartSource> image;
    std::uint32_t image_part = 0;
    Bytes block;
    for (const Scatter::Range& range : scatter.skeletons) {
      if (image == nullptr || image_part != range.part) {
        auto shared = std::shared_ptr<ContainerReader>(&container_, [](ContainerReader*) {});
        image = MCR_TRY(open_part_image(std::move(shared), (*parts_)[range.part]));
        image_part = range.part;
      }
      for (std::uint64_t done = 0; done < range.bytes;) {
        block.resize(
            static_cast<std::size_t>(std::min<std::uint64_t>(block_bytes, range.bytes - done)));
        MCR_TRY(image->read_at(range.part_offset + done, block));
        const File& file = targets_[target_of_part_[range.part]].file.file();
        MCR_TRY(file.write_at(range.part_offset + done, block));
        done += block.size();
        MCR_TRY(advance(block.size()));
      }
    }
    return {};
  }

  Result<void> check_parts() {
    options_.parallel_for(targets_.size(), [&](std::size_t i) {
      if (!failed_) keep(check_part(targets_[i]));
    });
    if (error_) return *error_;
    return {};
  }

  Result<void> check_part(const Target& target) const {
    const PartEntry& entry = (*parts_)[target.part].entry;
    RunningChecksum sum;
    Bytes block;
    for (std::uint64_t done = 0; done < entry.size; done += block.size()) {
      block.resize(
          static_cast<std::size_t>(std::min<std::uint64_t>(block_bytes, entry.size - done)));
      MCR_TRY(target.file.file().read_at(done, block));
      sum.add(block);
      MCR_TRY(check_interrupt());
    }
    if (sum.value() == entry.checksum) return {};
    return Error{Cause::damaged, container_.name() + ": the part of rank " +
                                     std::to_string(entry.rank) + " (" + entry.path +
                                     ") does not match its checksum"};
  }

  Result<void> advance(std::uint64_t bytes) {
    if (options_.progress) options_.progress(done_ += bytes, report_.bytes);
    return check_interrupt();
  }

  [[nodiscard]] Result<void> check_interrupt() const {
    if (!options_.is_interrupted || !options_.is_interrupted()) return {};
    return Error{Cause::system, "interrupted", EINTR};
  }

  void keep(Result<void> result) {
    if (result) return;
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = std::move(result.error());
    failed_ = true;
  }

  ContainerReader& container_;
  std::string directory_name_;
  const UnpackOptions& options_;
  std::optional<DirectoriesBelow> directories_;  ///< outlives the targets
  const std::vector<PartRecord>* parts_ = nullptr;
  std::vector<Target> targets_;
  std::vector<std::size_t> target_of_part_;
  UnpackReport report_;
  std::atomic<std::uint64_t> done_{0};
  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  std::optional<Error> error_;
};

}  // namespace

void one_after_another(std::size_t count, const std::function<void(std::size_t)>& work) {
  for (std::size_t i = 0; i < count; ++i) work(i);
}

std::string path_below(const std::string& path, std::uint32_t rank) {
  std::string result;
  for (const std::string& component : split_path(path)) {
    if (component == ".." || component.find('\0') != std::string::npos) continue;
    if (!result.empty()) result += '/';
    result += component;
  }
  return result.empty() ? "part-of-rank-" + std::to_string(rank) : result;
}

Result<void> refuse_stub(const File& file, const std::string& container, std::uint32_t rank) {
  if (!MCR_TRY(begins_as_stub(file))) return {};
  return Error{Cause::damaged, container + ": the file of rank " + std::to_string(rank) +
                                   " would be a stub, which no program writes; it was not written"};
}

Result<UnpackReport> unpack(ContainerReader& container, const std::string& directory,
                            const UnpackOptions& options) {
  return Unpacker(container, directory, options).run();
}

}  // namespace mcr::restart
