// SPDX-License-Identifier: BSD-3-Clause
#include "restart/open/launch_decision.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "restart/base/file_identity.hpp"
#include "restart/base/path_names.hpp"
#include "restart/base/system.hpp"
#include "restart/base/trust.hpp"
#include "restart/format/container_name.hpp"
#include "restart/open/stub_proof.hpp"
#include "restart/sets/own_containers.hpp"

namespace mcr::restart {

bool is_of_launch(const Opener& opener) { return opener.rank_count > 1 && !opener.launch.empty(); }

LaunchDecision::LaunchDecision(const Stub& stub, const std::string& path, const Opener& opener,
                               const NamesHere& here)
    : has_launch_(is_of_launch(opener)),
      path_(path),
      written_with_(without_dots(stub.container_directory)),
      containers_(here.place.directory),
      components_(here.components),
      owner_(here.place.owner) {
  const ContainerName decided =
      container_name(here.masked_name, opener.container_dir, opener.launch, 0);
  directory_ = decided.directory;
  name_ = decision_name(decided.distinct_prefix);
  files_ = {without_dots(opener.container_dir),
            std::string(name_beside_containers(here.masked_name, opener.container_dir))};
  base_ = decided.base;
}

bool LaunchDecision::has_own_container_dir() const { return written_with_ == files_.container_dir; }

/// True if the decision's directory is one in which this program may have files about the opened one.
bool LaunchDecision::is_in_its_place() const {
  // The stub's masked name says how far above the file the directory lies.
  if (!has_own_container_dir()) return is_above_ranks(path_, components_);
  struct stat found {};
  struct stat named {};
  return system_calls().fstatat(AT_FDCWD, containers_.c_str(), &found, 0) == 0 &&
         system_calls().fstatat(AT_FDCWD, directory_.c_str(), &named, 0) == 0 &&
         FileIdentity(found) == FileIdentity(named);
}

/// False if this launch neither records nor obeys a decision about these files. If the set was written with the program's own
/// container_dir=, the directory of the decision must be the one in which the set's containers lie, which may be made only now.
/// And the stub must belong to this user, or to one who could replace this user's files there: another user's stub
/// chooses the names under which the ranks agree, so it could decide about other files of this user.
bool LaunchDecision::is_allowed() const {
  if (!is_in_its_place()) return false;
  struct stat stub {};
  stub.st_uid = owner_;
  return is_believed_among(path_, base_, stub, ::geteuid());
}

std::optional<Decision> LaunchDecision::find() const {
  if (!has_launch_ || !is_allowed()) return std::nullopt;
  return find_decision(directory_, name_, &files_);
}

Result<Recorded> LaunchDecision::record(const Decision& decision) const {
  if (!has_launch_) return Recorded{decision, true};
  if (!is_allowed())
    return Error{Cause::usage,
                 directory_ + " cannot hold the record of the set that all ranks open"};
  if (!has_own_container_dir()) MCR_TRY(make_place());
  Decision about = decision;
  about.files = files_;
  return record_decision(directory_, name_, about);
}

/// Makes the directory in which the program would put containers of its own with these names. The files' containers lie elsewhere,
/// so it may be missing. It is not made above ranks' directories, because only the stub's text says how far above they begin.
Result<void> LaunchDecision::make_place() const {
  if (components_ == 1) (void)MCR_TRY(make_own_containers(directory_));
  return {};
}

}  // namespace mcr::restart
