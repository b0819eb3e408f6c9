// SPDX-License-Identifier: BSD-3-Clause
// mcr gc DIR: shows the containers that are no longer needed; removes them with --remove. These are
// the containers of sets whose stubs the program has deleted or overwritten, and which a newer
// whole set with the same names replaces.
#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "aggregation/commit/held_containers.hpp"
#include "aggregation/commit/retention.hpp"
#include "aggregation/commit/set_files.hpp"
#include "aggregation/commit/written_place.hpp"
#include "aggregation/mcr/commands.hpp"
#include "aggregation/mcr/exit_codes.hpp"
#include "aggregation/mcr/files_below.hpp"
#include "aggregation/mcr/named_directory.hpp"
#include "aggregation/mcr/print.hpp"
#include "aggregation/mcr/sound_set.hpp"
#include "restart/base/counted.hpp"
#include "restart/base/durable_replace.hpp"
#include "restart/base/file.hpp"
#include "restart/base/path_names.hpp"
#include "restart/base/trust.hpp"
#include "restart/sets/stub_links.hpp"
#include "restart/stage/file_at.hpp"

namespace mcr::aggregation {
namespace {

struct GcWords {
  std::string directory;
  bool remove = false;
};

Result<void> sync(const ContainersPlace& place) {
  const HeldContainers home = MCR_TRY(place.hold());
  const restart::File to_sync = MCR_TRY(home.open_to_list());  // fsync refuses O_PATH
  return restart::sync_directory(to_sync.descriptor());
}

/// Fails if only a symbolic link in place of `mcr/` leads to the containers, and they do not say that their files were written beside that
/// link, or if that directory is gone. The user may have copied link and stubs from another user, who chose to which run of the user's they lead.
Result<void> check_link(const StoredSet& set) {
  if (!set.home->is_linked) return {};
  const auto place = written_place(set);
  if (place && place->is_base) return {};
  return Error{Cause::usage,
               set.home->directory +
                   " is a symbolic link, and the files of the containers to which it leads were "
                   "written elsewhere, so nothing is removed through it: they may be those of "
                   "another run. If they are not, put the directory itself in its place"};
}

/// What was removed, or would be.
struct Removal {
  std::vector<std::string> containers;
  std::uint64_t bytes = 0;
  int code = exit_code::success;
  std::string problem = {};  ///< why not everything was removed
};

/// The stubs below the named directory, read when they are first asked for. The program, or the user, may have moved them out of
/// the directory that the set's ranks share.
class StubsBelowNamed {
 public:
  /// `identity`: the directory must still be this one, if it is known.
  StubsBelowNamed(std::string directory, std::optional<restart::FileIdentity> identity)
      : directory_(std::move(directory)), identity_(identity) {}

  /// Fails if other users could have hidden such a stub during the search.
  Result<bool> has_one_of(const StoredSet& set) {
    if (!stubs_) stubs_ = MCR_TRY(read());
    const bool is_found =
        std::any_of(set.parts.begin(), set.parts.end(), [&](const StoredPart& part) {
          const auto found = stubs_->find(part.part);
          return found != stubs_->end() &&
                 std::any_of(found->second.begin(), found->second.end(),
                             [&](uid_t owner) { return restart::is_believed(owner, set.owner); });
        });
    if (is_found) return true;
    const restart::File base = MCR_TRY(set.home->open_base(O_PATH | O_DIRECTORY));
    for (const auto& [access, example] : kinds_) {
      if (MCR_TRY(may_be_rearranged(set, base, example))) return could_hide_stubs(example.name());
    }
    return false;
  }

 private:
  using Stubs = std::map<restart::PartId, std::set<uid_t>>;  ///< and the owners of their files

  Result<Stubs> read() {
    Stubs stubs;
    const auto top = restart::File::open(AT_FDCWD, directory_, O_RDONLY | O_DIRECTORY);
    if (!top && top.error().system_error == ENOTDIR) return stubs;  // a container was named
    if (!top) return top.error();
    if (identity_ && restart::FileIdentity(MCR_TRY(top->status())) != identity_)
      return replaced_meanwhile(directory_);
    const auto look = [&](const FileBelow& file) {
      if (restart::is_link_to_stub(file.path)) return;
      const auto there = file_at(file);
      if (there.is_stub()) stubs[there.stub.part].insert(there.status.st_uid);
    };
    const NotLookedAt left =
        look_below(*top, directory_, look, [&](const DirectoryBelow& found) { remember(found); });
    if (!left.directories.empty() || left.beyond > 0) {
      const std::string& first = left.directories.empty() ? left.first_beyond : left.directories[0];
      return Error{
          Cause::system,
          "not all of " + directory_ + " was searched for stubs (" + first +
              "), so nothing was removed; name a directory that can be searched as a whole",
          EACCES};
    }
    return stubs;
  }

