// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/mcr/make_stub.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include "aggregation/commit/short_storage.hpp"
#include "aggregation/mcr/acting_as.hpp"
#include "restart/base/attributes.hpp"
#include "restart/base/system.hpp"
#include "restart/sets/stub_links.hpp"
#include "restart/stage/stub_file.hpp"

namespace mcr::aggregation {

using restart::File;

namespace {

/// Replaces our link to the old stub by one to the new stub. Otherwise the old link would show that
/// the program has given the part up.
void link_again(const File& containers, const restart::Stub& stub, const File& made) {
  const auto status = made.status();
  const auto links = restart::StubLinks::list(containers);
  if (!status || !links ||
      links->fate(stub.part, status->st_uid) == restart::StubLinks::Fate::unknown)
    return;
  if (restart::link_stub(containers, stub.part, made, stub.path)) return;
  links->remove(stub.part);
}

}  // namespace

void give_group(const File& made, uid_t owner, std::optional<gid_t> group) {
  if (!group || ::geteuid() == owner) return;
  (void)restart::system_calls().fchown(made.descriptor(), static_cast<uid_t>(-1), *group);
}

Result<void> make_stub(int home, const std::string& name, const StubToMake& wanted) {
  auto acting = std::optional(MCR_TRY(ActingAs::begin(wanted.owner)));
  restart::PendingFile pending = MCR_TRY(
      restart::PendingFile::create(home, name, wanted.replaced ? 0600 : wanted.mode & 0777));
  MCR_TRY(restart::write_stub_file(pending.file(), wanted.stub));
  // The group is set as root, because only root may set a group of which the owner is not a member.
  acting.reset();
  give_group(pending.file(), wanted.owner, wanted.group);
  acting.emplace(MCR_TRY(ActingAs::begin(wanted.owner)));
  if (wanted.replaced) MCR_TRY(restart::copy_attributes(*wanted.replaced, pending.file()));
  const HeldContainers containers = MCR_TRY(wanted.containers->hold());
  if (containers.beside().may_be_used()) note_made_stub(containers.directory(), wanted.stub.path);
  MCR_TRY(pending.finish(restart::Durability::durable, wanted.existing));
  link_again(containers.directory(), wanted.stub, pending.file());
  return {};
}

}  // namespace mcr::aggregation
