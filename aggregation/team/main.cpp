// SPDX-License-Identifier: BSD-3-Clause
// mcr-team: a process of the team (team.hpp). `mcr run` starts one on each node of a job, which lives as long as the
// node's resident of that job.
#include <sys/resource.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>

#include "aggregation/team/team.hpp"
#include "restart/stage/resident_socket.hpp"

namespace {
constexpr unsigned finalize_s = 2;
constexpr int lowest_priority = 19;
}  // namespace

int main(int count, char** words) {
  CLI::App app(
      "a process of the team, which keeps replicas on other nodes and gives turns to write "
      "(started by `mcr run`)");
  std::string stage;
  std::string job;
  app.add_option("--stage", stage, "directory of the stage")->required();
  app.add_option("--job", job, "the scheduler's name of the job")->required();
  std::size_t writers = 0;
  app.add_option("--writers", writers, "how many leaders write at a time; 0: any number");
  CLI11_PARSE(app, count, words);
  (void)::setpriority(PRIO_PROCESS, 0, lowest_priority);  // the cores are the program's
  MPI_Init(&count, &words);
  // The launcher gives all processes the variables of its own node, so the resident is asked.
  mcr::aggregation::serve_team({stage, mcr::restart::switches_of_resident(stage, job), writers},
                               MPI_COMM_WORLD,
                               [&] { return !mcr::restart::serves_job(stage, job); });
  // All processes have ended their work. MPICH 4.0.2 may hang here when UCX uses TCP alone.
  (void)::signal(SIGALRM, [](int) { ::_exit(0); });
  ::alarm(finalize_s);
  MPI_Finalize();
  return 0;
}
