// SPDX-License-Identifier: BSD-3-Clause
// mcr gc DIR: shows the containers that are no longer needed; removes them with --remove. These are
// the containers of sets whose stubs the program has deleted or overwritten, and which a newer
// whole set with the same names replaces.
#include <fcntl.h>

#include <cstdio>
#include <memory>

#include "aggregation/commit/retention.hpp"
#include "aggregation/commit/set_files.hpp"
#include "aggregation/mcr/commands.hpp"
#include "aggregation/mcr/options.hpp"
#include "aggregation/mcr/print.hpp"
#include "aggregation/mcr/sound_set.hpp"
#include "restart/base/durable_replace.hpp"
#include "restart/base/file.hpp"
#include "restart/base/path_names.hpp"

namespace mcr::aggregation {
namespace {

struct GcWords {
  std::string directory;
  bool remove = false;
};

Result<void> sync(const std::string& directory) {
  const auto home = MCR_TRY(restart::File::open(AT_FDCWD, directory, O_RDONLY | O_DIRECTORY));
  return restart::sync_directory(home.descriptor());
}

}  // namespace

RunCommand declare_gc(CLI::App& app) {
  const auto words = std::make_shared<GcWords>();
  app.add_option("DIR", words->directory, "directory of the checkpoints")->required();
  app.add_flag("--remove", words->remove,
               "remove the containers; without this option they are only listed");
  app.footer(
      "A set is kept while one of its stubs lies below the directory that its ranks share. If the "
      "set was written with\ngc=on, it is also kept while a stub that was moved or linked "
      "elsewhere exists. Without gc=on, mcr does not find\nstubs that were moved elsewhere: check "
      "the list before you use --remove. A copy of a stub elsewhere keeps nothing.\nExit codes: 0 "
      "done, 1 a container could not be removed; 2 as for every command.");
  return [words](const CommonOptions& common) {
    const auto found = sets_in(words->directory, "gc");
    if (!found) return print_error(common, "gc", found.error());
    nlohmann::json list = nlohmann::json::array();
    std::uint64_t bytes = 0;
    const auto orders = superseded(found->sets);
    if (!orders) return print_error(common, "gc", orders.error());
    for (const GivenUp& order : *orders) {
      const StoredSet& set = *order.set;
      // Before a set is removed, the set that replaces it must be durable.
      const std::string home = restart::parent_of(set.prefix);
      if (words->remove) {
        const auto synced = sync(home);
        const auto removed = synced ? remove_set(order) : synced;
        if (!removed) return print_error(common, "gc", removed.error());
      }
      for (const std::string& path : set.containers) {
        list.push_back(path);
        if (!common.json) print_line(stdout, "%s", path.c_str());
      }
      bytes += set.container_bytes;
    }
    if (common.json) {
      print_json({{"removed", words->remove}, {"containers", list}, {"bytes", bytes}});
    } else if (list.empty()) {
      print_line(stdout, "nothing to remove");
    } else {
      print_line(stdout, "%zu containers, %s%s", list.size(), size_text(bytes).c_str(),
                 words->remove ? " removed" : "; remove them with --remove");
    }
    return exit_code::success;
  };
}

}  // namespace mcr::aggregation
