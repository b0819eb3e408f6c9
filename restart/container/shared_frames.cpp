// SPDX-License-Identifier: BSD-3-Clause
#include "restart/container/shared_frames.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>

#include "codecs/base/checksum.hpp"
#include "restart/base/lock.hpp"
#include "restart/base/log.hpp"
#include "restart/base/name_text.hpp"
#include "restart/base/system.hpp"
#include "restart/stage/stage_files.hpp"

namespace mcr::restart {

using namespace stage_files;

namespace {

constexpr std::size_t block_bytes = SharedFrameSlot::block_bytes;
/// A frame's lock is the byte with its number; this byte is the lock for `end`.
constexpr std::uint64_t space_lock = std::uint64_t{1} << 62;
/// Turns of 2 ms of waiting for that lock, whose holder makes only three small calls.
constexpr int space_turns = 500;
constexpr std::uint64_t touch_ns = 1'000'000'000;
/// Number of frames whose places are cached: a skeleton, its base, variables.
constexpr std::size_t known_frames = 4;
constexpr std::size_t kept_blocks = 16;
/// A slot with a larger offset is ignored.
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 46;

// The name contains device and inode of the container, because any container may have any UUID.
Result<std::string> name_of(const ContainerReader& container) {
  const struct stat status = MCR_TRY(container.status());
  PartId id;  // used only to write the UUID as text
  id.bytes = container.user_block().uuid;
  return id.text() + "-" + hexadecimal(status.st_dev) + "-" + hexadecimal(status.st_ino);
}

std::string path_of(const std::string& name) { return std::string(frames_directory) + "/" + name; }

std::uint64_t slot_place(const FrameOfContainer& frame) {
  return SharedFramesHead::slots + frame.number * SharedFrameSlot::bytes;
}

// Returns half of the free bytes for the first file, a quarter for the second, and so on. The
// number of free bytes is from the leader's last look, which does not include files that other
// ranks make just now.
std::uint64_t share_of_free_bytes(const LaunchDirectory& directory, std::uint64_t free_bytes) {
  const auto others = list_directory(directory.descriptor(), frames_directory);
  return free_bytes >> std::min<std::size_t>(1 + (others ? others->size() : 0), 63);
}

// The file is written and locked before it gets the name under which other ranks find it. EEXIST:
// another rank was faster.
Result<File> make_file(const LaunchDirectory& directory, const std::string& path,
                       const SharedFramesHead& head) {
  const std::string beginning = path + "." + MCR_TRY(PartId::random()).text();
  File file = MCR_TRY(
      File::open(directory.descriptor(), beginning, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW));
  const auto made = [&]() -> Result<void> {
    MCR_TRY(try_lock(file, LockKind::shared));
    MCR_TRY(file.write_at(0, write_shared_frames_head(head)));
    if (system_calls().rename_new(directory.descriptor(), beginning.c_str(), directory.descriptor(),
                                  path.c_str()) != 0)
      return system_error("cannot rename", beginning);
    return {};
  }();
  if (made) return file;
  (void)unlink_if_there(directory.descriptor(), beginning).has_value();
  return made.error();
}

}  // namespace

SharedFrames::SharedFrames(FrameShare& share, File file, std::string container,
                           std::uint64_t frame_count)
    : share_(share),
      file_(std::move(file)),
      container_(std::move(container)),
      frame_count_(frame_count),
      largest_file_(most_bytes),
      known_(known_frames),
      blocks_(kept_blocks) {
  if (const auto status = file_.status()) identity_ = FileIdentity(*status);
  struct rlimit limit {};
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    largest_file_ = std::min<std::uint64_t>(largest_file_, limit.rlim_cur);
}

Result<std::unique_ptr<SharedFrames>> SharedFrames::open(FrameShare& share,
                                                         const LaunchDirectory& directory,
                                                         const ContainerReader& container) {
  std::string name = MCR_TRY(name_of(container));
  const std::string path = path_of(name);
  const std::uint64_t frame_count = container.directory().frames.count;
  for (int turn = 0; turn < turns; ++turn) {
    if (turn > 0) pause_briefly();
    auto file = File::open(directory.descriptor(), path, O_RDWR | O_NOFOLLOW | O_NONBLOCK);
    if (!file && file.error().system_error == ENOENT) {
      const std::uint64_t begin =
          SharedFramesHead::slots + MCR_TRY(checked_multiply(frame_count, SharedFrameSlot::bytes));
      const std::uint64_t limit = begin + share_of_free_bytes(directory, share.free_bytes());
      file = make_file(directory, path, {frame_count, limit, begin});
      if (!file && file.error().system_error == EEXIST) continue;
    }
    if (!file) return file.error();
    if (!MCR_TRY(try_lock(*file, LockKind::shared))) continue;  // the leader is removing it
    if (!is_still_named(*file, directory.descriptor(), path)) continue;
    auto frames = std::unique_ptr<SharedFrames>(
        new SharedFrames(share, std::move(*file), std::move(name), frame_count));
    MCR_TRY(frames->head());
    frames->touch();
    return frames;
  }
  return Error{Cause::system, path + " stays locked", EWOULDBLOCK};
}

Result<SharedFramesHead> SharedFrames::head() const {
  if (FileIdentity(MCR_TRY(file_.status())) != identity_)
    return Error{Cause::system, "the program closed mcr's descriptor of " + file_.name()};
  Bytes bytes(SharedFramesHead::bytes);
  MCR_TRY(file_.read_at(0, bytes));
  const SharedFramesHead head = MCR_TRY(read_shared_frames_head(bytes));
  if (head.frame_count != frame_count_)
    return Error{Cause::damaged, file_.name() + " holds frames of another container"};
  return head;
}

const SharedFrames::Known* SharedFrames::find(const FrameOfContainer& frame) {
  for (Known& known : known_) {
    if (known.used == 0 || known.number != frame.number) continue;
    known.used = ++clock_;
    return &known;
  }
  Bytes bytes(SharedFrameSlot::bytes);
  if (!file_.read_at(slot_place(frame), bytes)) return nullptr;
  const auto slot = read_shared_frame_slot(bytes, container_, frame);
  if (!slot || slot->offset > most_bytes) return nullptr;
  std::vector<std::uint64_t> sums(shared_frame_blocks(frame.place.raw_bytes));
  const MutableByteSpan sum_bytes = std::as_writable_bytes(std::span(sums));
  if (!file_.read_at(slot->offset, sum_bytes) || checksum(sum_bytes) != slot->sums_checksum)
    return nullptr;
  Known& oldest = *std::min_element(known_.begin(), known_.end(),
                                    [](const auto& a, const auto& b) { return a.used < b.used; });
  oldest = {frame.number, ++clock_, slot->offset + sum_bytes.size(), std::move(sums)};
  return &oldest;
}

bool SharedFrames::has(const FrameOfContainer& frame) { return find(frame) != nullptr; }

// `out` must be the whole block.
bool SharedFrames::read_block(const Known& known, std::uint64_t number, MutableByteSpan out) const {
  return file_.read_at(known.bytes_begin + number * block_bytes, out) &&
         checksum(out) == little_endian(known.sums[number]);
}

const Bytes* SharedFrames::find_block(const Known& known, std::uint64_t number, std::size_t bytes) {
  for (Block& block : blocks_) {
    if (block.used == 0 || block.frame != known.number || block.number != number) continue;
    block.used = ++clock_;
    return &block.bytes;
  }
  Block& oldest = *std::min_element(blocks_.begin(), blocks_.end(),
                                    [](const auto& a, const auto& b) { return a.used < b.used; });
  oldest.used = 0;
  oldest.bytes.resize(bytes);
  if (!read_block(known, number, oldest.bytes)) return nullptr;
  oldest.frame = known.number;
  oldest.number = number;
  oldest.used = ++clock_;
  return &oldest.bytes;
}

bool SharedFrames::read(const FrameOfContainer& frame, std::size_t begin, MutableByteSpan out) {
  const Known* known = find(frame);
  if (known == nullptr) return false;
  bool is_good = true;
  while (is_good && !out.empty()) {
    const std::size_t number = begin / block_bytes;
    const std::size_t inside = begin % block_bytes;
    const std::size_t whole = std::min(block_bytes, frame.place.raw_bytes - number * block_bytes);
    const std::size_t count = std::min(out.size(), whole - inside);
    if (count == whole) {
      is_good = read_block(*known, number, out.first(count));
    } else if (const Bytes* block = find_block(*known, number, whole)) {
      std::copy_n(block->begin() + static_cast<std::ptrdiff_t>(inside), count, out.begin());
    } else {
      is_good = false;
    }
    begin += count;
    out = out.subspan(count);
  }
  if (!is_good) {  // forget the place, because another rank may write the frame again
    for (Known& one : known_) one.used = one.number == frame.number ? 0 : one.used;
  }
  touch();
  return is_good;
}

std::uint64_t SharedFrames::left(const SharedFramesHead& head) const {
  const std::uint64_t limit = std::min(head.limit, largest_file_);
  return head.end < limit ? limit - head.end : 0;
}

bool SharedFrames::fits(const FrameOfContainer& frame) {
  const auto now = head();
  is_gone_ = !now.has_value();
  if (is_gone_ || is_full_) return false;
  const std::uint64_t bytes =
      frame.place.raw_bytes + shared_frame_blocks(frame.place.raw_bytes) * sizeof(std::uint64_t);
  return bytes <= left(*now) && bytes <= share_.free_bytes();
}

bool SharedFrames::begin_making(const FrameOfContainer& frame) {
  return try_lock_place(file_, frame.number).value_or(false);
}

void SharedFrames::end_making(const FrameOfContainer& frame) { unlock_place(file_, frame.number); }

Result<std::uint64_t> SharedFrames::take_space(std::uint64_t bytes) {
  bool locked = false;
  for (int turn = 0; !locked && turn < space_turns; ++turn) {
    if (turn > 0) pause_briefly();
    locked = MCR_TRY(try_lock_place(file_, space_lock));
  }
  // After so long, the holder was stopped, not only preempted.
  if (!locked) return Error{Cause::system, file_.name() + " stays locked", EWOULDBLOCK};
  const auto taken = [&]() -> Result<std::uint64_t> {
    const SharedFramesHead now = MCR_TRY(head());
    if (bytes > left(now)) return Error{Cause::full, file_.name() + " is full"};
    const u64le end(now.end + bytes);
    MCR_TRY(file_.write_at(SharedFramesHead::end_place, object_bytes(end)));
    return now.end;
  }();
  unlock_place(file_, space_lock);
  return taken;
}

void SharedFrames::put(const FrameOfContainer& frame, ByteSpan raw) {
  if (!is_full_) is_full_ = !write(frame, raw);
}

bool SharedFrames::write(const FrameOfContainer& frame, ByteSpan raw) {
  Bytes sums;
  Writer writer(sums);
  for (std::size_t begin = 0; begin < raw.size(); begin += block_bytes)
    writer.u64(checksum(raw.subspan(begin, std::min(block_bytes, raw.size() - begin))));
  const auto offset = take_space(sums.size() + raw.size());
  if (!offset) return false;
  // The slot is written last. Whatever order the writes arrive in, a reader checks the checksums.
  const SharedFrameSlot slot{*offset, checksum(sums)};
  return file_.write_at(*offset, sums) && file_.write_at(*offset + sums.size(), raw) &&
         file_.write_at(slot_place(frame), write_shared_frame_slot(slot, container_, frame));
}

void SharedFrames::touch() {
  const std::uint64_t now = clock_ns(CLOCK_MONOTONIC);
  if (touched_ns_ != 0 && now - touched_ns_ < touch_ns) return;
  touched_ns_ = now;
  // If the leader has cut the file to nothing, do not write into it again.
  const u64le time(now);
  if (head()) (void)file_.write_at(SharedFramesHead::touched_place, object_bytes(time)).has_value();
}

Result<bool> drop_idle_frames(const LaunchDirectory& directory, std::uint64_t unheld_ns,
                              std::uint64_t idle_ns) {
  bool is_left = false;
  const auto names = list_directory(directory.descriptor(), frames_directory);
  if (!names && names.error().system_error == ENOENT) return false;
  for (const std::string& name : MCR_TRY(names)) {
    const std::string path = path_of(name);
    const auto file = File::open(directory.descriptor(), path, O_RDWR | O_NOFOLLOW | O_NONBLOCK);
    if (!file) continue;
    const struct stat status = MCR_TRY(file->status());
    const bool is_held = !MCR_TRY(try_lock(*file, LockKind::exclusive));
    if (clock_ns(CLOCK_REALTIME) < modified_ns(status) + (is_held ? idle_ns : unheld_ns)) {
      is_left = true;
      continue;
    }
    // Remove the name first: a process that opens it from now on makes a new file.
    MCR_TRY(unlink_if_there(directory.descriptor(), path));
    (void)file->truncate(0).has_value();
    log_debug("frames/", name, " is given back", is_held ? ", unused for a while" : "");
  }
  return is_left;
}

bool holds_frames(const LaunchDirectory& directory) {
  const auto names = list_directory(directory.descriptor(), frames_directory);
  return names && !names->empty();
}

}  // namespace mcr::restart
