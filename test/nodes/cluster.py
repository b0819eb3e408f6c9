# SPDX-License-Identifier: BSD-3-Clause
"""A cluster on one machine: a login node and nodes with a network, a host name, processes and a /dev/shm of their own, under a
real Slurm. They share the machine's file system, as a cluster's nodes share theirs. For root.

    cluster = Cluster(t, nodes=2)
    job = cluster.batch('srun -n2 ./solver')      # a batch script on the first node
    cluster.wait(job)                             # -> Ended(state, status, out)
    cluster.kill_node(1)                          # all of its processes and its /dev/shm are gone at once

The login node is the first process of a process namespace of its own; all others run below it. When it is killed, at the end of
the case at the latest, nothing of the cluster is left.
"""
import atexit
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

from mcrtest import COMMAND, PLUGINS, expect, skip, wait_until

SBIN = ":/usr/sbin:/sbin"
SUBNET = "10.77.0"
USERS = (64101, 64102)  # accounts that have names here: Slurm starts jobs of such only
IDLE = "trap : TERM; while :; do sleep 1000 & wait; done"

# $1: directory of the cluster. The first process: a network with a bridge, to which nodes are connected.
LOGIN = f"""
hostname login
for table in passwd group hosts; do mount --bind "$1/$table" "/etc/$table"; done
ip link set lo up
ip link add bridge type bridge
ip addr add {SUBNET}.254/24 dev bridge
ip link set bridge up
touch "$1/login.ready"
{IDLE}
"""

# $1: directory, $2: name, $3: number, $4: size of /dev/shm. A node's first process.
NODE = f"""
hostname "$2"
mount -t tmpfs -o "size=$4,mode=1777" shm /dev/shm
touch "$1/$2.waits"
while ! ip link show eth0 > /dev/null 2>&1; do sleep 0.02; done
ip link set lo up
ip addr add {SUBNET}.$(($3 + 1))/24 dev eth0
ip link set eth0 up
touch "$1/$2.ready"
{IDLE}
"""


class Ended:
    """How a job ended: Slurm's word for its state, the batch script's exit status, and what it printed."""

    def __init__(self, state, status, out):
        self.state, self.status, self.out = state, status, out

    def __str__(self):
        return f"{self.state}, status {self.status}\n{self.out}"


