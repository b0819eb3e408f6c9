// SPDX-License-Identifier: BSD-3-Clause
#include "restart/settings/settings.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <utility>

#include "codecs/base/codec_pipeline.hpp"
#include "restart/settings/pattern_syntax.hpp"

namespace mcr::restart {
namespace {

using enum SettingKind;

// In the order in which users look for them.
constexpr std::array table = std::to_array<SettingRow>({
    {"files", "auto", text, "auto|*|GLOB[;GLOB]",
     "Which files are captured. auto: in a job of several ranks, files whose name contains the "
     "rank; in a job of one process, every file. *: all files. GLOB: files that match the pattern. "
     "In a pattern, {rank} stands for the rank, {part} for a number of the file's own, and {set} "
     "for text that differs from set to set. In a list, patterns with {rank} or {part} come "
     "first."},
    {"stage", "/dev/shm/mcr-<uid>", text, "DIRECTORY",
     "Directory on a memory file system that holds parts until they are committed."},
    {"stage_limit", "auto", size, "auto|SIZE",
     "The most memory that all stages of this user may take on a node. auto: half of the memory "
     "that the control group and the file system leave free."},
    {"keep", "0", count, "COUNT",
     "How many of the newest sets stay in the stage after commit, for a restart at memory speed."},
    {"flush", "1", count, "COUNT",
     "Of files that the program overwrites, only each COUNT-th set goes to storage. The others "
     "stay in memory until a newer set of the same files is whole; the last one goes to storage at "
     "the job's end. In a job of several nodes only with replicas=1, which keeps them on two "
     "nodes. In a job of one node, the loss of the node costs all sets since the last whole one in "
     "storage: mostly COUNT - 1 more."},
    {"replicas", "0", choice, "0|1",
     "1: until a set is in storage, another node of the job keeps a copy of its container in "
     "memory. Needs "
     "`mcr run` in a batch script of several nodes, and MPI."},
    {"writers", "off", count, "off|COUNT",
     "At most COUNT leaders of a job write to storage at once; the others wait for a turn. off: no "
     "limit. Needs `mcr run` in a batch script of several nodes, and MPI."},
    {"team_start", "auto", text, "auto|COMMAND",
     "The command with which `mcr run` starts mcr-team, for replicas=1 and writers=; NODES stands "
     "for the number of nodes. auto: "
     "the mpiexec of the MPI with which mcr was built."},
    {"close", "staged", choice, "staged|replicated|durable",
     "When the close of a file returns. staged: once the part is in the stage. replicated: once "
     "another node keeps it too, in a replica (replicas=1), or it is on storage. durable: once the "
     "part is on storage."},
    {"durable_every", "off", count, "off|COUNT",
     "COUNT: each COUNT-th file that a rank closes of one name pattern is closed as with "
     "close=durable. off: close= decides."},
    {"lag", "2", count, "off|COUNT",
     "How many closed sets of one name pattern may wait for their commit on a node. While so many "
     "wait, the leader works with full priority, and a create waits until one of them is "
     "committed. off: no limit."},
    {"lag_wait", "1 min", duration, "DURATION",
     "The longest time for which a create waits because of lag=."},
    {"deadline", "auto", text, "auto|off|SECONDS",
     "When the job will be killed, in seconds since 1970. In the last five minutes the leader "
     "works "
     "with full priority; what could not be committed in time is compressed with profile=fast. "
     "auto: the end of the Slurm job, from SLURM_JOB_END_TIME."},
    {"exit", "wait", choice, "wait|leave",
     "wait: a process that ends waits until its parts are committed. leave: the process ends at "
     "once."},
    {"hints", "on", flag, "on|off",
     "on: a job whose leaders would be killed with its job step says so at its start, with the "
     "safer command."},
    {"exit_wait", "10 min", duration, "DURATION",
     "The longest time for which exit=wait, close=durable or close=replicated waits."},
    {"set_wait", "10 s", duration, "DURATION",
     "How long the leader waits for missing parts of a set. The time starts again with each new "
     "part. When it has passed, the leader drains the set without the missing parts."},
    {"mix", "previous", choice, "previous|refuse|native",
     "What an open does if only some ranks wrote the newest set before a crash. previous: all "
     "ranks open the whole set before it. If mix is not set, this open fails when some user may "
     "replace one rank's file but not another's, or may have put one there. refuse: the open "
     "fails. native: each rank opens the file at its path, as with native HDF5."},
    {"gc", "auto", choice, "auto|on|off",
     "Removal of containers whose stubs the program has deleted or overwritten. on: once a newer "
     "set "
     "of the same names is whole; a copy of a stub does not prevent this. auto: only if storage or "
     "quota runs short, the oldest first, never one of the last three sets of a name pattern, and "
     "never while a copy of a stub lies below the directory that the ranks share. off: never."},
    {"read_wait", "60 s", duration, "DURATION",
     "How long an open waits for a file that the leader of another node or of an earlier job has "
     "not yet brought to storage. The time starts again whenever that leader makes progress."},
    {"rank", "", count, "COUNT", "Rank of this process, if the launcher does not provide it."},
    {"ranks", "", count, "COUNT", "Number of ranks, if the launcher does not provide it."},
    {"launch", "", text, "TEXT",
     "Text that identifies one start of the program: the same in all its ranks, different in each "
     "start. Needed if the launcher does not provide one."},
    {"node", "", text, "TEXT", "Name of this node instead of its host name."},
    {"profile", "balanced", choice, "fast|balanced|max|none|paper|portable",
     "What compression aims at: speed (fast), size (max) or both (balanced). none: no compression. "
     "paper: the codecs of mcrEngine. portable: containers that HDF5 reads without mcr's filter."},
    {"scheme", "auto", choice, "auto|aware|aware-block|agnostic|agnostic-block",
     "How the parts of a set are merged. aware: variable by variable. agnostic: whole files. "
     "-block: in interleaved blocks. auto: aware."},
    {"block", "1 MiB", size, "SIZE", "Block size of the schemes aware-block and agnostic-block."},
    {"codec.<name>", "", text, "PIPELINE",
     "Compression of all variables of a type (codec.double) or of one name (codec.Density). It "
     "replaces the automatic choice."},
    {"bandwidth", "", size, "SIZE",
     "Bytes per second that the storage accepts from this node, such as 1 GB. If set, mcr chooses "
     "the compression with the shortest time to encode and write; otherwise the profile decides."},
    {"group_size", "node", count, "node|COUNT",
     "How many ranks are merged into one container. node: all ranks of the node."},
    {"match", "none", text, "none|REGEX",
     "Regular expression. Variables are merged if their names differ only in the text that its "
     "groups match (without groups: that the whole expression matches)."},
    {"min_size", "100 B", size, "SIZE", "Datasets below this size are not merged."},
    {"verify", "on", flag, "on|off",
     "on: the leader decodes every frame after encoding it and compares the result with the "
     "original."},
    {"leader_cpus", "auto", text, "auto|LIST",
     "CPUs on which the leader runs, such as 0-3,8. auto: all CPUs that the job has on the node."},
    {"leader_threads", "auto", count, "auto|COUNT",
     "Number of threads with which the leader encodes, at most 1,024. auto: one for each CPU on "
     "which it may run."},
    {"write_streams", "4", count, "COUNT",
     "Number of threads of the leader that write frames (1 to 64). Fewer threads write if "
     "leader_memory= has no room for their frames."},
    {"leader_memory", "256 MiB", size, "SIZE",
     "The most memory that the leader uses for blocks that are being encoded. A quarter of it may "
     "hold layouts of earlier sets' files."},
    {"gpu", "off", count, "off|auto|INDEX",
     "Whether an NVIDIA GPU encodes and decodes frames too, where it is faster than a CPU thread. "
     "off: no. auto: the first GPU that may be used. INDEX: the GPU of this number. The bytes of "
     "containers do not depend on it."},
    {"gpu_memory", "512 MiB", size, "SIZE",
     "The most memory of the GPU that each leader uses for frames, besides what the driver takes "
     "for the process."},
    {"container_dir", "mcr", text, "DIRECTORY",
     "Directory of the containers, relative to the directory of the checkpoints. Use ../mcr for "
     "programs that accept no foreign names beside their files."},
    {"open_max", "30 s", duration, "DURATION",
     "If a file is still open this long after its first flush, it counts as appended to."},
    {"appended", "native", choice, "native|capture",
     "How files are written that are appended to, kept open, or opened again and again. native: "
     "natively. capture: captured like other files."},
    {"allow", "none", text, "none|DIRECTORY[:DIRECTORY]",
     "Directories below which containers of other users are trusted: a stub may lead to a "
     "container there that belongs to another user than the stub, and frames of the codec fpzip "
     "are decoded."},
    {"trace", "none", text, "none|DIRECTORY",
     "Directory, relative to the checkpoints' directory, into which the leader writes a trace of "
     "each drain for `mcr trace`. The directory is made if it is missing. While a launch lives, "
     "its newest traces are also in the stage."},
    {"log", "summary", choice, "quiet|summary|debug",
     "What mcr prints on standard error. quiet: nothing. summary: warnings and one line at the "
     "end. debug: every decision."},
});

constexpr std::string_view codec_prefix = "codec.";
constexpr std::size_t max_value_bytes = 4096;
constexpr std::uint64_t most_write_streams = 64;
constexpr std::uint64_t last_gpu = 1023;

const SettingRow* find_row(std::string_view key) {
  if (key.starts_with(codec_prefix) && key.size() > codec_prefix.size()) key = "codec.<name>";
  for (const SettingRow& row : table) {
    if (row.name == key) return &row;
  }
  return nullptr;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool equal_but_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

/// A number with an optional fraction, followed by a unit.
struct Quantity {
  long double value = 0;
  std::string_view unit;
};
std::optional<Quantity> parse_quantity(std::string_view text) {
  std::size_t end = 0;
  long double value = 0;
  long double place = 1;
  bool digits = false;
  bool fraction = false;
  for (; end < text.size(); ++end) {
    const char c = text[end];
    if (c == '.' && !fraction) {
      fraction = true;
    } else if (c >= '0' && c <= '9') {
      digits = true;
      if (fraction) place /= 10;
      value = fraction ? value + place * (c - '0') : value * 10 + (c - '0');
    } else {
      break;
    }
  }
  if (!digits) return std::nullopt;
  return Quantity{value, trimmed(text.substr(end))};
}

struct Unit {
  std::string_view name;
  std::uint64_t factor;
};

template <std::size_t Count>
Result<std::uint64_t> in_units(std::string_view text, const std::array<Unit, Count>& units,
                               const char* example) {
  const auto quantity = parse_quantity(trimmed(text));
  if (quantity) {
    for (const Unit& unit : units) {
      if (!equal_but_case(unit.name, quantity->unit)) continue;
      const long double value = quantity->value * static_cast<long double>(unit.factor);
      if (value > 9.2e18L) break;
      return static_cast<std::uint64_t>(value + 0.5L);
    }
  }
  return Error{Cause::usage, "\"" + std::string(text) + "\" is not of the form " + example};
}

Result<std::uint64_t> parse_count(std::string_view text) {
  std::uint32_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || problem != std::errc() || end != text.data() + text.size()) {
    return Error{Cause::usage, "\"" + std::string(text) + "\" is not a whole number"};
  }
  return std::uint64_t{value};
}

bool is_flag_on(std::string_view text) {
  return text == "on" || text == "true" || text == "yes" || text == "1";
}
bool is_flag_off(std::string_view text) {
  return text == "off" || text == "false" || text == "no" || text == "0";
}

/// True if `value` is one of the words of `allowed`. Names in capitals are forms ("SIZE"), not
/// words.
bool is_allowed_word(std::string_view allowed, std::string_view value) {
  while (!allowed.empty()) {
    const std::string_view word = allowed.substr(0, allowed.find('|'));
    allowed.remove_prefix(std::min(allowed.size(), word.size() + 1));
    const bool is_form = word.find_first_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ") != std::string_view::npos;
    if (!is_form && word == value) return true;
  }
  return false;
}

/// True if braces match and there are no control characters: the value can be quoted in braces and
/// printed.
bool is_printable(std::string_view value) {
  int depth = 0;
  for (const char c : value) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return false;
    depth += c == '{' ? 1 : c == '}' ? -1 : 0;
    if (depth < 0) return false;
  }
  return depth == 0;
}

bool is_cpu_list(std::string_view list) {
  while (!list.empty()) {
    const std::string_view item = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), item.size() + 1));
    const std::size_t dash = item.find('-');
    const auto first = parse_count(item.substr(0, dash));
    if (!first || *first >= CPU_SETSIZE) return false;
    if (dash == std::string_view::npos) continue;
    const auto last = parse_count(item.substr(dash + 1));
    if (!last || *last < *first || *last >= CPU_SETSIZE) return false;
  }
  return true;
}

