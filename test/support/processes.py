# SPDX-License-Identifier: BSD-3-Clause
"""Finds the processes that a test has started, directly or not, and ends them.

A process belongs to a test if its first environment has the test's token, or if it has files of the test's stage open.
A leader clears its environment, but cannot work without the stage.
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
        """True while any thread of the process lives, because its files stay open and locked until the last thread has
        ended."""
        try:
            threads = os.listdir(f"/proc/{self.pid}/task")
        except OSError:
            return False
        states = [read_bytes(f"/proc/{self.pid}/task/{thread}/stat").rpartition(b")")[2].split()[:1] for thread in threads]
        return any(state and state[0] not in (b"Z", b"X") for state in states)

    def opened(self):
        """The paths of its descriptors, its mappings and its working directory."""
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
    """Sends SIGKILL to all processes that find() returns, until none is left. Returns the processes that were found at
    first. Also waits for dying processes: they no longer have the command line by which they were found, but still have
    their locks."""
    first = find()
    left, killed, limit = first, {}, time.monotonic() + seconds
    while (left or any(process.alive() for process in killed.values())) and time.monotonic() < limit:
        for process in left:
            process.signal(signal.SIGKILL)
            killed[process.pid] = process
        time.sleep(0.02)
        left = find()
    return first
