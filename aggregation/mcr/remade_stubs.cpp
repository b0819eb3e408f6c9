// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/mcr/remade_stubs.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "aggregation/commit/set_files.hpp"
#include "aggregation/commit/written_place.hpp"
#include "aggregation/mcr/acting_as.hpp"
#include "aggregation/mcr/files_below.hpp"
#include "aggregation/mcr/make_stub.hpp"
#include "aggregation/mcr/moved_stubs.hpp"
#include "aggregation/mcr/named_directory.hpp"
#include "aggregation/mcr/print.hpp"
#include "aggregation/mcr/sound_set.hpp"
#include "aggregation/mcr/surroundings.hpp"
#include "restart/base/birth_time.hpp"
#include "restart/base/file.hpp"
#include "restart/base/open_elsewhere.hpp"
#include "restart/base/path_names.hpp"
#include "restart/base/system.hpp"
#include "restart/base/trust.hpp"
#include "restart/format/container_name.hpp"
#include "restart/format/masked_name.hpp"
#include "restart/sets/stub_links.hpp"
#include "restart/stage/file_at.hpp"

namespace mcr::aggregation {
namespace {

using restart::File;

/// True if a file that a rank wrote natively lies at one of the set's paths: the program went on
/// after this set.
bool has_native_file(const StoredSet& set) {
  return std::any_of(set.parts.begin(), set.parts.end(), [&](const StoredPart& part) {
    const auto there = restart::file_at(part.open());
    return there.kind == restart::FileAt::Kind::plain_file && there.status.st_size > 0 &&
           there.status.st_uid == set.owner;
  });
}

/// True if an empty file of the set's owner was made after the set's containers. No writer of the set
/// left it: it is another file, such as a lock.
bool is_younger_empty_file(const StoredSet& set, const restart::FileAt& there) {
  return there.kind == restart::FileAt::Kind::plain_file && there.status.st_uid == set.owner &&
         there.status.st_size == 0 && restart::was_made_after(there.file, set.written_ns);
}

/// True if a stub may replace the file: an empty file that nobody has open, as a writer leaves it that died before it
/// filled in the stub, or a damaged stub, which must belong to the set's owner.
bool may_be_replaced(const StoredSet& set, const restart::FileAt& there) {
  using Kind = restart::FileAt::Kind;
  if (there.status.st_uid != set.owner) return false;
  if (there.kind == Kind::plain_file)
    return there.status.st_size == 0 && !is_younger_empty_file(set, there) &&
           !has_native_file(set) && !restart::is_open_elsewhere(there.file);
  return there.kind == Kind::damaged_stub && there.error.cause == Cause::damaged;
}

/// True if the part's stub is missing at its path.
bool needs_stub(const StoredSet& set, const StoredPart& part) {
  using Kind = restart::FileAt::Kind;
  const auto there = restart::file_at(part.open());
  return there.kind == Kind::nothing || part.below.empty() || may_be_replaced(set, there);
}

/// Returns the group for files that are made for the set's owner in `home`: the container's group,
/// or none if the directory passes on its own group.
std::optional<gid_t> group_in(const File& home, const StoredSet& set) {
  const auto status = home.status();
  if (!status || (status->st_mode & S_ISGID) != 0) return std::nullopt;
  return set.group;
}

/// Makes the directory with the rights of the set's owner; returns false if it exists.
Result<bool> make_directory(const StoredSet& set, const File& home, const std::string& name) {
  const auto acting = MCR_TRY(ActingAs::begin(set.owner));
  if (restart::system_calls().mkdirat(home.descriptor(), name.c_str(), 0777) == 0) return true;
  if (errno == EEXIST) return false;
  return restart::system_error("cannot make directory", name);
}

/// Opens the directories of the part's container as its owner, who must be able to reach them.
Result<HeldContainers> hold(const StoredSet& set, const StoredPart& part) {
  const auto acting = MCR_TRY(ActingAs::begin(set.owner));
  return part.home->hold();
}
Result<File> open_base(const StoredSet& set, const HeldContainers& held) {
  const auto acting = MCR_TRY(ActingAs::begin(set.owner));
  return File::open(held.base().descriptor(), ".", O_RDONLY | O_DIRECTORY);
}
Result<File> open_directory(const StoredSet& set, int home, const std::string& name) {
  const auto acting = MCR_TRY(ActingAs::begin(set.owner));
  return restart::open_beneath(home, name, O_RDONLY | O_DIRECTORY);
}

bool is_own_and_empty(const File& directory, uid_t owner) {
  const auto status = directory.status();
  const auto names = restart::list_directory(directory.descriptor(), ".");
  return status && status->st_uid == owner && names && names->empty();
}

/// Fails if some user may add files to `containers` but may not write to `on_the_way`. That user could
/// have moved a container of the set's owner there, so the container justifies no file in `on_the_way`.
Result<void> check_way(const StoredSet& set, const File& on_the_way, const std::string& name,
                       const File& containers) {
  const auto beside = MCR_TRY(restart::Beside::of(on_the_way, containers));
  if (beside.adders_may_remove(set.owner)) return {};
  const std::string home = restart::parent_of(set.prefix);
  return Error{Cause::system, "users who may write to " + home +
                                  " may not write to the directory " + name +
                                  ", so no file is made there because of a container in " + home +
                                  "; `mcr unpack " + set.prefix + "* -d DIR` writes the files"};
}

/// Opens the directory of the part's stub, and makes missing directories: a rank's own directory
/// (out/3/dump.h5) may have been removed with its stub. With `dry_run`, changes nothing, and returns the
/// deepest directory that exists.
Result<File> open_home(const StoredSet& set, const StoredPart& part, bool dry_run) {
  const HeldContainers held = MCR_TRY(hold(set, part));
  File home = MCR_TRY(open_base(set, held));
  MCR_TRY(check_way(set, home, part.home->base, held.directory()));
  std::size_t begin = 0;
  for (std::size_t slash = part.below.find('/'); slash != std::string::npos;
       slash = part.below.find('/', begin)) {
    const std::string name = part.below.substr(begin, slash - begin);
    const bool is_new = !dry_run && MCR_TRY(make_directory(set, home, name));
    auto next = open_directory(set, home.descriptor(), name);
    if (dry_run && !next && next.error().system_error == ENOENT) break;
    if (!next) return next.error();
    // The owner of `home` may have replaced the new directory by another one.
    if (is_new && is_own_and_empty(*next, set.owner))
      give_group(*next, set.owner, group_in(home, set));
    else
      MCR_TRY(check_way(set, *next, part.below.substr(0, slash), held.directory()));
    home = *std::move(next);
    begin = slash + 1;
  }
  return home;
}

/// The deepest existing directory above the part's stub, and the stub's path below it.
struct Reached {
  File home;
  std::string rest;
};
Result<Reached> walk_to(const StoredPart& part) {
  Reached reached{MCR_TRY(part.home->open_base(O_PATH | O_DIRECTORY)), part.below};
  for (std::size_t slash; (slash = reached.rest.find('/')) != std::string::npos;) {
    auto next = restart::open_beneath(reached.home.descriptor(), reached.rest.substr(0, slash),
                                      O_PATH | O_DIRECTORY);
    if (!next && next.error().system_error == ENOENT) break;
    reached.home = MCR_TRY(std::move(next));
    reached.rest.erase(0, slash + 1);
  }
  return reached;
}

/// Where the part's stub belongs: directory by device and inode, and file name. Containers of two
/// users may name one directory by different paths.
using StubHome = std::pair<restart::FileIdentity, std::string>;
StubHome home_of(const StoredPart& part) {
  const auto reached = walk_to(part);
  const auto status = reached ? reached->home.status() : Result<struct stat>(reached.error());
  return status ? StubHome{*status, reached->rest} : StubHome{{}, part.path};
}

/// The path of the part's stub. part.path, which the container names, may be another one.
std::string path_of_stub(const StoredPart& part) {
  return part.below.empty() ? part.path : part.home->base + "/" + part.below;
}

/// True if this process may make the part's stub and the directories that it needs.
bool may_make(const StoredPart& part) {
  const auto reached = walk_to(part);
  return reached && ::faccessat(reached->home.descriptor(), ".", W_OK | X_OK, AT_EACCESS) == 0;
}

Result<void> remake_stub(const StoredSet& set, const StoredPart& part) {
  if (part.below.empty()) {
    return Error{Cause::system,
                 "the container " + set.prefix +
                     "* names a path outside of its own directory; no file is made there"};
  }
  if (set.owner == restart::unknown_user) {
    return Error{Cause::system, "other users may write to the container " + set.prefix +
                                    "*; no file is made because of it"};
  }
  if (::geteuid() != set.owner && ::geteuid() != 0) {
    return Error{Cause::system, "the container " + set.prefix + "* belongs to user " +
                                    std::to_string(set.owner) +
                                    "; let this user or root run `mcr recover`"};
  }
  StubToMake wanted;
  restart::Stub& stub = wanted.stub;
  stub.part = part.part;
  stub.launch = set.name.launch;
  stub.sequence = set.name.sequence;
  stub.rank = part.rank;
  stub.rank_count = set.rank_count;
  stub.masked_names = {set.name.masked_name};
  stub.container_directory = set.container_dir;
  stub.path = part.path;
  const File home = MCR_TRY(open_home(set, part, false));
  const std::string name = restart::name_of(part.below);
  // Looks again, now in the open directory, which cannot be replaced meanwhile.
  const auto there = restart::file_at(restart::open_beneath(home.descriptor(), name, O_RDONLY));
  const bool is_there = there.kind != restart::FileAt::Kind::nothing;
  if (is_there && !may_be_replaced(set, there))
    return Error{Cause::system, "another file is at this path", EEXIST};
  wanted.owner = set.owner;
  wanted.group = group_in(home, set);
  if (part.mode != 0) wanted.mode = part.mode;
  wanted.existing = is_there ? restart::Existing::replaced : restart::Existing::kept;
  wanted.containers = part.home;
  return make_stub(home.descriptor(), name, wanted);
}

/// Decides whether stubs of a set belong below its base, and keeps the answers.
class Bases {
 public:
  explicit Bases(const std::vector<StoredSet>& sets) : sets_(sets) {}

