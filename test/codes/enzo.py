# SPDX-License-Identifier: BSD-3-Clause
"""Enzo: driven turbulence on a grid of 48³ cells. A dump is a directory with a file for each rank; rank 0 adds a few small files."""
NAME = "Enzo"
SOURCE = "Enzo 2.6 or newer (enzo-dev) is had from the Enzo project. It needs gfortran."
MARK, PROGRAM = "src/enzo/Make.mach.linux-gnu", "source/src/enzo/enzo.exe"
RANKS = FILES_PER_DUMP = 4
FILES = None
DUMP = r"DD(?P<dump>\d+)/dump\d+\.cpu\d+"

VALUES = {"TopGridDimensions": "48 48 48", "StopTime": "0.2", "dtDataDump": "0.05", "DataDumpName": "dump"}


def build(here):
    source = here.copy() / "src" / "enzo"
    machine = (source / "Make.mach.linux-gnu").read_text()
    for name, value in {"LOCAL_HDF5_INSTALL": here.hdf5, "MACH_FILE": "Make.mach.mcr", "MACH_LDFLAGS": f"-Wl,-rpath,{here.hdf5}/lib",
                        "MACH_FFLAGS": "-std=legacy -fno-second-underscore -ffixed-line-length-132",
                        "MACH_F90FLAGS": "-std=legacy -fno-second-underscore"}.items():
        machine += f"\n{name} = {value}\n"  # of two values make takes the later one
    (source / "Make.mach.mcr").write_text(machine)
    here.run("./configure", cwd=source.parent.parent)
    for goal in ("machine-mcr", "opt-high", f"-j{here.jobs}"):
        here.run("make", goal, cwd=source)
    here.example("run/DrivenTurbulence3D/DrivenTurbulence3D.enzo", VALUES, "DataDumpDir = DD\n")


def prepare(directory):
    pass


def command(program):
    return [program, program.parents[3] / "example"]


def restart(program, dump):
    return [program, "-r", f"DD{dump}/dump{dump}"]
