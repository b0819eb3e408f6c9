# SPDX-License-Identifier: BSD-3-Clause
"""For other people's test suites: where `./bootstrap test` keeps them, and the proof that files were captured meanwhile."""
import os
import sys
import threading
from pathlib import Path

from compare import is_stub
from mcrtest import skip

KEPT = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mcr" / "tests"
# Every file captured, with the text after the connector's name that programs customarily give.
EVERYTHING = "mcr under_vol=0;under_info={};files=*"


def kept(name, path):
    """A thing of test/hdf5/provide.sh.sh, or the reason why it is not there."""
    reason = KEPT / f"{name}.missing"
    if not path.exists():
        skip(reason.read_text().strip() if reason.exists() else f"{path} is not there: `./bootstrap test` provides it")
    return path


def python_with(name):
    versioned = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    return kept(name, KEPT / versioned / name / "bin" / "python")


class StubWatch:
    """Collects the stubs that appear below a directory while a program runs that removes its files in the end."""

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
