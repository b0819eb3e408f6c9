# SPDX-License-Identifier: BSD-3-Clause
"""A card for tests: fake_cuda/libcuda.so.1 runs the kernels on the CPU, and fails as MCR_FAKE_CUDA says (fake_cuda.cpp)."""
from mcrtest import *

sys.path.insert(0, str(SOURCE / "test/reader"))
from read_container import Container

FAKE = BUILD / "test/gpu/fake_cuda"
OLD = BUILD / "test/gpu/old_cuda"
STUCK = BUILD / "test/gpu/stuck_cuda"
PARTICLES = program("test/apps/particles")
HEAT = program("test/apps/heat3d")


def fake_card(log=None, always=True, library=FAKE, **faults):
    """Variables with which mcr finds the fake driver. `always`: every frame that the card can encode goes there."""
    words = [f"{key}={value}" for key, value in faults.items()] + ([f"log={log}"] if log else [])
    env = {"LD_LIBRARY_PATH": str(library), "MCR_FAKE_CUDA": ",".join(words)}
    return env | ({"MCR_GPU_ALWAYS": "1"} if always else {})


def stuck_card(what):
    """Variables with which mcr finds a driver that hangs or ends the process while it is loaded (stuck_cuda.c)."""
    return {"LD_LIBRARY_PATH": str(STUCK), "MCR_STUCK_CUDA": what}


def numbers_in(log, word):
    """What the fake driver wrote after `word`."""
    lines = log.read_text().splitlines() if log.exists() else []
    return [int(line.split()[1]) for line in lines if line.split()[0] == word]


def frames_of(path):
    container = Container(path)
    return [container.file[place["offset"] : place["offset"] + place["stored"]] for place in container.frames]


def write_natively(t):
    """Rank files of two programs, with frames of many kinds; about 24 MB."""
    t.run([PARTICLES, "--size", 120000, "--steps", 2, "--every", 2, "--dir", t.dir / "native"], ranks=2)
    t.run([HEAT, "--size", 72, "--steps", 2, "--every", 2, "--dir", t.dir / "native/heat"], ranks=2)
    return sorted(path for path in (t.dir / "native").rglob("*.h5"))


def pack(t, files, to, gpu="0", env=None, *words, **more):
    return json.loads(t.mcr("--json", "pack", "--set", f"gpu={gpu}", "-j", 2, "-f", "-o", t.dir / to, *words, *files,
                            env=env, **more).out)
