# SPDX-License-Identifier: BSD-3-Clause
"""SAMRAI: its Euler application, a blast wave in a box that is refined where the pressure jumps. A restart dump is a directory with a
file for each rank."""
NAME = "SAMRAI, Euler application"
SOURCE = "SAMRAI 4.3 is a project of LLNL. It needs BLT 0.7 of LLNL as a directory `blt` beside it, gfortran and m4."
MARK, PROGRAM = "source/test/applications/Euler/main.cpp", "build/bin/euler"
RANKS = FILES_PER_DUMP = 4
FILES = None
DUMP = r"box\.restart/restore\.(?P<dump>\d+)/nodes\.\d+/proc\.\d+"

# A finer grid than in the example, a dump every fourth step, and no files for VisIt.
VALUES = {"base_name": '"box"', "viz_dump_interval": "0", "restart_interval": "4", "max_integrator_steps": "16", "max_levels": "2",
          "domain_boxes": "[ (0,0,0) , (23,23,23) ]"}


def build(here):
    here.run("cmake", "-S", here.source, "-B", "build", f"-DBLT_SOURCE_DIR={here.source.parent}/blt", f"-DHDF5_ROOT={here.hdf5}",
             "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_FLAGS_RELEASE=-O1", "-DENABLE_GTEST=OFF", "-DENABLE_CHECK_ASSERTIONS=OFF")
    here.run("make", "-C", "build", f"-j{here.jobs}", "euler")
    here.example("source/test/applications/Euler/example_inputs/box.3d.input", VALUES)


def prepare(directory):
    pass


def command(program):
    return [program, program.parents[2] / "example"]


def restart(program, dump):
    return [*command(program), "box.restart", str(int(dump))]
