# SPDX-License-Identifier: BSD-3-Clause
"""Runs test suites of other projects: finds them where `./bootstrap test` keeps them, and proves that files were
captured."""
import os
import sys
import threading
from pathlib import Path

from compare import is_stub
from mcrtest import skip

KEPT = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mcr" / "tests"
# Captures every file. The connector's text also has the keys that programs customarily give.
EVERYTHING = "mcr under_vol=0;under_info={};files=*"


def kept(name, path):
    """Returns a file that test/hdf5/provide.sh has provided, or the reason why it is missing."""
    reason = KEPT / f"{name}.missing"
    if not path.exists():
        skip(reason.read_text().strip() if reason.exists() else f"{path} is not there: `./bootstrap test` provides it")
    return path


def python_with(name):
    versioned = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    return kept(name, KEPT / versioned / name / "bin" / "python")


class StubWatch:
    """Collects the stubs that appear below a directory while a program runs, because the program removes its files at
    the end."""

    def __init__(self, directory, pause=0.001):
        self.directory, self.pause, self.seen, self.over = str(directory), pause, set(), threading.Event()
        self.thread = threading.Thread(target=self.watch, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()

    def watch(self):
        while not self.over.wait(self.pause):
            for folder, folders, names in os.walk(self.directory):
                folders[:] = [f for f in folders if f != "mcr"]
                for name in names:
                    path = os.path.join(folder, name)
                    try:
                        if is_stub(path):
                            self.seen.add((path, os.stat(path).st_ino))
                    except OSError:
                        pass
