# SPDX-License-Identifier: BSD-3-Clause
import os

from spack_repo.builtin.build_systems.meson import MesonPackage

from spack.package import *


class Mcr(MesonPackage):
    """mcr makes the checkpoints of existing HDF5 programs cheap: ranks leave their files in node memory, and another
    process merges, compresses and stores them. A restart opens the same paths and gets the same bytes.

    A loaded mcr captures nothing by itself. In a job script: export HDF5_VOL_CONNECTOR=mcr
    """

    # `git archive --prefix mcr-0.2.0/ -o mcr-0.2.0.tar.gz HEAD` in a checkout. Spack takes it from the current folder.
    url = f"file://{os.getcwd()}/mcr-0.2.0.tar.gz"
    manual_download = True

    tags = ["e4s"]

    license("BSD-3-Clause")

    version("0.2.0")

    variant("mpi", default=False, description="Build the test programs that need MPI")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("meson@1:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("cli11", type="build")
    depends_on("nlohmann-json", type="build")
    depends_on("xxhash", type="build")

    # Linked statically into the plugin, so that it needs libc alone in any program.
    depends_on("lz4 libs=static")
    depends_on("zlib +pic")
    depends_on("zstd libs=static")

    # The plugin serves every HDF5 1.14 and 2.x, not only this one; the command links it.
    depends_on("hdf5@1.14: +shared")
    depends_on("tbb")
    depends_on("mpi", when="+mpi")
    depends_on("mpi", when="^hdf5+mpi")  # the headers of a parallel HDF5 need MPI's

    def setup_build_environment(self, env: EnvironmentModifications) -> None:
        if self.spec.satisfies("^mpi"):
            env.set("MPICC", self.spec["mpi"].mpicc)

    def meson_args(self):
        return [
            f"-Dhdf5={self.spec['hdf5'].prefix}",
            f"-Dmpi={'enabled' if self.spec.satisfies('^mpi') else 'disabled'}",
            f"-Dtests={'true' if self.spec.satisfies('+mpi') else 'false'}",
            "-Dspank=disabled",
            "-Dwerror=false",
        ]

    def setup_run_environment(self, env: EnvironmentModifications) -> None:
        env.prepend_path("HDF5_PLUGIN_PATH", self.prefix.lib.mcr.plugin)

    @run_after("install")
    def keep_proof(self):
        cache_extra_test_sources(self, join_path("docs", "packaging"))

    def test_checkpoint(self):
        """one checkpoint and one restart are byte for byte those of native HDF5"""
        hdf5 = self.spec["hdf5"]
        source = join_path(self.test_suite.current_test_cache_dir, "docs", "packaging")
        which(self["c"].cc, required=True)(
            join_path(source, "proof.c"), "-o", "proof", f"-I{hdf5.prefix.include}",
            f"-L{hdf5.prefix.lib}", "-lhdf5", f"-Wl,-rpath,{hdf5.prefix.lib}")
        out = which(join_path(source, "prove"), required=True)("proof", output=str.split, error=str.split)
        check_outputs("proved: ", out)
