// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/slurm/job_groups.hpp"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "aggregation/slurm/resident_start.hpp"
#include "aggregation/slurm/small_files.hpp"
#include "test/support/catch.hpp"
#include "test/unit/restart/scratch_directory.hpp"

namespace mcr::aggregation {
namespace {

constexpr std::string_view mounts_v1 =
    "30 24 0:26 / /sys/fs/cgroup/cpu rw,nosuid shared:9 - cgroup cgroup rw,cpu,cpuacct\n"
    "31 24 0:27 / /sys/fs/cgroup/freezer rw,nosuid shared:10 - cgroup cgroup rw,freezer\n"
    "32 24 0:28 / /sys/fs/cgroup/memory rw,nosuid - cgroup cgroup rw,memory\n"
    "33 24 0:29 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw,nsdelegate\n";
constexpr std::string_view mounts_v2 =
    "33 24 0:29 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";

TEST_CASE("the job's groups are found under cgroup v1") {
  const auto found = find_job_groups(
      "9:name=systemd:/system.slice/slurmd.service\n"
      "6:freezer:/slurm_n0/uid_1/job_5/step_0\n"
      "4:memory:/slurm_n0/uid_1/job_5/step_0/task_0\n"
      "2:cpu,cpuacct:/slurm_n0/uid_1/job_5\n"
      "0::/\n",
      mounts_v1, 5);
  REQUIRE(found);
  CHECK(found->own == "/sys/fs/cgroup/freezer/slurm_n0/uid_1/job_5/mcr");
  CHECK(found->shared == std::vector<std::string>{"/sys/fs/cgroup/memory/slurm_n0/uid_1/job_5",
                                                  "/sys/fs/cgroup/cpu/slurm_n0/uid_1/job_5"});
  CHECK_FALSE(found->is_unified);
}

TEST_CASE("the job's groups are found under cgroup v2, and in a container's part of the tree") {
  const std::string_view step = "0::/system.slice/slurmstepd.scope/job_5/step_0/user/task_0\n";
  const auto found = find_job_groups(step, mounts_v2, 5);
  REQUIRE(found);
  CHECK(found->own == "/sys/fs/cgroup/system.slice/slurmstepd.scope/job_5/mcr");
  CHECK(found->shared.empty());
  CHECK(found->is_unified);
  const auto inner =
      find_job_groups(step, "33 24 0:29 /system.slice /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", 5);
  REQUIRE(inner);
  CHECK(inner->own == "/sys/fs/cgroup/slurmstepd.scope/job_5/mcr");
}

TEST_CASE("no group is found for another job, without groups of Slurm, or from texts cut short") {
  CHECK_FALSE(find_job_groups("0::/s/job_55/step_0\n", mounts_v2, 5));
  CHECK_FALSE(find_job_groups("0::/user.slice\n", mounts_v2, 5));
  CHECK_FALSE(find_job_groups("0::/s/job_5/step_0\n", "", 5));
  CHECK_FALSE(find_job_groups("4:memory:/slurm/job_5/step_0\n", mounts_v1, 5));
  const std::string groups = "6:freezer:/slurm_n0/uid_1/job_5/step_0\n";
  const auto is_sound = [&](std::string_view cut_groups, std::string_view cut_mounts) {
    const auto found = find_job_groups(cut_groups, cut_mounts, 5);
    return !found || found->own == "/sys/fs/cgroup/freezer/slurm_n0/uid_1/job_5/mcr";
  };
  for (std::size_t length = 0; length < mounts_v1.size(); ++length)
    CHECK(is_sound(groups, mounts_v1.substr(0, length)));
  for (std::size_t length = 0; length < groups.size(); ++length)
    CHECK(is_sound(std::string_view(groups).substr(0, length), mounts_v1));
}

TEST_CASE("a list of processes is read whole, and no number of a line that is not whole is taken") {
  const restart::ScratchDirectory group;
  const auto put = [&](const std::string& text) { std::ofstream(group / "cgroup.procs") << text; };
  std::string text;
  constexpr std::size_t many = 300'000;  // 2.4 MB
  for (std::size_t i = 0; i < many; ++i) text += std::to_string(1'000'000 + i) + "\n";
  put(text);
  CHECK(processes_in(group.path()).size() == many);
  put(text + "1234");
  CHECK(processes_in(group.path()).back() == 1'000'000 + many - 1);
}

/// Returns true once the group has `count` processes, false after ten seconds.
bool has_processes(const JobGroups& groups, std::size_t count) {
  for (int looks = 0; processes_in(groups.own).size() != count; ++looks) {
    if (looks == 10'000) return false;
    ::usleep(1000);
  }
  return true;
}

/// Puts a process and its child into the group. Both live until a signal ends them.
pid_t start_two(const JobGroups& groups) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGTERM, SIG_DFL);  // Catch2 has a handler
    if (!join(groups) || ::fork() < 0) ::_exit(1);
    for (;;) ::pause();
  }
  return child;
}

/// Makes the groups of a job in a hierarchy of this machine; nothing if that is not possible.
std::optional<JobGroups> made(const std::string& hierarchy, bool is_unified) {
  const std::string job = hierarchy + "/mcr-test-" + std::to_string(::getpid());
  if (::mkdir(job.c_str(), 0755) != 0) return std::nullopt;
  JobGroups groups{job + "/mcr", {}, is_unified};
  if (!make_own_group(groups) || ::access((groups.own + "/cgroup.procs").c_str(), W_OK) != 0) {
    remove(groups);
    return std::nullopt;
  }
  return groups;
}

