# SPDX-License-Identifier: BSD-3-Clause
"""What a large drain leaves of the files that a program has in the page cache."""
import os
import pathlib
import shutil
import subprocess
import time

from measure import Failed, Figure, run

MIB = 1 << 20


class MemoryGroup:
    """A control group whose processes may use `limit` bytes of memory, page cache included (version 1 or 2; needs root)."""

    def __init__(self, limit):
        name = f"mcr-bench-{os.getpid()}"
        for root, file in (("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")):
            self.path = pathlib.Path(root) / name
            try:
                self.path.mkdir()
            except OSError:
                continue
            try:
                (self.path / file).write_text(str(limit))
                return
            except OSError:
                self.path.rmdir()
        raise Failed("no control group can be made here: it needs root, and the memory controller")

    def run(self, *commands):
        """Runs shell commands inside."""
        run(["sh", "-e", "-c", f'echo $$ > "{self.path}/cgroup.procs"\n' + "\n".join(commands)])

    def end(self):
        for _ in range(100):  # the processes may not be quite gone
            try:
                return self.path.rmdir()
            except OSError:
                time.sleep(0.05)


def page_cache(place):
    """A container larger than the memory, and the same files copied to disk, beside a file that the program reads again and
    again."""
    group = "Page cache: what stays of a program's file of 500 MiB while 3.2 GB go to disk"
    if shutil.which("fincore") is None:
        raise Failed("no fincore")
    scale = 8 if place.quick else 1
    files = place.make_set("cached", ranks=8, variables=8, elements=6553600 // scale)
    directory = place.directory("page-cache", disk=True)
    own = directory / "own"
    ways = {"mcr": f"{place.mcr} pack --memory {256 // scale}MiB -f -o {directory}/set.h5 {' '.join(map(str, files))} > /dev/null",
            "native": "\n".join(f"dd if={file} of={directory}/{file.name} bs=1M conv=fsync status=none" for file in files)}
    figures = []
    for limit in (900, 1200):
        memory = MemoryGroup(limit * MIB // scale)
        left = {way: [] for way in ways}
        try:
            for _ in range(1 if place.quick else 3):
                for way, writes in ways.items():
                    memory.run(f"head -c {500 * MIB // scale} /dev/urandom > {own}", "sync", *[f"cat {own} > /dev/null"] * 3, writes)
                    resident = subprocess.run(["fincore", "-n", "-b", "-o", "RES", own], check=True, capture_output=True, text=True).stdout
                    left[way].append(100 * int(resident) / own.stat().st_size)
                    for path in directory.iterdir():
                        path.unlink()
        finally:
            memory.end()
        figures += [Figure(group, f"in {limit} MiB of memory, {way}", shares, None, "%", more_is_better=True) for way, shares in left.items()]
    place.drop("cached")
    return figures, {}
