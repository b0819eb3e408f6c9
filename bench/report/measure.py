# SPDX-License-Identifier: BSD-3-Clause
"""Runs commands and compares them. Every figure is a ratio of two measurements that alternate in one run."""
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from throttled_storage import ThrottledStorage


class Failed(Exception):
    """A benchmark could not be measured; the other benchmarks go on."""


def quantile(values, place):
    values = sorted(values)
    return values[round(place * (len(values) - 1))]


class Cost:
    """The result of a command: its time and CPU time in seconds, its greatest resident memory in bytes, and its
    output."""

    def __init__(self, wall, cpu, peak, text):
        self.wall, self.cpu, self.peak, self.text = wall, cpu, peak, text


def run(command, env=None, cwd=None, ok=(0,)):
    """Runs one command, alone. Raises Failed if its exit status is not in `ok`."""
    before = time.perf_counter()
    with tempfile.TemporaryFile("w+", errors="replace") as output, tempfile.TemporaryFile("w+", errors="replace") as said:
        process = subprocess.Popen([str(word) for word in command], stdout=output, stderr=said, cwd=cwd,
                                   env={**os.environ, **(env or {})})
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        said.seek(0)
        text, errors = output.read(), said.read()
    wall = time.perf_counter() - before
    if process.returncode not in ok:
        raise Failed(f"{' '.join(map(str, command))[:300]}: status {process.returncode}: {errors[-400:]}")
    return Cost(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, text)


def together(commands, envs):
    """Runs commands at the same time, as the ranks of a job. Returns the seconds until all have ended, and their
    outputs."""
    before = time.perf_counter()
    running = [subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env={**os.environ, **env}) for command, env in zip(commands, envs)]
    done = [process.communicate() for process in running]
    wall = time.perf_counter() - before
    for process, (_, errors) in zip(running, done):
        if process.returncode != 0:
            raise Failed(f"{process.args[0]}: status {process.returncode}: {errors[-400:]}")
    return wall, [output for output, _ in done]


def ratios(first, second, rounds):
    """Alternates two functions that return seconds. Returns [first / second of each pair] and the medians of both."""
    pairs = []
    for i in range(rounds):
        if i % 2:
            b = second()
            a = first()
        else:
            a = first()
            b = second()
        pairs.append((a, b))
    return ([a / b for a, b in pairs if b > 0], quantile([a for a, _ in pairs], 0.5), quantile([b for _, b in pairs], 0.5))


class Figure:
    """One line of the report. `asked`: (\"<=\", 1.0) and so on, or None. Without it, less is better unless
    `more_is_better`."""

    def __init__(self, group, title, values, asked=None, unit="", note="", more_is_better=False):
        values = values if isinstance(values, list) else [values]
        self.group, self.title, self.unit, self.note, self.asked = group, title, unit, note, asked
        self.less_is_better = asked[0] == "<=" if asked else not more_is_better
        self.value, self.low, self.high = (quantile(values, place) for place in (0.5, 0.25, 0.75))

    def holds(self):
        if self.asked is None:
            return None
        sign, bound = self.asked
        return self.value <= bound if sign == "<=" else self.value >= bound

    def to_json(self):
        return {"group": self.group, "title": self.title, "value": self.value, "low": self.low, "high": self.high,
                "unit": self.unit, "less_is_better": self.less_is_better, "asked": self.asked and list(self.asked), "holds": self.holds(), "note": self.note}


def build_name():
    """The commit that is checked out, and "+" if files were changed since; "" where that is not known."""
    try:
        told = subprocess.run(["git", "describe", "--always", "--abbrev=7", "--dirty=+"], cwd=pathlib.Path(__file__).parent, capture_output=True, text=True)
    except OSError:  # no git
        return ""
    return told.stdout.strip()


def machine():
    """The facts about the machine that are needed to judge the figures."""
    def first(path, pattern):
        try:
            found = re.search(pattern, pathlib.Path(path).read_text(), re.M)
            return found.group(1).strip() if found else ""
        except OSError:
            return ""
    kib = int(first("/proc/meminfo", r"MemTotal:\s*(\d+)") or 0)
    return {"processor": first("/proc/cpuinfo", r"model name\s*:\s*(.*)"), "cores": len(os.sched_getaffinity(0)),
            "memory_gib": round(kib / 2**20, 1), "kernel": platform.release(), "build": build_name(),
            "load_at_start": round(os.getloadavg()[0], 2), "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}


class Place:
    """The places of programs, data and results. end() removes the data."""

    def __init__(self, build, prefix, quick, memory, disk, sets=()):
        self.sets = sets
        self.build, self.quick = pathlib.Path(build).resolve(), quick
        self.source = pathlib.Path(__file__).resolve().parents[2]
        self.memory = pathlib.Path(memory).resolve() / f"mcr-bench-{os.getpid()}"
        self.disk = pathlib.Path(disk).resolve() / f"mcr-bench-{os.getpid()}"
        for directory in (self.memory, self.disk):
            directory.mkdir(parents=True)
        if not prefix:
            run(["meson", "install", "-C", self.build, "--no-rebuild", "--destdir", self.disk / "installation"])
            prefix = next((self.disk / "installation").rglob("bin/mcr")).parent.parent
        self.prefix = pathlib.Path(prefix).resolve()
        self.mcr = self.prefix / "bin/mcr"
        self.make_set_program = self.build / "bench/sets/make_set"
        self.slow_storage = ThrottledStorage(self.disk, self.prefix)

    def directory(self, name, disk=False):
        path = (self.disk if disk else self.memory) / name
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(parents=True)
        return path

    def make_set(self, name, **shape):
        """Returns a directory of rank files, which is made once."""
        path = self.memory / name
        if not path.exists():
            path.mkdir(parents=True)
            run([self.make_set_program, path, *(str(word) for key, value in shape.items() for word in ("--" + key, value))])
        return sorted(path.glob("part.*.h5"))

    def drop(self, name):
        shutil.rmtree(self.memory / name, ignore_errors=True)

    def pack(self, files, *options, env=None):
        """Runs `mcr pack` into memory. Returns its cost, with its report as `report`."""
        output = self.memory / "packed.h5"
        output.unlink(missing_ok=True)  # a leader's container is a new file: the time must not include freeing an old one's pages
        cost = run([self.mcr, "pack", "--json", "-f", "-o", output, *options, *files], env=env)
        cost.report = json.loads(cost.text)
        return cost

    def command(self, *words):
        """Runs a command of mcr."""
        return run([self.mcr, *words])

    def throttled(self, directory, per_stream, total=None):
        """Returns an environment in which `directory` is slow storage. `total`: the limit is for all processes
        together."""
        state = self.memory / f"throttle-{time.monotonic_ns()}"
        return self.slow_storage.environment(directory, per_stream, total or 0, state)

    def throttled_prefix(self):
        return self.slow_storage.installation()

    def end(self):
        shutil.rmtree(self.memory, ignore_errors=True)
        shutil.rmtree(self.disk, ignore_errors=True)
