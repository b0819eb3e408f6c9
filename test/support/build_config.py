# SPDX-License-Identifier: BSD-3-Clause
"""Where things are: the build, what `meson install` put into it, HDF5's tools, MPI's launcher.

System tests run on an installed tree, so that installing is itself tested: <build>/prefix, which test/run
fills. MCR_BUILD names another build than ./build.
"""
import functools
import json
import os
import shutil
import subprocess
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("MCR_BUILD", SOURCE / "build")).resolve()

try:
    config = json.loads((BUILD / "test" / "mcrtest.json").read_text())
except OSError:
    raise SystemExit(f"{BUILD} is not a build of mcr: run ./bootstrap, or name one by MCR_BUILD=DIR")

DESTDIR = BUILD / "prefix"
PREFIX = DESTDIR / config["prefix"].lstrip("/")
PLUGINS = PREFIX / config["plugin_dir"].lstrip("/")
COMMAND = PREFIX / "bin" / "mcr"
DATA = SOURCE / "test" / "data"
HDF5_TOOLS = Path(config["hdf5_tools"])
HDF5_LIBDIR = Path(config["hdf5_libdir"]) if config["hdf5_libdir"] else None
SANITIZED = config["sanitize"] not in ("", "none")
# All deadlines and waits of the tests are multiplied by this number.
PATIENCE = 5 if SANITIZED else 1


def program(path):
    """A program of the build, named by its path in it: program("test/apps/heat3d")."""
    found = BUILD / path
    if not found.exists():
        raise SystemExit(f"{found} was not built: `ninja -C {BUILD}`")
    return str(found)


def hdf5_tool(name):
    """h5dump and its like, of the HDF5 that this build uses."""
    return str(HDF5_TOOLS / name)


@functools.lru_cache(None)
def mpiexec():
    """The launcher that belongs to the MPI of the build, as the beginning of a command line."""
    # mpicc.openmpi's is mpiexec.openmpi
    compiler = Path(config["mpicc"])
    beside = compiler.with_name(compiler.name.replace("mpicc", "mpiexec")) if compiler.name else None
    found = os.environ.get("MPIEXEC") or (str(beside) if beside and beside.exists() else shutil.which("mpiexec"))
    if not found:
        raise SystemExit("mpiexec was not found: put it on PATH, or name it by MPIEXEC=…")
    version = subprocess.run([found, "--version"], capture_output=True, text=True).stdout
    if "Open MPI" in version or "OpenRTE" in version:
        return [found, "--oversubscribe", "--allow-run-as-root"]
    return [found]
