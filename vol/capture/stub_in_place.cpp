// SPDX-License-Identifier: BSD-3-Clause
#include "vol/capture/stub_in_place.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "restart/base/path_names.hpp"
#include "restart/sets/native_members.hpp"
#include "restart/sets/stub_links.hpp"
#include "restart/stage/stub_file.hpp"
#include "vol/capture/publish.hpp"

namespace mcr::vol {

namespace {

// Our link to the old part's stub must go before the file becomes another part's stub.
void unlink_old_stub(const StagedPart& part) {
  const auto status = part.at_path.status();
  if (status && part.begin.replaced_part)
    restart::unlink_stub(containers_of(part), *part.begin.replaced_part, *status);
}

// True if the old content is needed at this path only: the file is this user's, has no second name, and is
// no native member of a set.
bool may_be_overwritten(const StagedPart& part) {
  const auto status = part.at_path.status();
  if (!status || !S_ISREG(status->st_mode) || status->st_uid != ::geteuid() ||
      status->st_nlink != 1)
    return false;
  if (restart::is_stub_file(part.at_path)) return true;
  const auto home = restart::open_begun_in(part.begin, O_PATH);
  return home && !restart::find_native_note(*home, part.begin.path,
                                            part.settings->text("container_dir"), *status);
}

}  // namespace

Result<void> put_stub_into_moved(StagedPart& part) {
  follow_put_back(part);
  struct stat status {};
  if (fstat(part.at_path.descriptor(), &status) == 0 && status.st_nlink == 0)
    return part.stage->directory.drop(part.begin.part);
  unlink_old_stub(part);
  const Bytes content = restart::write_stub(stub_of(part));
  MCR_TRY(part.at_path.write_at(0, content));
  MCR_TRY(part.at_path.truncate(content.size()));
  part.has_stub = true;
  return {};
}

bool write_stub_over_old(StagedPart& part) {
  unlink_old_stub(part);
  if (!may_be_overwritten(part)) return false;
  const restart::Stub stub = stub_of(part);
  const std::size_t new_bytes = restart::write_stub(stub).size();
  const auto old_bytes = part.at_path.size();
  Bytes head(new_bytes);
  const auto read = old_bytes ? part.at_path.read_some_at(0, head) : Result<std::size_t>(Error{});
  if (!read) return false;
  head.resize(*read);
  if (restart::write_stub_file(part.at_path, stub) && part.at_path.truncate(new_bytes)) {
    part.has_stub = true;
    return true;
  }
  // Storage has room for the old bytes, because they lay there before.
  if (part.at_path.write_at(0, head)) (void)part.at_path.truncate(*old_bytes).has_value();
  return false;
}

}  // namespace mcr::vol
