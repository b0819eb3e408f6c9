// SPDX-License-Identifier: BSD-3-Clause
#include "vol/capture/stub_in_place.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "restart/base/system.hpp"
#include "restart/sets/native_members.hpp"
#include "restart/sets/stub_links.hpp"
#include "restart/stage/stub_file.hpp"
#include "vol/capture/publish.hpp"

namespace mcr::vol {

namespace {

// Returns our link to the old stub (gc=on); empty if there is none.
std::string our_link(const StagedPart& part, const struct stat& status) {
  const auto old = restart::read_stub_file(part.at_path);
  if (!old) return {};
  return restart::our_link_to(*old, part.begin.path, status).value_or(std::string());
}

bool has_second_name(const StagedPart& part, const struct stat& status) {
  if (status.st_nlink < 2) return false;
  const auto old = restart::read_stub_file(part.at_path);
  return !old || restart::names_of_program(*old, part.begin.path, status) > 1;
}

// True if the part amends the one that the file still shows. Another rank may have written the file under another
// of its names.
bool amends_shown_part(const StagedPart& part) {
  const auto old = restart::read_stub_file(part.at_path);
  return old && part.begin.replaced_part == old->part && part.begin.launch == old->launch &&
         part.begin.sequence == old->sequence;
}

// True if all names of the file may show the new content, and no set needs the old one as a native member.
bool may_be_overwritten(const StagedPart& part, const struct stat& status) {
  if (!S_ISREG(status.st_mode) || status.st_uid != ::geteuid()) return false;
  if (has_second_name(part, status)) return amends_shown_part(part);
  if (restart::is_stub_file(part.at_path)) return true;
  const auto home = restart::open_begun_in(part.begin, O_PATH);
  return home && !restart::find_native_note(*home, part.begin.path,
                                            part.settings->text("container_dir"), status);
}

/// Returns what the stub will overwrite.
Result<Bytes> head_of(const restart::File& file, const restart::Stub& stub) {
  Bytes head(restart::write_stub(stub).size());
  head.resize(MCR_TRY(file.read_some_at(0, head)));
  return head;
}

Result<void> overwrite(const restart::File& file, const restart::Stub& stub) {
  MCR_TRY(restart::write_stub_file(file, stub));
  return file.truncate(restart::write_stub(stub).size());
}

// Gives the file its old content and times, by which the leader knows it. Storage has room for these
// bytes, because they lay there before.
void restore(const restart::File& file, ByteSpan head, const struct stat& old) {
  if (file.write_at(0, head))
    (void)file.truncate(static_cast<std::uint64_t>(old.st_size)).has_value();
  const struct timespec times[2] = {old.st_atim, old.st_mtim};
  (void)::futimens(file.descriptor(), times);
}

}  // namespace

bool has_other_names(const StagedPart& part) {
  const auto status = part.at_path.status();
  return status && has_second_name(part, *status) && status->st_uid == ::geteuid() &&
         amends_shown_part(part);
}

Result<void> put_stub_into_moved(StagedPart& part) {
  follow_put_back(part);
  const struct stat status = MCR_TRY(part.at_path.status());
  if (status.st_nlink == 0) return part.stage->directory.drop(part.begin.part);
  const restart::Stub stub = stub_of(part);
  const Bytes head = MCR_TRY(head_of(part.at_path, stub));
  if (const auto written = overwrite(part.at_path, stub); !written) {
    restore(part.at_path, head, status);
    return written;
  }
  // The old file is not the old part's stub any more.
  if (part.begin.replaced_part) unlink_stub(part, *part.begin.replaced_part, status);
  part.has_stub = true;
  return {};
}

bool write_stub_over_old(StagedPart& part) {
  const auto status = part.at_path.status();
  if (!status) return false;
  const std::string link = our_link(part, *status);
  if (!may_be_overwritten(part, *status)) return false;
  const restart::Stub stub = stub_of(part);
  const auto head = head_of(part.at_path, stub);
  if (!head) return false;
  if (overwrite(part.at_path, stub)) {
    if (!link.empty()) {
      restart::system_calls().unlinkat(AT_FDCWD, link.c_str(), 0);
    } else if (part.begin.replaced_part) {  // beside other names
      unlink_stub(part, *part.begin.replaced_part, *status);
    }
    part.has_stub = true;
    return true;
  }
  restore(part.at_path, *head, *status);
  return false;
}

}  // namespace mcr::vol
