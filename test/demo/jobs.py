# SPDX-License-Identifier: BSD-3-Clause
"""Runs the solver, natively or with mcr, and follows its output."""
import os
import re
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import processes
from build_config import COMMAND, PLUGINS, mpiexec, program
from shape import CHECKPOINTS, STEPS_BETWEEN

VARIABLES = {"HDF5_PLUGIN_PATH": str(PLUGINS), "HDF5_VOL_CONNECTOR": "mcr"}
DEADLINE = 300


class Failed(Exception):
    """The demonstration cannot go on. The second argument is the log of the job, if there is one."""


def clean_environment():
    return {k: v for k, v in os.environ.items() if not k.startswith(("HDF5_", "MCR_"))}


def mcr(*words):
    done = subprocess.run([str(COMMAND), *map(str, words)], capture_output=True, text=True, timeout=DEADLINE,
                          env=dict(clean_environment(), HDF5_PLUGIN_PATH=str(PLUGINS)))
    if done.returncode:
        raise Failed(f"`mcr {' '.join(map(str, words))}` ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def make_durable(paths):
    """fsync of files and of their directories."""
    def sync(path):
        descriptor = os.open(path, os.O_RDONLY)
        os.fsync(descriptor)
        os.close(descriptor)
    with ThreadPoolExecutor(len(paths)) as pool:
        list(pool.map(sync, paths))
    for directory in {path.parent for path in paths}:
        sync(directory)


class Checkpoint:
    def __init__(self, step, waited, ended):
        self.step, self.waited = step, waited  # seconds of the slowest rank, from H5Fcreate to the end of H5Fclose
        self.begun = ended - waited
        self.durable_after = None  # seconds


class Job:
    """One run of the solver in `directory`. Its standard output and error go into NAME.log beside that directory."""

    def __init__(self, name, directory, shape, variables, *more):
        self.name, self.directory, self.shape, self.with_mcr = name, Path(directory), shape, "HDF5_VOL_CONNECTOR" in variables
        self.log = self.directory.parent / f"{name}.log"
        self.text, self.checkpoints, self.killed, self.seconds = "", [], 0, 0
        self._token = f"demo-{os.getpid()}-{name}"
        self._variables = dict(clean_environment(), MCR_TEST_JOB=self._token, **variables)
        self._words = mpiexec() + ["-n", str(shape.ranks), program("test/apps/heat3d"), "--size", str(shape.size), "--steps",
                                   str(CHECKPOINTS * STEPS_BETWEEN), "--every", str(STEPS_BETWEEN), "--dir", str(directory), *more]

    def run(self, progress, kill_after=None, durable=False):
        """Waits for the end of the job. kill_after: kills every rank right after the checkpoint of this step. durable:
        measures when each checkpoint is durable; native files are synced beside the running job, as soon as all ranks
        have closed theirs."""
        begun = time.monotonic()
        self._process = subprocess.Popen(self._words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                         env=self._variables, text=True, errors="replace")
        overdue = threading.Timer(DEADLINE, self._kill_all)
        overdue.start()
        syncing = []
        with open(self.log, "w") as log:
            for line in self._process.stdout:
                log.write(line)
                self.text += line
                found = re.match(r"checkpoint after step (\d+), slowest rank waited ([\d.]+) s$", line)
                if not found:
                    continue
                self.checkpoints.append(Checkpoint(int(found.group(1)), float(found.group(2)), time.time()))
                progress.show(f"checkpoint {len(self.checkpoints)} of {CHECKPOINTS}")
                if durable and not self.with_mcr:
                    syncing.append(threading.Thread(target=self._sync, args=[self.checkpoints[-1]]))
                    syncing[-1].start()
                if self.checkpoints[-1].step == kill_after:
                    self._kill_ranks()
        self._process.wait()
        for thread in syncing:
            thread.join()
        self.seconds = time.monotonic() - begun
        is_late = not overdue.is_alive()
        overdue.cancel()
        if is_late:
            raise Failed(f"{self.name} still ran after {DEADLINE} s", self.log)
        if self._process.returncode and kill_after is None:
            raise Failed(f"{self.name} ended with status {self._process.returncode}", self.log)
        if kill_after is not None and not self.killed:
            raise Failed(f"{self.name} ended before it could be killed", self.log)
        if durable and self.with_mcr:
            self._look_for_containers()
        return self

    def answer(self):
        return re.search(r"^answer (\w+)$", self.text, re.M).group(1)

    def files(self, checkpoint):
        return sorted((self.directory / f"step{checkpoint.step:05}").glob("rank*.h5"))

    def _sync(self, checkpoint):
        make_durable(self.files(checkpoint))
        checkpoint.durable_after = time.time() - checkpoint.begun

    def _look_for_containers(self):
        """A container gets its final name, and with it this time, after its fsync. A set may have several containers."""
        for checkpoint in self.checkpoints:
            containers = list((self.directory / f"step{checkpoint.step:05}").glob("mcr/set-*.h5"))
            if not containers:
                raise Failed(f"the checkpoint of step {checkpoint.step} has no container", self.log)
            checkpoint.durable_after = max(container.stat().st_ctime for container in containers) - checkpoint.begun

    def _mine(self):
        return processes.of_token("MCR_TEST_JOB", self._token)

    def _kill_ranks(self):
        found = processes.end(lambda: [p for p in self._mine() if not p.is_leader()])
        self.killed = len({p.rank() for p in found if p.rank() is not None})

    def _kill_all(self):
        processes.end(self._mine)