class Cluster:
    def __init__(self, t, nodes=2, cpus=8, shm="512m", select="CR_Core", conf="", files=None, first="", cgroup_conf=""):
        if os.geteuid() != 0:
            skip("nodes of their own need root (namespaces)")
        path = os.environ.get("PATH", "") + SBIN
        for tool in ("slurmctld", "slurmd", "srun", "munged", "mungekey", "ip", "unshare", "nsenter"):
            if shutil.which(tool, path=path) is None:
                skip(f"{tool} is not here (packages slurmctld, slurmd, slurm-client, munge, iproute2)")
        self.t = t
        token = os.environ["MCR_TEST_CASE"][:6]
        self.place = t.scratch("cluster")
        self.place.mkdir()
        self.place.chmod(0o755)
        self.shm = shm
        self.first = first  # a shell's line that each node runs before slurmd starts; $1 is the node's name
        self.scripts = 0
        # Control groups are the machine's: their names hold the nodes' names.
        self.names = [f"n{token}{number}" for number in range(nodes)]
        self.environment = dict(t.environment(), PATH=path, SLURM_CONF=str(self.place / "slurm.conf"))
        for name, content in (files or {}).items():
            (self.place / name).write_text(content)
        self.pids = {}
        for name, line in (("passwd", "user{0}:x:{0}:{0}::/:/bin/sh"), ("group", "user{0}:x:{0}:")):
            lines = [Path(f"/etc/{name}").read_text().rstrip("\n"), *(line.format(number) for number in USERS)]
            (self.place / name).write_text("\n".join(lines) + "\n")
        hosts = ["127.0.0.1 localhost", f"{SUBNET}.254 login", *(f"{SUBNET}.{number + 1} {name}" for number, name in enumerate(self.names))]
        (self.place / "hosts").write_text("\n".join(hosts) + "\n")
        atexit.register(self.end)
        self._boot_login()
        for number in range(nodes):
            self.boot_node(number)
        self._start_slurm(cpus, select, conf, cgroup_conf)

    # --- nodes ----------------------------------------------------------------------------------------------

    def _boot_login(self):
        self.login = subprocess.Popen(["unshare", "-m", "-u", "-i", "-n", "-p", "-f", "--kill-child", "--mount-proc", "bash", "-c", LOGIN, "bash", self.place],
                                      env=self.environment, stdin=subprocess.DEVNULL, start_new_session=True, stderr=subprocess.PIPE, text=True)

        def is_ready():
            if self.login.poll() is not None:
                skip(f"no namespaces can be made here: {self.login.stderr.read().strip()}")
            return (self.place / "login.ready").exists()

        wait_until(is_ready, 20, "the login node is up")
        self.pids["login"] = self._child(self.login.pid)

    @staticmethod
    def _child(pid):
        def found():
            return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return int(wait_until(found, 10, f"process {pid} has a child")[0])

    def words(self, node, words):
        """These words, to be run on that node."""
        return ["nsenter", "-t", str(self.pids[node]), "-m", "-u", "-i", "-n", "-p", "--", *map(str, words)]

    def boot_node(self, number):
        """Starts a node, or another one in the place of one that was killed. slurmd is not started."""
        name = self.names[number]
        for word in ("waits", "ready"):
            (self.place / f"{name}.{word}").unlink(missing_ok=True)
        starter = subprocess.Popen(self.words("login", ["unshare", "-m", "-u", "-i", "-n", "-p", "-f", "--kill-child", "--mount-proc", "bash", "-c", NODE, "bash",
                                                        self.place, name, number, self.shm]),
                                   env=self.environment, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        wait_until((self.place / f"{name}.waits").exists, 20, f"{name} is up")
        # nsenter forks, because it enters a process namespace; so does unshare.
        self.pids[name] = self._child(self._child(starter.pid))
        inside = self._number_in_login(self.pids[name])
        link = f"v{number}"
        script = f"ip link del {link} 2> /dev/null; ip link add {link} type veth peer name eth0 netns {inside} && ip link set {link} master bridge up"
        subprocess.run(self.words("login", ["bash", "-c", script]), env=self.environment, check=True)
        wait_until((self.place / f"{name}.ready").exists, 20, f"{name} has a network")

    @staticmethod
    def _number_in_login(pid):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("NSpid:"):
                return line.split()[-2]
        raise AssertionError("no NSpid")

    def kill_node(self, number):
        """As a crash: all of its processes and its /dev/shm are gone at once. Its network goes first, or the kernel would close connections
        that a crashed node leaves open."""
        self.on_login(["ip", "link", "del", f"v{number}"])
        os.kill(self.pids.pop(self.names[number]), signal.SIGKILL)

    def on(self, number, words, check=True, seconds=60):
        """Runs a command on the node, outside of Slurm."""
        return self._run(self.words(self.names[number], words), check, seconds)

    def on_login(self, words, check=True, seconds=60):
        return self._run(self.words("login", words), check, seconds)

    def _run(self, words, check, seconds):
        done = subprocess.run(words, env=self.environment, cwd=self.t.dir, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, timeout=seconds, errors="replace")
        expect(done.returncode == 0 or not check, f"{words[8:]} ended with {done.returncode}\n{done.stdout}")
        return done

    # --- Slurm ----------------------------------------------------------------------------------------------

    def _start_slurm(self, cpus, select, conf, cgroup_conf):
        place = self.place
        for name in ("state", *(f"spool-{name}" for name in self.names)):
            (place / name).mkdir(exist_ok=True)
        addresses = "\n".join(f"NodeName={name} NodeAddr={SUBNET}.{number + 1} NodeHostname={name} CPUs={cpus} RealMemory=1000" for number, name in enumerate(self.names))
        (place / "slurm.conf").write_text(f"""ClusterName=mcr
SlurmctldHost=login({SUBNET}.254)
AuthType=auth/munge
AuthInfo=socket={place}/munge.socket
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation={place}/state
SlurmdSpoolDir={place}/spool-%n
SlurmctldPidFile={place}/slurmctld.pid
SlurmdPidFile={place}/slurmd-%n.pid
SlurmctldLogFile={place}/slurmctld.log
SlurmdLogFile={place}/slurmd-%n.log
ProctrackType=proctrack/cgroup
TaskPlugin={'task/cgroup' if cgroup_conf else 'task/none'}
SelectType=select/cons_tres
SelectTypeParameters={select}
SlurmdParameters=config_overrides
ReturnToService=2
MpiDefault=none
SlurmdTimeout=10
KillWait=5
{conf}
{addresses}
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
""")
        plugin = "cgroup/v1" if Path("/sys/fs/cgroup/freezer").is_dir() else "cgroup/v2"
        (place / "cgroup.conf").write_text(f"CgroupPlugin={plugin}\n{cgroup_conf or 'ConstrainCores=no'}\n" + ("IgnoreSystemd=yes\n" if plugin == "cgroup/v2" else ""))
        self.on_login(["mungekey", "-c", "-k", place / "munge.key"])
        self.on_login(["munged", "--force", f"--key-file={place}/munge.key", f"--socket={place}/munge.socket", f"--pid-file={place}/munge.pid",
                       f"--log-file={place}/munge.log", f"--seed-file={place}/munge.seed"])
        self.on_login(["slurmctld", "-f", place / "slurm.conf"])
        for number in range(len(self.names)):
            self.start_slurmd(number)

        try:
            self.wait_idle()
        except Exception:
            log = (place / f"slurmd-{self.names[0]}.log")
            skip("Slurm does not start here: " + (log.read_text().strip().splitlines() or ["no log"])[-1] if log.exists() else "Slurm does not start here")

    def wait_idle(self):
        def is_idle():
            done = self.on_login(["timeout", "5", "sinfo", "-h", "-N", "-o", "%t"], check=False)
            return done.stdout.split().count("idle") == len(self.names)

        wait_until(is_idle, 40, "all nodes are idle")

    def start_slurmd(self, number):
        name = self.names[number]
        if self.first:
            self.on(number, ["sh", "-c", self.first, "sh", name])
        self.on(number, ["slurmd", "-f", self.place / "slurm.conf", "-N", name, "-c"])

    def batch(self, script, *options, nodes=None, mcr=True, account=None, **settings):
        """Submits a batch script on all nodes, with the variables of mcr; gives the job's number. By another account if one is given."""
        # Each cluster begins with job 1 again, so the clusters of other tests must not share the directory in which jobs tell what they have printed.
        environment = dict(self.t.environment(mcr, stage="/dev/shm/mcr", **settings), SLURM_CONF=self.environment["SLURM_CONF"], XDG_CACHE_HOME=str(self.t.scratch("cache")),
                           PATH=f"{COMMAND.parent}:{self.environment['PATH']}", HDF5_PLUGIN_PATH=str(PLUGINS))
        self.scripts += 1
        file = self.place / f"batch-{self.scripts}.sh"
        file.write_text(f"#!/bin/bash\n{script}\n")
        count = nodes or len(self.names)
        words = ["sbatch", "--parsable", f"--nodes={count}", "--ntasks-per-node=2", f"--output={self.place}/out-%A-%a", "--chdir", self.t.dir, *options, file]
        if account is not None:
            environment.update(HOME=str(account.home), XDG_CACHE_HOME=str(account.home / ".cache"), HDF5_PLUGIN_PATH=str(account.accounts.plugins), LD_LIBRARY_PATH=str(account.accounts.libraries),
                               PATH=f"{account.accounts.command.parent}:{self.environment['PATH']}", MCR_STAGE=f"/dev/shm/mcr-{account.number}")
            words = account.words([*words[:-1], f"--output={account.home}/out-%A-%a", f"--chdir={account.home}", words[-1]])
        done = subprocess.run(self.words("login", words), env=environment, capture_output=True, text=True, timeout=60)
        expect(done.returncode == 0, f"sbatch: {done.stdout}{done.stderr}")
        return done.stdout.strip()

    def output(self, job):
        path = Path(self.fields(job).get("StdOut", ""))
        return path.read_text(errors="replace") if path.is_file() else ""

    def fields(self, job):
        done = self.on_login(["timeout", "10", "scontrol", "-o", "show", "job", job], check=False)
        return dict(word.split("=", 1) for word in done.stdout.split() if "=" in word)

    def wait(self, job, seconds=90):
        """Waits for the end of the job, and for the end of all that Slurm does after it."""
        def ended():
            fields = self.fields(job)
            state = fields.get("JobState", "")
            return fields if state and state not in ("PENDING", "RUNNING", "COMPLETING", "CONFIGURING", "SUSPENDED") else None

        try:
            fields = wait_until(ended, seconds, f"job {job} has ended")
        except Exception as error:
            raise type(error)(f"{error}\n{self.output(job)}") from None
        return Ended(fields["JobState"], int(fields["ExitCode"].split(":")[0]), self.output(job))

    def run(self, script, *options, seconds=90, **how):
        return self.wait(self.batch(script, *options, **how), seconds)

    # --- what is left ---------------------------------------------------------------------------------------

    def stage(self, number):
        """The files in the node's stage."""
        return self.on(number, ["find", "/dev/shm/mcr", "-type", "f"], check=False).stdout.split() if self.on(
            number, ["test", "-d", "/dev/shm/mcr"], check=False).returncode == 0 else []

    def processes(self, number):
        """The command lines of the node's processes of mcr. Leaders that a resident has started have no path there."""
        lines = self.on(number, ["ps", "-e", "-o", "args="]).stdout.splitlines()
        return [line for line in lines if os.path.basename(line.split(" ", 1)[0]) == COMMAND.name]

    def end(self):
        self.login.kill()
        self.login.wait()
        time.sleep(0.2)
        for folder in Path("/sys/fs/cgroup").glob("*/slurm_n*"):
            if any(folder.name.startswith(f"slurm_{name}") for name in self.names):
                for group, _, _ in os.walk(folder, topdown=False):
                    try:
                        os.rmdir(group)
                    except OSError:
                        pass
