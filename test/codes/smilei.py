# SPDX-License-Identifier: BSD-3-Clause
"""Smilei: two plasmas that collide, as particles in a plane. Smilei needs an HDF5 with MPI, which the recipe builds; a rank's checkpoint is a file
of the default driver."""
NAME = "Smilei"
SOURCE = "Smilei is had from the Smilei project. It needs the source of HDF5 1.14 as a directory `hdf5` beside it, and python3-dev."
MARK, PROGRAM = "src/Smilei.cpp", "source/smilei"
RANKS = FILES_PER_DUMP = 4
FILES = None
DUMP = r"checkpoints/dump-(?P<dump>\d+)-\d+\.h5"

NAMELIST = """
from math import pi
wave = 2 * pi
Main(geometry="2Dcartesian", interpolation_order=2, cell_length=[wave / 12, wave / 12], grid_length=[40 * wave, 5 * wave], number_of_patches=[16, 2],
     timestep=wave / 18, simulation_time=12 * wave, EM_boundary_conditions=[["silver-muller"], ["periodic"]])
for name, charge, velocity, density in (("positron1", 1, 0.5, trapezoidal(1., xvacuum=0., xplateau=10 * wave)),
                                        ("electron1", -1, 0.5, trapezoidal(1., xvacuum=0., xplateau=10 * wave)),
                                        ("positron2", 1, -0.5, trapezoidal(1., xvacuum=11 * wave, xplateau=32 * wave)),
                                        ("electron2", -1, -0.5, trapezoidal(1., xvacuum=11 * wave, xplateau=32 * wave))):
    Species(name=name, position_initialization="regular", momentum_initialization="mj", particles_per_cell=9, mass=1., charge=charge,
            number_density=density, mean_velocity=[velocity, 0., 0.], temperature=[0.001], boundary_conditions=[["remove"], ["periodic"]])
DiagScalar(every=10)  # without it, each dump has energies that Smilei never computed
Checkpoints(dump_step=40, keep_n_dumps=10, exit_after_dump=False)
"""


def build(here):
    hdf5 = here.place / "hdf5"
    here.run("cmake", "-S", here.source.parent / "hdf5", "-B", "hdf5-build", "-DCMAKE_BUILD_TYPE=Release", f"-DCMAKE_INSTALL_PREFIX={hdf5}",
             "-DHDF5_ENABLE_PARALLEL=ON", "-DHDF5_BUILD_CPP_LIB=OFF", "-DHDF5_BUILD_HL_LIB=OFF", "-DHDF5_BUILD_TOOLS=OFF",
             "-DHDF5_BUILD_EXAMPLES=OFF", "-DBUILD_TESTING=OFF", "-DBUILD_STATIC_LIBS=OFF", "-DHDF5_ENABLE_Z_LIB_SUPPORT=ON")
    here.run("make", "-C", "hdf5-build", f"-j{here.jobs}", "install")
    source = here.copy()
    makefile = source / "makefile"
    makefile.write_text(makefile.read_text().replace("-O3 -g", "-O1"))  # compiles faster
    # The Python that python3-dev belongs to, even if PATH has another one first.
    here.run("make", f"-j{here.jobs}", "config=noopenmp", cwd=source,
             env={"HDF5_ROOT_DIR": str(hdf5), "LDFLAGS": f"-Wl,-rpath,{hdf5}/lib", "PYTHONEXE": "/usr/bin/python3"})


def prepare(directory):
    (directory / "plasma.py").write_text(NAMELIST)


def command(program):
    return [program, "plasma.py"]


def restart(program, dump):
    return [*command(program), f"Checkpoints.restart_dir, Checkpoints.restart_number = '.', {int(dump)}"]
