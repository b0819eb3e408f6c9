# SPDX-License-Identifier: BSD-3-Clause
"""Finds the processes that a test caused, without their help, and ends them.

A process belongs to a test when its first environment carries the test's token, or when it works in the test's
stage: the leader cleans its environment, but it cannot do without the stage.
"""
import os
import signal
import time
from pathlib import Path


def read_bytes(path):
    try:
        return Path(path).read_bytes()
    except OSError:
        return b""


class Process:
    def __init__(self, pid):
        self.pid = pid
        self.words = [w.decode(errors="replace") for w in read_bytes(f"/proc/{pid}/cmdline").split(b"\0")[:-1]]
        self.environment = {}
        for entry in read_bytes(f"/proc/{pid}/environ").split(b"\0"):
            key, _, value = entry.partition(b"=")
            self.environment[key.decode(errors="replace")] = value.decode(errors="replace")

    def alive(self):
        """While any of its threads is: what it has open, and locked, is so until the last one has ended."""
        try:
            threads = os.listdir(f"/proc/{self.pid}/task")
        except OSError:
            return False
        states = [read_bytes(f"/proc/{self.pid}/task/{thread}/stat").rpartition(b")")[2].split()[:1] for thread in threads]
        return any(state and state[0] not in (b"Z", b"X") for state in states)

    def opened(self):
        """What its descriptors, its mappings and its working directory lead to."""
        links = [f"/proc/{self.pid}/cwd"]
        try:
            links += [f"/proc/{self.pid}/fd/{n}" for n in os.listdir(f"/proc/{self.pid}/fd")]
        except OSError:
            pass
        for link in links:
            try:
                yield os.readlink(link)
            except OSError:
                pass
        for line in read_bytes(f"/proc/{self.pid}/maps").decode(errors="replace").splitlines():
            if "/" in line:
                yield line[line.index("/"):]

    def is_leader(self):
        return "leader" in self.words[1:3] and bool(self.words) and os.path.basename(self.words[0]).startswith("mcr")

    def rank(self):
        for key in ("PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID"):
            if self.environment.get(key, "").isdigit():
                return int(self.environment[key])
        return None

    def signal(self, number):
        try:
            os.kill(self.pid, number)
        except ProcessLookupError:
            pass

    def __repr__(self):
        return f"{self.pid} {' '.join(self.words)[:200]}"


def all_processes():
    me = os.getpid()
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) != me:
            process = Process(int(name))
            if process.words and process.alive():
                yield process


def of_token(key, token):
    return [p for p in all_processes() if p.environment.get(key) == token]


def of_stage(stage):
    stage = str(stage)
    return [p for p in all_processes()
            if any(stage in word for word in p.words) or p.environment.get("MCR_STAGE", "").startswith(stage)
            or any(path.startswith(stage) for path in p.opened())]


def end(find, seconds=5):
    """SIGKILL for all that find() returns, again until none is left; gives those that were there at first. A dying process
    has no command line any more, by which it was found, but its locks still: it is waited for."""
    first = find()
    left, killed, limit = first, {}, time.monotonic() + seconds
    while (left or any(process.alive() for process in killed.values())) and time.monotonic() < limit:
        for process in left:
            process.signal(signal.SIGKILL)
            killed[process.pid] = process
        time.sleep(0.02)
        left = find()
    return first
