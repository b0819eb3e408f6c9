// SPDX-License-Identifier: BSD-3-Clause
#include "restart/container/container_reader.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>

#include "codecs/base/checksum.hpp"
#include "codecs/fpzip/fpzip_trust.hpp"
#include "codecs/frames/frame.hpp"
#include "restart/base/system.hpp"
#include "restart/base/trust.hpp"
#include "restart/container/frame_decoding.hpp"
#include "restart/container/own_file.hpp"
#include "restart/format/plain_chunk.hpp"

namespace mcr::restart {
namespace {

/// The page that was used last of a table with pages.
struct LastPage {
  std::uint64_t number = 0;
  Bytes bytes;
  ByteSpan records;  // a view into `bytes`; empty: no page
};

/// A table is checked in pieces of this size. A table that is not larger is read at once.
constexpr std::size_t piece_bytes = 1U << 20;
/// No valid table has 4 KiB of zeros in a row, because each record has a checksum or an id. 4 KiB is also
/// the usual block of file systems, and so their smallest hole.
constexpr std::size_t block_bytes = 4096;

bool has_empty_block(ByteSpan bytes) {
  for (; bytes.size() >= block_bytes; bytes = bytes.subspan(block_bytes)) {
    const ByteSpan block = bytes.first(block_bytes);
    if (std::all_of(block.begin(), block.end(), [](std::byte byte) { return byte == std::byte{}; }))
      return true;
  }
  return false;
}

/// Reads a table piece by piece and keeps nothing. Fails if the table does not match its checksum,
/// or if it has an empty block: a sparse file, which costs its maker nothing, could claim a table
/// of any size.
Result<void> check_table(const File& file, std::uint64_t offset, const TablePlace& place) {
  Bytes piece;
  RunningChecksum sum;
  for (std::uint64_t done = 0; done < place.bytes; done += piece.size()) {
    piece.resize(
        static_cast<std::size_t>(std::min<std::uint64_t>(place.bytes - done, piece_bytes)));
    MCR_TRY(file.read_at(offset + done, piece));
    if (has_empty_block(piece)) {
      return damaged_index("a table of " + std::to_string(place.bytes) +
                           " bytes has a block with nothing in it");
    }
    sum.add(piece);
  }
  if (sum.value() != place.checksum) {
    return damaged_index("a table of " + std::to_string(place.bytes) +
                         " bytes does not match its checksum");
  }
  return {};
}

/// Reads a table. The caller compares its checksum. If the table is larger than a piece,
/// `place.checksum` must be set, and no memory is allocated for the table before the file has
/// proved to contain it.
Result<Bytes> read_table(const File& file, std::uint64_t offset, const TablePlace& place) {
  if (place.bytes > piece_bytes) MCR_TRY(check_table(file, offset, place));
  Bytes bytes(static_cast<std::size_t>(place.bytes));
  MCR_TRY(file.read_at(offset, bytes));
  return bytes;
}

/// Clocks of Linux end before this time (the year 2262).
constexpr std::uint64_t end_of_clocks_ns = std::uint64_t{1} << 63;

/// Lets sets count as the oldest ones if their times are no times of a clock: a copied container may tell any time, and a later launch
/// must be able to exceed it (LaunchClock). Only a container that lies where it was written may tell such a time, because that launch
/// had to exceed another one's. The limit does not depend on the present or on the file, so that sets keep their order in all copies
/// of a run.
void limit_times(SetIdentity& set, const FileOrigin& origin) {
  constexpr std::uint64_t oldest = 1;
  if (!origin.is_copy && origin.born_ns != 0) return;
  for (std::size_t i = 0; i < set.bundled.size(); ++i)
    if (set_of_part(set, i).order() >= end_of_clocks_ns) set.bundled[i].order_ns = oldest;
  if (set.order() >= end_of_clocks_ns) set.order_ns = oldest;
}

class OwnerJudge final : public codecs::Judge {
 public:
  OwnerJudge(const File& file, bool is_trusted) : file_(file), is_trusted_(is_trusted) {}

  [[nodiscard]] Result<void> may_decode_unchecked() const override {
    if (is_trusted_) return {};
    const struct stat status = MCR_TRY(file_.status());
    const bool is_own = is_believed(status.st_uid, ::geteuid());
    if (is_own && !others_may_write(status)) return {};
    const std::string whose = is_own ? "other users may write to the file, which"
                                     : "the file belongs to " + user_text(status.st_uid) + " and";
    const std::string remedy =
        is_own ? "If nobody else has written to it, use chmod go-w, or" : "If you trust that user,";
    return Error{
        Cause::usage,
        whose +
            " has frames of the codec fpzip. Forged data can harm the fpzip library, so mcr "
            "decodes such frames only in containers of your own or of root to which nobody "
            "else may write. " +
            remedy +
            " set allow= to the container's directory (MCR_ALLOW=DIRECTORY; `mcr unpack` "
            "reads it too)"};
  }