/// Returns what is wrong with a value of kind text; empty if it is valid.
std::string text_problem(std::string_view key, std::string_view value) {
  if ((key == "node" || key == "launch") && value.size() > 200) return "it is too long";
  if (key == "stage" && !value.starts_with('/')) return "it must be an absolute path";
  if (key == "container_dir" && value.starts_with('/')) {
    return "it must be relative to the checkpoints' directory";
  }
  if (key == "allow") {
    std::string_view rest = value == "none" ? std::string_view() : value;
    while (!rest.empty()) {
      const std::string_view item = rest.substr(0, rest.find(':'));
      rest.remove_prefix(std::min(rest.size(), item.size() + 1));
      if (!item.starts_with('/')) return "each directory must be an absolute path";
    }
  }
  if (key == "leader_cpus" && value != "auto" && !is_cpu_list(value)) {
    return "it must be a list of CPUs below 1024, such as 0-3,8";
  }
  if (key == "match") return std::string(pattern_problem(value));
  if (key == "deadline" &&
      (value.size() > 18 || value.find_first_not_of("0123456789") != std::string_view::npos))
    return "it must be a time in seconds since 1970, such as the output of `date -d '2 hours' +%s`";
  if (key.starts_with(codec_prefix)) {
    const auto pipeline = codecs::Pipeline::parse(value);
    if (!pipeline) return pipeline.error().message;
  }
  return {};
}

