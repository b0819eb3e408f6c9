// SPDX-License-Identifier: BSD-3-Clause
#include "vol/process/launcher_hint.hpp"

#include "test/support/catch.hpp"

using mcr::vol::is_in_numbered_step;
using mcr::vol::is_tracked_by_slurm;

TEST_CASE("a job step of Slurm is known by its control groups, of both versions") {
  CHECK(is_tracked_by_slurm(
      "8:freezer:/slurm_n0/uid_0/job_1/step_0/task_0\n1:name=systemd:/x.service\n0::/\n"));
  CHECK(is_tracked_by_slurm("0::/system.slice/slurmstepd.scope/job_12/step_0/user/task_1\n"));
}

TEST_CASE("other control groups, and a batch script without a group of its own, are no job step") {
  CHECK_FALSE(is_tracked_by_slurm(""));
  CHECK_FALSE(is_tracked_by_slurm("0::/user.slice/user-1000.slice/session-3.scope\n"));
  CHECK_FALSE(is_tracked_by_slurm("8:freezer:/slurm_n0/uid_0/job_1\n"));
  CHECK_FALSE(is_tracked_by_slurm("8:freezer:/step_0\n"));
}

TEST_CASE("steps that end with the job are no step of a launcher") {
  CHECK(is_in_numbered_step("8:freezer:/slurm_n0/uid_0/job_1/step_0/task_0\n0::/\n"));
  CHECK(is_in_numbered_step("0::/system.slice/slurmstepd.scope/job_12/step_0/user/task_1\n"));
  for (const char* const step : {"step_batch", "step_interactive", "step_extern", "step_", ""}) {
    INFO(step);
    CHECK_FALSE(is_in_numbered_step(std::string("8:freezer:/slurm_n0/uid_0/job_1/") + step));
  }
  CHECK_FALSE(is_in_numbered_step("8:freezer:/step_0\n"));
}
