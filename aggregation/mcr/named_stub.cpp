// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/mcr/named_stub.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "aggregation/commit/held_containers.hpp"
#include "restart/base/own_way.hpp"
#include "restart/base/path_names.hpp"
#include "restart/base/replacers.hpp"
#include "restart/base/trust.hpp"
#include "restart/container/container_reader.hpp"
#include "restart/open/stub_proof.hpp"
#include "restart/stage/stub_file.hpp"

namespace mcr::aggregation {
namespace {

/// Returns where the stub lies that was read at `argument`. An error if the argument does not lead to it any more, or leads
/// to it by a symbolic link that other users may have put or moved there.
Result<restart::WayEnd> place_of_stub(const std::string& argument, const restart::File& stub) {
  const restart::File start = MCR_TRY(restart::File::open(AT_FDCWD, ".", O_PATH | O_DIRECTORY));
  auto end = restart::follow_links_no_weaker_than_target(start, argument);
  if (!end && end.error().system_error == ELOOP)
    return Error{Cause::usage,
                 argument +
                     " leads to a file of a set through a symbolic link that other users may "
                     "have put there. Nothing was unpacked. If that is the set that you want, "
                     "name " +
                     restart::present_path(stub)};
  if (!end || !restart::is_still_named(stub, end->directory.descriptor(), end->name))
    return replaced_meanwhile(argument);
  return end;
}

/// True if nobody may write to the file but its owner and this user's own group.
bool is_closed_to_writers(const restart::File& file, const struct stat& status) {
  const bool is_of_own_group = status.st_gid == ::getegid() && !restart::has_access_list(file);
  return (status.st_mode & S_IWOTH) == 0 && ((status.st_mode & S_IWGRP) == 0 || is_of_own_group);
}

/// Some users may be able to give the stub's name to another stub. True if each of them may write to the container's directory.
bool do_renamers_reach(const std::string& container, const restart::WayEnd& stub) {
  const auto directory = restart::File::open(
      AT_FDCWD, restart::real_path(restart::parent_of(container)), O_PATH | O_DIRECTORY);
  const auto trusted = directory ? restart::may_trust(stub.directory, *directory, ::geteuid())
                                 : Result<bool>(directory.error());
  return trusted && *trusted;
}

/// True if the container has the part.
bool has_part(const NamedContainer& named, const restart::PartId& part) {
  const auto reader = restart::ContainerReader::open(AT_FDCWD, named.path);
  const auto status = reader ? (*reader)->status() : Result<struct stat>(reader.error());
  const auto parts =
      status && named.file == restart::FileIdentity(*status)
          ? (*reader)->parts()
          : Result<const std::vector<restart::PartRecord>*>(Error{Cause::system, "replaced"});
  return parts && std::any_of((*parts)->begin(), (*parts)->end(),
                              [&](const auto& record) { return record.entry.part == part; });
}

}  // namespace

Result<void> check_stub(const std::string& argument, const NamedByArgument& named_by) {
  const restart::File& stub = named_by.stub;
  if (!stub.is_open()) return {};
  const restart::WayEnd end = MCR_TRY(place_of_stub(argument, stub));
  const std::string path = in_directory(restart::present_path(end.directory), end.name);
  const bool is_closed = is_closed_to_writers(stub, MCR_TRY(stub.status()));
  const restart::Stub text = MCR_TRY(restart::read_stub_file(stub));
  const NamedContainer* beside =
      nullptr;  // a container in no directory above the stub, or above a moved one
  for (const NamedContainer& named : named_by.containers) {
    const std::string above =
        restart::real_path(restart::parent_of(restart::parent_of(named.path)));
    if (above.empty()) return replaced_meanwhile(named.path);
    const bool is_above = path.starts_with(above == "/" ? above : above + "/");
    if (is_above && !restart::was_moved_below(above, text, path)) continue;
    beside = &named;
    if (is_above) continue;
    if (is_closed && do_renamers_reach(named.path, end)) continue;
    return Error{Cause::usage,
                 argument +
                     " is a stub that other users may write to or replace, and it leads to " +
                     named.path +
                     ", whose directory is not above the stub. If that is the set that you want, "
                     "name the container"};
  }
  const auto has_own_part = [&](const NamedContainer& named) { return has_part(named, text.part); };
  if (beside != nullptr &&
      std::none_of(named_by.containers.begin(), named_by.containers.end(), has_own_part))
    return Error{
        Cause::usage,
        argument + " is a stub that leads to " + beside->path +
            ", but no container of that set has its file: it may be a copy of a stub that "
            "another user has made. If the file was closed just now, `mcr drain` brings it to "
            "storage. If that is the set that you want, name the container"};
  return {};
}

}  // namespace mcr::aggregation
