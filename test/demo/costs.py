# SPDX-License-Identifier: BSD-3-Clause
"""Second part: what checkpoints cost. Jobs without and with mcr run in turn, on the storage that is here and on one that is
slowed down. Every figure is measured here, and shown whether mcr is the faster one or not."""
import math
import shutil
import statistics
import sys
from pathlib import Path

from build_config import PREFIX
from jobs import VARIABLES, Job
from progress import Progress, duration, say
from shape import CHECKPOINTS

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench/support"))
from throttled_storage import ThrottledStorage

SLOW_RATE = 100e6  # bytes a second and stream
MOST_ROUNDS, SECONDS = 3, 20  # for each kind of storage
WAYS = ("native", "mcr")
PLUGINS_BELOW_PREFIX = Path(VARIABLES["HDF5_PLUGIN_PATH"]).relative_to(PREFIX)


class Storage:
    """A kind of storage, and the variables with which a job uses it."""

    def __init__(self, title, slow=None):
        self.title, self.slow = title, slow

    def variables(self, way, directory):
        result = dict(VARIABLES) if way == "mcr" else {}
        if self.slow:
            result |= self.slow.environment(directory, SLOW_RATE, slow_reads=False)
        if self.slow and way == "mcr":
            result["HDF5_PLUGIN_PATH"] = str(self.slow.installation() / PLUGINS_BELOW_PREFIX)
        return result


def measure(place, shape, storage, rounds=None):
    """Returns {way: jobs}. Each round has one job of each way, in alternating order."""
    jobs = {way: [] for way in WAYS}
    with Progress(storage.title) as progress:
        number = 0
        while number < (rounds or MOST_ROUNDS):
            for way in WAYS if number % 2 == 0 else WAYS[::-1]:
                directory = place / f"cost-{way}"
                job = Job(f"cost-{way}", directory, shape, storage.variables(way, directory))
                progress.title = f"{storage.title}, round {number + 1}, {way}"
                jobs[way].append(job.run(progress, durable=True))
                shutil.rmtree(directory)
            number += 1
            if rounds is None:
                rounds = min(math.ceil(SECONDS / sum(jobs[way][0].seconds for way in WAYS)), MOST_ROUNDS)
    return jobs


ROWS = (
    ("first checkpoint: the program waits", lambda job: [job.checkpoints[0].waited]),
    ("later checkpoints: the program waits", lambda job: [c.waited for c in job.checkpoints[1:]]),
    ("first checkpoint: durable after", lambda job: [job.checkpoints[0].durable_after]),
    ("later checkpoints: durable after", lambda job: [c.durable_after for c in job.checkpoints[1:]]),
    ("the whole job, until all is durable", lambda job: [job.seconds]),
)


def rows(jobs):
    """For each row: its title, the values of both ways, mcr ÷ native of the medians."""
    for title, pick in ROWS:
        values = {way: [value for job in jobs[way] for value in pick(job)] for way in WAYS}
        yield title, values, statistics.median(values["mcr"]) / statistics.median(values["native"])


def spread(values):
    if len(values) == 1:
        return duration(values[0])
    return f"{duration(statistics.median(values))} ({duration(min(values))} … {duration(max(values))})"


def print_table(jobs):
    say(f"   {'':38}{'without mcr':>28}{'with mcr':>28}{'with ÷ without':>16}")
    slower = []
    for title, values, ratio in rows(jobs):
        say(f"   {title:38}{spread(values['native']):>28}{spread(values['mcr']):>28}{ratio:>16.2f}")
        if round(ratio, 2) > 1:
            slower.append(title)
    say(f"   Slower with mcr: {'; '.join(slower) if slower else 'nothing in this table'}.")


def show_costs(place, shape, rounds=None):
    here = Storage("this storage")
    slow = Storage("slow storage", ThrottledStorage(place, PREFIX))
    say(f"\n5. What checkpoints cost: jobs of {CHECKPOINTS} checkpoints, without and with mcr in turn, median (least … greatest)")
    for storage, what in (
            (here, "On the storage of this directory, as it is."),
            (slow, f"On slow storage: each stream of writes is slowed down to {SLOW_RATE / 1e6:.0f} MB/s, with no limit for all streams together. A rank\n"
                   "   writes by one stream, mcr's leader by up to four.")):
        jobs = measure(place, shape, storage, rounds)
        say(f"\n   {what} Jobs of each way: {len(jobs['mcr'])}")
        print_table(jobs)
    say("\n   Waits are those of the slowest rank, from H5Fcreate to the end of H5Fclose. Durable: from H5Fcreate until fsync has\n"
        "   returned; native files are synced beside the running job as soon as they are closed. A real job computes\n"
        "   for minutes between two checkpoints, this solver for much less. docs/performance.md has more figures.\n"
        "   Storage is slowed down by token buckets around write() and its like (bench/support/throttled_storage.c).")
