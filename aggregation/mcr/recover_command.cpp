// SPDX-License-Identifier: BSD-3-Clause
// mcr recover [DIR…]: what dead jobs and dead leaders left on this node goes to storage. Below DIR, stubs
// that were moved lead to their containers again, and those that are missing or damaged are made again.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <map>
#include <memory>

#include "aggregation/commit/retention.hpp"
#include "aggregation/mcr/commands.hpp"
#include "aggregation/mcr/launch_report.hpp"
#include "aggregation/mcr/moved_stubs.hpp"
#include "aggregation/mcr/options.hpp"
#include "aggregation/mcr/sound_set.hpp"
#include "aggregation/mcr/surroundings.hpp"
#include "restart/base/durable_replace.hpp"
#include "restart/base/file.hpp"
#include "restart/base/path_names.hpp"
#include "restart/base/system.hpp"
#include "restart/base/trust.hpp"
#include "restart/stub_file.hpp"

namespace mcr::aggregation {
namespace {

using restart::File;

struct RecoverWords {
  std::vector<std::string> directories;
  std::string stage;
  std::string timeout = "10 min";
  bool dry_run = false;
};

struct Remade {
  std::string path;
  std::string set;
};

/// Whether the part's path has lost its stub: nothing, an empty file or a damaged stub lies there. A file
/// of another user than the set's owner is never replaced.
bool needs_stub(const StoredSet& set, const StoredPart& part) {
  const auto file = part.open();
  if (!file) return file.error().system_error == ENOENT || part.below.empty();
  const auto status = file->status();
  if (!status || !S_ISREG(status->st_mode) || status->st_uid != set.owner) return false;
  const auto size = file->size();
  if (size && *size == 0) return true;  // its writer died before it could fill in the stub
  if (!restart::is_stub_file(*file)) return false;
  const auto stub = restart::read_stub_file(*file);
  return !stub && stub.error().cause == Cause::damaged;
}

/// Whether the set's owner could have made a file there himself.
bool may_make_files(const struct stat& directory, const StoredSet& set) {
  if (directory.st_uid == set.owner) return true;
  if ((directory.st_mode & S_ISVTX) != 0) return false;  // names there are their owners' alone
  const bool by_group = directory.st_gid == set.group && (directory.st_mode & S_IWGRP) != 0;
  return by_group || (directory.st_mode & S_IWOTH) != 0;
}

/// Root makes files for the set's owner, who gets them.
Result<void> give_to_owner(const File& made, const StoredSet& set) {
  if (::geteuid() == set.owner) return {};
  if (restart::system_calls().fchown(made.descriptor(), set.owner, set.group) != 0)
    return restart::system_error("cannot give to its owner", made.name());
  return {};
}

/// The directory that the part's stub goes to. Directories of single ranks (out/3/dump.h5) may have
/// gone with their stubs.
Result<File> open_home(const StoredSet& set, const StoredPart& part) {
  File home = MCR_TRY(File::open(AT_FDCWD, part.base, O_RDONLY | O_DIRECTORY));
  for (std::size_t begin = 0;;) {
    if (::geteuid() != set.owner && !may_make_files(MCR_TRY(home.status()), set)) {
      return Error{Cause::system,
                   "user " + std::to_string(set.owner) +
                       ", whose container says so, may not make "
                       "files there",
                   EPERM};
    }
    const std::size_t slash = part.below.find('/', begin);
    if (slash == std::string::npos) return home;
    const std::string name = part.below.substr(begin, slash - begin);
    const bool is_new = restart::system_calls().mkdirat(home.descriptor(), name.c_str(), 0777) == 0;
    if (!is_new && errno != EEXIST) return restart::system_error("cannot make directory", name);
    home = MCR_TRY(restart::open_beneath(home.descriptor(), name, O_RDONLY | O_DIRECTORY));
    if (is_new) MCR_TRY(give_to_owner(home, set));
    begin = slash + 1;
  }
}

Result<void> make_stub(const StoredSet& set, const StoredPart& part) {
  if (part.below.empty()) {
    return Error{Cause::system, "the container " + set.prefix +
                                    "* names a place outside of its own directory, and nothing is "
                                    "made there"};
  }
  if (::geteuid() != set.owner && ::geteuid() != 0) {
    return Error{Cause::system, "the container " + set.prefix + "* belongs to user " +
                                    std::to_string(set.owner) +
                                    ": let that user, or root, run `mcr recover`"};
  }
  restart::Stub stub;
  stub.part = part.part;
  stub.launch = set.name.launch;
  stub.sequence = set.name.sequence;
  stub.rank = part.rank;
  stub.rank_count = set.rank_count;
  stub.masked_names = {set.name.masked_name};
  stub.container_directory = set.container_dir;
  stub.path = part.path;
  const File home = MCR_TRY(open_home(set, part));
  const std::string name = restart::name_of(part.below);
  // Only what this very directory has there now, and only the set owner's, is replaced.
  struct stat there {};
  const bool is_there = restart::system_calls().fstatat(home.descriptor(), name.c_str(), &there,
                                                        AT_SYMLINK_NOFOLLOW) == 0;
  if (is_there && (!S_ISREG(there.st_mode) || there.st_uid != set.owner ||
                   there.st_size > static_cast<off_t>(restart::Stub::max_bytes)))
    return Error{Cause::system, "somebody else's file lies there", EEXIST};
  restart::PendingFile pending = MCR_TRY(restart::PendingFile::create(
      home.descriptor(), name, (part.mode == 0 ? 0644 : part.mode) & 0777));
  MCR_TRY(pending.file().write_at(0, restart::write_stub(stub)));
  MCR_TRY(give_to_owner(pending.file(), set));
  MCR_TRY(pending.finish(restart::Durability::durable,
                         is_there ? restart::Existing::replaced : restart::Existing::kept));
  link_again(restart::parent_of(set.prefix), part.part, pending.file(), part.path);
  return {};
}

struct Remaking {
  std::vector<Remade> stubs;
  std::vector<std::string> mended;    ///< moved stubs that lead to their containers again
  std::vector<std::string> failures;  ///< one path that cannot be written keeps no other from it
  bool has_damage = false;            ///< nor does a container that cannot be read
};
Result<Remaking> remake_stubs(const std::string& directory, bool dry_run) {
  auto sets = sets_in(directory, "recover");
  if (!sets && sets.error().system_error != ENOENT) return sets.error();
  MovedStubs moved = MCR_TRY(mend_moved_stubs(directory, dry_run));
  // Containers further below are asked for moved stubs alone.
  if (!sets && moved.containers > 0) sets = SetsIn{};
  const SetsIn found = MCR_TRY(std::move(sets));
  std::map<std::string, std::pair<const StoredSet*, const StoredPart*>>
      newest;  // sets are oldest first
  for (const StoredSet& set : found.sets) {
    for (const StoredPart& part : set.parts) newest[part.path] = {&set, &part};
  }
  Remaking remaking;
  remaking.has_damage = found.has_damage;
  remaking.mended = std::move(moved.mended);
  remaking.failures = std::move(moved.failures);
  for (const auto& [path, part] : newest) {
    // A file that was renamed is not missing.
    if (moved.present.contains(part.second->part) || !needs_stub(*part.first, *part.second))
      continue;
    const auto made = dry_run ? Result<void>() : make_stub(*part.first, *part.second);
    if (made) {
      remaking.stubs.push_back({path, part.first->prefix});
    } else {
      remaking.failures.push_back(path + ": " + made.error().message);
    }
  }
  return remaking;
}

}  // namespace

RunCommand declare_recover(CLI::App& app) {
  const auto words = std::make_shared<RecoverWords>();
  app.add_option("DIR", words->directories,
                 "directories of checkpoints whose stubs are to be made again");
  app.add_option("--stage", words->stage, "directory of the stage (the setting stage=)");
  app.add_option("--timeout", words->timeout, "how long to wait at most")->capture_default_str();
  app.add_flag("-n,--dry-run", words->dry_run, "only say what would be done");
  app.footer(
      "Files that a program has removed on purpose come back too when their directory is named.\n"
      "Exit codes: 0 all is committed, 4 not within the time, 1 storage refuses, 3 a container "
      "below "
      "DIR is damaged; 2 as everywhere.");
  return [words](const CommonOptions& common) {
    const auto limit = restart::parse_duration(words->timeout);
    if (!limit) return print_error(common, "recover", limit.error());
    const auto stage = stage_path(words->stage);
    if (!stage) return print_error(common, "recover", stage.error());
    const auto before = look_at_stage(*stage);
    if (!before) return print_error(common, "recover", before.error());
    std::size_t published = 0;
    std::size_t open = 0;
    for (const LaunchStatus& launch : *before) {
      published += launch.published;
      open += launch.processes == 0 ? launch.open : 0;
    }
    Drained drained{true, {}};
    if (!words->dry_run) {
      auto waited = drain_stage(*stage, *limit);
      if (!waited) return print_error(common, "recover", waited.error());
      drained = std::move(*waited);
      // Directories of launches that are over, with nothing or with kept parts in them, go too.
      if (drained.complete) (void)adopt_launches(*stage, {}, true).has_value();
    }
    nlohmann::json stubs = nlohmann::json::array();
    nlohmann::json mended = nlohmann::json::array();
    bool has_failed = false;
    bool has_damage = false;
    for (const std::string& directory : words->directories) {
      const auto remade = remake_stubs(directory, words->dry_run);
      if (!remade) return print_error(common, "recover", remade.error());
      for (const std::string& failure : remade->failures)
        print_line(stderr, "mcr recover: no stub at %s", failure.c_str());
      has_failed |= !remade->failures.empty();
      has_damage |= remade->has_damage;
      for (const std::string& path : remade->mended) {
        mended.push_back(path);
        if (!common.json) std::printf("stub leads to its container again: %s\n", path.c_str());
      }
      for (const Remade& stub : remade->stubs) {
        stubs.push_back({{"path", stub.path}, {"set", stub.set}});
        if (!common.json) print_line(stdout, "stub made again: %s", stub.path.c_str());
      }
    }
    if (common.json) {
      print_json({{"published", published},
                  {"left_open", open},
                  {"complete", drained.complete},
                  {"left", to_json(drained.left)},
                  {"mended", mended},
                  {"stubs", stubs}});
    } else if (published + open == 0) {
      print_line(stdout, "nothing was left to recover in the stage %s", stage->c_str());
    } else {
      print_line(stdout, "%zu published parts and %zu of dead writers in %s%s", published, open,
                 stage->c_str(),
                 words->dry_run     ? ""
                 : drained.complete ? ": all dealt with"
                                    : "");
    }
    if (drained.complete) {
      return has_failed ? exit_code::failure : has_damage ? exit_code::damaged : exit_code::success;
    }
    print_left("recover", drained.left);
    bool anybody_tries = false;
    for (const LaunchStatus& launch : drained.left) anybody_tries |= launch.has_leader;
    return anybody_tries ? exit_code::pending : exit_code::failure;
  };
}

}  // namespace mcr::aggregation
