# SPDX-License-Identifier: BSD-3-Clause
"""Runs one case in a process of its own, with a deadline, a work directory and a stage directory. Leaves nothing
behind: ends what the case started, and removes what it wrote.
"""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path

import cgroups
import processes
import sanitizers
from build_config import PATIENCE
from deadline import wait_for

SKIPPED = 77  # exit status of a case that cannot run here; its last line says why


class Outcome:
    def __init__(self, state, seconds, text):
        self.state, self.seconds, self.text = state, seconds, text  # state: passed, failed, skipped

    @property
    def last_line(self):
        lines = self.text.strip().splitlines()
        return lines[-1] if lines else ""


def memory_directory():
    """Stages lie in memory, as in real use."""
    shm = Path("/dev/shm")
    return shm if shm.is_dir() and os.access(shm, os.W_OK) else Path(tempfile.gettempdir())


_running = set()  # tokens


def end_all():
    """Called on an interrupt: ends everything that running cases have started."""
    for token in list(_running):
        stage = memory_directory() / f"mcr-test-{token}"
        processes.end(lambda: processes.of_token("MCR_TEST_CASE", token) + processes.of_stage(stage))
        shutil.rmtree(stage, ignore_errors=True)


def end_all_on_signals():
    def interrupted(number, _):
        end_all()
        os._exit(128 + number)

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, interrupted)


def run_case(command, deadline, build, keep=False):
    # No digits: a 1 in the path could be the number of rank 1.
    token = uuid.uuid4().hex[:12].translate(str.maketrans("0123456789", "ghijklmnop"))
    work = Path(build) / "test-work" / token
    stage = memory_directory() / f"mcr-test-{token}"
    work.mkdir(parents=True)
    stage.mkdir(mode=0o700)
    environment = dict(os.environ, MCR_BUILD=str(build), MCR_TEST_CASE=token, MCR_TEST_WORK=str(work),
                       MCR_TEST_STAGE=str(stage), PYTHONDONTWRITEBYTECODE="1", **sanitizers.environment(work))

    def mine():
        return [p for p in processes.of_token("MCR_TEST_CASE", token) + processes.of_stage(stage)
                if p.pid != os.getpid()]

    begun = time.monotonic()
    _running.add(token)
    with tempfile.TemporaryFile("w+") as output:
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                                 env=environment, start_new_session=True)
        late = not wait_for(child, deadline)
        seconds = time.monotonic() - begun
        running = [repr(p) for p in mine()] if late else []
        processes.end(mine)
        try:
            os.killpg(child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        child.wait()
        _running.discard(token)
        output.seek(0)
        text = output.read()
    if late:
        text += f"\nstill running after {seconds:.0f} s (its deadline on a free machine: {deadline * PATIENCE} s):\n" + "\n".join(running)
    state = "failed" if late else {0: "passed", SKIPPED: "skipped"}.get(child.returncode, "failed")
    if child.returncode not in (0, 1, SKIPPED) and not late:
        text += f"\nended with status {child.returncode}"
    found = sanitizers.findings(work)
    if found:
        state, text = "failed", text + found
    cgroups.remove(f"mcr-test-{token}")
    if keep and state == "failed":
        text += f"\nkept: {work} and {stage}"
    else:
        unmount_below(work, stage)
        shutil.rmtree(work, ignore_errors=True)
        shutil.rmtree(stage, ignore_errors=True)
    return Outcome(state, seconds, text)


def unmount_below(*directories):
    mounts = [line.split()[1].replace("\\040", " ") for line in Path("/proc/mounts").read_text().splitlines()]
    for mount in reversed(mounts):
        if any(mount.startswith(f"{d}/") for d in directories):
            subprocess.run(["umount", "-l", mount], stderr=subprocess.DEVNULL)


def case_command(script, name):
    return [sys.executable, str(script), "--case", name]
