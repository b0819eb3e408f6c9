# SPDX-License-Identifier: BSD-3-Clause
"""Storage that is full while files are closed that replace older ones."""
from mcrtest import *

COUNT = 9000  # doubles of a file
ACTOR = program("test/programs/actor")
HOW = {"mcr": True, "profile": "none"}
REFUSED = "still shows its older content"


def version(seed, *between):
    return ["create c.{rank}.h5", f"write c.{{rank}}.h5 x {COUNT} {seed}", *between, "close c.{rank}.h5"]


class Storage:
    """A small file system with the first version of both ranks' files. `older` are the settings of the job that writes them."""

    def __init__(self, t, size="4m", options="", **older):
        self.t = t
        self.place = t.tmpfs("storage", size, options)
        self.run = self.place / "run"
        self.run.mkdir()
        self.sync = t.scratch("sync")
        self.sync.mkdir()
        self.fillers = []
        t.run([ACTOR, *version(1)], ranks=2, cwd=self.run, **{"launch": "L1", **HOW, **older})
        t.wait_no_leader()

    def start(self, actions, **how):
        return self.t.start([ACTOR, *actions], ranks=2, cwd=self.run, **{"launch": "L2", "exit_wait": "20 s", **HOW, **how})

    def make_second_names(self):
        for file in self.run.glob("c.?.h5"):
            os.link(file, self.place / f"second-name.{file.name}")

    def remove_second_names(self):
        for name in self.place.glob("second-name.*"):
            name.unlink()

    def fill(self):
        filler = self.place / f"fill{len(self.fillers)}"
        self.fillers.append(filler)
        with open(filler, "wb", buffering=0) as file:
            try:
                while file.write(bytes(4096)):
                    pass
            except OSError:
                pass

    def fill_inodes(self):
        try:
            for number in range(1000):
                self.fillers.append(self.place / f"fill-inode{number}")
                self.fillers[-1].touch()
        except OSError:
            self.fillers.pop()

    def make_room(self):
        for filler in self.fillers:
            filler.unlink()
        self.fillers = []

    def reached(self, name):
        wait_until((self.sync / name).exists, 40, name)

    def tell(self, name):
        (self.sync / name).touch()

    def unpack(self, name):
        """Writes what each stub shows into t.dir / name."""
        for rank in (0, 1):
            self.t.mcr("unpack", self.run / f"c.{rank}.h5", "-d", self.t.dir / name / str(rank))

    def hold(self, seed, launch="L9"):
        self.t.wait_no_leader()
        for rank in (0, 1):
            self.t.run([ACTOR, f"open c.{rank}.h5", f"check c.{rank}.h5 x {COUNT} {seed}"], cwd=self.run, launch=launch, **HOW)
