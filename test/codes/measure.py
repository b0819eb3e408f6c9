# SPDX-License-Identifier: BSD-3-Clause
"""Runs a code natively and with mcr in turn, then kills a run with mcr and lets the code restart, and compares."""
import os
import re
import shutil
import time
from pathlib import Path

from build_config import PLUGINS
from compare import containers_below, files_below, is_stub, stubs_below
from mcrtest import expect, hdf5_tool, wait_until

SIGNATURE = b"\x89HDF\r\n\x1a\n"
LONGEST = 1800  # seconds of an idle machine that a run may take


def is_hdf5(path):
    with open(path, "rb") as file:
        return file.read(len(SIGNATURE)) == SIGNATURE


def dumps(code, directory):
    """Dump -> the relative paths of its rank files, oldest dump first."""
    found = {}
    for name in files_below(directory):
        match = re.fullmatch(code.DUMP, name)
        if match:
            found.setdefault(match["dump"], []).append(name)
    return {dump: found[dump] for dump in sorted(found, key=int)}


class Runs:
    def __init__(self, test, code, program):
        self.test, self.code, self.program = test, code, program

    def how(self, mcr):
        settings = {"files": self.code.FILES} if mcr and self.code.FILES else {}
        # On a busy machine a rank that polls for messages must leave its core to the rank that is to send them.
        return {"ranks": self.code.RANKS, "mcr": mcr, "env": {"MPIR_CVAR_POLLS_BEFORE_YIELD": "1"}, **settings}

    def directory(self, name):
        directory = self.test.dir / name
        directory.mkdir()
        self.code.prepare(directory)
        return directory

    def start(self, directory, words, mcr):
        return self.test.start(words, cwd=directory, **self.how(mcr))

    def whole(self, name, mcr):
        """A run that nothing disturbs: its directory, its seconds and mcr's line."""
        directory = self.directory(name)
        begun = time.monotonic()
        done = self.start(directory, self.code.command(self.program), mcr).wait(LONGEST)
        expect(done.status == 0, str(done))
        return directory, time.monotonic() - begun, line_of_mcr(done)

    def killed(self, name):
        """A run with mcr whose ranks and leader die after the second dump."""
        directory = self.directory(name)
        job = self.start(directory, self.code.command(self.program), True)

        def two_dumps():
            complete = [files for files in dumps(self.code, directory).values() if len(files) == self.code.FILES_PER_DUMP
                        and all(os.path.getsize(directory / f) for f in files)]
            return len(complete) >= 2 or job.process.poll() is not None

        wait_until(two_dumps, LONGEST, "two dumps are closed")
        expect(job.process.poll() is None, f"the run ended before its second dump could be followed by a kill\n{job.out()}{job.err()}")
        job.kill()
        self.test.kill_leaders()
        return directory

    def restarted(self, directory, dump, mcr):
        done = self.start(directory, self.code.restart(self.program, dump), mcr).wait(LONGEST)
        expect(done.status == 0, str(done))
        return line_of_mcr(done)

    def newest(self, directory):
        """The dump that `mcr latest` names. Codes with a directory for each dump have several directories of containers below this one."""
        self.test.mcr("recover", directory)
        files = self.test.mcr_json("latest", directory)["files"]
        match = re.fullmatch(self.code.DUMP, os.path.relpath(files[0], directory))
        expect(match, f"`mcr latest` names {files}, which is no dump")
        return match["dump"]

    def differences(self, left, right, names):
        """What h5diff says about files of the same names in two directories."""
        found = []
        for name in names:
            done = self.test.run([hdf5_tool("h5diff"), *getattr(self.code, "H5DIFF", []), left / name, right / name], check=False,
                                 seconds=600, env={"HDF5_PLUGIN_PATH": str(PLUGINS)})
            if done.status != 0:
                found.append(f"{name}: {(done.out + done.err).strip()[:400]}")
        return found


def line_of_mcr(done):
    lines = [line for line in (done.out + done.err).splitlines() if line.startswith("mcr: ")]
    return "\n".join(lines)


