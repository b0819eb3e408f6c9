// SPDX-License-Identifier: BSD-3-Clause
// mcr ls DIR…: a table of sets. mcr ls CONTAINER|STUB…: ranks and sizes of containers. With -v also
// every variable, with its pipeline and, if it is linked, the variables from which it is computed.
#include <fcntl.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "aggregation/commit/set_files.hpp"
#include "aggregation/mcr/commands.hpp"
#include "aggregation/mcr/containers_below.hpp"
#include "aggregation/mcr/exit_codes.hpp"
#include "aggregation/mcr/named_containers.hpp"
#include "aggregation/mcr/open_container.hpp"
#include "aggregation/mcr/print.hpp"
#include "aggregation/mcr/set_table.hpp"
#include "aggregation/mcr/short_name.hpp"
#include "aggregation/mcr/sound_set.hpp"
#include "codecs/frames/frame.hpp"
#include "codecs/frames/solid_frame.hpp"
#include "restart/base/counted.hpp"
#include "restart/base/path_names.hpp"
#include "restart/container/container_reader.hpp"
#include "restart/format/container_name.hpp"
#include "restart/format/table_rows.hpp"
#include "restart/stage/file_at.hpp"

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
  std::string pipeline = {};  ///< of the first frame
  std::string problem = {};   ///< why the first frame cannot be read
  bool is_data = true;        ///< false for skeletons and batches
  bool is_linked = false;
  /// The variables of a table.
  struct Tabled {
    std::string name;
    std::uint64_t raw_bytes = 0;
  };
  std::vector<Tabled> tabled = {};
  bool has_too_many = false;  ///< variables: they are not listed
};

struct Listed {
  std::string name;
  restart::SetIdentity set;
  std::vector<restart::PartRecord> parts;
  std::vector<ListedVariable> variables = {};
  std::uint64_t raw_bytes = 0;     ///< of the parts
  std::uint64_t stored_bytes = 0;  ///< of the file
  std::string problem = {};        ///< why the codings of linked variables are not known
};

/// Where the data of a linked variable lies.
struct LinkedAt {
  std::size_t variable = 0;  ///< in Listed::variables
  codecs::Link link;
};

Result<std::string> pipeline_of(restart::ContainerReader& container,
                                const restart::DatasetEntry& dataset,
                                std::optional<codecs::Link>& link) {
  if (dataset.storage == restart::DatasetStorage::deflate) return std::string("shuffle, deflate");
  if (dataset.frame_count == 0) return std::string();
  const restart::FramePlace place = MCR_TRY(container.frame_place(dataset, 0));
  Bytes stored;
  MCR_TRY(container.stored_frame(place, stored));
  codecs::FrameInfo info = MCR_TRY(codecs::read_frame_info(stored));
  link = std::move(info.link);
  if (info.solid) return std::string("solid");
  return link ? std::string("linked") : info.pipeline.print();
}

/// What is read of the tables' rows of one container at most, so that a forged one takes neither much memory nor long.
struct RowsLeft {
  std::uint64_t bytes = std::uint64_t{4} << 30;         ///< decoded
  std::uint64_t name_bytes = std::uint64_t{256} << 20;  ///< with what a variable takes besides

  static constexpr std::uint64_t most_of_frame = 64U << 20;
  /// Returns false if the frame must not be decoded.
  bool take_frame(const restart::DatasetEntry& rows, const restart::FramePlace& place) {
    const std::uint64_t work = std::max({place.raw_bytes, rows.chunk_bytes, place.stored_bytes});
    if (work > most_of_frame || work > bytes) return false;
    bytes -= work;
    return true;
  }
};

using TabledVariables = std::optional<std::vector<ListedVariable::Tabled>>;

