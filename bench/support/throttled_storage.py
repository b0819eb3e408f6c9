# SPDX-License-Identifier: BSD-3-Clause
"""Slow storage: builds throttled_storage.c, and gives the environment and the installation with which a job and its
leaders use it."""
import os
import shutil
import subprocess
from pathlib import Path

SOURCE = Path(__file__).resolve().with_name("throttled_storage.c")


class ThrottledStorage:
    """`place`: a directory for the library and for an installation in which storage is as slow for leaders as for the
    job. `prefix`: the installation of mcr that is used."""

    def __init__(self, place, prefix):
        self.place, self.prefix = Path(place), Path(prefix)
        self.library = self.place / "throttled_storage.so"
        subprocess.run([os.environ.get("CC") or "cc", "-O2", "-shared", "-fPIC", "-o", self.library, SOURCE, "-ldl"], check=True)

    def environment(self, directory, per_stream, total=0, state="", slow_reads=True):
        """Slows down files below `directory`: `per_stream` (of each thread) and `total` are in bytes a second, 0 is no
        limit. `state` is the file that processes share for `total`."""
        return {"LD_PRELOAD": str(self.library), "THROTTLE_DIRECTORY": str(directory), "THROTTLE_STREAM": str(per_stream),
                "THROTTLE_STATE": str(state), "THROTTLE_TOTAL": str(total), "THROTTLE_READS": "1" if slow_reads else "0"}

    def installation(self):
        """Returns the prefix of an installation whose leaders keep the library. (A leader that detaches itself clears its
        environment.)"""
        copy = self.place / "throttled"
        if not copy.exists():
            shutil.copytree(self.prefix, copy, symlinks=True)
            command = copy / "bin/mcr"
            command.unlink()
            command.write_text("#!/bin/sh\n"
                               'for word; do shift; [ "$word" = --detach ] || set -- "$@" "$word"; done\n'
                               f"LD_PRELOAD='{self.library}' exec '{self.prefix / 'bin/mcr'}' \"$@\"\n")
            command.chmod(0o755)
        return copy
