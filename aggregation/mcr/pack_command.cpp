// SPDX-License-Identifier: BSD-3-Clause
// mcr pack [-o OUT] FILE…: merges existing rank files into one container, as the leader does.
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <memory>

#include "aggregation/commit/commit_options.hpp"
#include "aggregation/commit/set_files.hpp"
#include "aggregation/commit/trace_file.hpp"
#include "aggregation/leader/lifetime.hpp"
#include "aggregation/mcr/commands.hpp"
#include "aggregation/mcr/exit_codes.hpp"
#include "aggregation/mcr/named_containers.hpp"
#include "aggregation/mcr/open_container.hpp"
#include "aggregation/mcr/print.hpp"
#include "aggregation/mcr/surroundings.hpp"
#include "restart/base/file_identity.hpp"
#include "restart/base/path_names.hpp"
#include "restart/stage/stub_file.hpp"

namespace mcr::aggregation {
namespace {

struct PackOptions {
  std::vector<std::string> files;
  std::string output;
  /// Settings of the command line, by key; "" for an option that was not given.
  std::map<std::string, std::string> settings;
  std::vector<std::string> codecs;
  std::vector<std::string> others;
  std::string trace;
  bool no_verify = false;
  bool force = false;
  bool verbose = false;
};

/// Sets a setting from `text`, which is "KEY=VALUE".
Result<void> set_pair(restart::Settings& settings, const std::string& prefix,
                      const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos)
    return Error{Cause::usage, text + " is not of the form NAME=VALUE"};
  return settings.set(prefix + text.substr(0, equals), text.substr(equals + 1), "command line");
}

/// Returns the leader's settings for files in `directory`, overridden by the command line.
Result<MergeOptions> merge_options_of(const PackOptions& pack, const std::string& directory) {
  std::vector<std::string> warnings;
  restart::Settings settings = MCR_TRY(effective_settings(directory, warnings));
  for (const std::string& warning : warnings) print_line(stderr, "mcr pack: %s", warning.c_str());
  for (const auto& [key, value] : pack.settings) {
    if (!value.empty()) MCR_TRY(settings.set(key, value, "command line"));
  }
  for (const std::string& codec : pack.codecs) MCR_TRY(set_pair(settings, "codec.", codec));
  for (const std::string& other : pack.others) MCR_TRY(set_pair(settings, "", other));
  if (pack.no_verify) MCR_TRY(settings.set("verify", "off", "command line"));
  MergeOptions options = MCR_TRY(merge_options(settings, false));
  options.replace = pack.force;
  // A command has one drain, so that a card that opens later would come too late.
  options.drain.card_wait = std::chrono::seconds(10);
  return options;
}

/// Returns the directory that all `files` share, with '/' at its end; "" for the working directory.
std::string common_directory(const std::vector<std::string>& files) {
  std::string common = files.front().substr(0, files.front().rfind('/') + 1);
  for (const std::string& file : files) {
    while (!file.starts_with(common))
      common = common.substr(0, common.rfind('/', common.size() - 2) + 1);
  }
  return common;
}

/// Warns of overrides that match no variable, because they are probably typing errors.
void warn_of_unused(const std::vector<std::string>& codecs, const CommitReport& report) {
  for (const std::string& codec : codecs) {
    const std::string name = codec.substr(0, codec.find('='));
    const bool is_used = std::any_of(
        report.variables.begin(), report.variables.end(),
        [&](const auto& variable) { return variable.name == name || variable.type == name; });
    if (!is_used)
      print_line(stderr, "mcr pack: --codec %s was not used: no variable and no type has this name",
                 codec.c_str());
  }
}

struct Output {
  std::string directory;
  std::string name;
};

Output output_of(const PackOptions& pack) {
  const std::string path =
      pack.output.empty() ? common_directory(pack.files) + "packed.h5" : pack.output;
  return {restart::parent_of(path), restart::name_of(path)};
}

/// With --force an existing file is replaced, unless it is one of the files to pack, or not a
/// regular file (such as /dev/null).
Result<void> check_output(const SetToCommit& set, bool force) {
  const std::string path = set.directory + "/" + set.name;
  struct stat there {};
  if (::lstat(path.c_str(), &there) != 0) return {};
  if (!S_ISREG(there.st_mode) && !S_ISLNK(there.st_mode))
    return Error{Cause::usage, path + " is not a regular file; choose another path with -o"};
  if (!force) return Error{Cause::usage, path + " exists already; --force replaces it"};
  for (const PartToCommit& part : set.parts) {
    if (restart::FileIdentity(MCR_TRY(part.bytes->status())) == restart::FileIdentity(there))
      return Error{Cause::usage,
                   path + " is one of the files to be packed; choose another path with -o"};
  }
  return {};
}

Result<CommitReport> pack(const PackOptions& options) {
  lift_limits();
  const Output output = output_of(options);
  const MergeOptions merge = MCR_TRY(merge_options_of(options, output.directory));
  const std::string common = common_directory(options.files);
  SetToCommit set;
  set.directory = output.directory;
  set.name = output.name;
  set.set.masked_name = common + "*";
  set.set.launch = packed_launch;
  set.set.rank_count = static_cast<std::uint32_t>(options.files.size());
  std::vector<std::unique_ptr<restart::File>> files;
  for (const std::string& name : options.files) {
    files.push_back(std::make_unique<restart::File>(
        MCR_TRY(restart::File::open(AT_FDCWD, name, O_RDONLY | O_NONBLOCK))));
    const struct stat status = MCR_TRY(files.back()->status());
    if (!S_ISREG(status.st_mode)) return Error{Cause::usage, name + " is not a regular file"};
    if (restart::is_stub_file(*files.back())) {
      return Error{
          Cause::usage,
          name +
              " is a stub: its data is in a container already; `mcr unpack` writes the plain file"};
    }
    if (is_container(*files.back())) {
      return Error{
          Cause::usage,
          name + " is a container; name rank files, of which `mcr pack` makes a container"};
    }
    if (std::count(options.files.begin(), options.files.end(), name) > 1)
      return Error{Cause::usage, name + " is named twice"};
    PartToCommit part;
    part.part = MCR_TRY(restart::PartId::random());
    part.rank = static_cast<std::uint32_t>(set.parts.size());
    part.path = name.substr(common.size());
    part.bytes = files.back().get();
    part.size = static_cast<std::uint64_t>(status.st_size);
    part.mode = status.st_mode & 0777;
    set.parts.push_back(std::move(part));
  }
  std::vector<restart::Access> access;
  for (const auto& file : files) access.push_back(MCR_TRY(restart::access_of(*file)));
  set.look_at_access = [access] { return access; };
  MCR_TRY(check_output(set, options.force));
  return write_container(set, merge);
}

nlohmann::json to_json(const CommitReport& report) {
  nlohmann::json variables = nlohmann::json::array();
  for (const VariableReport& variable : report.variables) {
    variables.push_back({{"name", variable.name},
                         {"type", variable.type},
                         {"raw_bytes", variable.raw_bytes},
                         {"stored_bytes", variable.stored_bytes},
                         {"frames", variable.frames},
                         {"fragments", variable.fragments},
                         {"pipeline", variable.pipeline},
                         {"why", variable.why}});
  }
  const DrainTimes& drain = report.drain;
  return {{"container", report.path},
          {"raw_bytes", report.raw_bytes},
          {"container_bytes", report.container_bytes},
          {"frame_bytes", report.frame_bytes},
          {"skeleton_bytes", report.skeleton_bytes},
          {"not_read_as_hdf5", report.unreadable},
          {"parts_not_walked", report.parts_not_walked},
          {"variables", variables},
          {"encoded_bytes", drain.encoded_bytes},
          {"gpu_bytes", drain.card_bytes},
          {"gpu_problem", drain.card_problem},
          {"seconds",
           {{"inventory", report.inventory_seconds},
            {"plan", report.plan_seconds},
            {"choose", report.choose_seconds},
            {"drain", drain.wall},
            {"fetch", drain.fetch},
            {"encode", drain.encode},
            {"verify", drain.verify},
            {"write", drain.write},
            {"finish", report.finish_seconds},
            {"commit", report.commit_seconds}}}};
}

/// Accepts the words that the table of settings allows for a choice.
CLI::IsMember one_of_setting(std::string_view key) {
  const auto rows = restart::settings_table();
  const auto row = std::find_if(rows.begin(), rows.end(),
                                [key](const restart::SettingRow& one) { return one.name == key; });
  return CLI::IsMember(CLI::detail::split(std::string(row->allowed), '|'));
}

/// Writes the trace to `path`. The directory is opened once, so that other users cannot lead the trace elsewhere meanwhile.
Result<void> leave_trace(const std::string& path, const CommitReport& report) {
  const auto directory =
      restart::File::open(AT_FDCWD, restart::parent_of(path), O_PATH | O_DIRECTORY);
  if (!directory) return directory.error();
  return write_users_trace(directory->descriptor(), restart::name_of(path), report);
}

void print_report(const CommitReport& report, bool verbose) {
  if (verbose) {
    Table table({"variable", "type", "raw", "stored", "ratio", "pipeline", "why"},
                {false, false, true, true, true, false, false});
    for (const VariableReport& variable : report.variables) {
      table.add({variable.name, variable.type, size_text(variable.raw_bytes),
                 size_text(variable.stored_bytes),
                 ratio_text(variable.raw_bytes, variable.stored_bytes), variable.pipeline,
                 variable.why});
    }
    table.print();
  }
  print_line(stdout, "%s: %s -> %s (%sx)", report.path.c_str(), size_text(report.raw_bytes).c_str(),
             size_text(report.container_bytes).c_str(),
             ratio_text(report.raw_bytes, report.container_bytes).c_str());
}

}  // namespace

