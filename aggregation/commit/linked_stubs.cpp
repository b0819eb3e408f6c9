// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/commit/linked_stubs.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <utility>

#include "aggregation/commit/commit_options.hpp"
#include "restart/base/file.hpp"
#include "restart/base/path_names.hpp"
#include "restart/base/system.hpp"
#include "restart/base/trust.hpp"
#include "restart/sets/stub_links.hpp"
#include "restart/settings/choices.hpp"
#include "restart/stage/stub_file.hpp"

namespace mcr::aggregation {

using restart::File;
using restart::FileIdentity;
using restart::PartBegin;

namespace {

bool are_stubs_linked(const PartBegin& begin) {
  return !begin.masked_names.empty() && restart::gc_of(settings_of(begin)) == restart::Gc::always;
}

/// Returns the directory in which the part's rank links stubs.
std::string where_rank_links(const PartBegin& begin) {
  return container_name_of(begin, begin.masked_names.front()).directory;
}

/// Opens the file at the path if it is this user's stub of the part.
std::optional<File> own_stub_at(const std::string& path, const restart::PartId& part) {
  auto stub = File::open(AT_FDCWD, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  const auto content = stub ? restart::read_stub_file(*stub) : Result<restart::Stub>(Error{});
  const bool is_ours =
      content && content->part == part && content->origin && content->origin->owner == ::geteuid();
  return is_ours ? std::optional(*std::move(stub)) : std::nullopt;
}

/// Removes the directory of containers, and that of links in it, if they are empty and lie in the directory in which
/// the part was begun: another directory may have its path by now.
void remove_emptied(const PartBegin& begin, const std::string& containers) {
  if (restart::parent_of(containers) != restart::parent_of(begin.path)) return;
  const auto files = restart::open_begun_in(begin, O_PATH);
  if (!files) return;
  const std::string name = restart::name_of(containers);
  if (const auto home = restart::open_beneath(files->descriptor(), name, O_PATH | O_DIRECTORY))
    (void)restart::system_calls().unlinkat(
        home->descriptor(), std::string(restart::stub_links_directory).c_str(), AT_REMOVEDIR);
  (void)restart::system_calls().unlinkat(files->descriptor(), name.c_str(), AT_REMOVEDIR);
}

}  // namespace

void link_repaired_stub(const PartBegin& begin) {
  if (!are_stubs_linked(begin)) return;
  if (const auto stub = own_stub_at(begin.path, begin.part))
    (void)restart::link_stub(where_rank_links(begin), begin.part, *stub, begin.path).has_value();
}

void move_stub_link(const PartBegin& begin, const restart::ContainerName& where,
                    const StubHandles* stubs) {
  if (!are_stubs_linked(begin)) return;
  const std::string linked = where_rank_links(begin);
  if (linked == where.directory) return;
  const auto found = stubs != nullptr ? stubs->find(begin.part) : StubHandles::Found{};
  const std::string& path = found.fate == StubHandles::Fate::present ? found.path : begin.path;
  const auto stub = own_stub_at(path, begin.part);
  const auto status = stub ? stub->status() : Result<struct stat>(Error{});
  if (!status || !restart::link_stub(where.directory, begin.part, *stub, path)) return;
  restart::unlink_stub(linked, begin.part, *status);
  remove_emptied(begin, linked);
}

}  // namespace mcr::aggregation