  Result<void> check(const StoredSet& set) {
    const ContainersPlace& home = *set.home;
    const auto [known, is_new] = refusals_.try_emplace(
        {home.directory, restart::parent_of(set.name.masked_name), set.owner});
    if (is_new) known->second = refusal(set);
    if (known->second.empty()) return {};
    return Error{Cause::system, known->second};
  }

 private:
  std::string refusal(const StoredSet& set) {
    const auto place = written_place(set);
    if (place && place->is_base) return {};
    if (was_moved_to_base(set, sets_, stubs_below_base(set))) return {};
    if (place) {
      return no_stub_below_base(set) + "; no file is made there; name the directory " + place->path;
    }
    std::vector<std::string> warnings;
    const auto settings = effective_settings(set.home->base, warnings);
    const std::string dir(settings ? settings->text("container_dir") : std::string_view());
    const bool is_usual = !dir.empty() && restart::name_of(dir) == set.home->name;
    // A directory of the usual name, whose run lost all its stubs after it was moved.
    if (is_usual && restart::steps_up_of(dir)) return {};
    // With a/b, the files did not lie in a/, the directory above the containers.
    if (is_usual)
      return no_stub_below_base(set) + ", and with container_dir=" + dir +
             " mcr recover makes no stubs; `mcr unpack` writes the files";
    return no_stub_below_base(set) +
           "; no file is made there; name the directory of the checkpoints";
  }

