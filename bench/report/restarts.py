# SPDX-License-Identifier: BSD-3-Clause
"""Measures what a restart decodes, reads and keeps in memory. Each rank is a process that opens its stub by plain
H5Fopen."""
import json
import os
import pathlib
import re
import subprocess
import time

from drawing import bars
from measure import Failed, Figure, quantile, ratios

MIB = 1 << 20
COUNTS = re.compile(r"rank \d+: (\d+) bytes of frames decoded from (\d+), (\d+) read that other ranks decoded")


class Captured:
    """A set of rank files that were written again through the connector: stubs and a container."""

    def __init__(self, place, name, files, stays=None, **settings):
        self.place, self.files, self.name = place, files, name
        self.directory, self.stage = place.directory(name), place.memory / f"stage-{name}"
        programs = [[place.build / "test/replay/replay", "--rank", rank, "--ranks", len(files), self.directory, *files]
                    for rank in range(len(files))]
        settings = {"files": "*", "set_wait": "60s", "ranks": len(files) + bool(stays), **settings}
        self.launch = f"bench{time.monotonic_ns()}"
        if stays:  # one more rank, which does not end
            mine = self.directory / f"part.{len(files):04}.h5"
            actor = [place.build / "test/programs/actor", f"create {mine}", f"write {mine} x 100 1", f"close {mine}", f"await {stays} 600000"]
            self.stayed = subprocess.Popen([str(word) for word in actor], env={**self.environment(settings), "MCR_RANK": str(len(files))})
        self.together(programs, launch=self.launch, **settings)
        self.containers = sorted(self.directory.rglob("set-*.h5"))
        if not self.containers:
            raise Failed(f"{name}: no container")
        self.stored_bytes = sum(path.stat().st_size for path in self.containers)
        self.raw_bytes = sum(path.stat().st_size for path in files)
        self.stubs = [self.directory / path.name for path in files]

    def together(self, programs, go=None, storage=None, **settings):
        """Runs all ranks at once, as one launch. Returns the output and the messages of each. With `go`, the name of a
        file that they wait for, no rank ends before all have printed: the ranks of a job live as long as the last
        one. `storage`: the environment in which a directory is slow."""
        environment = (storage or {}) | self.environment({"ranks": len(programs), "launch": f"bench{time.monotonic_ns()}", **settings})
        running = [subprocess.Popen([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                    env={**environment, "MCR_RANK": str(rank)}) for rank, words in enumerate(programs)]
        lines = [process.stdout.readline() for process in running] if go else [""] * len(running)
        if go:
            go.write_text("")
        done = [process.communicate() for process in running]
        done = [(line + printed, said) for line, (printed, said) in zip(lines, done)]
        for process, (_, said) in zip(running, done):
            if process.returncode != 0:
                raise Failed(f"{process.args[0]}: status {process.returncode}: {said[-400:]}")
        return done

    def environment(self, settings):
        settings = {"stage": self.stage, "launch": self.launch, "node": "bench", **settings}
        kept = {key: os.environ[key] for key in ("PATH", "LD_LIBRARY_PATH") if key in os.environ}
        return {**kept, "HDF5_PLUGIN_PATH": str(self.place.prefix / "lib/mcr/plugin"), "HDF5_VOL_CONNECTOR": "mcr",
                **{f"MCR_{key.upper()}": str(value) for key, value in settings.items()}}

    def restart(self, *words, alone=False, ranks=None, **settings):
        """Runs a restart of all ranks, or of the first ones only. `alone`: there is no stage through which ranks could
        share frames."""
        stubs = self.stubs[:ranks]
        go = self.place.memory / "go"
        go.unlink(missing_ok=True)
        programs = [[self.place.build / "test/programs/restart_rank", "--until", go, *words, stub] for stub in stubs]
        where = {"stage": "/proc/no-stage"} if alone else {}
        return Restart(self.together(programs, go, log="debug", files="none", **where, **settings))

    def seconds(self, files, storage):
        """Seconds until as many ranks have read these files, stubs or native ones, and have ended."""
        begin = time.perf_counter()
        self.together([[self.place.build / "test/programs/restart_rank", path] for path in files], storage=storage, files="none")
        return time.perf_counter() - begin

    def natives(self, files):
        """Native files, read by as many ranks."""
        return Restart(self.together([[self.place.build / "test/programs/restart_rank", path] for path in files], files="none"))


class Restart:
    """Sums over the ranks, and the messages of each."""

    def __init__(self, done):
        self.ranks = [json.loads(printed) for printed, _ in done]
        counts = [tuple(map(int, found)) for _, said in done for found in COUNTS.findall(said)]
        self.decoded, self.stored, self.taken = (sum(column) for column in zip(*counts)) if counts else (0, 0, 0)
        self.cpu = sum(rank["cpu_seconds"] for rank in self.ranks)
        self.sums = [rank["sum"] for rank in self.ranks]


def sets(place):
    """Real sets below the directories of --sets, one for each folder of rank files; without --sets, made-up sets."""
    for root in place.sets:
        for folder in sorted({path.parent for path in pathlib.Path(root).rglob("*") if path.is_file() and is_hdf5(path)}):
            yield f"{folder.parent.name}-{folder.name}", sorted(path for path in folder.iterdir() if is_hdf5(path))
    if not place.sets:
        large = (1 if place.quick else 8) * 65536
        yield "large arrays", place.make_set("restart-large", ranks=8, variables=8, elements=large)
        yield "small arrays", place.make_set("restart-small", ranks=8, variables=100 if place.quick else 800, elements=300)


def is_hdf5(path):
    with open(path, "rb") as file:
        return file.read(8) == b"\x89HDF\r\n\x1a\n"


def restart_decoding(place):
    """How often a restart of all ranks decodes each frame, and how much of the container it reads, with sharing and
    without."""
    group = "Restart of all ranks on a node: bytes decoded and read, summed over the ranks"
    figures, rows = [], {}
    for name, files in sets(place):
        captured = Captured(place, f"decoding-{name.replace(' ', '-')}", files)
        shared, alone, natives = [], [], []
        for _ in range(1 if place.quick else 3):
            shared.append(captured.restart())
            alone.append(captured.restart(alone=True))
            natives.append(captured.natives(files))
        if any(restart.sums != natives[0].sums for restart in shared + alone):
            raise Failed(f"{name}: ranks read other data")
        decoded, once_each = ([restart.decoded / captured.raw_bytes for restart in restarts] for restarts in (shared, alone))
        figures += [Figure(group, f"{name}: decoded ÷ raw bytes of the set", decoded, ("<=", 1.1), "×",
                           f"each rank for itself: {quantile(once_each, 0.5):.2f}"),
                    Figure(group, f"{name}: frames read ÷ container's bytes", [r.stored / captured.stored_bytes for r in shared],
                           ("<=", 1.1), "×", f"each rank for itself: {alone[0].stored / captured.stored_bytes:.2f}"),
                    Figure(group, f"{name}: CPU time of all ranks, shared ÷ each for itself", [s.cpu / a.cpu for s, a in zip(shared, alone)]),
                    Figure(group, f"{name}: CPU time of all ranks ÷ from native files", [s.cpu / n.cpu for s, n in zip(shared, natives)], ("<=", 1.5))]
        rows[name[:22]] = [(quantile(of, 0.5), min(of), max(of)) for of in (decoded, once_each)]
    return figures, {group: [bars("decoded ÷ raw bytes of the set", "×", rows, ["shared", "each for itself"])]}


def restart_time(place):
    """How long a job reads its files: through mcr, and natively, on storage of several speeds."""
    group = "Restart: 8 ranks read 16 MiB each, mcr ÷ native, starts of the programs included"
    files = place.make_set("restart-time", ranks=8, variables=8, elements=(1 if place.quick else 4) * 65536)
    captured = Captured(place, "restart-time-captured", files)
    figures = []
    for title, rate in (("memory", None), ("1 GB/s a stream, 2 GB/s for all", 1e9), ("100 MB/s a stream, 200 for all", 100e6),
                        ("20 MB/s a stream, 40 for all", 20e6)):
        slow = lambda directory: place.throttled(directory, rate, 2 * rate) if rate else {}
        pairs, with_mcr, natively = ratios(lambda: captured.seconds(captured.stubs, slow(captured.directory)),
                                           lambda: captured.seconds(files, slow(files[0].parent)), 1 if place.quick else 5)
        figures.append(Figure(group, title, pairs, rate and ("<=", 1.0), "×", f"native {1000 * natively:.0f} ms, mcr {1000 * with_mcr:.0f} ms"))
    place.drop("restart-time")
    return figures, {}


def restart_memory(place):
    """A restarting rank's peak memory compared with its own data."""
    group = "Restart: peak memory of a rank beyond its own file"
    figures = []
    for name, files in sets(place):
        captured = Captured(place, f"memory-{name.replace(' ', '-')}", files)
        for title, alone in (("shared", False), ("each for itself", True)):
            ranks = captured.restart(alone=alone).ranks
            more = max(rank["peak_bytes"] - path.stat().st_size for rank, path in zip(ranks, files))
            figures.append(Figure(group, f"{name}, {title}", more / MIB, ("<=", 64), "MiB"))
    return figures, {}


def partial_reads(place):
    """Reads one dataset of one rank from a container with many datasets of many ranks."""
    group = "Partial reads: one dataset of one rank of 64 ranks × 100 datasets"
    figures = []
    for title, elements in (("8 KiB", 1024), ("64 KiB", 8192)):
        if place.quick and elements > 1024:
            continue
        files = place.make_set(f"partial-{elements}", ranks=64, variables=100, elements=elements)
        captured = Captured(place, f"partial-captured-{elements}", files)
        read = captured.restart("--dataset", "ML_BSSN::gt0 it=512 tl=0 rl=2 c=0", ranks=1)  # the 51st
        figures.append(Figure(group, f"datasets of {title}: bytes of frames read ÷ container", 100 * read.stored / captured.stored_bytes,
                              ("<=", 3), "%"))
        place.drop(f"partial-{elements}")
    return figures, {}


def kept_sets(place):
    """A restart on the node whose stage kept the set, while a process of the launch that wrote it lives."""
    group = "Restart from a kept set (keep=1), CPU time of all ranks ÷ from native files on the same memory file system"
    files = place.make_set("kept", ranks=8, variables=8, elements=(1 if place.quick else 8) * 65536)
    gate = place.memory / "kept-gate"
    captured = Captured(place, "kept-captured", files, keep=1, stays=gate)
    pairs = []
    for _ in range(3 if place.quick else 7):
        kept = captured.restart()
        if kept.decoded:
            raise Failed("the set was not read from the stage")
        native = captured.natives(files)
        if kept.sums != native.sums:
            raise Failed("ranks read other data")
        pairs.append(kept.cpu / native.cpu)
    gate.write_text("")
    captured.stayed.communicate()
    place.drop("kept")
    return [Figure(group, "8 ranks", pairs, ("<=", 1.1), "×")], {}