 private:
  const File& file_;
  bool is_trusted_;
};

/// Returns a bound on the stored bytes of a chunk, head included. No coder produces more
/// (docs/format.md).
std::uint64_t most_stored_bytes(std::uint32_t chunk_bytes) {
  return 4 * std::uint64_t{chunk_bytes} + (64U << 20);
}

class FileContainerReader final : public ContainerReader {
 public:
  FileContainerReader(File file, std::uint64_t file_bytes)
      : file_(std::move(file)), file_bytes_(file_bytes) {}

  /// Reads user block and directory. `status` is that of the file.
  Result<void> begin(const struct stat& status) {
    Bytes head(UserBlock::bytes);
    const std::size_t there = MCR_TRY(file_.read_some_at(0, head));
    user_block_ = MCR_TRY(read_user_block(ByteSpan(head).first(there)));
    if (user_block_.index_offset > file_bytes_ ||
        user_block_.index_bytes > file_bytes_ - user_block_.index_offset) {
      return Error{Cause::damaged, "the file is shorter than its user block says"};
    }
    const Bytes directory =
        MCR_TRY(read_index({0, user_block_.directory_bytes, 0, user_block_.directory_checksum}));
    if (checksum(directory) != user_block_.directory_checksum) {
      return Error{Cause::damaged, "the index's directory does not match its checksum"};
    }
    directory_ = MCR_TRY(read_index_directory(directory, user_block_.index_bytes));
    origin_ = origin_of(ByteSpan(head).first(there), file_, status);
    limit_times(directory_.set, origin_);
    return {};
  }

  Result<std::shared_ptr<ContainerReader>> for_another_thread() const override {
    const int second = ::fcntl(file_.descriptor(), F_DUPFD_CLOEXEC, 0);
    if (second < 0) return system_error("cannot read", name());
    auto reader = MCR_TRY(read(File(second, name()), name()));
    if (is_trusted_) reader->trust_owner();
    return reader;
  }

  const std::string& name() const override { return file_.name(); }
  Result<struct stat> status() const override { return file_.status(); }
  Result<Access> access() const override { return access_of(file_); }
  const UserBlock& user_block() const override { return user_block_; }
  const SetIdentity& set() const override { return directory_.set; }
  const FileOrigin& origin() const override { return origin_; }
  const IndexDirectory& directory() const override { return directory_; }

  Result<const std::vector<PartRecord>*> parts() override {
    if (!parts_) {
      const Bytes table = MCR_TRY(named(read_index(directory_.parts)));
      parts_ = MCR_TRY(named(read_part_table(table, directory_.parts, user_block_.index_bytes)));
    }
    return &*parts_;
  }

  Result<const std::vector<DatasetEntry>*> datasets() override {
    if (!datasets_) {
      std::vector<DatasetEntry> all;
      for (std::uint32_t i = 0; i < directory_.datasets.count; ++i) {
        const DatasetRecord record = MCR_TRY(dataset_record(i));
        all.push_back(record.entry);
        all.back().name = MCR_TRY(named(read_name(record)));
      }
      datasets_ = std::move(all);
    }
    return &*datasets_;
  }

  Result<DatasetEntry> dataset(std::uint32_t number) override {
    return std::move(MCR_TRY(dataset_record(number)).entry);
  }

  std::string dataset_name(std::uint32_t number) override {
    if (number == directory_.skeleton_dataset) return "skeletons";
    const auto record = dataset_record(number);
    if (record) {
      auto name = read_name(*record);
      if (name) return std::move(*name);
    }
    return "dataset " + std::to_string(number);
  }

  Result<std::vector<MapPage>> pages(const PartRecord& part) override {
    const Bytes table = MCR_TRY(named(read_index(part.page_table)));
    return named(read_page_table(table, part, user_block_.index_bytes));
  }

  Result<std::vector<MapEntry>> page(const PartRecord& part, const std::vector<MapPage>& pages,
                                     std::size_t page) override {
    const std::uint64_t end =
        page + 1 < pages.size() ? pages[page + 1].first_part_offset : part.entry.size;
    const Bytes bytes = MCR_TRY(named(read_index(pages[page].place)));
    return named(read_map_page(bytes, pages[page], end - pages[page].first_part_offset,
                               part.entry.skeleton.bytes, directory_.datasets.count));
  }

  Result<FramePlace> frame_place(const DatasetEntry& dataset, std::uint32_t frame) override {
    if (frame >= dataset.frame_count) return damaged("index: no such frame of the dataset");
    const ByteSpan record = MCR_TRY(named(
        read_record(frame_pages, directory_.frames, dataset.first_frame + frame, last_frames_)));
    const FramePlace place = MCR_TRY(named(read_frame_place(record, file_bytes_)));
    if (place.raw_bytes > dataset.chunk_bytes) return damaged("index: frame larger than its chunk");
    if (place.stored_bytes > most_stored_bytes(dataset.chunk_bytes))
      return damaged("index: frame stored in more bytes than its chunk can need");
    return place;
  }

