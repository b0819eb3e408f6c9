// SPDX-License-Identifier: BSD-3-Clause
#include "vol/capture/part_begin.hpp"

#include <algorithm>
#include <cstdint>

#include "restart/base/own_way.hpp"
#include "restart/base/path_names.hpp"
#include "vol/capture/publish.hpp"
#include "vol/process/process.hpp"

namespace mcr::vol {

namespace {

// A launcher may start several programs in turn in each rank, so the sequence continues from the old file's stub. Only
// file names are compared: the older file's directory may have been renamed since, and both containers would get the
// same name. A file that this process wrote in another directory, or another rank at another path, was moved here,
// perhaps by a neighbour and in this rank only, so it does not count.
std::uint64_t after_old(const restart::Stub& old, const restart::PartBegin& begin) {
  if (old.launch != begin.launch || restart::name_of(old.path) != restart::name_of(begin.path))
    return 0;
  if (old.rank != begin.rank && old.path != begin.path) return 0;
  const auto written_in = Process::get().writings().directory_of(old.path, old.sequence);
  const FileIdentity here(begin.directory_device, begin.directory_inode);
  return written_in && *written_in != here ? 0 : old.sequence + 1;
}

}  // namespace

Writing writing_of(const std::string& passed, const ResolvedPath& place) {
  Writing writing{written_name(passed), place.path, FileIdentity(place.directory_status)};
  const std::string& name = writing.name.passed;
  const bool is_in_working_directory = !place.is_linked && name == place.name;
  writing.is_by_trusted_links =
      is_in_working_directory || name == place.path ||
      restart::leads_by_trusted_links(passed, writing.directory, place.name);
  return writing;
}

restart::PartBegin begin_part(const CapturePlan& plan, const struct stat& status,
                              const std::optional<restart::Stub>& old) {
  const restart::Launcher& launcher = plan.stage->launcher;
  restart::PartBegin begin;
  if (!plan.place.status) begin.file_inode = status.st_ino;
  if (plan.place.status)
    begin.replaced = old ? restart::Replaced::stub : restart::Replaced::native_file;
  if (old) begin.replaced_part = old->part;
  begin.path_as_passed = plan.path_as_passed;
  begin.path = plan.place.path;
  begin.directory_device = plan.place.directory_status.st_dev;
  begin.directory_inode = plan.place.directory_status.st_ino;
  begin.rank = launcher.rank;
  begin.rank_count = launcher.rank_count;
  begin.local_rank_count = launcher.local_rank_count;
  begin.node = launcher.node;
  begin.launch = *launcher.launch;
  begin.masked_names = plan.masked_names;
  begin.sequence = Process::get().writings().next(plan.writing, [&] {
    const std::uint64_t next = old ? after_old(*old, begin) : 0;
    auto& earlier = plan.stage->earlier;
    return earlier ? std::max(next, earlier->next_sequence(plan.stage->directory, begin,
                                                           plan.settings->text("container_dir")))
                   : next;
  });
  begin.failed_attempts = Process::get().writings().failed(plan.writing);
  begin.is_by_untrusted_links = !plan.writing.is_by_trusted_links;
  begin.above = plan.place.above;
  begin.presence = plan.stage->presence.name;
  begin.mode = status.st_mode & 0777;
  begin.begin_ns = realtime_ns();
  begin.settings = plan.settings->changed();
  return begin;
}

}  // namespace mcr::vol
