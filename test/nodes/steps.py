# SPDX-License-Identifier: BSD-3-Clause
"""What the programs of these tests do, as actions of test/programs/actor, and what must hold afterwards."""
import re

from mcrtest import PLUGINS, expect, program, wait_until

ACTOR = program("test/programs/actor")
FAULTY = program("test/crash/libfaulty_calls.so")
SETS = 3


def preloaded(library):
    """For Cluster's `first`: each program of the node loads the library. A leader cannot be given it in another way, because it clears its
    environment."""
    return f"""mkdir -p /dev/shm/etc/upper /dev/shm/etc/work
cp /etc/passwd /etc/group /etc/hosts /dev/shm/etc/upper
echo {library} > /dev/shm/etc/upper/ld.so.preload
mount -t overlay overlay -o lowerdir=/etc,upperdir=/dev/shm/etc/upper,workdir=/dev/shm/etc/work /etc"""


PRELOADED = preloaded(FAULTY)  # some calls do not return (faulty_calls.c)
# The nodes have one kernel, so MPICH's UCX would take them for one machine and look for shared memory.
TCP = "export UCX_TLS=tcp,self\n"


def stalls(directory, gate):
    """Settings of a job whose leaders' containers below the directory make no progress while the gate exists. Its programs must unset
    MCR_FAULT_ROOTS."""
    return {"fault_roots": f"/dev/shm/mcr:{directory}", "fault_at": 0, "fault_only": ".tmp", "fault_kind": "stall+", "fault_gate": gate, "fault_in_children": 1}


def closes(directory="", seed=0):
    """Each rank closes its files of all sets, and then says so."""
    steps = []
    for n in range(SETS):
        path = f"{directory}s{n}.{{rank}}.h5"
        steps += [f"create {path}", f"write {path} x 20000 {seed + n}", f"close {path}"]
    return [*steps, f"touch {directory}closed.{{rank}}"]


def opens(directory="", seed=0):
    """Each rank finds its own files, byte for byte."""
    return [action for n in range(SETS) for action in
            (f"open {directory}s{n}.{{rank}}.h5", f"check {directory}s{n}.{{rank}}.h5 x 20000 {seed + n}", f"close {directory}s{n}.{{rank}}.h5")]


def quoted(actions):
    return " ".join(f"'{action}'" for action in actions)


CLOSES = quoted(closes())


def dies(ranks=4, directory="", last=("sleep 60000",)):
    """A rank dies when all ranks have closed all their files; the others go on, for a minute or with what `last` says."""
    return quoted([*closes(directory), *(f"@1: await {directory}closed.{rank}" for rank in range(ranks)), "@1: abort", *last])


def wait_for_closes(t, ranks=4, directory=""):
    wait_until(lambda: all((t.dir / f"{directory}closed.{rank}").exists() for rank in range(ranks)), 40, "all sets are closed")


def all_open(t, ranks=4, directory="", seed=0, **how):
    """On this machine, which has no stage: every file of every rank comes back from its container."""
    for n in range(SETS):
        for rank in range(ranks):
            path = f"{directory}s{n}.{rank}.h5"
            t.run([ACTOR, f"open {path}", f"check {path} x 20000 {seed + n}"], env={"HDF5_PLUGIN_PATH": str(PLUGINS)}, **how)


def nothing_is_left(cluster):
    for number in range(len(cluster.names)):
        wait_until(lambda: not cluster.processes(number), 20, f"no process of mcr is left on node {number}: {cluster.processes(number)}")
        # Files of locks remain: the team's, and that of a resident which the end of the job kills before it has ended. The next leader removes it.
        left = [name for name in cluster.stage(number)
                if not name.endswith(("replicas/team", "replicas/turns")) and not re.search(r"\.resident-\d+\.lock$", name)]
        expect(not left, f"left in the stage of node {number}: {left}")


def lines_of_mcr(ended):
    return [line for line in ended.out.splitlines() if line.startswith("mcr: ")]


def killed_program(t):
    """A script for four ranks: all close their files, and a rank dies before any leader has begun with the newest set. Leaders and
    residents are stopped, as if storage were slow."""
    script = t.scratch("killed-program.sh")
    script.write_text(f"""{ACTOR} {CLOSES} '_exit 0'
pkill -STOP -f '^[^ ]*mcr leaders? '
touch stopped.$SLURM_PROCID
until [ -e stopped.0 -a -e stopped.1 -a -e stopped.2 -a -e stopped.3 ]; do sleep 0.1; done
[ $SLURM_PROCID != 1 ] || exit 3
sleep 60
""")
    return script
