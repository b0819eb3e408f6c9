# SPDX-License-Identifier: BSD-3-Clause
"""The library for system tests. Uses only Python's standard library.

A test is an executable script without extension, such as test/promises/04-byte-for-byte:

    #!/usr/bin/env python3
    # SPDX-License-Identifier: BSD-3-Clause
    \"\"\"Byte for byte. A restored rank file equals the file that native HDF5 would have left.\"\"\"
    import os, sys
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../support"))
    from mcrtest import *

    @case("ranks of unequal size come back byte for byte", nodes=(1, 4))
    def _(t):
        t.run([program("test/apps/particles"), "--dir", t.dir / "native"], ranks=8)
        t.run([program("test/apps/particles"), "--dir", t.dir / "mcr"], ranks=8, mcr=True, files="*")
        ...
        t.same_bytes(t.dir / "native/p0.h5", t.dir / "out/p0.h5")

    if __name__ == "__main__":
        main()

Each case runs in a process of its own, with t.dir (on disk) and t.stage (in memory, given to mcr as stage=), and a
deadline; what it started is ended afterwards and what it wrote is removed. By hand:

    test/promises/04-byte-for-byte            all its cases (--slow: the slow ones too; --keep: keep files of a failure)
    test/promises/04-byte-for-byte unequal    those whose name contains the word
    test/run [WORDS]                          installs the build, then runs everything, in parallel, and counts
"""
import argparse
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import uuid
from pathlib import Path

import cgroups
import processes
import runner
import sanitizers
from build_config import (BUILD, COMMAND, DATA, HDF5_LIBDIR, HDF5_TOOLS, PATIENCE, PLUGINS, PREFIX, SANITIZED, SOURCE,
                          config, hdf5_tool, mpiexec, program)
from deadline import Deadline, slowness, wait_for
from compare import containers_below, difference, files_below, is_stub, stubs_below

__all__ = ["BUILD", "COMMAND", "DATA", "Deadline", "HDF5_LIBDIR", "HDF5_TOOLS", "PATIENCE", "PLUGINS", "PREFIX", "SANITIZED", "SOURCE",
           "Path", "case",
           "config", "containers_below", "difference", "expect", "fail", "files_below", "hdf5_tool", "is_stub",
           "json", "main", "mpiexec", "os", "processes", "program", "shutil", "signal", "skip", "slowness", "stubs_below",
           "subprocess", "sys", "time", "wait_until"]


class Failure(Exception):
    pass


class Skip(Exception):
    pass


def fail(message):
    raise Failure(message)


def expect(condition, message):
    if not condition:
        raise Failure(message)


def skip(reason):
    """The case cannot run on this machine; the reason is printed and counted."""
    raise Skip(reason)


def wait_until(condition, seconds, what):
    """Calls condition() every 20 ms; returns its first true result."""
    deadline = Deadline(seconds)
    while True:
        result = condition()
        if result:
            return result
        if deadline.is_over():
            fail(f"after {deadline.passed():.0f} s still not: {what}")
        time.sleep(0.02)


class Done:
    """How a command ended."""

    def __init__(self, words, status, out, err):
        self.words, self.status, self.out, self.err = words, status, out, err

    def __str__(self):
        return f"`{' '.join(map(str, self.words))}` ended with {self.status}\n{self.out}{self.err}"


class Job:
    """A command that runs, alone or as ranks under mpiexec."""

    def __init__(self, test, words, environment, cwd):
        self.token = uuid.uuid4().hex[:12]
        self.words = [str(w) for w in words]
        self.out_path = test.scratch(f"job-{self.token}.out")
        self.err_path = test.scratch(f"job-{self.token}.err")
        with open(self.out_path, "wb") as out, open(self.err_path, "wb") as err:
            self.process = subprocess.Popen(self.words, stdin=subprocess.DEVNULL, stdout=out, stderr=err, cwd=cwd,
                                            env=dict(environment, MCR_TEST_JOB=self.token))

    def processes(self):
        """Launcher and ranks, not the leader."""
        return [p for p in processes.of_token("MCR_TEST_JOB", self.token) if not p.is_leader()]

    def ranks(self):
        """Rank -> process (the oldest of each rank)."""
        found = {}
        for process in sorted(self.processes(), key=lambda p: -p.pid):
            if process.rank() is not None:
                found[process.rank()] = process
        return found

    def kill_rank(self, rank, number=signal.SIGKILL):
        found = self.ranks().get(rank)
        expect(found, f"rank {rank} does not run: {self.ranks()}")
        found.signal(number)

    def kill(self):
        """SIGKILL for everything of the job at once; the leader stays."""
        processes.end(lambda: self.processes())
        self.process.wait()

    def out(self):
        return self.out_path.read_text(errors="replace")

    def err(self):
        return self.err_path.read_text(errors="replace")

    def wait_for_output(self, text, times=1, seconds=60):
        """Waits until the output has the text this often: once if one rank prints it for all, otherwise once for each
        rank."""
        wait_until(lambda: self.out().count(text) >= times or self.process.poll() is not None, seconds,
                   f"output {text!r}, {times} times")
        expect(self.out().count(text) >= times, f"ended without {text!r}:\n{self.out()}{self.err()}")

    def wait(self, seconds=120):
        begun = time.monotonic()
        if not wait_for(self.process, seconds):
            fail(f"`{' '.join(self.words)}` still runs after {time.monotonic() - begun:.0f} s\n{self.out()}{self.err()}")
        return Done(self.words, self.process.returncode, self.out(), self.err())


