// SPDX-License-Identifier: BSD-3-Clause
#include "restart/settings/launcher.hpp"

#include <fcntl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include "codecs/base/checksum.hpp"
#include "restart/base/file.hpp"
#include "restart/base/name_text.hpp"
#include "restart/base/part_id.hpp"

namespace mcr::restart {
namespace {

constexpr std::size_t max_launch_bytes = 64;

template <typename Number>
std::optional<Number> parse(std::string_view text) {
  Number value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || problem != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

/// Reads the environment as texts and numbers.
class Variables {
 public:
  explicit Variables(const std::function<const char*(const char*)>& variable) : ask_(variable) {}

  [[nodiscard]] std::string_view text(const char* name) const {
    const char* value = name == nullptr ? nullptr : ask_(name);
    return value == nullptr ? std::string_view() : std::string_view(value);
  }
  [[nodiscard]] std::optional<std::uint32_t> number(const char* name) const {
    return parse<std::uint32_t>(text(name));
  }

 private:
  const std::function<const char*(const char*)>& ask_;
};

/// The variables with rank and count. Inner launchers come first, because their ranks inherit the
/// variables of an outer launcher (a Slurm step around an mpiexec).
struct Source {
  const char* name;
  const char* rank;
  const char* count;
  const char* other_count;
  const char* local_count;
};
constexpr Source sources[] = {
    {"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", nullptr,
     "OMPI_COMM_WORLD_LOCAL_SIZE"},
    {"MVAPICH", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", nullptr, "MV2_COMM_WORLD_LOCAL_SIZE"},
    {"PALS", "PALS_RANKID", "PALS_SIZE", "PMI_SIZE", "PALS_LOCAL_SIZE"},
    {"Flux", "FLUX_TASK_RANK", "FLUX_JOB_SIZE", nullptr, nullptr},
    {"PMI", "PMI_RANK", "PMI_SIZE", nullptr, "MPI_LOCALNRANKS"},
    {"JSM", "JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE", nullptr, "JSM_NAMESPACE_LOCAL_SIZE"},
    {"Slurm", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS", nullptr},
    {"PMIx", "PMIX_RANK", "PMIX_SIZE", nullptr, "PMIX_LOCAL_SIZE"},
};

/// Returns the number of tasks on this node, from Slurm's run lengths: "4(x2),3" means 4, 4, 3.
std::uint32_t slurm_tasks_on_node(const Variables& variables) {
  const auto node = variables.number("SLURM_NODEID");
  if (!node) return 0;
  std::string_view list = variables.text("SLURM_STEP_TASKS_PER_NODE");
  std::uint64_t first_node = 0;
  while (!list.empty()) {
    const std::string_view item = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), item.size() + 1));
    const std::size_t mark = item.find("(x");
    const auto tasks = parse<std::uint32_t>(item.substr(0, mark));
    std::uint32_t repeats = 1;
    if (mark != std::string_view::npos && item.ends_with(')')) {
      repeats = parse<std::uint32_t>(item.substr(mark + 2, item.size() - mark - 3)).value_or(0);
    }
    if (!tasks || repeats == 0) return 0;
    first_node += repeats;
    if (*node < first_node) return *tasks;
  }
  return 0;
}

std::string file_text(const std::string& name, std::size_t limit) {
  const auto content = read_file(AT_FDCWD, name, limit);
  return content ? std::string(as_text(*content)) : std::string();
}

/// What /proc shows about a process.
struct ProcessFacts {
  std::uint64_t parent = 0;
  std::uint64_t start_ticks = 0;
  std::string name;
};
std::optional<ProcessFacts> facts_of(std::uint64_t pid) {
  const std::string stat = file_text("/proc/" + std::to_string(pid) + "/stat", 4096);
  const std::size_t open = stat.find('(');
  const std::size_t close = stat.rfind(')');  // the name may contain any character, ')' too
  if (open == std::string::npos || close == std::string::npos || close < open) return std::nullopt;
  ProcessFacts facts;
  facts.name = stat.substr(open + 1, close - open - 1);
  std::string_view rest = std::string_view(stat).substr(close + 1);
  // Fields after the name: state (3), parent (4), …, start time (22).
  for (int field = 3; field <= 22; ++field) {
    rest.remove_prefix(std::min(rest.find_first_not_of(" \n"), rest.size()));
    const std::string_view word = rest.substr(0, rest.find_first_of(" \n"));
    rest.remove_prefix(word.size());
    if (field != 4 && field != 22) continue;
    const auto value = parse<std::uint64_t>(word);
    if (!value) return std::nullopt;
    (field == 4 ? facts.parent : facts.start_ticks) = *value;
  }
  return facts;
}

/// True for a launcher's name, also with an extension as in mpiexec.hydra. False for names like
/// mpirun-wrapper, because each rank may have a wrapper of its own.
bool is_launcher_name(std::string_view name) {
  for (std::string_view known :
       {"hydra_pmi_proxy", "pmi_proxy", "mpiexec", "mpirun", "orterun", "orted", "prted", "prterun",
        "mpispawn", "srun", "slurmstepd", "palsd", "flux-shell"}) {
    known = known.substr(0, 15);  // the kernel cuts names at 15 characters
    if (name == known || (name.starts_with(known) && name[known.size()] == '.')) return true;
  }
  return false;
}

/// True for the name of a shell. A shell (a script, or a user at a terminal) may start the same
/// ranks any number of times.
bool is_shell_name(std::string_view name) {
  for (const std::string_view known :
       {"sh", "bash", "dash", "ksh", "zsh", "csh", "tcsh", "fish", "busybox"}) {
    if (name == known) return true;
  }
  return false;
}

/// Returns nothing if this user may not read the process's environment.
std::optional<bool> has_variable(std::uint64_t pid, const char* name) {
  const auto environment =
      read_file(AT_FDCWD, "/proc/" + std::to_string(pid) + "/environ", 4 << 20);
  if (!environment) return std::nullopt;
  std::string_view rest = as_text(*environment);
  const std::string wanted = std::string(name) + "=";
  while (!rest.empty()) {
    const std::string_view entry = rest.substr(0, rest.find('\0'));
    if (entry.starts_with(wanted)) return true;
    rest.remove_prefix(std::min(rest.size(), entry.size() + 1));
  }
  return false;
}

/// Returns the nearest ancestor that has a launcher's name or lacks the variable. (Shells and
/// wrappers between launcher and program inherit the variable.) Returns nothing if the ancestor
/// without it is a shell, or process 1, which exists in each Linux container. Without
/// `rank_variable` only a launcher's name counts.
std::optional<std::uint64_t> launcher_process(const char* rank_variable) {
  std::uint64_t pid = static_cast<std::uint64_t>(::getppid());
  for (int generation = 0; pid > 1 && generation < 64; ++generation) {
    const auto facts = facts_of(pid);
    if (!facts) return std::nullopt;
    if (is_launcher_name(facts->name)) return pid;
    if (rank_variable != nullptr && !has_variable(pid, rank_variable).value_or(false)) {
      return is_shell_name(facts->name) ? std::nullopt : std::optional(pid);
    }
    pid = facts->parent;
  }
  return std::nullopt;
}

/// Returns how many processes the launcher started on this node; 0: not known. Used as the number
/// of local ranks if no variable gives it.
std::uint32_t ranks_below_launcher() {
  const auto launcher = launcher_process(nullptr);
  if (!launcher) return 0;
  const std::string pid = std::to_string(*launcher);
  std::uint32_t count = 0;
  for (const char c : file_text("/proc/" + pid + "/task/" + pid + "/children", 1 << 20)) {
    count += c == ' ' ? 1 : 0;  // the kernel writes a blank after each number
  }
  return count;
}

/// Identifies one process of this machine uniquely: boot, process number, start time.
std::optional<std::string> identity_of(std::uint64_t pid) {
  const auto facts = facts_of(pid);
  const std::string boot = file_text("/proc/sys/kernel/random/boot_id", 128);
  if (!facts || boot.size() < 36) return std::nullopt;
  return boot.substr(0, 36) + "/" + std::to_string(pid) + "/" + std::to_string(facts->start_ticks);
}

/// Identifies the launcher's process if it is the same for all ranks. Hydra has a proxy per node
/// between mpiexec and the ranks. With `-launcher fork`, all proxies run on this machine, as
/// children of mpiexec.
std::optional<std::string> common_launcher(const char* rank_variable, const Launcher& found) {
  const auto process = launcher_process(rank_variable);
  if (!process) return std::nullopt;
  if (found.local_rank_count == found.rank_count) return identity_of(*process);
  const auto facts = facts_of(*process);
  const std::string words = file_text("/proc/" + std::to_string(*process) + "/cmdline", 1 << 16);
  const std::string_view forks("--launcher\0fork\0", 16);
  if (!facts || !facts->name.starts_with("hydra_pmi_proxy") || facts->parent <= 1 ||
      words.find(forks) == std::string::npos) {
    return std::nullopt;
  }
  auto identity = identity_of(facts->parent);
  // Ranks that a program spawns (MPI_Comm_spawn) are another start below the same mpiexec; the
  // process group tells them apart.
  const std::string_view group("--pgid\0", 7);
  const std::size_t place = words.find(group);
  if (!identity || place == std::string::npos) return std::nullopt;
  return *identity + "/" + words.substr(place + group.size()).c_str();
}

/// Makes a nonce: a word that people recognise, then a checksum of all facts that distinguish
/// starts.
std::string nonce(std::string_view word, std::string_view facts) {
  const std::uint64_t sum = checksum(as_bytes(facts));
  const std::uint64_t second = checksum(as_bytes(std::string(facts) + "\n"));
  std::string text = std::string(word) + "-";
  for (const std::uint64_t part : {sum, second}) {
    for (int shift = 60; shift >= 0; shift -= 4)
      text.push_back("0123456789abcdef"[part >> shift & 15]);
  }
  // 96 bits suffice to distinguish the launches in one directory.
  return text.substr(0, text.size() - 8);
}

struct Nonce {
  std::string text;
  std::string source;
};

/// The most certain source comes first. A source counts only if it belongs to the launcher that
/// gave the rank.
std::optional<Nonce> find_nonce(const Variables& variables, const Launcher& found,
                                const Source& source) {
  const auto named = [&](const char* name) { return std::string(variables.text(name)); };
  const std::string_view launcher = source.name;

  if (const std::string key = named("OMPI_MCA_orte_precondition_transports");
      (launcher == "Open MPI" || launcher == "MPI") && !key.empty()) {
    return Nonce{nonce("ompi", key + "/" + named("PMIX_NAMESPACE")),
                 "Open MPI's key of this start"};
  }
  const std::string space = named("PMIX_NAMESPACE");
  if (space.starts_with("prterun-") || space.starts_with("prte-")) {
    return Nonce{nonce("prte", space), "PMIX_NAMESPACE"};
  }
  if (const std::string id = named("PALS_APID"); launcher == "PALS" && !id.empty()) {
    return Nonce{nonce("pals", id), "PALS_APID"};
  }
  if (const std::string id = named("FLUX_JOB_ID"); launcher == "Flux" && !id.empty()) {
    return Nonce{nonce("flux", id + "/" + named("FLUX_KVS_NAMESPACE")), "FLUX_JOB_ID"};
  }
  if (const std::string id = named("I_MPI_HYDRA_UUID"); launcher == "PMI" && !id.empty()) {
    return Nonce{nonce("impi", id), "I_MPI_HYDRA_UUID"};
  }
  // Slurm's step counts only if it gave the ranks. Several mpiexec of Hydra inside one step would
  // all inherit the same step.
  const std::string job = named("SLURM_JOB_ID");
  const std::string step = named("SLURM_STEP_ID");
  const bool is_slurm_step = !job.empty() && !step.empty() &&
                             variables.number("SLURM_STEP_NUM_TASKS") == found.rank_count &&
                             variables.text("HYDI_CONTROL_FD").empty();
  const bool may_be_slurm = launcher == "Slurm" || launcher == "MPI" || launcher == "PMI" ||
                            launcher == "PMIx" || space.starts_with("slurm.pmix.");
  if (is_slurm_step && may_be_slurm) {
    const std::string facts = named("SLURM_CLUSTER_NAME") + "/" + job + "/" + step + "/" +
                              named("SLURM_RESTART_COUNT") + "/" + named("SLURM_JOB_START_TIME");
    // Also write job and step in plain text, so that people recognise them; in Slurm both are
    // numbers.
    std::string word = "slurm";
    for (const std::string& number : {job, step}) {
      if (parse<std::uint32_t>(number)) word += "-" + number;
    }
    return Nonce{nonce(word, facts), "Slurm's job, step and restart count"};
  }
  if (const auto process = common_launcher(source.rank, found)) {
    return Nonce{nonce("mpi", *process), "the launcher's process"};
  }
  return std::nullopt;
}

std::string random_nonce() {
  const auto id = PartId::random();
  return id ? "p-" + id->text().substr(0, 24) : std::string();
}

}  // namespace

std::string host_name() {
  utsname names{};
  return ::uname(&names) == 0 ? std::string(names.nodename) : std::string("localhost");
}

std::string scheduler_job() {
  const char* const job = std::getenv("SLURM_JOB_ID");
  return job == nullptr ? std::string() : job;
}

bool is_child_of_launcher() {
  const auto parent = facts_of(static_cast<std::uint64_t>(::getppid()));
  return parent && is_launcher_name(parent->name);
}

Launcher find_launcher(const std::function<const char*(const char*)>& variable,
                       const LauncherOverrides& overrides) {
  const Variables variables(variable);
  Launcher found;
  found.node = overrides.node.empty() ? host_name() : overrides.node;
  found.source = "one process";

  const Source* used = nullptr;
  for (const Source& source : sources) {
    const auto rank = variables.number(source.rank);
    auto count = variables.number(source.count);
    if (!count) count = variables.number(source.other_count);
    if (!rank || !count || *rank >= *count) continue;
    // A batch script itself has SLURM_PROCID and SLURM_NTASKS, but is not a step.
    const bool is_slurm = std::string_view(source.name) == "Slurm";
    if (is_slurm && variables.text("SLURM_STEP_ID").empty()) continue;
    found.rank = *rank;
    found.rank_count = *count;
    found.local_rank_count = is_slurm ? slurm_tasks_on_node(variables)
                                      : variables.number(source.local_count).value_or(0);
    if (found.local_rank_count > *count) found.local_rank_count = 0;
    found.source = std::string(source.name) + " (" + source.rank + ")";
    used = &source;
    break;
  }
  constexpr Source mpi_library{"MPI", nullptr, nullptr, nullptr, nullptr};
  if (used == nullptr && overrides.mpi && overrides.mpi->rank < overrides.mpi->rank_count) {
    found.rank = overrides.mpi->rank;
    found.rank_count = overrides.mpi->rank_count;
    const std::uint32_t local = ranks_below_launcher();
    found.local_rank_count = local <= found.rank_count ? local : 0;
    found.source = "the MPI library";
    used = &mpi_library;
  }
  found.is_assumed = used == nullptr && !overrides.rank && !overrides.rank_count;
  std::optional<Nonce> nonce_found;
  if (used != nullptr && found.rank_count > 1) nonce_found = find_nonce(variables, found, *used);

  if (overrides.rank || overrides.rank_count) {
    found.rank = overrides.rank.value_or(found.rank);
    found.rank_count = overrides.rank_count.value_or(std::max(found.rank_count, found.rank + 1));
    found.source = overrides.rank ? "rank=" : "ranks=";
    if (found.local_rank_count > found.rank_count) found.local_rank_count = 0;
  }
  if (!overrides.launch.empty()) {
    nonce_found = Nonce{safe_name(overrides.launch, max_launch_bytes), "launch="};
  } else if (found.rank_count == 1) {
    const std::string own = random_nonce();
    nonce_found = own.empty() ? std::nullopt : std::optional(Nonce{own, "drawn by this process"});
    found.local_rank_count = 1;
  }
  if (nonce_found) {
    found.launch = nonce_found->text;
    found.launch_source = nonce_found->source;
  }
  return found;
}

Launcher find_launcher(const LauncherOverrides& overrides) {
  return find_launcher([](const char* name) -> const char* { return std::getenv(name); },
                       overrides);
}

}  // namespace mcr::restart
