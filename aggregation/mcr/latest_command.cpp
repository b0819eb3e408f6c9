// SPDX-License-Identifier: BSD-3-Clause
// mcr latest DIR: the newest set in which every rank is accounted for.
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <memory>
#include <optional>

#include "aggregation/commit/set_files.hpp"
#include "aggregation/mcr/commands.hpp"
#include "aggregation/mcr/distinct_sets.hpp"
#include "aggregation/mcr/exit_codes.hpp"
#include "aggregation/mcr/print.hpp"
#include "aggregation/mcr/restart_file.hpp"
#include "aggregation/mcr/set_step.hpp"
#include "aggregation/mcr/short_name.hpp"
#include "aggregation/mcr/sound_set.hpp"
#include "restart/base/counted.hpp"
#include "restart/base/path_names.hpp"

namespace mcr::aggregation {
namespace {

nlohmann::json to_json(const StoredSet& set, const std::string& name, const std::string& step) {
  nlohmann::json files = nlohmann::json::array();
  for (const StoredPart& part : set.parts) files.push_back(part.path);
  return {{"set", name},
          {"name", short_name(name)},
          {"step", step.empty() ? nlohmann::json() : nlohmann::json(step)},
          {"masked_name", set.name.masked_name},
          {"launch", set.name.launch},
          {"sequence", set.name.sequence},
          {"owner", set.owner},
          {"rank_count", set.rank_count},
          {"parts", set.parts.size()},
          {"state", wholeness_name(set.wholeness)},
          {"one_file", set.is_of_one_file},
          {"created_ns", set.created_ns},
          {"containers", set.containers},
          {"files", files}};
}

std::string nothing_found(const std::string& directory, const std::vector<StoredSet>& sets) {
  const bool are_files =
      !sets.empty() &&
      std::all_of(sets.begin(), sets.end(), [](const auto& set) { return set.is_of_one_file; });
  if (!are_files) {
    return directory +
           " has no whole set: for each set, ranks are missing or not known to have finished, or a "
           "later job wrote into some of its files only (`mcr latest --all` lists the sets)";
  }
  const std::string home = restart::parent_of(sets.back().prefix);
  return directory + " has no set to which each rank gave a file: each of its " +
         restart::counted(sets.size(), "container set") +
         " has one file, and no rank in its name. `mcr unpack " + home +
         " -d DIR` writes the newest of every file there, `mcr latest --all` shows all";
}

/// Returns the user that --owner names, by name or number.
Result<uid_t> user_of(const std::string& words) {
  if (words.empty()) return ::geteuid();
  if (const struct passwd* const account = ::getpwnam(words.c_str()); account != nullptr)
    return account->pw_uid;
  uid_t number = 0;
  const auto [end, problem] = std::from_chars(words.data(), words.data() + words.size(), number);
  if (problem == std::errc() && end == words.data() + words.size()) return number;
  return Error{Cause::usage, "--owner: there is no user " + words};
}

/// What --file, --directory and --rank ask for.
struct AskedPlace {
  bool file = false;
  bool directory = false;
  std::optional<std::uint32_t> rank;

  [[nodiscard]] bool is_asked() const { return file || directory; }
};

void declare_place(CLI::App& app, AskedPlace& asked, CLI::Option* all) {
  auto* const file =
      app.add_flag("--file", asked.file,
                   "print the path of one of the set's files, to be opened by a restart")
          ->excludes(all);
  app.add_flag("--directory", asked.directory, "print the directory of that file")
      ->excludes(all)
      ->excludes(file);
  app.add_option(
      "--rank", asked.rank,
      "the rank whose file --file and --directory mean; without it, the lowest rank that "
      "has a file");
}

/// Returns the path or the directory that was asked for.
Result<std::string> place_in(const StoredSet& set, const AskedPlace& asked) {
  std::string path = MCR_TRY(restart_path(set, asked.rank));
  return asked.file ? path : restart::parent_of(path);
}

}  // namespace

RunCommand declare_latest(CLI::App& app) {
  const auto directory = std::make_shared<std::string>();
  const auto all = std::make_shared<bool>(false);
  app.add_option("DIR", *directory, "directory of the checkpoints")->required();
  const auto quick = std::make_shared<bool>(false);
  app.add_flag("--quick", *quick, "trust the containers' tables; do not read the frames");
  auto* const all_option = app.add_flag("--all", *all, "every set, oldest first, with its state");
  const auto asked = std::make_shared<AskedPlace>();
  declare_place(app, *asked, all_option);
  const auto owner = std::make_shared<std::string>();
  app.add_option("--owner", *owner,
                 "name the newest set of this user (name or number) instead of the caller's");
  app.footer(
      "Prints the common beginning of the paths of the set's containers, as `mcr unpack` and `mcr "
      "ls` take it.\nIf sets of several directories have the same beginning "
      "(container_dir=../NAME), the name also has the\ndirectory of the files.\nA set of a single "
      "file without a rank in its name, written by a job of several ranks, is not named;\n--all "
      "shows it with the state `file`. Nor is a set whose containers were copied beside others, if "
      "no\nfile there belongs to it (state `copy`). In a directory where users cannot replace one "
      "another's files\n(sticky bit), only sets of the caller, of root "
      "and of the directory's owner count.\nExit codes: 0 found, 1 there is no whole set; 2 and 3 "
      "as for every command.");
  return [directory, all, quick, owner, asked](const CommonOptions& common) {
    if (asked->rank && !asked->is_asked()) {
      return print_error(common, "latest",
                         Error{Cause::usage, "--rank needs --file or --directory"});
    }
    const auto user = user_of(*owner);
    if (!user) return print_error(common, "latest", user.error());
    auto found = sets_in(*directory, "latest");
    if (!found) {
      Error error = found.error();
      // Not a usage error, because a restart script may ask before its first job has written
      // anything.
      if (error.system_error == ENOENT) error.cause = Cause::system;
      return print_error(common, "latest", error);
    }
    std::vector<StoredSet>& sets = found->sets;
    if (*all) {
      nlohmann::json list = nlohmann::json::array();
      const std::vector<std::string> steps = steps_of(sets, found->top);
      const std::vector<std::string> names = distinct_names(sets);
      for (std::size_t i = 0; i < sets.size(); ++i) {
        list.push_back(to_json(sets[i], names[i], steps[i]));
        if (!common.json) print_line(stdout, "%-10s %s", state_name(sets[i]), names[i].c_str());
      }
      if (common.json) print_json(list);
      return exit_code::success;
    }
    leave_out_others(*found, *user, "latest");
    const StoredSet* const newest = *quick ? newest_whole(sets) : newest_sound(sets, "latest");
    if (newest == nullptr) {
      return print_error(common, "latest", Error{Cause::system, nothing_found(*directory, sets)});
    }
    const auto number = static_cast<std::size_t>(newest - sets.data());
    const std::string name = distinct_names(sets)[number];
    const auto place = asked->is_asked() ? place_in(*newest, *asked) : name;
    if (!place) return print_error(common, "latest", place.error());
    if (common.json) {
      nlohmann::json told = to_json(*newest, name, steps_of(sets, found->top)[number]);
      if (asked->is_asked()) told[asked->file ? "file" : "directory"] = *place;
      print_json(told);
    } else {
      print_name(*place);
    }
    return exit_code::success;
  };
}

}  // namespace mcr::aggregation