/// Returns what is wrong with a value of kind count; empty if it is valid.
std::string count_problem(std::string_view key, std::string_view value) {
  const auto number = parse_count(value);
  if (!number) {
    return value.find('=') == std::string_view::npos
               ? "it is not a whole number"
               : "it is not a whole number (separate settings by semicolons)";
  }
  if (key == "write_streams" && (*number < 1 || *number > most_write_streams)) {
    return "it must be a number from 1 to " + std::to_string(most_write_streams);
  }
  if (key == "gpu" && *number > last_gpu)
    return "the number of a GPU is at most " + std::to_string(last_gpu);
  return {};
}

/// Returns what is wrong with a value; empty if it is valid.
std::string problem_of(const SettingRow& row, std::string_view key, std::string_view value) {
  if (value.empty()) return "it is empty";
  if (value.size() > max_value_bytes) return "it is too long";
  if (!is_printable(value)) return "it has control characters or an unpaired brace";
  if (is_allowed_word(row.allowed, value)) return {};
  switch (row.kind) {
    case text:
      return text_problem(key, value);
    case choice:
      return "it is not one of the allowed words";
    case size:
      return parse_size(value) ? std::string() : "it is not a size such as 256 MiB";
    case duration:
      return parse_duration(value) ? std::string() : "it is not a duration such as 10 s";
    case count:
      if (row.allowed.find("COUNT") == std::string_view::npos &&
          row.allowed.find("INDEX") == std::string_view::npos)
        return "it is not one of the allowed words";
      return count_problem(key, value);
    case flag:
      return is_flag_on(value) || is_flag_off(value) ? std::string()
                                                     : "it is not one of the allowed words";
  }
  return {};
}

