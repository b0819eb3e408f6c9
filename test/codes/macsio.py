# SPDX-License-Identifier: BSD-3-Clause
"""MACSio with its HDF5 plugin, one file for each rank. MACSio has no restart, and its HDF5 plugin reads no dumps."""
NAME = "MACSio, HDF5 plugin"
SOURCE = "MACSio 1.1 is a project of LLNL. It needs json-cwx 0.12 of LLNL, as a directory `json-cwx` beside it, and libtool."
MARK, PROGRAM = "macsio/macsio_mif.c", "build/macsio/macsio"
RANKS = FILES_PER_DUMP = 4
FILES = None
DUMP = r"macsio_hdf5_\d+_(?P<dump>\d+)\.h5"
# Without --dataset_growth: MACSio takes the size of the next dump from stat() of the last one's files, which are stubs.
WORDS = "--parallel_file_mode MIF 4 --part_size 1M --vars_per_part 8 --num_dumps 4 --compute_time 1".split()


def build(here):
    build_with(here, "-DENABLE_SILO_PLUGIN=OFF")


def build_with(here, *options):
    json = here.copy("json-source", here.source.parent / "json-cwx" / "json-cwx")
    here.run("autoreconf", "-fi", cwd=json)
    here.run("./configure", f"--prefix={here.place}/json", "--disable-shared", "CFLAGS=-O2 -w", cwd=json)
    here.run("make", f"-j{here.jobs}", "install", cwd=json)
    here.run("cmake", "-S", here.source, "-B", "build", "-DCMAKE_BUILD_TYPE=Release", "-DENABLE_HDF5_PLUGIN=ON",
             f"-DWITH_JSON-CWX_PREFIX={here.place}/json", f"-DWITH_HDF5_PREFIX={here.hdf5}", *options)
    here.run("make", "-C", "build", f"-j{here.jobs}", "macsio")


def prepare(directory):
    pass


def command(program):
    return [program, "--interface", "hdf5", *WORDS]
