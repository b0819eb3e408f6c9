// SPDX-License-Identifier: BSD-3-Clause
// mcr unpack CONTAINER|STUB|SET -d DIR: the rank files again, byte for byte.
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <tuple>

#include "aggregation/commit/retention.hpp"
#include "aggregation/leader/lifetime.hpp"
#include "aggregation/mcr/commands.hpp"
#include "aggregation/mcr/open_container.hpp"
#include "aggregation/mcr/options.hpp"
#include "aggregation/mcr/print.hpp"
#include "restart/base/counted.hpp"
#include "restart/base/limits.hpp"
#include "restart/base/path_names.hpp"
#include "restart/native_members.hpp"
#include "restart/unpack.hpp"

namespace mcr::aggregation {
namespace {

struct UnpackCommand {
  std::vector<std::string> arguments;
  std::string directory;
  std::vector<std::uint32_t> ranks;
  unsigned threads = 0;
  bool force = false;
};

using Containers = std::vector<std::shared_ptr<restart::ContainerReader>>;

/// A file that was opened again and amended after its set was committed lies in a container of its
/// own beside the set's: of each file the part that was committed last is the file, whatever the
/// order of the containers' names.
Result<std::set<restart::PartId>> replaced_parts(const Containers& containers) {
  using Path = std::tuple<std::string, std::string, std::uint64_t, std::string>;
  struct Newest {
    std::uint64_t created_ns;
    restart::PartId part;
  };
  std::map<Path, Newest> newest;
  std::set<restart::PartId> replaced;
  for (const auto& container : containers) {
    const restart::SetIdentity& set = container->set();
    for (const restart::PartRecord& record : *MCR_TRY(container->parts())) {
      const Newest here{set.created_ns, record.entry.part};
      const auto [there, is_first] = newest.try_emplace(
          Path{set.masked_name, set.launch, set.sequence, record.entry.path}, here);
      if (is_first || there->second.part == here.part) continue;
      const bool is_newer = here.created_ns >= there->second.created_ns;
      replaced.insert(is_newer ? there->second.part : here.part);
      if (is_newer) there->second = here;
    }
  }
  return replaced;
}

/// Members of the sets that are no container's: native files, at their paths or kept aside.
Result<void> copy_natives(const Containers& containers, const UnpackCommand& command,
                          restart::UnpackReport& report) {
  namespace fs = std::filesystem;
  const auto copying =
      command.force ? fs::copy_options::overwrite_existing : fs::copy_options::none;
  for (const auto& container : containers) {
    const std::string home = restart::parent_of(container->name());
    for (const restart::NativeMember& native : container->set().natives) {
      const bool wanted =
          command.ranks.empty() ||
          std::find(command.ranks.begin(), command.ranks.end(), native.rank) != command.ranks.end();
      if (!wanted) continue;
      const std::string path =
          native.path.starts_with('/')
              ? native.path
              : base_of(container->name(), container->set()) + "/" + native.path;
      const std::string place = restart::place_of_native(home, native, path);
      if (place.empty()) {
        return Error{Cause::damaged, path + ", a native file of the set (rank " +
                                         std::to_string(native.rank) +
                                         "), was replaced or removed"};
      }
      const std::string below = restart::path_below(native.path, native.rank);
      const fs::path target = fs::path(command.directory) / below;
      std::error_code problem;
      fs::create_directories(target.parent_path(), problem);
      fs::copy_file(place, target, copying, problem);
      if (problem) {
        return Error{problem == std::errc::file_exists ? Cause::usage : Cause::system,
                     target.string() + ": " + problem.message()};
      }
      report.bytes += native.size;
      report.files.push_back(below);
    }
  }
  return {};
}

Result<restart::UnpackReport> unpack_all(const UnpackCommand& command) {
  lift_limits();
  if (::mkdir(command.directory.c_str(), 0777) != 0 && errno != EEXIST) {
    return restart::system_error("mkdir", command.directory);
  }
  ProgressBar bar("unpacking");
  restart::UnpackOptions options;
  options.ranks = command.ranks;
  options.replace = command.force;
  options.parallel_for =
      parallel_on(command.threads == 0 ? restart::usable_cpu_count() : command.threads);
  options.progress = bar.function();
  Containers containers;
  for (const std::string& argument : command.arguments) {
    for (const std::string& name : MCR_TRY(find_containers(argument))) {
      const bool again = std::any_of(containers.begin(), containers.end(),
                                     [&](const auto& it) { return it->name() == name; });
      if (!again) containers.push_back(MCR_TRY(open_container(name)));
    }
  }
  options.without = MCR_TRY(replaced_parts(containers));
  restart::UnpackReport all;
  for (const auto& container : containers) {
    restart::UnpackReport report = MCR_TRY(restart::unpack(*container, command.directory, options));
    all.bytes += report.bytes;
    all.files.insert(all.files.end(), report.files.begin(), report.files.end());
  }
  MCR_TRY(copy_natives(containers, command, all));
  if (all.files.empty()) return Error{Cause::usage, "no part of these ranks"};
  return all;
}

}  // namespace

RunCommand declare_unpack(CLI::App& app) {
  const auto command = std::make_shared<UnpackCommand>();
  app.add_option("CONTAINER", command->arguments,
                 "container, stub, or the beginning of a set's containers")
      ->required();
  app.add_option("-d,--directory", command->directory, "where the files go")->required();
  app.add_option("--rank", command->ranks, "only these ranks")->delimiter(',');
  app.add_option("-j,--threads", command->threads, "0: all cores that this process may use");
  app.add_flag("-f,--force", command->force, "replace files that are there");
  return [command](const CommonOptions& common) {
    const auto report = unpack_all(*command);
    if (!report) return print_error(common, "unpack", report.error());
    if (common.json) {
      print_json(
          {{"directory", command->directory}, {"files", report->files}, {"bytes", report->bytes}});
    } else {
      std::printf("%s, %s, in %s\n", restart::counted(report->files.size(), "file").c_str(),
                  size_text(report->bytes).c_str(), command->directory.c_str());
    }
    return exit_code::success;
  };
}

}  // namespace mcr::aggregation