  const StubsFound& stubs_below_base(const StoredSet& set) {
    const auto [known, is_new] = stubs_.try_emplace({set.home->directories.outer, set.owner});
    const auto base = set.home->open_base(O_RDONLY | O_DIRECTORY);
    if (!is_new || !base) return known->second;
    StubsFound& found = known->second;
    look_below(*base, set.home->base, [&](const FileBelow& file) {
      if (restart::is_link_to_stub(file.path)) return;
      const auto there = file_at(file);
      if (there.is_stub() && restart::is_believed(there.status.st_uid, set.owner))
        found.emplace(there.stub.part, there.stub.container_directory);
    });
    return found;
  }

  const std::vector<StoredSet>& sets_;
  std::map<std::tuple<std::string, std::string, uid_t>, std::string> refusals_;  ///< empty: none
  std::map<std::pair<restart::FileIdentity, uid_t>, StubsFound> stubs_;  ///< by base and owner
};

/// A part that needs a stub, and its set.
using Claim = std::pair<const StoredSet*, const StoredPart*>;

/// `home`: where the part's stub belongs.
bool is_wanted(const Claim& claim, const restart::FileIdentity& home, const MovedStubs& moved) {
  const StoredSet& set = *claim.first;
  const StoredPart& part = *claim.second;
  // The program, or another user, has given it a name in the same directory, where nobody else can remove it. Under its old name it would
  // be in the way of a later file that the program creates with another mode.
  if (moved.in_sticky.contains({part.part, home, set.owner})) return false;
  const auto has_stub = [&](const StoredPart& it) {
    return moved.has_stub_of(
        it.part, set.beside.is_shared_by_all() ? std::nullopt : std::optional(set.owner));
  };
  // A stub is not missing if it was renamed.
  if (has_stub(part) || !needs_stub(set, part)) return false;
  // A rank has one file of a set. If the program renamed it and then wrote into it, the set has its earlier part
  // at the earlier path, and before the later one.
  const auto own = std::find_if(set.parts.begin(), set.parts.end(),
                                [&](const StoredPart& it) { return it.part == part.part; });
  return !restart::has_one_file_a_rank(set.name.masked_name) ||
         std::none_of(own, set.parts.end(), [&](const StoredPart& later) {
           return later.rank == part.rank && later.path != part.path && has_stub(later);
         });
}

/// True if a later job wrote into other files of the set, but not into this one. It may have been native then, and newer than what is
/// stored.
bool is_left_out(const Claim& claim) {
  return claim.first->amendments.have_left_out(claim.first->name.masked_name, claim.second->rank,
                                               claim.second->path);
}
std::string left_out_text(const StoredSet& set, const std::vector<std::string>& paths) {
  const std::string others =
      paths.size() == 1 ? "" : " (and of " + std::to_string(paths.size() - 1) + " more)";
  return "a later job wrote into some files of the set " + set.prefix +
         "* only, so the content of " + paths.front() + others +
         " may have been newer than what is stored; no stub is made again for it. `mcr unpack " +
         set.prefix + "* -d DIR` writes what is stored";
}

/// True if this user may act on the claim: the set is this user's, or all users share the
/// directory.
bool is_own(const Claim& claim) {
  return claim.first->beside.is_shared_by_all() || claim.first->owner == ::geteuid();
}

/// Root acts for the users to whom the sets belong. Removes the claims of those who may not make the
/// file themselves. If the owner of the directory has a claim, that claim alone is kept.
void leave_possible(std::vector<Claim>& claims) {
  std::erase_if(claims, [](const Claim& claim) {
    const auto acting = ActingAs::begin(claim.first->owner);
    return !acting || !may_make(*claim.second);
  });
  const auto hosts_claim = std::find_if(claims.begin(), claims.end(), [](const Claim& claim) {
    return claim.first->owner == claim.first->beside.host();
  });
  if (hosts_claim != claims.end()) claims = {*hosts_claim};
}

/// Returns the claim that is carried out, of the newest claims of each user to one path. Claims
/// from this user's containers take precedence over claims from other users' containers.
Result<Claim> chosen(std::vector<Claim> claims) {
  const Claim first = claims.front();
  if (claims.size() > 1 && std::any_of(claims.begin(), claims.end(), is_own))
    std::erase_if(claims, [](const Claim& claim) { return !is_own(claim); });
  if (claims.size() > 1 && ::geteuid() == 0) leave_possible(claims);
  if (claims.empty()) return first;
  if (claims.size() == 1 || ::geteuid() != 0) return claims.front();
  std::string users;
  for (const Claim& claim : claims)
    users += (users.empty() ? "" : ", ") + std::to_string(claim.first->owner);
  return Error{Cause::system, "several users (" + users +
                                  ") have containers of a file with this path; let the owner of "
                                  "the file run `mcr recover`"};
}

/// Returns, for a message, with which user's rights root was refused.
std::string for_whom(const Result<Claim>& claim) {
  if (!claim || claim->first->owner == ::geteuid() || ::geteuid() != 0) return {};
  return " (tried with the rights of " + restart::user_text(claim->first->owner) +
         ", the owner of the container)";
}

/// Leaves out other users' sets in directories below the named one and its mcr/. Only their owners
/// and root can make their stubs again, and a neighbour's sets must not make the command fail.
void leave_out_others_below(SetsIn& found) {
  if (::geteuid() == 0) return;
  std::erase_if(found.sets, [&](const StoredSet& set) {
    const std::string home = restart::parent_of(set.prefix);
    const std::string above =
        restart::name_of(home) == "mcr" ? restart::parent_of(home) : std::string();
    return set.owner != ::geteuid() && home != found.top && above != found.top;
  });
}

}  // namespace

Result<Remaking> remake_stubs(const std::string& directory, bool dry_run) {
  const auto named = MCR_TRY(end_of_trusted_way(directory, "No stub was repaired"));
  auto sets = sets_in(directory, "recover");
  const int problem = sets ? 0 : sets.error().system_error;
  if (!sets && problem != ENOENT && problem != EACCES) return sets.error();
  MovedStubs moved = MCR_TRY(reconnect_moved_stubs(directory, named, dry_run));
  // If no container can be read by its path, there are no sets, but moved stubs are still reconnected.
  if (!sets && moved.containers > 0) sets = SetsIn{};
  // sets_in() has printed the same directories, unless it failed.
  if (problem == EACCES) print_not_looked_at(moved.left_out, "recover");
  SetsIn found = MCR_TRY(std::move(sets));
  // The stubs below one directory say nothing about the sets of another.
  if (found.top_identity && *found.top_identity != moved.top) return replaced_meanwhile(directory);
  leave_out_others_below(found);
  // By the stub's place, then by the user to whom the set is attributed. Sets come oldest first, so
  // that the newest claim remains.
  std::map<StubHome, std::map<uid_t, Claim>> newest;
  // Directory of containers, and name in it, of sets that count.
  std::set<std::pair<std::string, std::string>> others;
  const auto name_here = [](const StoredSet& set) {
    return std::pair(restart::parent_of(set.prefix), set.name_below());
  };
  for (const StoredSet& set : found.sets)
    if (!set.is_unused_copy) others.insert(name_here(set));
  for (const StoredSet& set : found.sets) {
    if (set.is_unused_copy && others.contains(name_here(set))) continue;
    for (const StoredPart& part : set.parts)
      newest[home_of(part)][set.beside.voice(set.owner)] = {&set, &part};
  }
  Bases bases(found.sets);
  std::set<std::string> refused;
  std::map<const StoredSet*, std::vector<std::string>> left_out;
  Remaking remaking;
  remaking.has_damage = found.has_damage;
  remaking.reconnected = std::move(moved.reconnected);
  remaking.needing_allow = std::move(moved.needing_allow);
  remaking.failures = std::move(moved.failures);
  for (const auto& [home, of_users] : newest) {
    std::vector<Claim> claims;
    for (const auto& [user, claim] : of_users) {
      if (is_wanted(claim, home.first, moved)) {
        claims.push_back(claim);
      } else if (is_younger_empty_file(*claim.first, restart::file_at(claim.second->open()))) {
        remaking.kept.push_back(claim.second->path);
      }
    }
    if (claims.empty()) continue;
    const std::string path = path_of_stub(*claims.front().second);
    const auto claim = chosen(std::move(claims));
    if (const auto belongs = claim ? bases.check(*claim->first) : Result<void>(); !belongs) {
      if (refused.insert(belongs.error().message).second)
        remaking.failures.push_back(belongs.error().message);
      continue;
    }
    if (claim && is_left_out(*claim)) {
      left_out[claim->first].push_back(path);
      continue;
    }
    const auto made = [&]() -> Result<void> {
      if (!claim) return claim.error();
      if (!dry_run) return remake_stub(*claim->first, *claim->second);
      MCR_TRY(open_home(*claim->first, *claim->second, true));
      return {};
    }();
    if (made) {
      const auto copy = moved.doubtful.find(claim->second->part);
      remaking.stubs.push_back({path, claim->first->prefix,
                                copy == moved.doubtful.end() ? std::string() : copy->second});
    } else {
      remaking.failures.push_back(path + ": " + made.error().message + for_whom(claim));
    }
  }
  for (const auto& [set, paths] : left_out) remaking.failures.push_back(left_out_text(*set, paths));
  return remaking;
}

}  // namespace mcr::aggregation
