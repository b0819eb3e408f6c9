# SPDX-License-Identifier: BSD-3-Clause
"""GADGET-4: a cosmological box of 32³ particles, made by the code itself. A snapshot has one file for each rank."""
NAME = "GADGET-4"
SOURCE = "GADGET-4 is had from its authors (Springel et al. 2021). It needs GSL and FFTW (libgsl-dev, libfftw3-dev)."
MARK, PROGRAM = "Template-Config.sh", "source/Gadget4"
RANKS = FILES_PER_DUMP = 2
FILES = "snapshot_*.{part}.hdf5"
DUMP = r"output/snapdir_(?P<dump>\d+)/snapshot_\d+\.\d+\.hdf5"

CONFIG = "PERIODIC SELFGRAVITY PMGRID=32 NSOFTCLASSES=1 NTYPES=2 DOUBLEPRECISION=1 NGENIC=32 CREATE_GRID IDS_32BIT"
PARAMETERS = """
InitCondFile ./none
OutputDir ./output
SnapshotFileBase snapshot
OutputListFilename outputs.txt
ICFormat 1
SnapFormat 3
TimeLimitCPU 86400
CpuTimeBetRestartFile 7200
MaxMemSize 600
TimeBegin 0.015625
TimeMax 0.018
ComovingIntegrationOn 1
Omega0 0.308
OmegaLambda 0.692
OmegaBaryon 0.0482
HubbleParam 0.678
Hubble 100.0
BoxSize 50.0
OutputListOn 1
TimeBetSnapshot 0.0
TimeOfFirstSnapshot 0.0
TimeBetStatistics 0.01
NumFilesPerSnapshot 2
MaxFilesWithConcurrentIO 2
ErrTolIntAccuracy 0.01
CourantFac 0.3
MaxSizeTimestep 0.05
MinSizeTimestep 0.0
TypeOfOpeningCriterion 1
ErrTolTheta 0.75
ErrTolThetaMax 1.0
ErrTolForceAcc 0.002
TopNodeFactor 3.0
ActivePartFracForNewDomainDecomp 0.01
DesNumNgb 64
MaxNumNgbDeviation 1
UnitLength_in_cm 3.085678e24
UnitMass_in_g 1.989e43
UnitVelocity_in_cm_per_s 1e5
GravityConstantInternal 0
SofteningComovingClass0 0.01
SofteningMaxPhysClass0 0.01
SofteningClassOfPartType0 0
SofteningClassOfPartType1 0
ArtBulkViscConst 1.0
MinEgySpec 0
InitGasTemp 0
NSample 32
GridSize 32
Seed 181170
SphereMode 1
PowerSpectrumType 0
ReNormalizeInputSpectrum 1
PrimordialIndex 1.0
ShapeGamma 0.21
Sigma8 0.9
PowerSpectrumFile powerspec
InputSpectrum_UnitLength_in_cm 3.085678e21
"""


def build(here):
    source = here.copy()
    (source / "Config.sh").write_text("\n".join(CONFIG.split()) + "\n")
    (source / "Makefile.systype").touch()
    hdf5 = f"-L{here.hdf5}/lib -lhdf5 -Wl,-rpath,{here.hdf5}/lib"
    here.run("make", f"-j{here.jobs}", "PYTHON=python3", "GSL_INCL=", "GSL_LIBS=-lgsl -lgslcblas", "FFTW_INCL=",
             f"HDF5_INCL=-I{here.hdf5}/include", f"HDF5_LIBS={hdf5}", cwd=source, env={"SYSTYPE": "Generic-gcc"})


def prepare(directory):
    (directory / "param.txt").write_text(PARAMETERS)
    (directory / "outputs.txt").write_text("".join(f"{a} 1\n" for a in (0.016, 0.0165, 0.017, 0.0175, 0.018)))


def command(program):
    return [program, "param.txt"]


def restart(program, dump):
    """Restart files of GADGET-4 are not HDF5, but the code also restarts from a snapshot (flag 2)."""
    return [program, "param.txt", "2", str(int(dump))]