/// Returns the signal that ended the child; 0 if none did within ten seconds.
int signal_that_ended(pid_t child) {
  for (int looks = 0; looks < 10'000; ++looks) {
    int status = 0;
    if (::waitpid(child, &status, WNOHANG) == child)
      return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    ::usleep(1000);
  }
  return 0;
}

TEST_CASE("processes of the group are found, told to end, and killed, and the group is removed") {
  const auto [hierarchy, is_unified] =
      GENERATE(std::pair{"/sys/fs/cgroup", true}, std::pair{"/sys/fs/cgroup/unified", true},
               std::pair{"/sys/fs/cgroup/freezer", false});
  const auto groups = made(hierarchy, is_unified);
  if (!groups) return;  // not root, or no such hierarchy here
  CHECK(processes_in(groups->own).empty());
  // Only a process whose parent is not in the group is told to end: here the first of the two.
  const pid_t told = start_two(*groups);
  REQUIRE(has_processes(*groups, 2));
  terminate(groups->own);
  CHECK(signal_that_ended(told) == SIGTERM);
  CHECK(processes_in(groups->own).size() == 1);
  terminate(groups->own);  // its child has no parent in the group any more
  CHECK(has_processes(*groups, 0));

  const pid_t killed = start_two(*groups);
  REQUIRE(has_processes(*groups, 2));
  ::kill(killed, SIGSTOP);
  kill_all(*groups);
  CHECK(signal_that_ended(killed) == SIGKILL);
  CHECK(has_processes(*groups, 0));
  remove(*groups);
  CHECK(::access(groups->own.c_str(), F_OK) != 0);
}

TEST_CASE("no process escapes by forks") {
  const auto [hierarchy, is_unified] =
      GENERATE(std::pair{"/sys/fs/cgroup", true}, std::pair{"/sys/fs/cgroup/unified", true},
               std::pair{"/sys/fs/cgroup/freezer", false});
  const auto groups = made(hierarchy, is_unified);
  if (!groups) return;
  for (int number = 0; number < 4; ++number) {
    const pid_t first = ::fork();
    if (first == 0) {
      if (!join(*groups)) ::_exit(1);
      for (;;)
        if (::fork() > 0) ::_exit(0);  // the child goes on
    }
    REQUIRE(::waitpid(first, nullptr, 0) == first);
  }
  CHECK_FALSE(processes_in(groups->own).empty());
  // One turn may leave a process if the group could not be frozen in time; the end of a job takes up to five turns.
  bool is_empty = false;
  for (int tries = 0; tries < 5 && !is_empty; ++tries) {
    kill_all(*groups);
    for (int looks = 0; looks < 1000 && !is_empty; ++looks) {
      ::usleep(1000);
      is_empty = processes_in(groups->own).empty();
    }
  }
  CHECK(is_empty);
  remove(*groups);
  CHECK(::access(groups->own.c_str(), F_OK) != 0);
}

TEST_CASE("a connector is mcr by its whole name") {
  CHECK(is_ours("mcr"));
  CHECK(is_ours("mcr profile=fast"));
  CHECK_FALSE(is_ours("mcrx"));
  CHECK_FALSE(is_ours("MCR"));
  CHECK_FALSE(is_ours(""));
  CHECK_FALSE(is_ours(nullptr));
}

TEST_CASE("the resident gets settings of mcr and no other variable, up to a limit") {
  const char* const step[] = {"LD_PRELOAD=evil.so",
                              "PATH=/home/evil",
                              "MCR_KEEP=$(x)\n;y",
                              "HDF5_VOL_CONNECTOR=mcr",
                              "HDF5_PLUGIN_PATH=/home/evil",
                              "MCRX=1",
                              "SLURM_JOB_ID=7",
                              "SLURM_JOB_END_TIME=1800000000",
                              "SLURM_JOB_END_TIMES=1",
                              nullptr};
  const auto found = resident_environment(step, "5");
  REQUIRE(found);
  CHECK(*found == std::vector<std::string>{"PATH=/usr/bin:/bin", "SLURM_JOB_ID=5",
                                           "MCR_KEEP=$(x)\n;y", "HDF5_VOL_CONNECTOR=mcr",
                                           "SLURM_JOB_END_TIME=1800000000"});
  const std::string large = "MCR_KEEP=" + std::string(20'000, 'x');
  const char* const one_large[] = {large.c_str(), nullptr};
  CHECK_FALSE(resident_environment(one_large, "5"));
  const std::string half = "MCR_KEEP=" + std::string(15'000, 'x');
  const char* const many[] = {half.c_str(), half.c_str(), half.c_str(),
                              half.c_str(), half.c_str(), nullptr};
  CHECK_FALSE(resident_environment(many, "5"));
  CHECK(resident_environment(nullptr, "5"));
}

TEST_CASE("the file mode mask is an octal number, or 077") {
  const auto mask = [](const char* entry) {
    const char* const step[] = {entry, nullptr};
    return umask_of(step);
  };
  CHECK(mask("SLURM_UMASK=0022") == 022);
  for (const char* wrong : {"SLURM_UMASK=", "SLURM_UMASK=99", "SLURM_UMASK=7777777777777",
                            "SLURM_UMASK=022 ", "SLURM_UMASK=1000", "OTHER=0"})
    CHECK(mask(wrong) == 077);
}

}  // namespace
}  // namespace mcr::aggregation