class Test:
    """The argument of a case: its directories, and methods to run and compare things."""

    def __init__(self, nodes):
        self.nodes = nodes  # number of simulated nodes (1: the machine as it is)
        self.dir = Path(os.environ["MCR_TEST_WORK"]) / "work"
        self.dir.mkdir(exist_ok=True)
        self.stage_root = Path(os.environ["MCR_TEST_STAGE"])
        self.stage = self.stage_root / "stage"  # made by mcr itself
        expect(COMMAND.exists(), f"{COMMAND} is not there: `meson install -C {BUILD} --destdir {BUILD / 'prefix'}`")

    def scratch(self, name):
        """A file beside the work directory, so that it is not in the test's listings."""
        return self.dir.parent / name

    # --- running things -------------------------------------------------------------------------------------

    def environment(self, mcr=False, env=None, **settings):
        """Without mcr, the environment has no trace of mcr. Settings become MCR_<KEY>; None removes a setting."""
        result = {k: v for k, v in os.environ.items() if not k.startswith(("HDF5_", "MCR_")) or k.startswith("MCR_TEST_")}
        result["MCR_BUILD"] = str(BUILD)
        if SANITIZED:
            result["LD_PRELOAD"] = sanitizers.preloaded()
        if mcr:
            result["XDG_CACHE_HOME"] = str(self.scratch("cache"))
            result["HDF5_PLUGIN_PATH"] = str(PLUGINS)
            result["HDF5_VOL_CONNECTOR"] = "mcr" if mcr is True else mcr
            settings = {"stage": self.stage, **settings}
        for key, value in settings.items():
            if value is not None:
                result[f"MCR_{key.upper()}"] = str(value)
        for key, value in (env or {}).items():
            if value is None:
                result.pop(key, None)
            else:
                result[key] = str(value)
        if SANITIZED and (env or {}).get("LD_PRELOAD"):
            result["LD_PRELOAD"] = f"{sanitizers.preloaded()} {result['LD_PRELOAD']}"
        return result

    def start(self, words, ranks=None, mcr=False, cwd=None, env=None, fixed_time=False, nodes=None, **settings):
        """Starts words, under mpiexec when ranks are given.

        mcr: False, True, or the text for HDF5_VOL_CONNECTOR. With nodes > 1 the ranks are spread over that many
        nodes, each with a stage and a leader of its own. fixed_time freezes the object times that HDF5 records.
        """
        nodes = nodes or self.nodes
        environment = self.environment(mcr, env, **settings)
        words = [str(w) for w in words]
        if fixed_time:
            environment["LD_PRELOAD"] = " ".join([sanitizers.preloaded(), program("test/support/libfixed_time.so")]).strip()
        if ranks is not None:
            launcher = mpiexec()
            if nodes > 1:
                if "--oversubscribe" in launcher:
                    skip("several nodes on one machine need MPICH's mpiexec")
                expect(ranks % nodes == 0, "ranks must be a multiple of nodes")
                hosts = ",".join(["localhost"] + [f"127.0.0.{n + 1}" for n in range(1, nodes)])
                launcher = launcher + ["-launcher", "fork", "-hosts", hosts, "-ppn", str(ranks // nodes)]
                if mcr:
                    environment["MCR_TEST_STARTED"] = tempfile.mkdtemp(prefix="started-", dir=self.dir.parent)
                    words = [str(SOURCE / "test/support/on_node"), str(ranks // nodes), environment["MCR_STAGE"]] + words
            words = launcher + ["-n", str(ranks)] + words
        return Job(self, words, environment, cwd or self.dir)

    def run(self, words, check=True, seconds=120, **how):
        """start() and wait; check: a status other than 0 fails the case."""
        done = self.start(words, **how).wait(seconds)
        expect(done.status == 0 or not check, str(done))
        return done

    def mcr(self, *words, check=True, seconds=120, env=None, cwd=None, **settings):
        """The command mcr, with the settings of this test (its stage) but no connector."""
        starts_others = not {"doctor", "run"}.isdisjoint(map(str, words))  # these subcommands start programs, which may keep memory until they end
        leaks = {"ASAN_OPTIONS": sanitizers.with_leaks(os.environ["ASAN_OPTIONS"])} if SANITIZED and not starts_others else {}
        return self.run([COMMAND, *words], check=check, seconds=seconds, cwd=cwd,
                        env={"HDF5_PLUGIN_PATH": str(PLUGINS), **leaks, **(env or {})}, **{"stage": self.stage, **settings})

    def mcr_json(self, *words, **how):
        return json.loads(self.mcr(*words, "--json", **how).out)

    # --- leader ---------------------------------------------------------------------------------------------

    def leaders(self):
        return [p for p in processes.of_stage(self.stage_root) + processes.of_token("MCR_TEST_CASE", os.environ["MCR_TEST_CASE"])
                if p.is_leader()]

    def leader(self, seconds=10):
        """Returns the process that leads. Other leader processes find that the launch has a leader, and end at once."""
        def only():
            found = {p.pid: p for p in self.leaders()}
            return list(found.values()) if len(found) == 1 else None
        return wait_until(only, seconds, "one leader runs")[0]

    def kill_leaders(self, number=signal.SIGKILL):
        """Sends the signal to all leaders, also to one that a rank starts meanwhile. Returns the leaders that were
        found first."""
        found = self.leaders()
        for process in found:
            process.signal(number)
        killed = {process.pid: process for process in found}
        deadline = Deadline(10)
        while number == signal.SIGKILL and (leaders := self.leaders()):
            for process in leaders:
                process.signal(number)
                killed[process.pid] = process
            expect(not deadline.is_over(), f"leaders do not die: {[p.pid for p in leaders]}")
            time.sleep(0.01)
        if number == signal.SIGKILL:  # a dying process no longer has a command line, but still has its locks
            wait_until(lambda: not any(process.alive() for process in killed.values()), 10, "the leaders are dead")
        return found

    def wait_no_leader(self, seconds=60):
        """One look may miss a leader that starts: it forks twice after the look has listed the processes, and while it
        executes its program it has no command line."""
        def is_none_left():
            for _ in range(3):
                if self.leaders():
                    return False
                time.sleep(0.005)
            return True
        wait_until(is_none_left, seconds, "no leader is left")

    def remove_stage(self, below=""):
        """A leader may write there meanwhile."""
        place = self.stage / below

        def is_gone():
            shutil.rmtree(place, ignore_errors=True)
            return not place.exists()

        wait_until(is_gone, 20, f"{place} is removed")

    def stage_files(self):
        """All files in the stage, or in the stages of all nodes. Files may disappear during the look."""
        return sorted(os.path.relpath(os.path.join(folder, name), self.stage_root)
                      for folder, _, names in os.walk(self.stage_root) for name in names)

    def stage_bytes(self):
        used = 0
        for name in self.stage_files():
            with contextlib.suppress(OSError):
                used += (self.stage_root / name).stat().st_blocks * 512
        return used

    # --- comparing ------------------------------------------------------------------------------------------

    def same_bytes(self, left, right):
        found = difference(left, right)
        expect(found is None, found)

    def same_files(self, left, right, pattern="*"):
        """Both directories must have the same files with the same bytes. Returns their number."""
        names = files_below(left, pattern)
        expect(names, f"no file {pattern} in {left}")
        expect(names == files_below(right, pattern),
               f"not the same files: {left} has {names}, {right} has {files_below(right, pattern)}")
        for name in names:
            self.same_bytes(Path(left) / name, Path(right) / name)
        return len(names)

    def die_before_stub(self, path, old):
        """Leaves what a rank leaves that dies between its publish and the rename of its stub: the older file `old` at the path, and
        no record in the part's journal that the stub is in place."""
        shutil.copy2(old, path)
        self.forget_stub(path)

    def forget_stub(self, path):
        """Takes the record that the stub is in place out of the journal of the part that was published at the path."""
        stub_is_placed, changed = 16, 0
        for journal in self.stage.rglob("published/*.journal"):
            content = journal.read_bytes()
            if str(path).encode() not in content:
                continue
            begin = last = 0  # of the records: length, kind, payload, checksum
            while begin < len(content):
                last, begin = begin, begin + 5 + int.from_bytes(content[begin:begin + 4], "little") + 8
            if content[last + 4] == 2 and content[last + 5 + 16] & stub_is_placed:
                os.truncate(journal, last)
                changed += 1
        expect(changed == 1, f"{changed} journals of {path} said that its stub is in place")

    def all_captured(self, directory, count, pattern="*"):
        """Every file in the directory must be a stub, and there must be `count` of them, which proves that they were
        captured."""
        names = files_below(directory, pattern)
        expect(len(names) == count, f"{count} files expected in {directory}, there are {names}")
        native = [name for name in names if not is_stub(Path(directory) / name)]
        expect(not native, f"not captured: {native}")

    def none_captured(self, directory):
        expect(not stubs_below(directory), f"captured: {stubs_below(directory)}")

    def h5diff(self, left, right, **how):
        self.run([hdf5_tool("h5diff"), left, right], env={"HDF5_PLUGIN_PATH": str(PLUGINS)}, **how)

    # --- surroundings ---------------------------------------------------------------------------------------

    def memory_group(self, limit):
        """Makes a control group whose processes may use this many bytes of memory. Returns the words that start a
        command in the group, and a function that counts its processes that were killed for memory. The group is removed
        with the case."""
        name = f"mcr-test-{os.environ['MCR_TEST_CASE']}"
        group, control = cgroups.make(name, limit)
        if group is None:
            skip(f"no memory control group can be made here ({control})")
        return ["sh", "-c", f'echo $$ > {group}/cgroup.procs && exec "$@"', "sh"], lambda: cgroups.kills(group)

    def without_leader(self, script=None):
        """HDF5_PLUGIN_PATH of a copy of the installation in which this script replaces the command `mcr`, or the
        command is missing."""
        root = self.scratch("without-leader")
        shutil.copytree(PLUGINS, root / "lib/mcr/plugin")
        if script is not None:
            (root / "bin").mkdir()
            (root / "bin/mcr").write_text(script)
            (root / "bin/mcr").chmod(0o755)
        return root / "lib/mcr/plugin"

    def tmpfs(self, name, size, options=""):
        """Mounts a memory file system of that size, to test what happens when it is full."""
        place = self.dir.parent / name
        place.mkdir()
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size},mode=0700{options}", "mcr-test", place],
                              capture_output=True, text=True)
        if done.returncode:
            skip(f"no memory file system can be mounted here ({done.stderr.strip()})")
        return place


# --- declaring and running cases ------------------------------------------------------------------------------

_cases = {}


def case(name, deadline=120, slow=False, alone=False, nodes=(1,)):
    """Declares a case; its name is a sentence. alone: no other case runs meanwhile (for cases that measure time).

    nodes: the case runs once for each number of simulated nodes, as t.nodes.
    """
    def declare(function):
        for count in nodes:
            full = name if count == 1 else f"{name} ({count} nodes)"
            assert full not in _cases, full
            _cases[full] = {"name": full, "deadline": deadline, "slow": slow, "alone": alone,
                            "function": function, "nodes": count}
        return function
    return declare


def _run_here(chosen):
    try:
        chosen["function"](Test(chosen["nodes"]))
    except Skip as reason:
        print(reason)
        return runner.SKIPPED
    except Failure as failure:
        frames = [f for f in traceback.extract_tb(failure.__traceback__) if "/support/" not in f.filename]
        if frames:
            print(f"{os.path.basename(frames[-1].filename)}:{frames[-1].lineno}: {frames[-1].line}")
        print(failure)
        return 1
    except Exception:
        traceback.print_exc(file=sys.stdout)
        return 1
    return 0


def main():
    script = Path(sys.argv[0]).resolve()
    parser = argparse.ArgumentParser(description=(sys.modules["__main__"].__doc__ or "").strip(),
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", help="only cases whose name contains one of these")
    parser.add_argument("--slow", action="store_true", help="slow cases too")
    parser.add_argument("--keep", action="store_true", help="keep the files of a case that failed")
    parser.add_argument("--list", action="store_true", help="one JSON object per case")
    parser.add_argument("--case", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.list:
        for entry in _cases.values():
            print(json.dumps({k: v for k, v in entry.items() if k != "function"}))
        return
    if options.case is not None:
        sys.stdout.reconfigure(line_buffering=True)
        sys.exit(_run_here(_cases[options.case]))
    runner.end_all_on_signals()
    failed = 0
    if options.words and not any(w in entry["name"] for w in options.words for entry in _cases.values()):
        sys.exit(f"no case has these words in its name: {', '.join(options.words)}")
    for entry in _cases.values():
        if options.words and not any(w in entry["name"] for w in options.words):
            continue
        if entry["slow"] and not options.slow and not options.words:
            continue
        outcome = runner.run_case(runner.case_command(script, entry["name"]), entry["deadline"], BUILD, options.keep)
        print(f"{outcome.state:8} {outcome.seconds:6.1f} s  {entry['name']}"
              + (f": {outcome.last_line}" if outcome.last_line and outcome.state != "failed" else ""), flush=True)
        if outcome.state == "failed":
            failed += 1
            print("    " + outcome.text.strip().replace("\n", "\n    "), flush=True)
    sys.exit(1 if failed else 0)
