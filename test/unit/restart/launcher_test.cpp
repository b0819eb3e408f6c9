// SPDX-License-Identifier: BSD-3-Clause
// Tests with the variables that launchers set and, if a launcher is installed, real starts of
// several processes.
#include "restart/settings/launcher.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <vector>

#include "test/support/catch.hpp"
#include "test/unit/restart/scratch_directory.hpp"

using namespace mcr::restart;
using Variables = std::map<std::string, std::string>;

namespace {

Launcher find(const Variables& variables, const LauncherOverrides& overrides = {}) {
  return find_launcher(
      [&](const char* name) -> const char* {
        const auto found = variables.find(name);
        return found == variables.end() ? nullptr : found->second.c_str();
      },
      overrides);
}

const Variables slurm = {{"SLURM_PROCID", "5"},
                         {"SLURM_NTASKS", "8"},
                         {"SLURM_STEP_NUM_TASKS", "8"},
                         {"SLURM_JOB_ID", "77"},
                         {"SLURM_STEP_ID", "0"},
                         {"SLURM_NODEID", "1"},
                         {"SLURM_STEP_TASKS_PER_NODE", "5,3"}};

Variables with(Variables variables, const std::string& name, const std::string& value) {
  variables[name] = value;
  return variables;
}

/// The line that launcher_probe printed in one process.
struct Seen {
  std::string rank, count, local_count, launch;
};
std::vector<Seen> started(const std::string& command) {
  // On a busy machine MPICH's mpiexec now and then ends by SIGPIPE, whatever it starts.
  constexpr int ended_by_sigpipe = 128 + SIGPIPE;
  std::string output;
  int status = 0;
  for (int tries = 0; tries < 5; ++tries) {
    output.clear();
    FILE* pipe = ::popen((command + " 2>/dev/null").c_str(), "r");
    REQUIRE(pipe != nullptr);
    char buffer[4096];
    while (const std::size_t got = std::fread(buffer, 1, sizeof buffer, pipe))
      output.append(buffer, got);
    status = ::pclose(pipe);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != ended_by_sigpipe) break;
  }
  INFO(command);
  CHECK(status == 0);
  std::vector<Seen> seen;
  std::istringstream lines(output);
  Seen one;
  while (lines >> one.rank >> one.count >> one.local_count >> one.launch) seen.push_back(one);
  return seen;
}

std::set<std::string> launches(const std::vector<Seen>& seen) {
  std::set<std::string> different;
  for (const Seen& one : seen) different.insert(one.launch);
  return different;
}

/// Checks two starts: each has all ranks, with one nonce for all, and the two nonces differ.
void check_starts(const std::string& command, std::size_t ranks, const std::string& local_count) {
  INFO(command);
  const auto first = started(command);
  const auto second = started(command);
  REQUIRE(first.size() == ranks);
  REQUIRE(second.size() == ranks);
  std::set<std::string> seen_ranks;
  for (const Seen& one : first) {
    seen_ranks.insert(one.rank);
    CHECK(one.count == std::to_string(ranks));
    CHECK(one.local_count == local_count);
  }
  CHECK(seen_ranks.size() == ranks);
  REQUIRE(launches(first).size() == 1);
  REQUIRE(launches(second).size() == 1);
  CHECK(*launches(first).begin() != "none");
  CHECK(launches(first) != launches(second));
}

/// A rank of Hydra on one of several nodes: what it, its proxy and Slurm's process are given.
struct HydraRank {
  std::string job = "7", step = "2", restarts = "0";
  std::string outer_step = "0";  ///< Hydra gives ranks the variables of mpiexec
  std::string launcher = "slurm", port = "n0:4711", group = "0";
  std::string parent = "slurmstepd";
};

/// Starts shells under the names of Slurm's and Hydra's processes.
class NamedProcesses {
 public:
  NamedProcesses() {
    for (const char* const name : {"slurmstepd", "sshd", "bash", "hydra_pmi_proxy"})
      std::filesystem::copy_file("/bin/sh", directory_ / name);
  }

