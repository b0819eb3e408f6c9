# SPDX-License-Identifier: BSD-3-Clause
"""How large the demonstration is: ranks and bytes that fit this machine's cores, memory, /dev/shm and disk."""
import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from cgroups import own_groups
from processes import read_bytes

MIB = 1 << 20
CHECKPOINTS = 4
STEPS_BETWEEN = 40
BYTES_PER_CELL = 24  # of heat3d in a checkpoint
MOST_RANKS = 8
LEAST_BYTES = 1 * MIB  # a rank

# How many sets must fit into each place at once. In the stage: two that wait (lag=) and one that is written, in the half of
# the stage that mcr uses. In memory: the program's arrays and the page cache as well. On disk: the native files, those that
# are unpacked, and the containers.
SETS_AT_ONCE = {"the stage": ("stage", 6), "memory": ("memory", 10), "the disk": ("disk", 3 * CHECKPOINTS)}


@dataclass
class Shape:
    ranks: int
    bytes_per_rank: int
    bounded_by: str = ""  # what keeps the files smaller than they should be

    @property
    def size(self):
        """Cells along each edge of heat3d's cube."""
        return round((self.ranks * self.bytes_per_rank / BYTES_PER_CELL) ** (1 / 3))


@dataclass
class Machine:
    cores: int
    memory: int  # bytes that are free
    stage: int
    disk: int


def free_memory():
    """What the kernel can give, and what this process's control groups still allow."""
    found = re.search(r"^MemAvailable:\s+(\d+) kB", Path("/proc/meminfo").read_text(), re.M)
    free = [int(found.group(1)) * 1024] if found else []
    for group in own_groups():
        for limit, used in (("memory.max", "memory.current"), ("memory.limit_in_bytes", "memory.usage_in_bytes")):
            limit, used = (read_bytes(group / name).strip() for name in (limit, used))
            if limit.isdigit() and used.isdigit():
                free.append(int(limit) - int(used))
    return min(free)


def look(place, stage_place="/dev/shm"):
    return Machine(len(os.sched_getaffinity(0)), free_memory(), shutil.disk_usage(stage_place).free, shutil.disk_usage(place).free)


def choose(machine, wanted=None):
    """Returns the Shape for a Machine; ValueError if nothing that means anything fits. `wanted`: bytes a rank; without it
    64 MiB, or 32 MiB if there are many ranks."""
    ranks = min(max(machine.cores, 2), MOST_RANKS)
    wanted = wanted or (64 if ranks <= 4 else 32) * MIB
    narrowest, room = min(((name, getattr(machine, field) // sets) for name, (field, sets) in SETS_AT_ONCE.items()), key=lambda one: one[1])
    fits = room // ranks
    if fits < LEAST_BYTES:
        needed = LEAST_BYTES * ranks * SETS_AT_ONCE[narrowest][1]
        raise ValueError(f"{narrowest} has too little room: {ranks} ranks with {LEAST_BYTES // MIB} MiB each need {needed // MIB} MiB of it")
    return Shape(ranks, wanted) if fits >= wanted else Shape(ranks, fits, narrowest)
