# SPDX-License-Identifier: BSD-3-Clause
"""What a new user measures first: a job's first file and first checkpoint, a job that writes little and ends, and what a
job waits for at its end."""
import shutil
import time

from jobs import captured, durable_figure, job, write_by_ranks
from measure import Failed, Figure, ratios, run

MIB = 1 << 20


def first_file(place):
    """The cost of a job's first file, for which a stage is made and a leader is started."""
    group = "The first file of a job: 4 MiB, no stage and no leader yet"
    mcr = {"HDF5_PLUGIN_PATH": str(place.prefix / "lib/mcr/plugin"), "HDF5_VOL_CONNECTOR": "mcr", "MCR_FILES": "*", "MCR_RANKS": "1",
           "MCR_RANK": "0", "MCR_LOG": "quiet", "MCR_NODE": "bench"}

    def waits(env):
        directory = place.directory("first")
        return float(run([place.make_set_program, directory, "--rank", 0, "--variables", 8, "--elements", 65536], env=env).text)

    def through():
        launch = f"bench{time.monotonic_ns()}"
        stage = place.memory / f"stage-{launch}"
        waited = waits({**mcr, "MCR_STAGE": str(stage), "MCR_LAUNCH": launch})
        while any(stage.iterdir()):  # the job's leader must not run during the next measurement
            time.sleep(0.005)
        stage.rmdir()
        return waited

    pairs, _, _ = ratios(through, lambda: waits({}), 3 if place.quick else 25)
    return [Figure(group, "the program waits, mcr ÷ native", pairs)], {}


def small_job(place):
    """The first thing that a new user measures: a job that writes four small files and ends."""
    group = "A small job: 4 ranks write 4 MiB each and end"
    figures = []
    for kind, on_disk, most in (("memory", False, 2.0), ("disk, fsync", True, 1.5)):
        durable = {"native": [], "mcr": []}
        for turn in range(3 if place.quick else 15):
            for way in durable:
                durable[way].append(job(place, way, ranks=4, elements=65536, on_disk=on_disk)[0])
        figures.append(durable_figure(group, kind, durable, most))
    return figures, {}


def first_checkpoint(place):
    """What the slowest rank waits for at its job's first checkpoint, on memory."""
    group = "The first checkpoint of a job: 4 ranks, no stage and no leader yet, on memory"
    figures = []
    for mib in (2,) if place.quick else (2, 24):
        pairs, _, _ = ratios(*(lambda way=way: job(place, way, ranks=4, elements=mib * MIB // 64)[1] for way in ("mcr", "native")),
                             2 if place.quick else 25)
        figures.append(Figure(group, f"{mib} MiB a rank: the program waits, mcr ÷ native", pairs, ("<=", 1.1)))
    return figures, {}


def job_ends(place):
    """Whole jobs that end at once after their last dump: nothing may wait for files that cannot come any more."""
    group = "Jobs that dump 8 times 48 KB a rank and end, with files that not all ranks write: until durable, on memory"
    program = place.build / "test/programs/dumps"
    if not program.exists() or shutil.which("mpiexec") is None:
        raise Failed("no MPI")
    figures = []
    for title, ranks, kind in (("two ranks write one file in turn (Silo's PMPIO, MACSio), 4 ranks", 4, "turns"),
                               ("rank 0 writes a second file (Enzo), 2 ranks", 2, "beside"), ("a file a rank, 2 ranks", 2, "own")):
        seconds = {}

        def whole(way):
            directory = place.directory("ends")
            env = {"HDF5_PLUGIN_PATH": str(place.prefix / "lib/mcr/plugin")} | captured(place, "") if way == "mcr" else {}
            wall = run(["mpiexec", "-n", ranks, program, kind, directory, 0, 7], env=env).wall
            if way == "mcr" and not list(directory.rglob("set-*.h5")):
                raise Failed("mcr wrote no container")
            seconds.setdefault(way, []).append(wall)
            return wall

        pairs, with_mcr, natively = ratios(lambda: whole("mcr"), lambda: whole("native"), 2 if place.quick else 11)
        figures.append(Figure(group, f"{title}: mcr ÷ native", pairs, note=f"native {1000 * natively:.0f} ms, mcr {1000 * with_mcr:.0f} ms"))
    return figures, {}