  [[nodiscard]] std::string launch(const HydraRank& of) const {
    const std::string rank =
        "SLURM_STEP_ID=" + of.outer_step +
        " SLURM_STEP_NUM_TASKS=4 PMI_RANK=1 PMI_SIZE=4 MPI_LOCALNRANKS=2 " MCR_LAUNCHER_PROBE
        "; true";
    const std::string proxy = "SLURM_JOB_ID=" + of.job + " SLURM_STEP_ID=" + of.step +
                              " SLURM_RESTART_COUNT=" + of.restarts + " " +
                              (directory_ / "hydra_pmi_proxy") + " -c \"" + rank +
                              "\" sh --control-port " + of.port + " --launcher " + of.launcher +
                              " --pgid " + of.group + "; true";
    const auto seen = started((directory_ / of.parent) + " -c '" + proxy + "'");
    REQUIRE(seen.size() == 1);
    CHECK(seen.front().rank == "1");
    return seen.front().launch;
  }

 private:
  ScratchDirectory directory_;
};

}  // namespace

TEST_CASE("without a launcher there is one rank with a nonce of its own") {
  const Launcher found = find({});
  CHECK(found.rank == 0);
  CHECK(found.rank_count == 1);
  REQUIRE(found.launch);
  CHECK(found.launch != find({}).launch);
  CHECK_FALSE(found.node.empty());
}