  /// Keeps one directory open of each kind that has the same users.
  void remember(const DirectoryBelow& found) {
    Access access{found.status.st_uid, found.status.st_gid, found.status.st_mode,
                  restart::access_list_of(found.directory)};
    if (kinds_.contains(access)) return;
    const int again = ::fcntl(found.directory.descriptor(), F_DUPFD_CLOEXEC, 0);
    if (again >= 0) kinds_.emplace(std::move(access), restart::File(again, found.path));
  }

  using Access = std::tuple<uid_t, gid_t, mode_t, Bytes>;

  std::string directory_;
  std::optional<restart::FileIdentity> identity_;
  std::optional<Stubs> stubs_;
  std::map<Access, restart::File> kinds_;  ///< directories in the search
};

/// Lists or removes the superseded sets of one directory of containers. A set of another directory
/// replaces none of them, because that directory may be a copy.
Result<void> collect(const std::vector<StoredSet>& sets, const GcWords& words, bool json,
                     StubsBelowNamed& stubs, Removal& removal) {
  const Superseded found =
      MCR_TRY(superseded(sets, [&](const StoredSet& set) { return stubs.has_one_of(set); }));
  for (const std::string& reason : found.kept)
    removal.code = print_error({}, "gc", Error{Cause::system, reason, ENOENT});
  for (const GivenUp& order : found.orders) {
    const StoredSet& set = *order.set;
    MCR_TRY(check_link(set));
    if (words.remove) {
      // Before a set is removed, the set that replaces it must be durable.
      MCR_TRY(sync(*set.home));
      MCR_TRY(remove_set(order));
    }
    for (const std::string& path : set.containers) {
      removal.containers.push_back(path);
      if (!json) print_line(stdout, "%s", path.c_str());
    }
    removal.bytes += set.container_bytes;
  }
  return {};
}

void print_removal(const Removal& removal, const GcWords& words, bool json) {
  if (json) {
    nlohmann::json printed = {
        {"removed", words.remove}, {"containers", removal.containers}, {"bytes", removal.bytes}};
    if (!removal.problem.empty()) printed["error"] = removal.problem;
    print_json(printed);
  } else if (!removal.containers.empty()) {
    print_line(stdout, "%s, %s%s", restart::counted(removal.containers.size(), "container").c_str(),
               size_text(removal.bytes).c_str(),
               words.remove ? " removed" : "; remove them with --remove");
  } else if (removal.code == exit_code::success) {
    print_line(stdout, "nothing to remove");
  }
}

/// Fails if the sets were found in another directory than this one, because the path leads elsewhere by now.
Result<void> check_found(const std::vector<SetsIn>& found,
                         const std::optional<restart::FileIdentity>& directory,
                         const std::string& path) {
  for (const SetsIn& here : found) {
    if (here.top_identity && here.top_identity != directory) return replaced_meanwhile(path);
  }
  return {};
}

}  // namespace

RunCommand declare_gc(CLI::App& app) {
  const auto words = std::make_shared<GcWords>();
  app.add_option("DIR", words->directory, "directory of the checkpoints")->required();
  app.add_flag("--remove", words->remove,
               "remove the containers; without this option they are only listed");
  app.footer(
      "A set is kept while one of its stubs, or a copy of one, lies below DIR or below the "
      "directory that its ranks share.\nIf the set was written with gc=on, it is also kept while a "
      "stub that "
      "was moved or linked elsewhere exists. Without\ngc=on, mcr does not find stubs that were "
      "moved elsewhere: check the list before you use --remove. A copy of a\nstub elsewhere keeps "
      "nothing.\nExit codes: 0 done, 1 a container could not be removed; 2 as for every command.");
  return [words](const CommonOptions& common) {
    const auto directory = words->remove
                               ? end_of_trusted_way(words->directory, "Nothing was removed")
                               : Result<std::optional<restart::FileIdentity>>(std::nullopt);
    if (!directory) return print_error(common, "gc", directory.error());
    const auto found = sets_by_directory(words->directory, "gc");
    if (!found) return print_error(common, "gc", found.error());
    if (const auto same = check_found(*found, *directory, words->directory); words->remove && !same)
      return print_error(common, "gc", same.error());
    Removal removal;
    StubsBelowNamed stubs(words->directory, *directory);
    for (const SetsIn& here : *found) {
      const auto done = collect(here.sets, *words, common.json, stubs, removal);
      if (!done) {  // what was removed before is printed all the same
        removal.code = print_error({}, "gc", done.error());
        removal.problem = done.error().message;
      }
    }
    print_removal(removal, *words, common.json);
    return removal.code;
  };
}

}  // namespace mcr::aggregation
