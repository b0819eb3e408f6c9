// SPDX-License-Identifier: BSD-3-Clause
// mcr recover [DIR…]: what dead jobs and dead leaders left on this node goes to storage. Below DIR, stubs
// that were moved lead to their containers again, and those that are missing or damaged are made again.
#include <fcntl.h>
#include <sys/stat.h>

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

/// A stub for the newest part of each path, where nothing, an empty file or a damaged stub lies.
bool needs_stub(const std::string& path) {
  const auto file = File::open(AT_FDCWD, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if (!file) return file.error().system_error == ENOENT;
  const auto size = file->size();
  if (size && *size == 0) return true;  // its writer died before it could fill in the stub
  if (!restart::is_stub_file(*file)) return false;
  const auto stub = restart::read_stub_file(*file);
  return !stub && stub.error().cause == Cause::damaged;
}

/// The setting container_dir as it must have been, seen from the directory that all parts share.
std::string container_dir_of(const StoredSet& set, const std::string& base) {
  const std::string& container = set.containers.front();
  const std::string directory = restart::parent_of(container);
  const std::string name = restart::name_of(directory);
  struct stat inside {};
  struct stat there {};
  const bool is_inside = ::stat((base + "/" + name).c_str(), &inside) == 0 &&
                         ::stat(directory.c_str(), &there) == 0 && inside.st_ino == there.st_ino &&
                         inside.st_dev == there.st_dev;
  return is_inside ? name : "../" + name;
}

Result<void> make_stub(const StoredSet& set, const StoredPart& part) {
  restart::SetIdentity identity;
  identity.masked_name = set.name.masked_name;
  identity.launch = set.name.launch;
  identity.sequence = set.name.sequence;
  const std::string base = base_of(set.containers.front(), identity);
  restart::Stub stub;
  stub.part = part.part;
  stub.launch = set.name.launch;
  stub.sequence = set.name.sequence;
  stub.rank = part.rank;
  stub.rank_count = set.rank_count;
  stub.masked_names = {set.name.masked_name};
  stub.container_directory = container_dir_of(set, base);
  stub.path = part.path;
  const std::string directory = restart::parent_of(part.path);
  // Directories of single ranks (out/3/dump.h5) may have gone with their stubs.
  for (std::size_t slash = base.size(); slash != std::string::npos && slash < part.path.size();) {
    slash = part.path.find('/', slash + 1);
    if (slash != std::string::npos) (void)::mkdir(part.path.substr(0, slash).c_str(), 0777);
  }
  const File home = MCR_TRY(File::open(AT_FDCWD, directory, O_RDONLY | O_DIRECTORY));
  MCR_TRY(restart::replace_file(home.descriptor(), part.path.substr(directory.size() + 1),
                                restart::write_stub(stub), part.mode,
                                restart::Durability::durable));
  link_again(restart::parent_of(set.prefix), part.part, part.path);
  return {};
}

struct Remaking {
  std::vector<Remade> stubs;
  std::vector<std::string> mended;    ///< moved stubs that lead to their containers again
  std::vector<std::string> failures;  ///< one path that cannot be written keeps no other from it
  bool has_damage = false;            ///< nor does a container that cannot be read
};
Result<Remaking> remake_stubs(const std::string& directory, bool dry_run) {
  MovedStubs moved = MCR_TRY(mend_moved_stubs(directory, dry_run));
  auto sets = sets_in(directory, "recover");
  // Containers further below are asked for moved stubs alone.
  if (!sets && sets.error().system_error == ENOENT && moved.containers > 0) sets = SetsIn{};
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
    if (moved.present.contains(part.second->part) || !needs_stub(path)) continue;
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
