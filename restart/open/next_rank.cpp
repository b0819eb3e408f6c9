// SPDX-License-Identifier: BSD-3-Clause
#include "restart/open/next_rank.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "restart/base/system.hpp"
#include "restart/format/masked_name.hpp"
#include "restart/sets/file_of_rank.hpp"
#include "restart/sets/native_members.hpp"
#include "restart/sets/part_files.hpp"

namespace mcr::restart {
namespace {

struct Sibling {
  FileNumber number = 0;
  std::string path;
  std::uint64_t modified_ns = 0;
};

/// Returns the file of another rank under `masked_name`; nothing if it has none.
std::optional<Sibling> sibling(const OpenedFile& own, const std::string& masked_name,
                               std::uint32_t rank) {
  for (std::string& path : sibling_paths(own.path, masked_name, own.rank, rank)) {
    struct stat status {};
    if (system_calls().fstatat(AT_FDCWD, path.c_str(), &status, 0) == 0)
      return Sibling{rank, std::move(path), modified_ns(status)};
  }
  return std::nullopt;
}

/// Returns the file with the next number at {part} that counts for a file of `owner`; after the last number comes the
/// first.
std::optional<Sibling> next_part(const OpenedFile& own, const std::string& masked_name,
                                 uid_t owner) {
  constexpr std::size_t most = 64;  // others may have added files
  const auto files = part_files(masked_name);
  const auto number = masked_number(own.path, masked_name);
  if (!files || files->empty() || !number) return std::nullopt;
  auto next = files->upper_bound(*number);
  for (std::size_t step = 0; step < std::min(files->size(), most); ++step, ++next) {
    if (next == files->end()) next = files->begin();
    if (next->first == *number) continue;
    for (const std::string& path : next->second) {
      const FileAt there = file_of_rank(path, shared_directory(masked_name), owner);
      if (there.kind != FileAt::Kind::nothing)
        return Sibling{next->first, path, modified_ns(there.status)};
    }
  }
  return std::nullopt;
}

std::optional<Sibling> next_sibling(const OpenedFile& own, const std::string& masked_name,
                                    uid_t owner) {
  if (is_numbered_by_part(masked_name)) return next_part(own, masked_name, owner);
  constexpr std::uint32_t most = 64;  // the number of ranks comes from a file
  for (std::uint64_t step = 1; step < std::min(own.rank_count, most); ++step) {
    const auto rank = static_cast<std::uint32_t>((own.rank + step) % own.rank_count);
    if (auto found = sibling(own, masked_name, rank)) return found;
  }
  return std::nullopt;
}

}  // namespace

std::string newer_native_file(const OpenedFile& own, std::uint32_t opening_ranks,
                              const std::string& masked_name, uid_t owner,
                              const std::optional<std::string>& container_dir,
                              const PresentNames& present) {
  struct stat status {};
  if (system_calls().fstatat(AT_FDCWD, own.path.c_str(), &status, 0) != 0) return {};
  const std::uint64_t own_ns = std::min(modified_ns(status), own.committed_ns);
  const bool is_last_of_fewer = own.rank != 0 && own.rank + 1 == opening_ranks;
  for (const auto& other : {next_sibling(own, masked_name, owner),
                            is_last_of_fewer ? sibling(own, masked_name, 0) : std::nullopt}) {
    // Most files are older: then nothing is opened.
    if (!other || other->modified_ns <= own_ns) continue;
    const auto seen = present.at.find(other->number);
    if (seen != present.at.end() && seen->second.kind == AtName::Kind::stub) continue;
    const FileAt there = file_of_rank(other->path, shared_directory(masked_name), owner);
    if (there.kind == FileAt::Kind::plain_file &&
        !note_about(other->path, there.status, container_dir))
      return other->path;
  }
  return {};
}

bool shows_another_set(const OpenedFile& own, const std::string& masked_name, uid_t owner,
                       const Generation& set, const std::string& own_launch) {
  const auto next = next_sibling(own, masked_name, owner);
  if (!next || !numbers_of(set).contains(next->number)) return false;
  const FileAt there = file_of_rank(next->path, shared_directory(masked_name), owner);
  if (!there.is_stub() || there.stub.launch == own_launch) return false;
  return there.stub.launch != set.name.launch || there.stub.sequence != set.name.sequence;
}

}  // namespace mcr::restart
