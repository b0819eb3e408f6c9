# SPDX-License-Identifier: BSD-3-Clause
"""What the programs of these tests do, as actions of test/programs/actor, and what must hold afterwards."""
from mcrtest import PLUGINS, expect, program, wait_until

ACTOR = program("test/programs/actor")
SETS = 3


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
        expect(not cluster.stage(number), f"left in the stage of node {number}: {cluster.stage(number)}")


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