RunCommand declare_pack(CLI::App& app) {
  const auto options = std::make_shared<PackOptions>();
  app.add_option("FILE", options->files, "rank files, in the order of ranks")->required();
  app.add_option("-o,--output", options->output,
                 "path of the container; default: packed.h5 beside the files");
  const auto setting = [&](const char* option, const char* key, const char* help) {
    return app.add_option(option, options->settings[key], help);
  };
  setting("--profile", "profile", "what compression aims at")->check(one_of_setting("profile"));
  setting("--scheme", "scheme", "how the parts of a set are merged")
      ->check(one_of_setting("scheme"));
  setting("--block", "block", "block size of the schemes that end in -block");
  setting("--match", "match",
          "regular expression: names that differ only in the text that its groups match are one "
          "variable");
  setting("--min-size", "min_size", "smaller datasets are not merged");
  setting("--memory", "leader_memory", "memory for the blocks that are being packed");
  setting("-j,--threads", "leader_threads", "auto: all cores that this process may use");
  // Each --codec takes one word, so that a file may follow.
  app.add_option("--codec", options->codecs,
                 "NAME=PIPELINE for a variable or a type; may be repeated")
      ->allow_extra_args(false);
  app.add_option("--set", options->others, "KEY=VALUE, any setting; may be repeated")
      ->allow_extra_args(false);
  app.add_option("--trace", options->trace,
                 "record in this file when each step was busy, for `mcr trace`");
  app.add_flag("--no-verify", options->no_verify, "do not decode and compare each frame");
  app.add_flag("-f,--force", options->force, "replace an existing container");
  app.add_flag("-v,--verbose", options->verbose,
               "print which compression was chosen for each variable, and why");
  app.footer(usual_exit_codes);
  return [options](const CommonOptions& common) {
    const auto report = pack(*options);
    if (!report) return print_error(common, "pack", report.error());
    for (const std::string& reason : report->unreadable) {
      print_line(stderr,
                 "mcr pack: a file is stored as plain bytes, because its variables cannot be read; "
                 "`mcr unpack` gives it back all the same: %s",
                 reason.c_str());
    }
    if (const std::string& problem = report->drain.card_problem; !problem.empty())
      print_line(stderr, "mcr pack: %s", codecs::gpu::problem_text(problem).c_str());
    warn_of_unused(options->codecs, *report);
    if (!options->trace.empty()) {
      const auto traced = leave_trace(options->trace, *report);
      if (!traced) {
        return print_error(common, "pack",
                           Error{traced.error().cause,
                                 report->path + " is complete, but its trace " + options->trace +
                                     " could not be written: " + traced.error().message,
                                 traced.error().system_error});
      }
    }
    if (common.json) {
      print_json(to_json(*report));
    } else {
      print_report(*report, options->verbose);
    }
    return exit_code::success;
  };
}

}  // namespace mcr::aggregation