std::string all_keys() {
  std::string keys;
  for (const SettingRow& row : table) {
    if (!keys.empty()) keys += ", ";
    keys += row.name;
  }
  return keys;
}

}  // namespace

std::span<const SettingRow> settings_table() { return table; }

Result<std::uint64_t> parse_size(std::string_view text) {
  constexpr std::uint64_t kib = 1024;
  constexpr std::array units = std::to_array<Unit>({{"", 1},
                                                    {"B", 1},
                                                    {"K", kib},
                                                    {"KiB", kib},
                                                    {"KB", 1000},
                                                    {"M", kib * kib},
                                                    {"MiB", kib * kib},
                                                    {"MB", 1000'000},
                                                    {"G", kib * kib * kib},
                                                    {"GiB", kib * kib * kib},
                                                    {"GB", 1000'000'000},
                                                    {"T", kib * kib * kib * kib},
                                                    {"TiB", kib * kib * kib * kib},
                                                    {"TB", 1000'000'000'000}});
  return in_units(text, units, "256 MiB");
}

Result<std::uint64_t> parse_duration(std::string_view text) {
  constexpr std::array units =
      std::to_array<Unit>({{"", 1000}, {"ms", 1}, {"s", 1000}, {"min", 60'000}, {"h", 3'600'000}});
  return in_units(text, units, "10 s");
}

Settings::Settings() : default_stage_("/dev/shm/mcr-" + std::to_string(::geteuid())) {}

Result<void> Settings::set(std::string_view key, std::string_view value, std::string_view source) {
  key = trimmed(key);
  value = trimmed(value);
  // The name in codec.<name> is free text. It must not break the text in which changed() writes all
  // settings.
  const bool is_plain =
      key.size() <= 1000 && key.find_first_of(";=") == key.npos && is_printable(key);
  const SettingRow* row = is_plain ? find_row(key) : nullptr;
  if (row == nullptr) {
    return Error{Cause::usage, "unknown setting \"" + std::string(key.substr(0, 100)) + "\" (" +
                                   std::string(source) + "); the settings are " + all_keys()};
  }
  const std::string problem = problem_of(*row, key, value);
  if (!problem.empty()) {
    return Error{Cause::usage, "setting " + std::string(key) + ": \"" +
                                   std::string(value.substr(0, 200)) + "\" (" +
                                   std::string(source) + ") is not allowed: " + problem +
                                   "; allowed: " + std::string(row->allowed)};
  }
  values_.insert_or_assign(std::string(key), Value{std::string(value), std::string(source)});
  return {};
}

Result<void> Settings::set_all(std::string_view text, std::string_view source) {
  std::string key;
  std::string value;
  const auto finish = [&]() -> Result<void> {
    if (key.empty()) return {};
    std::string_view plain = trimmed(value);
    // changed() writes braces around values that contain a semicolon.
    if (plain.size() >= 2 && plain.front() == '{' && plain.back() == '}' &&
        is_printable(plain.substr(1, plain.size() - 2))) {
      plain = plain.substr(1, plain.size() - 2);
    }
    return set(key, plain, source);
  };
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t end = 0; end <= text.size(); ++end) {
    if (end < text.size()) {
      depth += text[end] == '{' ? 1 : text[end] == '}' ? -1 : 0;
      if (text[end] != ';' || depth > 0) continue;
    }
    const std::string_view piece = trimmed(text.substr(begin, end - begin));
    begin = end + 1;
    if (piece.empty()) continue;
    const std::size_t equals = piece.find('=');
    if (equals == std::string_view::npos && key == "files") {
      value.append(";").append(piece);
      continue;
    }
    if (equals == std::string_view::npos || equals == 0) {
      return Error{Cause::usage, "\"" + std::string(piece.substr(0, 200)) + "\" (" +
                                     std::string(source) + ") is not of the form key=value"};
    }
    MCR_TRY(finish());
    key = trimmed(piece.substr(0, equals));
    value = piece.substr(equals + 1);
  }
  return finish();
}

std::string_view Settings::text(std::string_view key) const {
  const auto found = values_.find(key);
  if (found != values_.end()) return found->second.text;
  if (key == "stage") return default_stage_;
  const SettingRow* row = find_row(key);
  return row == nullptr ? std::string_view() : row->default_value;
}

std::uint64_t Settings::bytes(std::string_view key) const {
  return parse_size(text(key)).value_or(0);
}
std::uint64_t Settings::milliseconds(std::string_view key) const {
  return parse_duration(text(key)).value_or(0);
}
std::uint64_t Settings::count(std::string_view key) const {
  return parse_count(text(key)).value_or(0);
}
bool Settings::flag(std::string_view key) const { return is_flag_on(text(key)); }

bool Settings::is_set(std::string_view key) const { return values_.find(key) != values_.end(); }

std::string_view Settings::source(std::string_view key) const {
  const auto found = values_.find(key);
  return found == values_.end() ? std::string_view("default") : found->second.source;
}

std::string Settings::changed() const {
  std::string all;
  for (const auto& [key, value] : values_) {
    if (key == "rank" || key == "ranks" || key == "launch" || key == "node") continue;
    if (!all.empty()) all += ";";
    const bool quoted = value.text.find(';') != std::string::npos || value.text.front() == '{';
    all += key + "=" + (quoted ? "{" + value.text + "}" : value.text);
  }
  return all;
}

std::vector<std::pair<std::string, std::string>> Settings::codec_overrides() const {
  std::vector<std::pair<std::string, std::string>> overrides;
  for (const auto& [key, value] : values_) {
    if (key.starts_with(codec_prefix)) overrides.emplace_back(key, value.text);
  }
  return overrides;
}

std::string settings_page() {
  std::string page =
      "<!-- Made from the table in restart/settings/settings.cpp: `ninja -C build docs-settings`. "
      "-->\n"
      "# Settings\n\n"
      "A setting can be given in five places. If several places give it, the first one of this "
      "list counts:\n\n"
      "1. the text after the connector's name: `HDF5_VOL_CONNECTOR=\"mcr keep=2;profile=fast\"`\n"
      "2. variables: `MCR_KEEP=2`, `MCR_CODEC_DOUBLE=...`\n"
      "3. `mcr.conf` in the directory of the checkpoint\n"
      "4. `mcr/mcr.conf` in the user's configuration directory (`$XDG_CONFIG_HOME`, else "
      "`~/.config`)\n"
      "5. `etc/mcr.conf` of the installation\n\n"
      "`mcr.conf` is TOML: `keep = 2`, `profile = \"fast\"`, `[codec]` with `double = \"...\"` "
      "below it. `mcr config`\n"
      "prints each setting with its value and the place that the value comes from.\n\n"
      "An unknown key or a value that is not allowed is an error, before any file is touched.\n\n"
      "An `mcr.conf` beside checkpoints may have been copied with another user's results. So "
      "`stage`, `trace`, `allow`, `match`, `launch`, `rank`, `ranks`, `node`, `gc`, `flush`, "
      "`team_start` "
      "and `container_dir` are ignored there with a warning: set them in one of the other "
      "places.\n\n"
      "If other users may write to an `mcr.conf` beside checkpoints or to its directory, or rename "
      "the directory or one above it, a mistake "
      "in it is a warning\n"
      "only, and the file is ignored. Settings that reach further than the files there (`stage`, "
      "`trace`, `allow`,\n"
      "`match`, `launch`, `rank`, `ranks`, `node`, `gpu`, `gpu_memory`, `exit`, `exit_wait`, "
      "`log`, `gc`, `flush`, `team_start` and "
      "`container_dir`) are then left\n"
      "out, and no duration counts as more than 10 min.\n\n"
      "In a sticky directory to which other users may write, `mcr.conf` is ignored with a warning, "
      "because they can\n"
      "move a file there. An `mcr.conf` that belongs to neither the user nor root is ignored with "
      "a "
      "warning. In the\n"
      "directory of the checkpoint this also holds for a symbolic link that other users may have "
      "made, also on "
      "the way to its target; and the target's directory counts, too. If other "
      "users may write to\n"
      "that directory, it also holds for a file with more than one hard link.\n\n"
      "SIZE: `256 MiB`, `1.5 GB`, `64k`, `100` (bytes). DURATION: `250 ms`, `10 s`, `5 min`, `1 "
      "h`, `10`\n"
      "(seconds). Flags: `on`, `off`.\n\n"
      "| key | default | allowed |\n| --- | --- | --- |\n";
  const auto cell = [](std::string_view text) {
    std::string escaped;
    for (const char c : text) {
      if (c == '|') escaped.push_back('\\');
      escaped.push_back(c);
    }
    return escaped;
  };
  for (const SettingRow& row : table) {
    const std::string shown =
        row.default_value.empty() ? std::string() : "`" + std::string(row.default_value) + "`";
    page += "| `" + std::string(row.name) + "` | " + shown + " | `" + cell(row.allowed) + "` |\n";
  }
  page += "\n## What each setting does\n\n";
  for (const SettingRow& row : table)
    page += "* `" + std::string(row.name) + "`: " + std::string(row.help) + "\n";
  return page;
}

}  // namespace mcr::restart
