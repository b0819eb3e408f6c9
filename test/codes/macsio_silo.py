# SPDX-License-Identifier: BSD-3-Clause
"""MACSio with its Silo plugin: Silo's HDF5 driver, and Silo's way to give each rank a file. MACSio has no restart."""
import macsio

NAME = "MACSio, Silo plugin"
SOURCE = macsio.SOURCE + " Silo 4.12 of LLNL lies as a directory `Silo` beside it."
MARK, PROGRAM, RANKS, FILES_PER_DUMP, FILES = macsio.MARK, macsio.PROGRAM, macsio.RANKS, macsio.FILES_PER_DUMP, None
DUMP = r"macsio_silo_\d+_(?P<dump>\d+)\.silo"


def build(here):
    silo = here.place / "silo"
    here.run("cmake", "-S", here.source.parent / "Silo", "-B", "silo-build", "-DCMAKE_BUILD_TYPE=Release", f"-DCMAKE_INSTALL_PREFIX={silo}",
             f"-DSILO_HDF5_DIR={here.hdf5}", "-DSILO_ENABLE_FORTRAN=OFF", "-DSILO_ENABLE_BROWSER=OFF", "-DSILO_ENABLE_SILOCK=OFF")
    here.run("make", "-C", "silo-build", f"-j{here.jobs}", "install")
    macsio.build_with(here, "-DENABLE_SILO_PLUGIN=ON", f"-DWITH_SILO_PREFIX={silo}", f"-DCMAKE_BUILD_RPATH={silo}/lib;{here.hdf5}/lib")


def prepare(directory):
    pass


def command(program):
    return [program, "--interface", "silo", *macsio.WORDS]
