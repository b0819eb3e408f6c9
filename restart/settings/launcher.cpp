// SPDX-License-Identifier: BSD-3-Clause
#include "restart/settings/launcher.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include "codecs/base/checksum.hpp"
#include "restart/base/name_text.hpp"
#include "restart/base/part_id.hpp"
#include "restart/settings/launcher_process.hpp"

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

/// Returns the number of tasks on this node, from Slurm's run lengths: "4(x2),3" means 4, 4, 3. In a
/// heterogeneous job these are in the order of the nodes' names, and SLURM_NODEID is in that of the components.
std::uint32_t slurm_tasks_on_node(const Variables& variables) {
  if (!variables.text("SLURM_HET_SIZE").empty()) {
    const std::string_view ids =
        variables.text("SLURM_GTIDS");  // of the tasks on this node: "0,1,2"
    if (ids.empty()) return 0;
    return 1 + static_cast<std::uint32_t>(std::count(ids.begin(), ids.end(), ','));
  }
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

/// True unless another launcher, which runs inside a Slurm step, started this rank. Its ranks inherit
/// the variables of that step, but the step may have started it several times.
bool is_started_by_slurm(const Variables& variables) {
  // The variables of Hydra tell where a container hides the processes outside of it.
  if (!variables.text("MPI_LOCALNRANKS").empty() || !variables.text("HYDI_CONTROL_FD").empty())
    return false;
  const auto launcher = launcher_process(nullptr);
  return !launcher || name_of(*launcher) == "slurmstepd";
}

/// `variable` returns the value of a variable, or an empty text. Returns nothing outside of a step.
std::optional<Nonce> nonce_of_step(const std::function<std::string(const char*)>& variable,
                                   const std::string& inner = {}) {
  const std::string job = variable("SLURM_JOB_ID");
  const std::string step = variable("SLURM_STEP_ID");
  if (job.empty() || step.empty()) return std::nullopt;
  const std::string facts = variable("SLURM_CLUSTER_NAME") + "/" + job + "/" + step + "/" +
                            variable("SLURM_RESTART_COUNT") + "/" +
                            variable("SLURM_JOB_START_TIME") + inner;
  // Also write job and step in plain text, so that people recognise them; in Slurm both are
  // numbers.
  std::string word = "slurm";
  for (const std::string& number : {job, step}) {
    if (parse<std::uint32_t>(number)) word += "-" + number;
  }
  return Nonce{nonce(word, facts), inner.empty() ? "Slurm's job, step and restart count"
                                                 : "the Slurm step of mpiexec's proxies"};
}

std::optional<Nonce> nonce_of_process(const std::optional<std::string>& identity) {
  if (!identity) return std::nullopt;
  return Nonce{nonce("mpi", *identity), "the launcher's process"};
}

/// Hydra has a proxy on each node between mpiexec and the ranks. With `-launcher fork`, all proxies
/// run on this machine, as children of mpiexec. With `-launcher slurm`, one step has the proxies of
/// one mpiexec as its tasks. Other launchers leave nothing that is certain: mpiexec's port, which
/// all proxies know, may be that of an earlier mpiexec.
std::optional<Nonce> nonce_of_proxies(std::uint64_t proxy) {
  if (name_of(proxy) != "hydra_pmi_proxy") return std::nullopt;
  const auto launcher = argument_of(proxy, "--launcher");
  // Ranks that a program spawns (MPI_Comm_spawn) are another start below the same mpiexec; the
  // process group tells them apart.
  const auto group = argument_of(proxy, "--pgid");
  const auto parent = parent_of(proxy);
  if (!launcher || !group || !parent) return std::nullopt;
  if (*launcher == "fork") {
    const auto identity = *parent > 1 ? identity_of(*parent) : std::nullopt;
    return nonce_of_process(identity ? std::optional(*identity + "/" + *group) : std::nullopt);
  }
  // A parent that /proc hides (hidepid=) belongs to root, as Slurm's daemons do.
  const std::string parent_name = name_of(*parent);
  if (*launcher != "slurm" || (!parent_name.empty() && parent_name != "slurmstepd"))
    return std::nullopt;
  // The step is that of the proxy: Hydra may give the ranks the variables of a step around mpiexec.
  const auto port = argument_of(proxy, "--control-port");
  return nonce_of_step(
      [&](const char* name) { return variable_of(proxy, name).value_or(std::string()); },
      "/" + port.value_or(std::string()) + "/" + *group);
}

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
  const bool may_be_slurm = launcher == "Slurm" || launcher == "MPI" || launcher == "PMI" ||
                            launcher == "PMIx" || space.starts_with("slurm.pmix.");
  if (may_be_slurm && variables.number("SLURM_STEP_NUM_TASKS") == found.rank_count &&
      is_started_by_slurm(variables)) {
    if (auto of_step = nonce_of_step(named)) return of_step;
  }
  const auto process = launcher_process(source.rank);
  if (!process) return std::nullopt;
  if (found.local_rank_count == found.rank_count) return nonce_of_process(identity_of(*process));
  return nonce_of_proxies(*process);
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

std::string scheduler_switches() {
  const char* const address = std::getenv("SLURM_TOPOLOGY_ADDR");
  const std::string text = address == nullptr ? "" : address;
  const std::size_t node = text.rfind('.');
  return node == std::string::npos ? "" : text.substr(0, node);
}

bool is_child_of_launcher() {
  return is_launcher_name(name_of(static_cast<std::uint64_t>(::getppid())));
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