def sizes(native, captured):
    """Bytes and numbers of files: natively, and of the same files with mcr."""
    stubs = stubs_below(captured)
    plain = [n for n in files_below(captured) if n not in stubs and is_hdf5(captured / n)]
    stored = sum(p.stat().st_size for p in containers_below(captured)) + sum((captured / n).stat().st_size for n in stubs)
    return {"captured": len(stubs), "native": len(plain), "containers": len(containers_below(captured)),
            "raw_bytes": sum((native / n).stat().st_size for n in stubs), "stored_bytes": stored}


def measure(test, code, program, rounds):
    runs, seconds, lines = Runs(test, code, program), {"native": [], "mcr": []}, []
    for number in range(rounds):
        native, took, _ = runs.whole(f"native{number}", False)
        seconds["native"].append(took)
        captured, took, line = runs.whole(f"mcr{number}", True)
        seconds["mcr"].append(took)
        lines.append(line)
    all_dumps = dumps(code, native)
    last = list(all_dumps)[-1]
    expect(all(len(files) == code.FILES_PER_DUMP for files in all_dumps.values()), f"unexpected files: {all_dumps}")
    test.mcr("verify", captured)
    again = runs.differences(test.dir / "native0", native, all_dumps[last]) if rounds > 1 else []
    return {"code": code.NAME, "ranks": code.RANKS, "dumps": len(all_dumps), "files": code.FILES, **sizes(native, captured),
            "waited_seconds": [w for line in lines for w in waited(line)], "seconds": seconds, "mcr_lines": lines,
            "native_runs_agree": not again, "compared": sum(map(len, all_dumps.values())),
            "differences": [d for files in all_dumps.values() for d in runs.differences(native, captured, files)],
            "restart": restart(runs, native, last)}


def waited(line):
    return [float(s) for s in re.findall(r"ranks waited ([0-9.]+) s each", line)]


def restart(runs, native, last):
    """Kills, restarts with mcr, and compares the last dump: with that of the native run, or else with that of a native
    restart from the same dump. Of a code that cannot restart, the newest whole dump is compared."""
    killed = runs.killed("killed")
    dump = runs.newest(killed)
    if not hasattr(runs.code, "restart"):
        differences = runs.differences(native, killed, dumps(runs.code, killed)[dump])
        return {"from": f"{dump} (no restart)", "with": f"dump {dump} of the native run", "same": not differences, "differences": differences}
    line = runs.restarted(killed, dump, True)
    files = dumps(runs.code, killed).get(last, [])
    expect(len(files) == runs.code.FILES_PER_DUMP, f"the restarted run has no dump {last}: {files}")
    found = {"from": dump, "with": "the undisturbed native run", "mcr_lines": line, "captured": all(is_stub(killed / f) for f in files)}
    differences = runs.differences(native, killed, files)
    if differences:
        control = runs.test.dir / "native-restart"
        shutil.copytree(native, control, symlinks=True)
        for later, names in dumps(runs.code, control).items():
            for name in names if int(later) > int(dump) else []:
                (control / name).unlink()
        runs.restarted(control, dump, False)
        found.update({"with": f"a native restart from dump {dump}", "undisturbed_differs": differences})
        differences = runs.differences(control, killed, files)
    return {**found, "same": not differences, "differences": differences}


def table(found):
    head = ["code", "ranks × dumps", "captured / native files", "files as natively", "raw → stored MB", "ratio", "a rank waited, s", "wall s, native", "wall s, mcr",
            "after the kill, from dump", "the last dump equals"]
    rows = [f"| {' | '.join(head)} |", "|" + " --- |" * len(head)]
    for one in found:
        again = one["restart"]
        rows.append("| " + " | ".join([
            one["code"], f"{one['ranks']} × {one['dumps']}", f"{one['captured']} / {one['native']}",
            f"{one['compared'] - len(one['differences'])} of {one['compared']}",
            f"{one['raw_bytes'] / 1e6:.1f} → {one['stored_bytes'] / 1e6:.1f}", f"{one['raw_bytes'] / one['stored_bytes']:.2f}",
            spread(one["waited_seconds"]), spread(one["seconds"]["native"]), spread(one["seconds"]["mcr"]),
            again["from"], again["with"] if again["same"] else "nothing"]) + " |")
    return "\n".join(rows)


def spread(values):
    return " … ".join(f"{v:.2f}" for v in sorted({min(values), max(values)})) if values else "–"
