// SPDX-License-Identifier: BSD-3-Clause
#include "restart/container/linked_frames.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "codecs/frames/frame.hpp"

namespace mcr::restart {
namespace {

Error damaged(const ContainerReader& container, const char* what) {
  return {Cause::damaged, container.name() + ": " + what};
}

/// A container among this process's open descriptors. `place` pins the file without opening it
/// (O_PATH), because the program may close its own descriptor at any moment.
struct OpenContainer {
  int number = -1;  // the program's descriptor
  FileIdentity file;
  bool is_own = false;  // the file belongs to this user or root
  File place;
};

std::optional<struct stat> status_of(int number) {
  struct stat status {};
  if (::fstat(number, &status) != 0) return std::nullopt;
  return status;
}

/// True if the regular file behind descriptor `number` begins with a container's user block with
/// that UUID. Reads through the program's own descriptor, without changing the file position.
bool begins_as_container(int number, const std::array<std::uint8_t, 16>& uuid) {
  const int flags = ::fcntl(number, F_GETFL);
  if (flags < 0 || (flags & O_PATH) != 0) return false;
  const int access = flags & O_ACCMODE;
  if (access != O_RDONLY && access != O_RDWR) return false;
  // A direct read needs whole, aligned blocks.
  constexpr std::size_t block_bytes = 4096;
  alignas(block_bytes) std::array<std::byte, block_bytes> head;
  const std::size_t wanted = (flags & O_DIRECT) != 0 ? block_bytes : UserBlock::bytes;
  ssize_t got = 0;
  do {
    got = ::pread(number, head.data(), wanted, 0);
  } while (got < 0 && errno == EINTR);
  if (got < ssize_t{UserBlock::bytes}) return false;
  const auto block = read_user_block(ByteSpan(head).first(UserBlock::bytes));
  return block && block->uuid == uuid;
}

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

/// Returns the container to try next. Files of this user and root come first, and among these the
/// container that `kept` is from. Clears `kept` if no descriptor leads to its container any more.
std::optional<OpenContainer> next_container(const std::array<std::uint8_t, 16>& uuid,
                                            const std::vector<FileIdentity>& tried,
                                            KeptFrame& kept) {
  const auto was_tried = [&](FileIdentity file) {
    return std::find(tried.begin(), tried.end(), file) != tried.end();
  };
  const bool prefers_kept = kept.is_set && kept.uuid == uuid && !was_tried(kept.file);
  bool is_kept_open = false;
  const auto rank_of = [&](const OpenContainer& container) {
    return (container.is_own ? 2 : 0) + (prefers_kept && container.file == kept.file ? 1 : 0);
  };
  const int highest_rank = prefers_kept ? 3 : 2;
  std::optional<OpenContainer> best;
  const std::unique_ptr<DIR, CloseDirectory> descriptors(::opendir("/proc/self/fd"));
  while (descriptors != nullptr && (!best || rank_of(*best) < highest_rank)) {
    const dirent* entry = ::readdir(descriptors.get());
    if (entry == nullptr) {
      if (prefers_kept && !is_kept_open) kept.is_set = false;
      break;
    }
    OpenContainer found;
    const char* end = entry->d_name + std::strlen(entry->d_name);
    if (std::from_chars(entry->d_name, end, found.number).ptr != end || found.number < 0) continue;
    const auto status = status_of(found.number);
    if (!status || !S_ISREG(status->st_mode) || status->st_size < off_t{UserBlock::bytes}) continue;
    found.file = FileIdentity(*status);
    found.is_own = status->st_uid == ::geteuid() || status->st_uid == 0;
    is_kept_open = is_kept_open || found.file == kept.file;
    if (best && rank_of(found) <= rank_of(*best)) continue;
    if (was_tried(found.file) || !begins_as_container(found.number, uuid)) continue;
    // Check the file again, because another thread may have closed the descriptor, and the number
    // may belong to another file now. Closing a descriptor opened with O_PATH releases no fcntl(2)
    // lock, unlike any other close.
    auto place = File::open(AT_FDCWD, link_path(found.number), O_PATH);
    const auto after = place ? status_of(place->descriptor()) : std::nullopt;
    if (!after || FileIdentity(*after) != found.file) continue;
    found.place = std::move(*place);
    best = std::move(found);
  }
  return best;
}

Result<void> decode_by(const OpenContainer& container, ByteSpan frame, Scratch& scratch,
                       MutableByteSpan raw, KeptFrame& kept) {
  const std::string name = link_path(container.number);
  File file =
      MCR_TRY(File::open(AT_FDCWD, link_path(container.place.descriptor()), O_RDONLY | O_NONBLOCK));
  const auto reader = MCR_TRY(ContainerReader::read(File(file.release(), name), name));
  const bool is_kept = kept.is_set && kept.file == container.file;
  LinkedFrames linked(*reader, kept);
  auto decoded = codecs::decode_frame(frame, scratch, raw, &linked);
  if (decoded || !is_kept) return decoded;
  // The kept frame may be outdated: the file may have changed since, or have got the inode number
  // of a removed file.
  kept.is_set = false;
  return codecs::decode_frame(frame, scratch, raw, &linked);
}

}  // namespace

Result<void> LinkedFrames::read(std::uint32_t dataset, std::uint64_t raw_offset,
                                MutableByteSpan out) {
  const DatasetEntry entry = MCR_TRY(container_.dataset(dataset));
  if (entry.kind != DatasetKind::batch || entry.chunk_bytes == 0) {
    return damaged(container_, "a link names no solid frames");
  }
  const std::uint64_t frame = raw_offset / entry.chunk_bytes;
  const std::uint64_t inside = raw_offset % entry.chunk_bytes;
  if (!file_) {
    const struct stat status = MCR_TRY(container_.status());
    file_ = FileIdentity(status);
  }
  const auto& uuid = container_.user_block().uuid;
  const bool here = kept_.is_set && kept_.file == *file_ && kept_.uuid == uuid &&
                    kept_.dataset == dataset && kept_.frame == frame;
  if (!here) {
    if (frame >= entry.frame_count) return damaged(container_, "a link names no solid frame");
    const FramePlace place =
        MCR_TRY(container_.frame_place(entry, static_cast<std::uint32_t>(frame)));
    kept_.is_set = false;
    kept_.raw.resize(place.raw_bytes);
    MCR_TRY(container_.decode(entry, place, scratch_, kept_.raw));
    kept_.file = *file_;
    kept_.uuid = uuid;
    kept_.dataset = dataset;
    kept_.frame = frame;
    kept_.is_set = true;
  }
  if (inside > kept_.raw.size() || out.size() > kept_.raw.size() - inside) {
    return damaged(container_, "a link reaches beyond its solid frame");
  }
  std::copy_n(kept_.raw.begin() + static_cast<std::ptrdiff_t>(inside), out.size(), out.begin());
  return {};
}

Result<void> decode_by_open_container(const std::array<std::uint8_t, 16>& uuid, ByteSpan frame,
                                      Scratch& scratch, MutableByteSpan raw, KeptFrame& kept) {
  std::optional<Error> first_error;
  std::vector<FileIdentity> tried;
  while (const auto container = next_container(uuid, tried, kept)) {
    auto decoded = decode_by(*container, frame, scratch, raw, kept);
    if (decoded) return {};
    if (!first_error) first_error = std::move(decoded.error());
    tried.push_back(container->file);
  }
  if (first_error) return std::move(*first_error);
  return Error{
      Cause::unsupported,
      "the variable's data is in solid frames of its container, which cannot be read here, because "
      "the container is not open as a plain file; `mcr unpack` restores the original files"};
}

}  // namespace mcr::restart