TEST_CASE("each launcher's variables are understood") {
  struct Case {
    const char* name;
    Variables variables;
    std::uint32_t local_count;
  };
  for (const Case& one : std::vector<Case>{
           {"Open MPI",
            {{"OMPI_COMM_WORLD_RANK", "5"},
             {"OMPI_COMM_WORLD_SIZE", "8"},
             {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"}},
            4},
           {"MVAPICH",
            {{"MV2_COMM_WORLD_RANK", "5"},
             {"MV2_COMM_WORLD_SIZE", "8"},
             {"MV2_COMM_WORLD_LOCAL_SIZE", "2"}},
            2},
           {"PMI", {{"PMI_RANK", "5"}, {"PMI_SIZE", "8"}, {"MPI_LOCALNRANKS", "8"}}, 8},
           {"PALS", {{"PALS_RANKID", "5"}, {"PMI_SIZE", "8"}, {"PALS_LOCAL_SIZE", "4"}}, 4},
           {"Flux", {{"FLUX_TASK_RANK", "5"}, {"FLUX_JOB_SIZE", "8"}}, 0},
           {"JSM", {{"JSM_NAMESPACE_RANK", "5"}, {"JSM_NAMESPACE_SIZE", "8"}}, 0},
           {"Slurm", slurm, 3},
           {"Slurm", with(with(slurm, "SLURM_HET_SIZE", "2"), "SLURM_GTIDS", "4,5"), 2},
           {"Slurm", with(slurm, "SLURM_HET_SIZE", "2"), 0}}) {
    INFO(one.name);
    const Launcher found = find(one.variables);
    CHECK(found.rank == 5);
    CHECK(found.rank_count == 8);
    CHECK(found.local_rank_count == one.local_count);
    CHECK(found.source.find(one.name) == 0);
  }
}

TEST_CASE("impossible values of variables are ignored") {
  CHECK(find({{"PMI_RANK", "8"}, {"PMI_SIZE", "8"}}).rank_count == 1);
  CHECK(find({{"PMI_RANK", "x"}, {"PMI_SIZE", "8"}}).rank_count == 1);
  CHECK(find({{"PMI_RANK", "-1"}, {"PMI_SIZE", "8"}}).rank_count == 1);
  CHECK(find({{"PMI_RANK", "3"}}).rank_count == 1);
  CHECK(find({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"MPI_LOCALNRANKS", "9"}}).local_rank_count ==
        0);
}

TEST_CASE("a batch script of Slurm is not a step") {
  Variables script = slurm;
  script.erase("SLURM_STEP_ID");
  CHECK(find(script).rank_count == 1);
}

TEST_CASE("Slurm's job, step and restart count tell starts apart") {
  const auto launch = find(slurm).launch;
  REQUIRE(launch);
  CHECK(launch == find(with(slurm, "SLURM_PROCID", "2")).launch);
  CHECK(launch == find(with(slurm, "SLURM_NODEID", "0")).launch);
  CHECK(launch != find(with(slurm, "SLURM_STEP_ID", "1")).launch);
  CHECK(launch != find(with(slurm, "SLURM_JOB_ID", "78")).launch);
  CHECK(launch != find(with(slurm, "SLURM_RESTART_COUNT", "1")).launch);
  CHECK(launch != find(with(slurm, "SLURM_CLUSTER_NAME", "other")).launch);
}

TEST_CASE("ranks of a Hydra inside a Slurm step do not take the step for their start") {
  for (const char* const mark : {"HYDI_CONTROL_FD", "MPI_LOCALNRANKS"}) {
    INFO(mark);
    Variables inside = slurm;
    inside["PMI_RANK"] = "3";
    inside["PMI_SIZE"] = "8";
    inside[mark] = "7";
    CHECK_FALSE(find(inside).launch);
    CHECK(find(inside).rank == 3);
  }
}

TEST_CASE(
    "Hydra's proxies that are tasks of a Slurm step: step and process group tell starts apart") {
  const NamedProcesses processes;
  const std::string launch = processes.launch({});
  CHECK(launch.starts_with("slurm-7-2-"));
  CHECK(launch == processes.launch({.outer_step = "9"}));
  CHECK(launch != processes.launch({.job = "8"}));
  CHECK(launch != processes.launch({.step = "3"}));
  CHECK(launch != processes.launch({.restarts = "1"}));
  CHECK(launch != processes.launch({.port = "n0:4712"}));
  CHECK(launch != processes.launch({.group = "1"}));
  SECTION("other proxies of several nodes have no certain source") {
    CHECK(processes.launch({.launcher = "ssh"}) == "none");
    CHECK(processes.launch({.parent = "sshd"}) == "none");
    CHECK(processes.launch({.parent = "bash"}) == "none");
    CHECK(processes.launch({.step = ""}) == "none");
  }
}

TEST_CASE("Slurm with PMIx counts restarts too") {
  Variables pmix = slurm;
  pmix["PMIX_RANK"] = "5";
  pmix["PMIX_NAMESPACE"] = "slurm.pmix.77.0";
  const auto launch = find(pmix).launch;
  REQUIRE(launch);
  CHECK(launch != find(with(pmix, "SLURM_RESTART_COUNT", "1")).launch);
}

TEST_CASE("Open MPI's key and PRRTE's namespace tell starts apart, a bare number does not") {
  const Variables open_mpi = {{"OMPI_COMM_WORLD_RANK", "1"},
                              {"OMPI_COMM_WORLD_SIZE", "4"},
                              {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
                              {"PMIX_NAMESPACE", "745603073"}};
  CHECK_FALSE(find(open_mpi).launch);
  const std::string key = "OMPI_MCA_orte_precondition_transports";
  REQUIRE(find(with(open_mpi, key, "a-b")).launch);
  CHECK(find(with(open_mpi, key, "a-b")).launch != find(with(open_mpi, key, "a-c")).launch);
  const auto fifth = with(open_mpi, "PMIX_NAMESPACE", "prterun-n1-4711@1");
  REQUIRE(find(fifth).launch);
  CHECK(find(fifth).launch != find(with(fifth, "PMIX_NAMESPACE", "prterun-n1-4712@1")).launch);
}

TEST_CASE("identifiers of PALS, Flux and Intel MPI tell starts apart") {
  const Variables pals = {{"PALS_RANKID", "1"}, {"PMI_SIZE", "4"}, {"PALS_APID", "u1"}};
  const Variables flux = {{"FLUX_TASK_RANK", "1"},
                          {"FLUX_JOB_SIZE", "4"},
                          {"FLUX_JOB_ID", "u1"},
                          {"PMI_RANK", "1"},
                          {"PMI_SIZE", "4"}};
  const Variables intel = {{"PMI_RANK", "1"}, {"PMI_SIZE", "4"}, {"I_MPI_HYDRA_UUID", "u1"}};
  for (const auto& [variables, name] :
       {std::pair(pals, "PALS_APID"), std::pair(flux, "FLUX_JOB_ID"),
        std::pair(intel, "I_MPI_HYDRA_UUID")}) {
    INFO(name);
    REQUIRE(find(variables).launch);
    CHECK(find(variables).launch != find(with(variables, name, "u2")).launch);
  }
}

TEST_CASE("without a certain source there is no nonce") {
  CHECK_FALSE(find({{"PMI_RANK", "1"}, {"PMI_SIZE", "4"}, {"MPI_LOCALNRANKS", "2"}}).launch);
  CHECK_FALSE(find({{"MV2_COMM_WORLD_RANK", "1"}, {"MV2_COMM_WORLD_SIZE", "4"}}).launch);
  CHECK_FALSE(
      find({{"JSM_NAMESPACE_RANK", "1"}, {"JSM_NAMESPACE_SIZE", "4"}, {"PMIX_NAMESPACE", "1"}})
          .launch);
}

TEST_CASE("a shell that starts ranks is no launcher, because it may start them again") {
  const std::string ranks =
      "for r in 0 1; do PMI_RANK=$r PMI_SIZE=2 MPI_LOCALNRANKS=2 " MCR_LAUNCHER_PROBE " & done";
  const auto seen = started("sh -c '" + ranks + "; wait'");
  REQUIRE(seen.size() == 2);
  CHECK(launches(seen) == std::set<std::string>{"none"});
}

TEST_CASE("settings override what the launcher says") {
  const Launcher found = find(slurm, {.rank = 2, .rank_count = 4, .launch = "L 1", .node = "n9"});
  CHECK(found.rank == 2);
  CHECK(found.rank_count == 4);
  CHECK(found.node == "n9");
  REQUIRE(found.launch);
  CHECK(found.launch->find(' ') == std::string::npos);
  CHECK(found.launch ==
        find({}, {.rank = {}, .rank_count = {}, .launch = "L 1", .node = ""}).launch);
  CHECK(find({}, {.rank = 3, .rank_count = 8, .launch = "abc", .node = ""}).launch == "abc");
  CHECK_FALSE(find({}, {.rank = 3, .rank_count = 8, .launch = "", .node = ""}).launch);
}

TEST_CASE("the MPI library's rank is used if no variable and no setting gives the rank") {
  LauncherOverrides overrides;
  overrides.mpi = MpiWorld{2, 8};
  const auto nothing = [](const char*) -> const char* { return nullptr; };
  const Launcher found = find_launcher(nothing, overrides);
  CHECK(found.rank == 2);
  CHECK(found.rank_count == 8);
  CHECK_FALSE(found.is_assumed);
  const auto pmi = [](const char* name) -> const char* {
    const std::string_view asked = name;
    return asked == "PMI_RANK" ? "1" : asked == "PMI_SIZE" ? "4" : nullptr;
  };
  CHECK(find_launcher(pmi, overrides).rank == 1);
  overrides.rank = 5;
  overrides.rank_count = 6;
  CHECK(find_launcher(nothing, overrides).rank == 5);
  CHECK(find_launcher(nothing, {}).is_assumed);
  overrides = {};
  overrides.mpi = MpiWorld{8, 8};
  CHECK(find_launcher(nothing, overrides).rank_count == 1);
}

TEST_CASE("every nonce is fit for a file name") {
  const std::string bad(500, '/');
  for (const auto& variables :
       {with(with(slurm, "SLURM_JOB_ID", bad), "SLURM_STEP_ID", bad),
        Variables{{"PALS_RANKID", "1"}, {"PMI_SIZE", "4"}, {"PALS_APID", bad}}, Variables{}}) {
    const auto launch = find(variables).launch;
    REQUIRE(launch);
    CHECK(launch->size() <= 64);
    CHECK(launch->find_first_not_of(
              "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") ==
          std::string::npos);
  }
}

TEST_CASE("MPICH: one nonce for the ranks of one start, another one for the next start") {
  const std::string launcher = MCR_MPIEXEC_MPICH;
  if (launcher.empty()) return;
  check_starts(launcher + " -n 4 " MCR_LAUNCHER_PROBE, 4, "4");
  SECTION("also from two starts at the same time, and through a shell per rank") {
    const std::string shells = launcher + " -n 3 sh -c '" MCR_LAUNCHER_PROBE "; true'";
    check_starts(shells, 3, "3");
    const auto both = started(shells + " & " + shells + "; wait");
    CHECK(both.size() == 6);
    CHECK(launches(both).size() == 2);
  }
  SECTION("with two hosts on one machine") {
    check_starts(
        launcher + " -launcher fork -hosts localhost,127.0.0.2 -ppn 2 -n 4 " MCR_LAUNCHER_PROBE, 4,
        "2");
  }
  SECTION("inside a Slurm step with as many tasks, which may start mpiexec several times") {
    const std::string step = "SLURM_JOB_ID=7 SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=4 ";
    check_starts(step + launcher + " -launcher fork -n 4 " MCR_LAUNCHER_PROBE, 4, "4");
  }
  SECTION("with one rank") { check_starts(launcher + " -n 1 " MCR_LAUNCHER_PROBE, 1, "1"); }
}

TEST_CASE("Open MPI: one nonce for the ranks of one start, another one for the next start") {
  const std::string launcher = MCR_MPIEXEC_OPENMPI;
  if (launcher.empty()) return;
  check_starts(launcher + " --oversubscribe --allow-run-as-root -n 4 " MCR_LAUNCHER_PROBE, 4, "4");
}