/// Returns the variables of the table `values`, whose rows are the dataset `rows`; nothing: there are too many.
Result<TabledVariables> tabled_in(restart::ContainerReader& container,
                                  const restart::DatasetEntry& values,
                                  const restart::DatasetEntry& rows, RowsLeft& left) {
  const bool is_flat = restart::table_role_of(values.name) == restart::TableRole::elements;
  std::vector<restart::TabledVariable> found;
  std::uint64_t done = 0;
  std::uint64_t name_bytes = 0;
  Scratch scratch;
  for (std::uint32_t i = 0; i < rows.frame_count; ++i) {
    const restart::FramePlace place = MCR_TRY(container.frame_place(rows, i));
    if (!left.take_frame(rows, place)) return TabledVariables();
    done += place.raw_bytes;
    const auto raw = scratch.take<std::byte>(place.raw_bytes);
    MCR_TRY(container.decode(rows, place, scratch, raw.span()));
    const std::size_t known = found.size();
    if (const auto read = restart::read_table_rows(raw.span(), rows.element_bytes, is_flat, found);
        !read)
      return Error{Cause::damaged, container.name() + ": " + read.error().message};
    for (std::size_t n = known; n < found.size(); ++n)
      name_bytes += sizeof(ListedVariable::Tabled) + found[n].name.size();
    if (name_bytes > left.name_bytes) return TabledVariables();
  }
  if (done != rows.raw_bytes)
    return Error{Cause::damaged, container.name() + ": " + rows.name + " has not all its rows"};
  left.name_bytes -= name_bytes;
  std::uint64_t pieces = 0;
  for (const restart::TabledVariable& variable : found) pieces += variable.pieces;
  std::vector<ListedVariable::Tabled> tabled;
  for (std::size_t i = 0; i < found.size(); ++i) {
    std::uint64_t bytes = found[i].pieces * (values.raw_bytes / pieces);
    if (is_flat) {
      const std::uint64_t end =
          i + 1 < found.size() ? found[i + 1].begin : values.raw_bytes / values.element_bytes;
      bytes = (end - std::min(end, found[i].begin)) * values.element_bytes;
    }
    tabled.push_back({std::move(found[i].name), bytes});
  }
  return TabledVariables(std::move(tabled));
}

/// For each linked variable, reports how it is coded in the solid frame that has its first bytes.
Result<void> explain_links(restart::ContainerReader& container, const std::vector<LinkedAt>& links,
                           Listed& listed) {
  std::map<std::uint64_t, std::vector<const LinkedAt*>> by_frame;
  std::optional<restart::DatasetEntry> batches;
  for (const LinkedAt& at : links) {
    if (at.link.runs.empty()) continue;
    if (!batches) batches = MCR_TRY(container.dataset(at.link.dataset));
    by_frame[at.link.runs[0].raw_offset / batches->chunk_bytes].push_back(&at);
  }
  for (const auto& [frame, in_frame] : by_frame) {
    const auto place = MCR_TRY(container.frame_place(*batches, static_cast<std::uint32_t>(frame)));
    Bytes stored;
    MCR_TRY(container.stored_frame(place, stored));
    const auto sections = MCR_TRY(codecs::describe_solid_frame(stored, {}));
    const auto section_of = [&](const LinkedAt& at) {
      std::uint64_t begin = 0;
      std::size_t n = 0;
      const std::uint64_t inside = at.link.runs[0].raw_offset % batches->chunk_bytes;
      while (n + 1 < sections.size() && begin + sections[n].raw_bytes <= inside) {
        begin += sections[n++].raw_bytes;
      }
      return n;
    };
    std::vector<std::string> names(sections.size());
    for (const LinkedAt* at : in_frame) {
      if (!sections.empty()) names[section_of(*at)] = listed.variables[at->variable].name;
    }
    const auto named = MCR_TRY(codecs::describe_solid_frame(stored, names));
    for (const LinkedAt* at : in_frame) {
      if (!named.empty()) {
        listed.variables[at->variable].pipeline += ": " + named[section_of(*at)].coding;
      }
    }
  }
  return {};
}

/// `reads_frames`: reads a frame of each variable, which says by which pipeline it is coded. A frame that cannot be read is
/// no error, because the rest of the container can be used.
Result<Listed> list(const std::string& name, bool reads_frames) {
  const auto container = MCR_TRY(open_container(name));
  Listed listed{name, container->set(), *MCR_TRY(container->parts())};
  listed.stored_bytes = static_cast<std::uint64_t>(MCR_TRY(container->status()).st_size);
  for (const restart::PartRecord& part : listed.parts) listed.raw_bytes += part.entry.size;
  std::vector<LinkedAt> links;
  std::map<std::string, std::pair<restart::DatasetEntry, std::size_t>> tables;  // by group
  RowsLeft left;
  for (const restart::DatasetEntry& dataset : *MCR_TRY(container->datasets())) {
    ListedVariable variable{dataset.name, dataset.raw_bytes, 0, dataset.frame_count};
    for (std::uint32_t i = 0; i < dataset.frame_count; ++i) {
      variable.stored_bytes += MCR_TRY(container->frame_place(dataset, i)).stored_bytes;
    }
    variable.is_data = dataset.kind == restart::DatasetKind::variable;
    if (reads_frames) {
      std::optional<codecs::Link> link;
      auto pipeline = pipeline_of(*container, dataset, link);
      if (pipeline) {
        variable.pipeline = *std::move(pipeline);
      } else {
        variable.problem = pipeline.error().message;
      }
      variable.is_linked = link.has_value();
      if (link) links.push_back({listed.variables.size(), std::move(*link)});
    }
    const restart::TableRole role = restart::table_role_of(dataset.name);
    const std::string group = dataset.name.substr(0, dataset.name.rfind('/') + 1);
    if (role == restart::TableRole::rows) {
      variable.is_data = false;
      if (const auto table = tables.find(group); table != tables.end()) {
        const auto& [values, at] = table->second;
        if (auto tabled = tabled_in(*container, values, dataset, left); !tabled) {
          variable.problem = tabled.error().message;
        } else if (*tabled) {
          listed.variables[at].tabled = **std::move(tabled);
        } else {
          listed.variables[at].has_too_many = true;
        }
        tables.erase(table);
      }
    } else if (role != restart::TableRole::none) {
      tables.try_emplace(group, dataset, listed.variables.size());
    }
    listed.variables.push_back(std::move(variable));
  }
  // If a solid frame is damaged, its variables are listed without their coding.
  if (const auto explained = explain_links(*container, links, listed); !explained)
    listed.problem = explained.error().message;
  return listed;
}

