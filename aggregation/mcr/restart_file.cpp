// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/mcr/restart_file.hpp"

#include <fcntl.h>

#include <filesystem>
#include <system_error>
#include <variant>

#include "restart/base/path_names.hpp"
#include "restart/open/open_generation.hpp"
#include "restart/stage/file_at.hpp"

namespace mcr::aggregation {
namespace {

/// A rank's file: a part of a container, or a native file.
using RankFile = std::variant<const StoredPart*, const NativeFile*>;

Result<RankFile> file_of(const StoredSet& set, std::optional<std::uint32_t> rank) {
  std::optional<RankFile> found;
  std::uint32_t rank_of_found = 0;
  const auto consider = [&](const auto& file) {
    if (rank && file.rank != *rank) return;
    if (found && file.rank >= rank_of_found) return;
    found = &file;
    rank_of_found = file.rank;
  };
  for (const StoredPart& part : set.parts) consider(part);
  for (const NativeFile& native : set.natives) consider(native);
  if (found) return *found;
  if (!rank) return Error{Cause::system, "the set " + set.prefix + " has no file"};
  return Error{Cause::system,
               "rank " + std::to_string(*rank) + " wrote no file of the set " + set.prefix};
}

/// Returns whether a restart that opens this path gets the part. An error if the open fails.
Result<bool> opens_as(const std::string& path, const StoredPart& part) {
  const auto there = restart::file_at(AT_FDCWD, path, restart::Links::followed);
  if (!there.is_stub()) return false;
  const auto opened = MCR_TRY(restart::open_generation(there.stub, path, restart::Opener{}));
  return opened.source != nullptr && opened.stub.part == part.part;
}

bool is_stub_of(const std::string& path, const StoredPart& part) {
  return restart::file_at(AT_FDCWD, path, restart::Links::followed).is_stub_of(part.part);
}

/// Returns the path of the part's stub in the directory in which it was written; empty if it is not
/// there.
std::string renamed_path(const StoredPart& part) {
  std::error_code problem;
  auto entry = std::filesystem::directory_iterator(restart::parent_of(part.path), problem);
  for (; !problem && entry != std::filesystem::directory_iterator(); entry.increment(problem)) {
    if (is_stub_of(entry->path(), part)) return entry->path();
  }
  return {};
}

}  // namespace

Result<std::string> written_path(const StoredSet& set, std::optional<std::uint32_t> rank) {
  const RankFile file = MCR_TRY(file_of(set, rank));
  return std::visit([](const auto* it) { return it->path; }, file);
}

Result<std::string> restart_path(const StoredSet& set, std::optional<std::uint32_t> rank) {
  const RankFile file = MCR_TRY(file_of(set, rank));
  if (const auto* const native = std::get_if<const NativeFile*>(&file)) return (*native)->path;
  const StoredPart& part = *std::get<const StoredPart*>(file);
  // The program's temporary name may show a later, unfinished writing, while the finished file has
  // its final name. An overwritten file comes last: a restart opens the set before it if the later
  // writing is incomplete.
  const std::string present = is_stub_of(part.path, part) ? part.path : renamed_path(part);
  const std::string path = present.empty() ? part.path : present;
  const auto is_given = opens_as(path, part);
  if (is_given && *is_given) return path;
  return Error{Cause::system,
               "an open of " + path + " does not give the file of rank " +
                   std::to_string(part.rank) + " in the set " + set.prefix + ": " +
                   (is_given ? "it was removed, overwritten or moved to another directory"
                             : is_given.error().message) +
                   ". `mcr unpack " + set.prefix + " -d DIR` writes the files of this set"};
}

}  // namespace mcr::aggregation
