// SPDX-License-Identifier: BSD-3-Clause
// mcr ls CONTAINER|STUB|DIR…: sets, ranks, sizes; with -v every variable, with its pipeline.
#include <fcntl.h>

#include <memory>

#include "aggregation/mcr/commands.hpp"
#include "aggregation/mcr/options.hpp"
#include "aggregation/mcr/print.hpp"
#include "codecs/frame.hpp"
#include "restart/container_reader.hpp"

namespace mcr::aggregation {
namespace {

struct LsCommand {
  std::vector<std::string> arguments;
  bool verbose = false;
};

struct ListedVariable {
  std::string name;
  std::uint64_t raw_bytes = 0;
  std::uint64_t stored_bytes = 0;
  std::uint32_t frames = 0;
  std::string pipeline;  ///< of the first frame
};

struct Listed {
  std::string name;
  restart::SetIdentity set;
  std::vector<restart::PartRecord> parts;
  std::vector<ListedVariable> variables;
  std::uint64_t raw_bytes = 0;     ///< of the parts
  std::uint64_t stored_bytes = 0;  ///< of the file
};

Result<std::string> pipeline_of(restart::ContainerReader& container,
                                const restart::DatasetEntry& dataset) {
  if (dataset.storage == restart::DatasetStorage::deflate) return std::string("shuffle, deflate");
  if (dataset.frame_count == 0) return std::string();
  const restart::FramePlace place = MCR_TRY(container.frame_place(dataset, 0));
  Bytes stored;
  MCR_TRY(container.stored_frame(place, stored));
  const codecs::FrameInfo info = MCR_TRY(codecs::read_frame_info(stored));
  return info.link ? std::string("linked") : info.pipeline.print();
}

Result<Listed> list(const std::string& name) {
  const auto container = MCR_TRY(restart::ContainerReader::open(AT_FDCWD, name));
  Listed listed{name, container->set(), *MCR_TRY(container->parts()), {}, 0, 0};
  const restart::File file = MCR_TRY(restart::File::open(AT_FDCWD, name, O_RDONLY));
  listed.stored_bytes = MCR_TRY(file.size());
  for (const restart::PartRecord& part : listed.parts) listed.raw_bytes += part.entry.size;
  for (const restart::DatasetEntry& dataset : *MCR_TRY(container->datasets())) {
    ListedVariable variable{dataset.name, dataset.raw_bytes, 0, dataset.frame_count, {}};
    for (std::uint32_t i = 0; i < dataset.frame_count; ++i) {
      variable.stored_bytes += MCR_TRY(container->frame_place(dataset, i)).stored_bytes;
    }
    variable.pipeline = MCR_TRY(pipeline_of(*container, dataset));
    listed.variables.push_back(std::move(variable));
  }
  return listed;
}

/// "0-7", "0-3,5": runs of ranks.
std::string ranks_text(const std::vector<restart::PartRecord>& parts) {
  std::string text;
  for (std::size_t i = 0; i < parts.size();) {
    std::size_t end = i;
    while (end + 1 < parts.size() && parts[end + 1].entry.rank == parts[end].entry.rank + 1) ++end;
    if (!text.empty()) text += ",";
    text += std::to_string(parts[i].entry.rank);
    if (end > i) text += "-" + std::to_string(parts[end].entry.rank);
    i = end + 1;
  }
  return text.empty() ? "none" : text;
}

void print_listed(const Listed& listed, bool verbose) {
  const restart::SetIdentity& set = listed.set;
  std::printf(
      "%s\n  %s, launch %s, sequence %llu\n  ranks %s of %u%s, %zu variables, %s -> %s (%sx), %s, "
      "%s\n",
      listed.name.c_str(), set.masked_name.c_str(), set.launch.c_str(),
      static_cast<unsigned long long>(set.sequence), ranks_text(listed.parts).c_str(),
      set.rank_count, set.passed_ranks.empty() ? "" : " (others passed)",
      static_cast<std::size_t>(std::count_if(
          listed.variables.begin(), listed.variables.end(),
          [](const ListedVariable& variable) { return variable.name != "skeletons"; })),
      size_text(listed.raw_bytes).c_str(), size_text(listed.stored_bytes).c_str(),
      ratio_text(listed.raw_bytes, listed.stored_bytes).c_str(), set.scheme.c_str(),
      set.profile.c_str());
  if (!verbose) return;
  Table table({"variable", "raw", "stored", "ratio", "frames", "pipeline"},
              {false, true, true, true, true, false});
  for (const ListedVariable& variable : listed.variables) {
    table.add({variable.name, size_text(variable.raw_bytes), size_text(variable.stored_bytes),
               ratio_text(variable.raw_bytes, variable.stored_bytes),
               std::to_string(variable.frames), variable.pipeline});
  }
  table.print();
}

nlohmann::json to_json(const Listed& listed) {
  nlohmann::json parts = nlohmann::json::array();
  for (const restart::PartRecord& part : listed.parts) {
    parts.push_back({{"rank", part.entry.rank},
                     {"path", part.entry.path},
                     {"size", part.entry.size},
                     {"id", part.entry.part.text()}});
  }
  nlohmann::json variables = nlohmann::json::array();
  for (const ListedVariable& variable : listed.variables) {
    variables.push_back({{"name", variable.name},
                         {"raw_bytes", variable.raw_bytes},
                         {"stored_bytes", variable.stored_bytes},
                         {"frames", variable.frames},
                         {"pipeline", variable.pipeline}});
  }
  return {{"container", listed.name},
          {"masked_name", listed.set.masked_name},
          {"launch", listed.set.launch},
          {"sequence", listed.set.sequence},
          {"rank_count", listed.set.rank_count},
          {"passed_ranks", listed.set.passed_ranks},
          {"scheme", listed.set.scheme},
          {"profile", listed.set.profile},
          {"writer", listed.set.writer},
          {"raw_bytes", listed.raw_bytes},
          {"container_bytes", listed.stored_bytes},
          {"parts", parts},
          {"variables", variables}};
}

}  // namespace

RunCommand declare_ls(CLI::App& app) {
  const auto command = std::make_shared<LsCommand>();
  app.add_option("CONTAINER", command->arguments, "containers, stubs or directories")->required();
  app.add_flag("-v,--verbose", command->verbose, "every variable, with its pipeline");
  return [command](const CommonOptions& common) {
    int code = exit_code::success;
    nlohmann::json json = nlohmann::json::array();
    for (const std::string& argument : command->arguments) {
      const auto names = find_containers(argument);
      if (!names) return print_error(common, "ls", names.error());
      for (const std::string& name : *names) {
        const auto listed = list(name);
        if (!listed) {
          code = print_error({}, "ls", listed.error());
          json.push_back({{"container", name}, {"error", listed.error().message}});
          continue;
        }
        json.push_back(to_json(*listed));
        if (!common.json) print_listed(*listed, command->verbose);
      }
    }
    if (common.json) print_json(json);
    return code;
  };
}

}  // namespace mcr::aggregation
