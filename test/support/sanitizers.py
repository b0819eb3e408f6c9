# SPDX-License-Identifier: BSD-3-Clause
"""For builds with -Db_sanitize. Each process writes its sanitizer's findings into a file of the case's work directory;
so do leaders, whose output is not seen. A case with such a file has failed.

The plugin is loaded into programs that are not ours and not instrumented (python, h5dump, mpiexec): they need the
sanitizer's library first, so every program is started with it preloaded. That is gcc's way; clang keeps its library in
the instrumented programs, and builds of clang are sanitized in the unit tests only.
"""
import functools
import os
import subprocess

from build_config import SANITIZED


def environment(work):
    """The environment for all processes that a case starts. Leaks are looked for only in unit tests and in the command,
    because other programs end with memory that HDF5 and MPI never free."""
    if not SANITIZED:
        return {}
    return {"ASAN_OPTIONS": f"log_path={work}/sanitizer:detect_leaks=0:detect_odr_violation=0:exitcode=99",
            "UBSAN_OPTIONS": f"log_path={work}/sanitizer:print_stacktrace=1"}


def with_leaks(options):
    return options.replace("detect_leaks=0", "detect_leaks=1")


@functools.lru_cache(None)
def preloaded():
    """The sanitizer's library for LD_PRELOAD; empty without a sanitizer."""
    if not SANITIZED:
        return ""
    asked = [*os.environ.get("CC", "gcc").split(), "-print-file-name=libasan.so"]
    return os.path.realpath(subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip())


def findings(work):
    return "".join(f"\n{path.name}:\n{path.read_text(errors='replace')[:8000]}" for path in sorted(work.glob("sanitizer.*")))
