// SPDX-License-Identifier: BSD-3-Clause
// mcr verify CONTAINER|STUB|DIR…: reads all data, reports all damage, and tells which ranks can be
// restored.
#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>

#include "aggregation/mcr/commands.hpp"
#include "aggregation/mcr/containers_below.hpp"
#include "aggregation/mcr/exit_codes.hpp"
#include "aggregation/mcr/files_below.hpp"
#include "aggregation/mcr/named_containers.hpp"
#include "aggregation/mcr/open_container.hpp"
#include "aggregation/mcr/parallel.hpp"
#include "aggregation/mcr/print.hpp"
#include "aggregation/mcr/set_access.hpp"
#include "aggregation/mcr/sound_set.hpp"
#include "restart/base/counted.hpp"
#include "restart/base/limits.hpp"
#include "restart/base/path_names.hpp"
#include "restart/container/verify.hpp"
#include "restart/format/container_name.hpp"
#include "restart/open/open_part.hpp"
#include "restart/sets/native_members.hpp"
#include "restart/sets/stub_links.hpp"
#include "restart/stage/file_at.hpp"

namespace mcr::aggregation {
namespace {

struct VerifyCommand {
  std::vector<std::string> arguments;
  unsigned threads = 0;
  bool frames_only = false;
};

struct Verified {
  std::string name;
  std::string unreadable = {};  ///< why the file cannot be read, which says nothing about damage
  restart::VerifyReport report = {};
  /// The container opens, and its parts are known; if false, all parts are lost.
  bool opens = true;
  bool has_tables = true;    ///< if false, its parts were not verified
  bool whole_parts = false;  ///< each part was assembled and checked
};

/// Verifies one container. Fails if the file is not a container.
Result<Verified> verify_one(const std::string& name, const restart::VerifyOptions& options) {
  Verified verified{name};
  verified.whole_parts = options.whole_parts;
  const auto container = open_container(name);
  if (!container && container.error().cause == Cause::usage) return container.error();
  if (!container && container.error().cause == Cause::system) {
    verified.unreadable = container.error().message;
    return verified;
  }
  if (!container) {
    verified.report.damage.push_back(container.error().message);
    verified.opens = false;
    return verified;
  }
  auto report = restart::verify_container(**container, options);
  if (report) {
    verified.report = std::move(*report);
  } else {
    verified.report.damage.push_back(report.error().message);
    verified.opens = (*container)->parts().has_value();
    verified.has_tables = false;
  }
  return verified;
}

/// Containers that may belong to one set.
using VerifiedTogether = std::vector<Verified>;

Result<std::vector<VerifiedTogether>> verify_all(const VerifyCommand& command) {
  ProgressBar bar("verifying");
  restart::VerifyOptions options;
  options.whole_parts = !command.frames_only;
  options.parallel_for =
      parallel_on(command.threads == 0 ? restart::usable_cpu_count() : command.threads);
  options.progress = bar.function();
  std::vector<VerifiedTogether> all;
  for (const std::string& argument : command.arguments) {
    for (const auto& together : MCR_TRY(find_containers_below(argument, "verify"))) {
      all.emplace_back();
      for (const NamedContainer& container : together.containers)
        all.back().push_back(MCR_TRY(verify_one(container.path, options)));
    }
  }
  return all;
}

/// Returns which ranks of a damaged container cannot be restored. If the container does not open,
/// takes the ranks from its name.
std::string lost_ranks_text(const Verified& verified) {
  std::string ranks;
  for (const std::uint32_t rank : verified.report.damaged_ranks)
    ranks += " " + std::to_string(rank);
  if (!ranks.empty()) return "ranks that cannot be restored:" + ranks;
  if (verified.opens && !verified.has_tables)
    return "the container's tables are damaged: `mcr unpack --rank N` tries to restore rank N";
  if (verified.opens) {
    return verified.whole_parts ? "all ranks can be restored"
                                : "--frames-only does not tell which ranks can be restored; run "
                                  "`mcr verify` without it";
  }
  const auto name = restart::parse_container_name(restart::name_of(verified.name));
  const std::string of = name ? ", ranks " + std::to_string(name->first_rank) + " to " +
                                    std::to_string(name->last_rank)
                              : "";
  return "none of its files can be restored" + of;
}

void print_verified(const Verified& verified) {
  if (!verified.unreadable.empty())
    return print_line(stdout, "%s: not verified: %s", verified.name.c_str(),
                      verified.unreadable.c_str());
  const restart::VerifyReport& report = verified.report;
  for (const std::string& damage : report.damage) print_line(stdout, "%s", damage.c_str());
  if (report.damage.empty() && report.parts == 0) {
    print_line(stdout, "%s: sound: a supplement without parts", verified.name.c_str());
  } else if (report.damage.empty()) {
    print_line(stdout, "%s: sound: %s, %s, %s", verified.name.c_str(),
               restart::counted(report.parts, "part").c_str(),
               restart::counted(report.frames, "frame").c_str(),
               size_text(report.raw_bytes).c_str());
  } else {
    print_line(stdout, "%s: DAMAGED; %s", verified.name.c_str(), lost_ranks_text(verified).c_str());
  }
}

/// What `mcr verify` reports of a directory in addition to its containers: its sets, and stubs
/// without data.
struct VerifiedSet {
  std::string prefix;
  std::string state;  ///< "damaged", or wholeness_name()
  std::string shown;  ///< the same for messages to users: "damaged", or state_name()
  bool is_of_one_file = false;
  std::vector<std::string> damage;
};
struct VerifiedDirectory {
  std::vector<VerifiedSet> sets;
  std::vector<std::string> damage;
  std::vector<std::string> access;  ///< differences of access rights; these are not damage
};

/// Returns why the stub does not lead to its data; nothing if it does, if this user may not read the data, or if the file
/// is no stub.
std::optional<std::string> damage_of_stub(const restart::FileAt& there, const std::string& path) {
  const bool is_damaged = there.kind == restart::FileAt::Kind::damaged_stub;
  if (!there.is_stub() && !is_damaged) return std::nullopt;  // a file of the program
  const auto opened = is_damaged ? Result<std::unique_ptr<restart::PartSource>>(there.error)
                                 : restart::open_part(there.stub, path, "none");
  // The lines about containers name those that this user may not read.
  if (opened || opened.error().system_error == EACCES) return std::nullopt;
  return path + ": " + opened.error().message;
}

std::string normal(const std::filesystem::path& path) {
  std::error_code problem;
  return std::filesystem::absolute(path, problem).lexically_normal().string();
}

/// True if only our own links and notes lie in the directory: it is a directory of containers, or
/// one of ours in it.
bool is_ours(const std::string& directory, const std::set<std::string>& homes) {
  const std::string name = restart::name_of(directory);
  const bool is_named_so =
      name == restart::native_members_directory || restart::is_links_directory_name(name);
  return homes.contains(directory) ||
         (is_named_so && homes.contains(restart::parent_of(directory)));
}

/// Verifies stubs for which no container was found, in a directory and below it.
void verify_other_stubs(const std::string& directory, const std::set<std::string>& seen,
                        const std::set<std::string>& homes, std::vector<std::string>& damage) {
  const auto top = restart::File::open(AT_FDCWD, directory, O_RDONLY | O_DIRECTORY);
  if (!top) return;
  std::vector<std::string> paths;
  // What is not looked at was printed when the containers were searched for.
  (void)look_below(*top, directory, [&](const FileBelow& file) {
    std::string path = normal(file.path);
    if (!seen.contains(path) && !is_ours(restart::parent_of(path), homes))
      paths.push_back(std::move(path));
  });
  std::sort(paths.begin(), paths.end());
  for (const std::string& path : paths) {
    const auto there = restart::file_at(AT_FDCWD, path, restart::Links::not_followed);
    if (const auto why = damage_of_stub(there, path)) damage.push_back(*why);
  }
}

/// True if a newer set of the same masked name is whole. The program has then replaced the older
/// set's native files, as it would without mcr, and that is no damage.
bool is_superseded(const StoredSet& set, const std::vector<StoredSet>& sets) {
  return std::any_of(sets.rbegin(), sets.rend(), [&](const StoredSet& newer) {
    return newer.wholeness == Wholeness::whole && newer.name.masked_name == set.name.masked_name &&
           newer.owner == set.owner && is_older(set, newer);
  });
}

/// Adds the sets of containers that may belong together. A set with a damaged container is not
/// whole, whatever the container's tables say. `seen` gets the paths of their stubs.
void verify_sets_of(const VerifiedTogether& containers, VerifiedDirectory& found,
                    std::set<std::string>& seen) {
  std::vector<std::string> paths;
  std::set<std::string> damaged;
  for (const Verified& container : containers) {
    paths.push_back(container.name);
    if (!container.report.damage.empty()) damaged.insert(container.name);
  }
  std::vector<Error> unreadable;
  const std::vector<StoredSet> sets = stored_sets(paths, unreadable);
  for (const StoredSet& set : sets) {
    const bool is_damaged =
        set.is_broken || std::any_of(set.containers.begin(), set.containers.end(),
                                     [&](const auto& path) { return damaged.contains(path); });
    found.sets.push_back({set.prefix, is_damaged ? "damaged" : wholeness_name(set.wholeness),
                          is_damaged ? "damaged" : state_name(set), set.is_of_one_file,
                          set.damaged});
    for (std::string& differs : differing_access(set)) found.access.push_back(std::move(differs));
    const bool is_old = !set.lost_natives.empty() && is_superseded(set, sets);
    for (const std::string& lost : is_old ? std::vector<std::string>() : set.lost_natives)
      found.damage.push_back(lost + ": a native file of " + set.prefix +
                             "* was replaced or removed");
    for (const StoredPart& part : set.parts) {
      const std::string path = part.home->base + "/" + part.below;
      if (!seen.insert(normal(path)).second) continue;
      if (const auto why = damage_of_stub(restart::file_at(part.open()), path))
        found.damage.push_back(*why);
    }
  }
}

/// Returns the sets, oldest first in each directory, and what is wrong with stubs.
VerifiedDirectory verify_sets(const std::vector<VerifiedTogether>& all,
                              const std::vector<std::string>& arguments) {
  VerifiedDirectory found;
  std::set<std::string> seen;
  std::set<std::string> homes;
  for (const VerifiedTogether& containers : all) {
    verify_sets_of(containers, found, seen);
    for (const Verified& container : containers)
      homes.insert(normal(restart::parent_of(container.name)));
  }
  for (const std::string& argument : arguments)
    verify_other_stubs(argument, seen, homes, found.damage);
  return found;
}

}  // namespace

RunCommand declare_verify(CLI::App& app) {
  const auto command = std::make_shared<VerifyCommand>();
  app.add_option("CONTAINER", command->arguments, "containers, stubs or directories")->required();
  app.add_option("-j,--threads", command->threads, "0: all cores that this process may use");
  app.add_flag("--frames-only", command->frames_only,
               "check the frames only, do not restore whole parts: faster");
  app.footer(usual_exit_codes);
  return [command](const CommonOptions& common) {
    const auto all = verify_all(*command);
    if (!all) return print_error(common, "verify", all.error());
    bool damaged = false;
    bool unreadable = false;
    nlohmann::json json = nlohmann::json::array();
    std::vector<Verified> containers;
    for (const VerifiedTogether& together : *all)
      containers.insert(containers.end(), together.begin(), together.end());
    for (const Verified& verified : containers) {
      damaged |= !verified.report.damage.empty();
      unreadable |= !verified.unreadable.empty();
      if (!common.json) print_verified(verified);
      json.push_back({{"container", verified.name},
                      {"sound", verified.report.damage.empty() && verified.unreadable.empty()},
                      {"damage", verified.report.damage},
                      {"damaged_ranks", verified.report.damaged_ranks},
                      {"parts", verified.report.parts},
                      {"frames", verified.report.frames},
                      {"raw_bytes", verified.report.raw_bytes}});
      if (!verified.unreadable.empty()) json.back()["error"] = verified.unreadable;
    }
    const VerifiedDirectory directory = verify_sets(*all, command->arguments);
    nlohmann::json sets = nlohmann::json::array();
    for (const VerifiedSet& set : directory.sets) {
      if (!common.json) print_line(stdout, "%-10s %s*", set.shown.c_str(), set.prefix.c_str());
      sets.push_back({{"set", set.prefix},
                      {"state", set.state},
                      {"one_file", set.is_of_one_file},
                      {"damage", set.damage}});
    }
    for (const std::string& what : directory.damage) {
      if (!common.json) print_line(stdout, "%s", what.c_str());
    }
    for (const std::string& what : directory.access) {
      if (!common.json) print_line(stdout, "%s", what.c_str());
    }
    damaged |= !directory.damage.empty();
    if (common.json)
      print_json({{"containers", json},
                  {"sets", sets},
                  {"damage", directory.damage},
                  {"access", directory.access}});
    return damaged ? exit_code::damaged : unreadable ? exit_code::failure : exit_code::success;
  };
}

}  // namespace mcr::aggregation
