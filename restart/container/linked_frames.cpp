// SPDX-License-Identifier: BSD-3-Clause
#include "restart/container/linked_frames.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>

namespace mcr::restart {
namespace {

Error damaged(const ContainerReader& container, const char* what) {
  return {Cause::damaged, container.name() + ": " + what};
}

/// True where descriptor `number` is a regular file that begins with the container's user block.
bool is_container(int number, const std::array<std::uint8_t, 16>& uuid) {
  struct stat status {};
  if (::fstat(number, &status) != 0 || !S_ISREG(status.st_mode)) return false;
  // By the name in /proc: a descriptor that was opened for writing only can be read so.
  const std::string name = link_path(number);
  const int file = ::open(name.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  std::array<std::byte, UserBlock::bytes> head{};
  const bool whole = ::pread(file, head.data(), head.size(), 0) == ssize_t{UserBlock::bytes};
  ::close(file);
  if (!whole) return false;
  const auto block = read_user_block(head);
  return block && block->uuid == uuid;
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
  DIR* descriptors = ::opendir("/proc/self/fd");
  int found = -1;
  while (descriptors != nullptr && found < 0) {
    const dirent* entry = ::readdir(descriptors);
    if (entry == nullptr) break;
    int number = -1;
    const char* end = entry->d_name + std::strlen(entry->d_name);
    if (std::from_chars(entry->d_name, end, number).ptr != end || number < 0) continue;
    if (number != ::dirfd(descriptors) && is_container(number, uuid)) found = number;
  }
  if (descriptors != nullptr) ::closedir(descriptors);
  if (found < 0) {
    return Error{Cause::unsupported,
                 "a linked variable: its container is not open here as a plain file, so that the "
                 "solid frames it names cannot be read; `mcr unpack` restores the original files"};
  }
  return ContainerReader::open(AT_FDCWD, link_path(found));
}

}  // namespace mcr::restart
