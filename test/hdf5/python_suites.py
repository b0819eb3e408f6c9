#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The test suites that Python packages bring in their wheels, natively and with every file captured: a command, not in
the gate, because it fetches packages and takes many minutes.

    python3 -m venv V && V/bin/pip install h5py netCDF4 h5netcdf xarray tables pandas hypothesis pytest
    V/bin/python test/hdf5/python_suites.py [--build DIR] [SUITE…]

It prints for each suite how many tests ended in which way, and each test that did not end as natively, asked once more
alone. The exit status is 1 if there is such a test.
"""
import argparse
import importlib.metadata
import os
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
from collections import Counter
from pathlib import Path


SOURCE = Path(__file__).resolve().parent.parent.parent
SUITES = {  # distribution, what pytest is given
    "h5netcdf": ("h5netcdf", ["--pyargs", "h5netcdf"]),
    "pandas": ("pandas", ["--pyargs", "pandas.tests.io.pytables"]),
    "tables": ("tables", ["--pyargs", *(f"tables.tests.test_{name}" for name in (
        "attributes", "basics", "create", "links", "tree", "vlarray"))]),
    "xarray": ("xarray", ["--pyargs", "xarray.tests.test_backends", "-k", "netCDF4 or NetCDF4 or H5NetCDF or h5netcdf"]),
}


def results(report):
    found = {}
    for entry in xml.etree.ElementTree.parse(report).getroot().iter("testcase"):
        kinds = {"failure": "failed", "error": "failed", "skipped": "skipped"}
        state = next((kinds[e.tag] for e in entry if e.tag in kinds), "passed")
        found[f"{entry.get('classname')}::{entry.get('name')}"] = state
    return found


def run(words, place, build=None, limit=3600):
    """The results of one run of pytest in an empty directory; with a build, every file is captured."""
    place.mkdir()
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("HDF5_", "MCR_"))}
    environment["TMPDIR"] = str(place)
    if build:
        environment.update(HDF5_PLUGIN_PATH=str(build / "prefix/lib/mcr/plugin"), MCR_STAGE=str(build / "stage-of-suites"),
                           HDF5_VOL_CONNECTOR="mcr under_vol=0;under_info={};files=*", MCR_LOG="quiet",
                           MCR_EXIT_WAIT="30s")
    report = place.parent / f"{place.name}.xml"
    log = place.parent / f"{place.name}.log"
    with open(log, "wb") as out:
        subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--basetemp={place}/pytest",
                        *words, f"--junitxml={report}"], cwd=place, env=environment, stdout=out, stderr=out, timeout=limit)
    return results(report) if report.exists() else {f"pytest::{log.read_text(errors='replace')[-600:]}": "failed"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suites", nargs="*", metavar="SUITE", help=", ".join(SUITES))
    parser.add_argument("--build", type=Path, default=SOURCE / "build")
    options = parser.parse_args()
    build = options.build.resolve()
    differing = 0
    for suite in options.suites or SUITES:
        distribution, words = SUITES[suite]
        place = Path(tempfile.mkdtemp(prefix=f"mcr-{suite}-"))
        native = run(words, place / "native")
        captured = run(words, place / "captured", build)
        names = sorted(n for n in set(native) | set(captured) if native.get(n) != captured.get(n))
        alone = {}
        if names:
            only = " or ".join({n.split("::")[-1].split("[")[0] for n in names})
            alone = run([*(w for w in words if w != "-k" and " or " not in w), "-k", only], place / "again", build)
        counts = [", ".join(f"{n} {state}" for state, n in sorted(Counter(r.values()).items())) for r in (native, captured)]
        print(f"{suite} {importlib.metadata.version(distribution)}: natively {counts[0]}; captured {counts[1]}", flush=True)
        for name in names:
            if alone.get(name) != native.get(name):
                differing += 1
                print(f"    {name}: {native.get(name)} natively, {captured.get(name)} captured, {alone.get(name)} alone")
        if differing:
            print(f"    logs: {place}", flush=True)
        else:
            shutil.rmtree(place, ignore_errors=True)
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