/// Formats runs of ranks: "0-7", "0-3,5".
std::string runs_of_ranks(const std::vector<restart::PartRecord>& parts) {
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

/// Formats ranks with their noun: "rank 1", "ranks 1, 2".
std::string named_ranks(const std::vector<std::uint32_t>& ranks) {
  std::string text;
  for (const std::uint32_t rank : ranks) text += (text.empty() ? "" : ", ") + std::to_string(rank);
  return (ranks.size() == 1 ? "rank " : "ranks ") + text;
}

/// Prints what a container without parts records: which ranks wrote nothing, or failed to.
void print_note(const Listed& listed) {
  const restart::SetIdentity& set = listed.set;
  std::string said;
  const auto add = [&](const std::string& text) { said += (said.empty() ? "" : "; ") + text; };
  if (!set.passed_ranks.empty()) add(named_ranks(set.passed_ranks) + " wrote nothing");
  if (!set.failed_ranks.empty())
    add(named_ranks(set.failed_ranks) + " ended or died without a file of the set");
  if (set.failed_attempts && set.failed_attempts->differ()) {
    add("attempts to write these files failed in some ranks only, so they may be of different "
        "steps");
  } else if (set.drifted) {
    add("a rank began to write the next set before all ranks had finished this one, or attempts to "
        "write files of an earlier set failed in some ranks only");
  }
  print_line(stdout, "%s", listed.name.c_str());
  print_line(stdout, "  a supplement without parts of %s, launch %s, sequence %llu: %s",
             set.masked_name.c_str(), set.launch.c_str(),
             static_cast<unsigned long long>(set.sequence),
             said.empty() ? "it records nothing of other ranks" : said.c_str());
}

std::string who_wrote(const Listed& listed) {
  const restart::SetIdentity& set = listed.set;
  const std::string count = std::to_string(set.rank_count);
  if (is_of_one_file(listed.set))
    return "one file, of rank " + runs_of_ranks(listed.parts) + " of " + count;
  return "ranks " + runs_of_ranks(listed.parts) + " of " + count +
         (set.passed_ranks.empty() ? "" : " (others passed)");
}

void print_problem(const std::string& problem) {
  if (!problem.empty())
    print_line(stderr, "mcr ls: %s; `mcr verify` says which ranks can be restored",
               problem.c_str());
}

void print_listed(const Listed& listed, bool verbose) {
  const restart::SetIdentity& set = listed.set;
  if (listed.parts.empty() && set.natives.empty()) return print_note(listed);
  std::uint64_t data = 0;
  for (const ListedVariable& variable : listed.variables) {
    if (variable.is_data) data += std::max<std::size_t>(variable.tabled.size(), 1);
  }
  const bool is_bundle = !set.bundled.empty();
  const std::string which = is_bundle ? "a bundle of " + restart::counted(set.bundled.size(), "set")
                                      : "sequence " + std::to_string(set.sequence);
  const std::string ranks = is_bundle ? "rank 0 of 1 in each set" : who_wrote(listed);
  print_line(stdout, "%s", listed.name.c_str());
  print_line(stdout, "  %s, launch %s, %s", set.masked_name.c_str(), set.launch.c_str(),
             which.c_str());
  print_line(stdout, "  %s, %s, %s -> %s (%sx), %s, %s", ranks.c_str(),
             restart::counted(data, "variable").c_str(), size_text(listed.raw_bytes).c_str(),
             size_text(listed.stored_bytes).c_str(),
             ratio_text(listed.raw_bytes, listed.stored_bytes).c_str(), set.scheme.c_str(),
             set.profile.c_str());
  if (!verbose) return;
  Table table({"variable", "raw", "stored", "ratio", "frames", "pipeline"},
              {false, true, true, true, true, false});
  for (const ListedVariable& variable : listed.variables) {
    table.add({variable.name, size_text(variable.raw_bytes), size_text(variable.stored_bytes),
               variable.is_linked ? "" : ratio_text(variable.raw_bytes, variable.stored_bytes),
               std::to_string(variable.frames),
               variable.problem.empty() ? variable.pipeline : "cannot be read"});
    for (const ListedVariable::Tabled& tabled : variable.tabled)
      table.add({tabled.name, size_text(tabled.raw_bytes), "", "", "", "in " + variable.name});
    if (variable.has_too_many)
      table.add({"(variables that are not listed)", "", "", "", "", "in " + variable.name});
  }
  table.print();
  print_problem(listed.problem);
  for (const ListedVariable& variable : listed.variables) print_problem(variable.problem);
}

/// The short name of the container's set; null for a bundle and for a container of `mcr pack`.
nlohmann::json name_of(const Listed& listed) {
  const std::string name = restart::name_of(listed.name);
  if (!restart::parse_container_name(name)) return nullptr;
  return short_name(listed.name.substr(0, listed.name.rfind(".r") + 1));
}

nlohmann::json to_json(const Listed& listed) {
  nlohmann::json parts = nlohmann::json::array();
  for (std::size_t i = 0; i < listed.parts.size(); ++i) {
    const restart::PartEntry& entry = listed.parts[i].entry;
    parts.push_back({{"rank", entry.rank},
                     {"path", entry.path},
                     {"size", entry.size},
                     {"id", entry.part.text()}});
    if (i >= listed.set.bundled.size()) continue;  // not a bundle
    parts.back()["name"] = short_name(in_directory(
        restart::parent_of(listed.name), name_prefix_of(restart::set_of_part(listed.set, i))));
    parts.back()["masked_name"] = listed.set.bundled[i].masked_name;
    parts.back()["sequence"] = listed.set.bundled[i].sequence;
  }
  nlohmann::json variables = nlohmann::json::array();
  for (const ListedVariable& variable : listed.variables) {
    variables.push_back({{"name", variable.name},
                         {"raw_bytes", variable.raw_bytes},
                         {"stored_bytes", variable.stored_bytes},
                         {"frames", variable.frames},
                         {"linked", variable.is_linked},
                         {"pipeline", variable.pipeline}});
    for (const ListedVariable::Tabled& tabled : variable.tabled)
      variables.back()["variables"].push_back(
          {{"name", tabled.name}, {"raw_bytes", tabled.raw_bytes}});
    if (variable.problem.empty()) continue;
    variables.back()["pipeline"] = nullptr;
    variables.back()["problem"] = variable.problem;
  }
  return {{"container", listed.name},
          {"name", name_of(listed)},
          {"created_ns", listed.set.created_ns},
          {"masked_name", listed.set.masked_name},
          {"launch", listed.set.launch},
          {"sequence", listed.set.sequence},
          {"rank_count", listed.set.rank_count},
          {"passed_ranks", listed.set.passed_ranks},
          {"failed_ranks", listed.set.failed_ranks},
          {"note", listed.parts.empty() && listed.set.natives.empty()},
          {"one_file", is_of_one_file(listed.set)},
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
  app.footer(usual_exit_codes);
  return [command](const CommonOptions& common) {
    int code = exit_code::success;
    nlohmann::json json = nlohmann::json::array();
    for (const std::string& argument : command->arguments) {
      if (is_directory(argument) && !command->verbose && !common.json) {
        const auto found = sets_in(argument, "ls");
        if (!found) return print_error(common, "ls", found.error());
        print_set_table(*found);
        if (found->code != exit_code::success) code = found->code;
        continue;
      }
      const auto names = paths_below(argument, "ls");
      if (!names) return print_error(common, "ls", names.error());
      std::set<restart::PartId> parts;
      for (const std::string& name : *names) {
        const auto listed = list(name, command->verbose || common.json);
        if (!listed) {
          code = print_error({}, "ls", listed.error());
          json.push_back({{"container", name}, {"error", listed.error().message}});
          continue;
        }
        for (const restart::PartRecord& part : listed->parts) parts.insert(part.entry.part);
        if (common.json) {
          json.push_back(to_json(*listed));
        } else {
          print_listed(*listed, command->verbose);
        }
      }
      const auto there = restart::file_at(AT_FDCWD, argument, restart::Links::followed);
      if (there.is_stub() && !parts.contains(there.stub.part))
        code = print_error({}, "ls",
                           Error{Cause::system, "the file of " + argument +
                                                    " is in none of these containers, which "
                                                    "belong to its set"});
    }
    if (common.json) print_json(json);
    return code;
  };
}

}  // namespace mcr::aggregation
