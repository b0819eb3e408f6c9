// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/commit/held_sets.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <utility>

#include "restart/base/copy_data.hpp"
#include "restart/base/durable_replace.hpp"
#include "restart/base/path_names.hpp"
#include "restart/container/container_reader.hpp"
#include "restart/open/held_part.hpp"
#include "restart/stage/stage_files.hpp"

namespace mcr::aggregation {

using restart::File;
using restart::LaunchDirectory;
using restart::PartId;

Result<CommitReport> hold_set(const LaunchDirectory& directory, SetToCommit set,
                              const MergeOptions& options, std::vector<LockedPart>& parts) {
  namespace files = restart::stage_files;
  const PartId container = parts.front().id;
  const File home = MCR_TRY(File::open(directory.descriptor(), files::held_directory,
                                       O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  const std::string path = directory.path() + "/" + files::held_path(container);
  set.home = &home;
  set.directory = restart::parent_of(path);
  set.name = restart::name_of(path);
  MergeOptions replacing = options;
  replacing.replace = true;  // a leader that died may have left it
  CommitReport report = MCR_TRY(write_container(set, replacing));
  for (const LockedPart& part : parts) MCR_TRY(directory.mark_held(part.id, container));
  for (LockedPart& part : parts) {
    part.bytes = File();
    // A failure costs memory until the set leaves the stage.
    (void)directory.free_bytes(part.id, part.journal.begin.rank).has_value();
  }
  return report;
}

File held_container(const LaunchDirectory& directory, const std::vector<const LockedPart*>& parts) {
  if (parts.empty() || !parts.front()->journal.held_in) return {};
  const PartId container = *parts.front()->journal.held_in;
  std::set<PartId> wanted;
  for (const LockedPart* part : parts) {
    if (part->journal.held_in != container) return {};
    wanted.insert(part->id);
  }
  auto file = directory.open_held(container);
  auto second = directory.open_held(container);
  if (!file || !second) return {};
  const auto reader = restart::ContainerReader::read(std::move(*second), file->name());
  const auto records =
      reader ? (*reader)->parts() : Result<const std::vector<restart::PartRecord>*>(reader.error());
  if (!records || (*records)->size() != wanted.size()) return {};
  const bool is_same = std::all_of((*records)->begin(), (*records)->end(), [&](const auto& record) {
    return wanted.contains(record.entry.part);
  });
  return is_same ? std::move(*file) : File();
}

Result<CommitReport> copy_container(const SetToCommit& set, const File& held) {
  CommitReport report;
  report.path = set.directory + "/" + set.name;
  for (const PartToCommit& part : set.parts) report.raw_bytes += part.size;
  report.checksums.resize(set.parts.size());
  report.container_bytes = MCR_TRY(held.size());
  restart::PendingFile pending = MCR_TRY(
      restart::PendingFile::create(set.home->descriptor(), set.name, 0600, set.temporary_word));
  MCR_TRY(restart::copy_data(held, pending.file(), 0, report.container_bytes));
  report.access = restart::readers_of(set.look_at_access());
  MCR_TRY(restart::give_access(pending.file(), report.access));
  MCR_TRY(give_name(set, pending, restart::Existing::kept, report));
  return report;
}

Result<File> bytes_of_held(const LaunchDirectory& directory, const PartId& part) {
  const auto source = MCR_TRY(restart::open_held_part(directory, part, nullptr));
  if (source == nullptr)
    return Error{Cause::system, "part " + part.text() + " is not held any more", ENOENT};
  File file = MCR_TRY(File::without_name(directory.path() + "/" + part.text()));
  Bytes buffer(std::min<std::uint64_t>(source->size(), 1U << 20));
  for (std::uint64_t place = 0; place < source->size(); place += buffer.size()) {
    const auto piece = MutableByteSpan(buffer).first(
        static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), source->size() - place)));
    MCR_TRY(source->read_at(place, piece));
    MCR_TRY(file.write_at(place, piece));
  }
  return file;
}

}  // namespace mcr::aggregation
