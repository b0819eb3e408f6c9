// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/mcr/restart_file.hpp"

#include <fcntl.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>
#include <vector>

#include "restart/base/path_names.hpp"
#include "restart/base/trust.hpp"
#include "restart/open/open_generation.hpp"
#include "restart/stage/file_at.hpp"

namespace mcr::aggregation {
namespace {

/// The files of one rank in a set: a native file, or one part or more. A file that was opened again
/// after its set was committed has a further part.
struct RankFiles {
  std::uint32_t rank = 0;
  const NativeFile* native = nullptr;
  std::vector<const StoredPart*> parts;
};

Result<RankFiles> files_of(const StoredSet& set, std::optional<std::uint32_t> rank) {
  std::map<std::uint32_t, RankFiles> by_rank;
  for (const StoredPart& part : set.parts) by_rank[part.rank].parts.push_back(&part);
  for (const NativeFile& native : set.natives) by_rank[native.rank].native = &native;
  if (by_rank.empty()) return Error{Cause::system, "the set " + set.prefix + " has no file"};
  const auto found = rank ? by_rank.find(*rank) : by_rank.begin();
  if (found == by_rank.end())
    return Error{Cause::system,
                 "rank " + std::to_string(*rank) + " wrote no file of the set " + set.prefix};
  found->second.rank = found->first;
  return std::move(found->second);
}

/// Returns the stub at `path`; not a stub if it is another user's: a neighbour may take the program's
/// temporary name, and give a stub of his own any content.
restart::FileAt stub_of_owner(const std::string& path, uid_t owner) {
  auto there = restart::file_at(AT_FDCWD, path, restart::Links::not_followed);
  const bool is_owners = restart::is_believed(there.status.st_uid, owner);
  return is_owners ? std::move(there) : restart::FileAt{};
}

/// Returns whether a restart that opens this path gets the part. An error if the open fails.
Result<bool> opens_as(const std::string& path, const StoredPart& part, uid_t owner) {
  const auto there = stub_of_owner(path, owner);
  if (!there.is_stub()) return false;
  restart::Opener opener;
  opener.waits_for_drains = false;
  opener.is_mix_set = true;  // the job's own opens check who may replace its files
  const auto opened = MCR_TRY(restart::open_generation(there.stub, path, opener));
  return opened.source != nullptr && opened.stub.part == part.part;
}

/// Returns the path of the part's stub in the directory in which it was written; empty if it is not
/// there.
std::string renamed_path(const StoredPart& part, uid_t owner) {
  std::error_code problem;
  auto entry = std::filesystem::directory_iterator(restart::parent_of(part.path), problem);
  for (; !problem && entry != std::filesystem::directory_iterator(); entry.increment(problem)) {
    if (stub_of_owner(entry->path(), owner).is_stub_of(part.part)) return entry->path();
  }
  return {};
}

}  // namespace

Result<std::string> written_path(const StoredSet& set, std::optional<std::uint32_t> rank) {
  const RankFiles files = MCR_TRY(files_of(set, rank));
  if (files.native != nullptr) return files.native->path;
  const std::string& path = files.parts.front()->path;
  const auto there = restart::file_at(AT_FDCWD, path, restart::Links::not_followed);
  const bool is_free = there.kind == restart::FileAt::Kind::nothing;
  if (is_free || stub_of_owner(path, set.owner).is_stub()) return path;
  return Error{Cause::system, "another file is at " + path};
}

Result<std::string> restart_path(const StoredSet& set, std::optional<std::uint32_t> rank) {
  RankFiles files = MCR_TRY(files_of(set, rank));
  if (files.native != nullptr) return files.native->path;
  std::string tried;
  std::string why;
  // The newest part first: a copy of the stub of the first one may be a backup.
  std::reverse(files.parts.begin(), files.parts.end());
  for (const StoredPart* const part : files.parts) {
    // The program's temporary name may show a later, unfinished writing, while the finished file has
    // its final name. An overwritten file comes last: a restart opens the set before it if the later
    // writing is incomplete.
    const bool is_there = stub_of_owner(part->path, set.owner).is_stub_of(part->part);
    const std::string present = is_there ? part->path : renamed_path(*part, set.owner);
    tried = present.empty() ? part->path : present;
    const auto is_given = opens_as(tried, *part, set.owner);
    if (is_given && *is_given) return tried;
    why = is_given ? "it was removed, overwritten or moved to another directory"
                   : is_given.error().message;
  }
  return Error{Cause::system, "an open of " + tried + " does not give the file of rank " +
                                  std::to_string(files.rank) + " in the set " + set.prefix + ": " +
                                  why + ". `mcr unpack " + set.prefix +
                                  " -d DIR` writes the files of this set"};
}

}  // namespace mcr::aggregation
