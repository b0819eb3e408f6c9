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
#include <optional>

#include "restart/base/file_identity.hpp"

namespace mcr::restart {
namespace {

Error damaged(const ContainerReader& container, const char* what) {
  return {Cause::damaged, container.name() + ": " + what};
}

std::optional<struct stat> status_of(int number) {
  struct stat status {};
  if (::fstat(number, &status) != 0) return std::nullopt;
  return status;
}

/// True where the regular file behind descriptor `number` begins with a container's user block with
/// that UUID. Reads through the program's own descriptor, without moving its position.
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

}  // namespace

Result<void> LinkedFrames::read(std::uint32_t dataset, std::uint64_t raw_offset,
                                MutableByteSpan out) {
  const DatasetEntry entry = MCR_TRY(container_.dataset(dataset));
  if (entry.kind != DatasetKind::batch || entry.chunk_bytes == 0) {
    return damaged(container_, "a link names no solid frames");
  }
  const std::uint64_t frame = raw_offset / entry.chunk_bytes;
  const std::uint64_t inside = raw_offset % entry.chunk_bytes;
  const auto& uuid = container_.user_block().uuid;
  const bool here =
      kept_.is_set && kept_.container == uuid && kept_.dataset == dataset && kept_.frame == frame;
  if (!here) {
    if (frame >= entry.frame_count) return damaged(container_, "a link names no solid frame");
    const FramePlace place =
        MCR_TRY(container_.frame_place(entry, static_cast<std::uint32_t>(frame)));
    kept_.is_set = false;
    kept_.raw.resize(place.raw_bytes);
    MCR_TRY(container_.decode(entry, place, scratch_, kept_.raw));
    kept_.container = uuid;
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

Result<std::shared_ptr<ContainerReader>> find_open_container(
    const std::array<std::uint8_t, 16>& uuid) {
  const std::unique_ptr<DIR, CloseDirectory> descriptors(::opendir("/proc/self/fd"));
  while (descriptors != nullptr) {
    const dirent* entry = ::readdir(descriptors.get());
    if (entry == nullptr) break;
    int number = -1;
    const char* end = entry->d_name + std::strlen(entry->d_name);
    if (std::from_chars(entry->d_name, end, number).ptr != end || number < 0) continue;
    const auto status = status_of(number);
    if (!status || !S_ISREG(status->st_mode) || status->st_size < off_t{UserBlock::bytes}) continue;
    if (!begins_as_container(number, uuid)) continue;
    // Another thread may have closed the descriptor, and the number may be another file's. Unlike
    // any other close, that of a descriptor with O_PATH releases no lock.
    const auto place = File::open(AT_FDCWD, link_path(number), O_PATH);
    const auto after = place ? status_of(place->descriptor()) : std::nullopt;
    if (!after || FileIdentity(*after) != FileIdentity(*status)) continue;
    File file =
        MCR_TRY(File::open(AT_FDCWD, link_path(place->descriptor()), O_RDONLY | O_NONBLOCK));
    return ContainerReader::read(File(file.release(), link_path(number)), link_path(number));
  }
  return Error{Cause::unsupported,
               "a linked variable: its container is not open here as a plain file, so that the "
               "solid frames it names cannot be read; `mcr unpack` restores the original files"};
}

}  // namespace mcr::restart