  Result<void> stored_frame(const FramePlace& place, Bytes& stored) const override {
    stored.resize(place.stored_bytes);
    MCR_TRY(named(file_.read_at(place.file_offset, stored)));
    if (checksum(stored) != place.checksum) {
      return damaged("frame at byte " + std::to_string(place.file_offset) +
                     " does not match its checksum");
    }
    return {};
  }

  Result<void> decode(const DatasetEntry& dataset, const FramePlace& place, Scratch& scratch,
                      MutableByteSpan raw) const override {
    const auto stored = scratch.take_vector();
    MCR_TRY(stored_frame(place, *stored));
    if (dataset.storage == DatasetStorage::deflate) {
      return named(
          decode_plain_chunk(*stored, dataset.element_bytes, dataset.chunk_bytes, scratch, raw));
    }
    const OwnerJudge judge(file_, is_trusted_);
    const codecs::JudgedBy judged(judge);
    return named(frame_decoding().decode(*stored, scratch, raw));
  }

  void trust_owner() override { is_trusted_ = true; }

 private:
  [[nodiscard]] Error damaged(const std::string& what) const {
    return {Cause::damaged, name() + ": " + what};
  }
  /// Puts the container's name before an error's message.
  template <typename T>
  [[nodiscard]] Result<T> named(Result<T> result) const {
    if (!result && !result.error().message.starts_with(name())) {
      result.error().message = name() + ": " + result.error().message;
    }
    return result;
  }

  /// Reads a table. The caller has checked that the table lies in the index; the index lies in the
  /// file.
  [[nodiscard]] Result<Bytes> read_index(const TablePlace& place) const {
    return read_table(file_, user_block_.index_offset + place.offset, place);
  }

  Result<ByteSpan> read_record(const RecordPages& pages, const TablePlace& table,
                               std::uint64_t number, LastPage& last) {
    const std::uint64_t page = number / pages.records_per_page;
    if (last.records.empty() || last.number != page) {
      last.records = {};
      last.bytes = MCR_TRY(read_index(
          {table.offset + pages.page_offset(page), pages.page_bytes(table.count, page), 0, 0}));
      last.records = MCR_TRY(pages.open(last.bytes, page));
      last.number = page;
    }
    const auto begin =
        static_cast<std::size_t>(number % pages.records_per_page) * pages.record_bytes;
    return last.records.subspan(begin, pages.record_bytes);
  }

  Result<DatasetRecord> dataset_record(std::uint32_t number) {
    if (number >= directory_.datasets.count) return damaged("index: no such dataset");
    const ByteSpan record =
        MCR_TRY(named(read_record(dataset_pages, directory_.datasets, number, last_datasets_)));
    return named(read_dataset_record(record, directory_));
  }

  [[nodiscard]] Result<std::string> read_name(const DatasetRecord& record) const {
    const Bytes name = MCR_TRY(
        read_index({directory_.names.offset + record.name_offset, record.name_bytes, 0, 0}));
    return read_dataset_name(name, record);
  }

  File file_;
  bool is_trusted_ = false;
  std::uint64_t file_bytes_;
  UserBlock user_block_;
  IndexDirectory directory_;
  FileOrigin origin_;
  std::optional<std::vector<PartRecord>> parts_;
  std::optional<std::vector<DatasetEntry>> datasets_;
  LastPage last_frames_;
  LastPage last_datasets_;
};

}  // namespace

Result<std::shared_ptr<ContainerReader>> ContainerReader::open(int directory,
                                                               const std::string& name) {
  // A name that was found in an open directory must not be a link; a name that the user gave may be
  // a link. O_NONBLOCK, because the file may be a pipe.
  const int links = directory == AT_FDCWD ? 0 : O_NOFOLLOW;
  File file = MCR_TRY(File::open(directory, name, O_RDONLY | O_NONBLOCK | links));
  return read(std::move(file), name);
}

Result<std::shared_ptr<ContainerReader>> ContainerReader::read(File file, const std::string& name) {
  file.leave_access_time();
  const struct stat status = MCR_TRY(file.status());
  if (!S_ISREG(status.st_mode))
    return Error{Cause::usage, name + " is no regular file, and so no container"};
  const auto file_bytes = static_cast<std::uint64_t>(status.st_size);
  auto reader = std::make_shared<FileContainerReader>(std::move(file), file_bytes);
  const auto begun = reader->begin(status);
  if (!begun) {
    Error error = begun.error();
    if (error.cause == Cause::damaged || error.cause == Cause::unsupported) {
      error.message = name + ": " + error.message;
    }
    return error;
  }
  return std::shared_ptr<ContainerReader>(std::move(reader));
}

}  // namespace mcr::restart
