# SPDX-License-Identifier: BSD-3-Clause
"""Builds a code once, in the work directory, against the HDF5 of mcr's build."""
import os
import re
import shutil
import subprocess

from build_config import HDF5_TOOLS
from mcrtest import fail


class Build:
    def __init__(self, source, place):
        self.source, self.place = source, place  # the given source; the directory in which the program is built
        self.hdf5 = HDF5_TOOLS.parent
        self.log = place / "build.log"
        self.jobs = os.environ.get("MCR_CODES_JOBS", "2")

    def program(self, code):
        """Returns the program, after building it unless an earlier call did."""
        program = self.place / code.PROGRAM
        if not program.exists():
            if not (self.source / code.MARK).exists():
                fail(f"{self.source} is not the source of {code.NAME}: {code.MARK} is missing. {code.SOURCE}")
            self.place.mkdir(parents=True, exist_ok=True)
            code.build(self)
        if not program.exists():
            fail(f"{program} was not built: {self.log}")
        return program

    def copy(self, name="source", source=None):
        """A copy of the source, for codes that build only in their source."""
        copy = self.place / name
        shutil.copytree(source or self.source, copy, symlinks=True, dirs_exist_ok=True)
        return copy

    def example(self, path, values, more=""):
        """Writes the input file `example` from one of the code's own, in which lines `NAME = VALUE` get other values."""
        text = (self.source / path).read_text()
        for name, value in values.items():
            text, number = re.subn(rf"(?m)^([ \t]*{name}[ \t]*=).*", rf"\1 {value}", text)
            if number != 1:
                fail(f"{path} has {number} lines that begin with {name}, not one")
        (self.place / "example").write_text(text + more)

    def run(self, *words, cwd=None, env=None):
        with open(self.log, "ab") as log:
            done = subprocess.run([str(w) for w in words], cwd=cwd or self.place, env={**os.environ, **(env or {})},
                                  stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
        if done.returncode != 0:
            fail(f"`{' '.join(map(str, words))}` ended with {done.returncode}: {self.log}")
