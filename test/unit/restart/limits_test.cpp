// SPDX-License-Identifier: BSD-3-Clause
#include "restart/base/limits.hpp"

#include <fcntl.h>

#include <filesystem>
#include <fstream>

#include "restart/base/file.hpp"
#include "test/support/catch.hpp"
#include "test/unit/restart/scratch_directory.hpp"

using namespace mcr::restart;

namespace {

constexpr std::uint64_t mib = 1 << 20;

struct Machine {
  ScratchDirectory scratch;
  SystemPlaces places{scratch / "proc", scratch / "cgroup"};

  Machine() {
    write("proc/meminfo",
          "MemTotal:       16777216 kB\nMemFree: 1 kB\nMemAvailable:    8388608 kB\n");
  }
  void write(const std::string& name, const std::string& content) const {
    const std::string path = scratch / name;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path) << content;
  }
};

}  // namespace

TEST_CASE("without control groups, the limit is the machine's memory") {
  const Machine machine;
  CHECK(memory_limits(machine.places).limit == 16384 * mib);
  CHECK(memory_limits(machine.places).available == 8192 * mib);
}

TEST_CASE("in version 2, the lowest limit of all levels counts") {
  const Machine machine;
  machine.write("proc/self/cgroup", "0::/job/step\n");
  machine.write("cgroup/job/step/memory.max", "max\n");
  machine.write("cgroup/job/step/memory.current", "123\n");
  machine.write("cgroup/job/memory.max", "1073741824\n");
  machine.write("cgroup/job/memory.current", "629145600\n");
  machine.write("cgroup/job/memory.stat", "anon 1\ninactive_file 104857600\nactive_file 0\n");
  CHECK(memory_limits(machine.places).limit == 1024 * mib);
  CHECK(memory_limits(machine.places).available == 524 * mib);
  machine.write("cgroup/job/step/memory.high", "536870912\n");
  CHECK(memory_limits(machine.places).limit == 512 * mib);
}

TEST_CASE("in version 1, the lowest limit counts, and a huge number means no limit") {
  const Machine machine;
  machine.write("proc/self/cgroup", "4:memory:/job\n3:cpu,cpuacct:/job\n0::/x\n");
  machine.write("cgroup/memory/job/memory.limit_in_bytes", "2147483648\n");
  machine.write("cgroup/memory/job/memory.usage_in_bytes", "3221225472\n");
  machine.write("cgroup/memory/job/memory.stat", "total_inactive_file 0\n");
  machine.write("cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  CHECK(memory_limits(machine.places).limit == 2048 * mib);
  CHECK(memory_limits(machine.places).available == 0);
}

TEST_CASE("in a Linux container, the path may be the host's, and the mount's root is our group") {
  const Machine machine;
  machine.write("proc/self/cgroup", "0::/system.slice/docker-1.scope\n");
  machine.write("cgroup/memory.max", "268435456\n");
  CHECK(memory_limits(machine.places).limit == 256 * mib);
}

TEST_CASE("CPUs whose time a group does not get do not count") {
  const Machine machine;
  const unsigned all = usable_cpu_count(machine.places);
  CHECK(all == allowed_cpus().size());
  machine.write("proc/self/cgroup", "0::/job\n");
  machine.write("cgroup/job/cpu.max", "max 100000\n");
  CHECK(usable_cpu_count(machine.places) == all);
  machine.write("cgroup/job/cpu.max", "50000 100000\n");
  CHECK(usable_cpu_count(machine.places) == 1);
  machine.write("cgroup/job/cpu.max", "100000000 100000\n");
  CHECK(usable_cpu_count(machine.places) == all);
}

TEST_CASE("version 1 has its quota in two files") {
  const Machine machine;
  machine.write("proc/self/cgroup", "3:cpu,cpuacct:/job\n");
  machine.write("cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "100000\n");
  machine.write("cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
  CHECK(usable_cpu_count(machine.places) == 1);
  machine.write("cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "-1\n");
  CHECK(usable_cpu_count(machine.places) == allowed_cpus().size());
}

TEST_CASE("nonsense in these files sets no limit and causes no error") {
  const Machine machine;
  machine.write("proc/self/cgroup", "::\nnonsense\n0::\n0::relative\n:::::\n");
  machine.write("cgroup/memory.max", "lots\n");
  machine.write("cgroup/cpu.max", "\n");
  CHECK(memory_limits(machine.places).limit == 16384 * mib);
  CHECK(usable_cpu_count(machine.places) >= 1);
  CHECK(memory_limits({machine.scratch / "nowhere", machine.scratch / "nowhere"}).limit == 0);
}

TEST_CASE("this machine has memory, a CPU and free space") {
  CHECK(memory_limits().limit > 0);
  CHECK(memory_limits().available <= memory_limits().limit);
  CHECK(usable_cpu_count() >= 1);
  const auto here = File::open(AT_FDCWD, "/tmp", O_RDONLY | O_DIRECTORY);
  REQUIRE(here);
  CHECK(free_space(here->descriptor()).value_or(0) > 0);
  CHECK(automatic_stage_limit(here->descriptor(), 0) > 0);
}

TEST_CASE("the stage's own memory does not count against its limit") {
  const Machine machine;
  machine.write("proc/self/cgroup", "0::/job\n");
  machine.write("cgroup/job/memory.max", "1048576\n");
  machine.write("cgroup/job/memory.current", "786432\n");
  const auto here = File::open(AT_FDCWD, "/dev/shm", O_RDONLY | O_DIRECTORY);
  REQUIRE(here);
  CHECK(automatic_stage_limit(here->descriptor(), 0, machine.places) == 131072);
  CHECK(automatic_stage_limit(here->descriptor(), 524288, machine.places) == 393216);
  CHECK(automatic_stage_limit(here->descriptor(), 99999999, machine.places) == 524288);
}
