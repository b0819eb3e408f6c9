# SPDX-License-Identifier: BSD-3-Clause
"""For the tests of the Python package: an environment as a user has it, and sets of the heat solver."""
import fcntl

from conformance import python_with
from mcrtest import *

PACKAGE = SOURCE / "restart" / "python"


BINARIES = ("bin/mcr", "lib/mcr/plugin/libmcr_vol.so", "lib/mcr/plugin/libmcr_filter.so")
PLACE = BUILD / "test" / "python-package"  # the cases of a build share it, because it takes some ten seconds to make


def python(t):
    """A Python in which only the wheel of this build was installed with pip, beside h5py and its like."""
    known = python_with("analysis")
    sources = sorted(p for p in PACKAGE.rglob("*") if p.is_file() and "__pycache__" not in p.parts) + [PREFIX / name for name in BINARIES]
    key = "\n".join(f"{path} {path.stat().st_mtime_ns} {path.stat().st_size}" for path in [known, *sources])
    PLACE.mkdir(exist_ok=True)
    with open(PLACE / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (PLACE / "key").exists() or (PLACE / "key").read_text() != key:
            install(t, known)
            (PLACE / "key").write_text(key)
    return PLACE / "venv/bin/python"


def install(t, known):
    shutil.rmtree(PLACE / "venv", ignore_errors=True)
    t.run([known, "-m", "venv", "--without-pip", PLACE / "venv"])
    where = [t.run([path, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]).out.strip()
             for path in (PLACE / "venv/bin/python", known)]
    Path(where[0], "analysis.pth").write_text(where[1] + "\n")
    t.run([known, "-m", "pip", "--python", PLACE / "venv/bin/python", "install", "-q", "--no-index", "--no-deps", wheel(t)])


def wheel(t):
    done = t.run([python_with("analysis"), PACKAGE / "build-wheel", PREFIX, "-d", t.scratch("dist")])
    return Path(done.out.strip())


def heat(t, directory, *more, ranks=8, size=12, steps=8, every=4, **how):
    """Runs the heat solver; with mcr=True its checkpoints are committed when this returns."""
    done = t.run([program("test/apps/heat3d"), "--size", size, "--steps", steps, "--every", every, "--dir", t.dir / directory, *more],
                 ranks=ranks, **how)
    t.wait_no_leader()
    return done


def packed_files(t, text, name="p"):
    """The container of the files dumpRANK.h5 that a program writes into the directory `name`: `text` is run with rank, ranks, f (the file), h5py and
    numpy for each rank. Its first line may say `ranks = N`; else there are 2."""
    first = text.strip().split("\n")[0]
    ranks = int(first.split("=")[1]) if first.startswith("ranks =") else 2
    (t.dir / name).mkdir()
    t.run([python(t), "-c", "import sys, h5py, numpy\nfor rank in range(int(sys.argv[3])):\n"
           "    with h5py.File(f'{sys.argv[1]}/dump{rank}.h5', 'w') as f: exec(sys.argv[2])", t.dir / name, text, ranks])
    t.mcr("pack", "-o", t.dir / f"{name}.h5", *sorted((t.dir / name).iterdir()))
    return t.dir / f"{name}.h5"


def script(t, text, *words, **how):
    """Runs a Python program with the package; returns what it prints. MCR_STAGE is the test's, because `mcr` may look there."""
    return t.run([python(t), "-c", text, *words], env={"MCR_STAGE": str(t.stage), **how.pop("env", {})}, **how)


def package(t, *words, **how):
    """python -m mcr_hdf5 WORDS"""
    return t.run([python(t), "-m", "mcr_hdf5", *words], env={"MCR_STAGE": str(t.stage), **how.pop("env", {})}, **how)


def containers_of(directory):
    """Usually one; a part that came late is in a supplement."""
    found = sorted(Path(directory).rglob("mcr/set-*.h5"))
    expect(found, f"no container in {directory}")
    return found
