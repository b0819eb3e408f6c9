#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What two ideas could bring at most, on a LULESH set of 2 x 2 x 2 ranks; neither is built (docs/compression.md).

    left_out.py MCR STEP-DIRECTORY

Shared nodes: a plane of nodes between two ranks is in both files. The set is packed as it is, and without the planes that
a lower rank has, so that their cost is zero. Averages: how well a value of an element is explained by a linear function of
one variable's mean over the element's eight nodes, or of its difference along an axis. Needs h5py and numpy."""
import itertools
import pathlib
import subprocess
import sys
import tempfile

import h5py
import numpy

PROFILES = ("balanced", "max")


def cubes(path):
    """name -> array of three dimensions if the dataset is a row of n³ values, else as stored."""
    arrays = {}
    with h5py.File(path) as file:
        for name, dataset in file.items():
            edge = round(dataset.size ** (1 / 3))
            array = dataset[...]
            arrays[name] = array.reshape((edge,) * 3) if array.ndim == 1 and edge**3 == array.size else array
    return arrays


def nodes_per_edge(arrays):
    return max(array.shape[0] for array in arrays.values() if array.ndim == 3)


def stored(mcr, ranks, profile, skips_shared):
    with tempfile.TemporaryDirectory() as directory:
        files = []
        for rank, arrays in enumerate(ranks):
            files.append(f"{directory}/rank{rank}.h5")
            begin = [slice((rank >> axis) & skips_shared, None) for axis in (2, 1, 0)]
            with h5py.File(files[-1], "w") as file:
                for name, array in arrays.items():
                    is_nodal = array.ndim == 3 and array.shape[0] == nodes_per_edge(arrays)
                    file[name] = array[tuple(begin)] if is_nodal else array
        out = f"{directory}/set.h5"
        subprocess.run([mcr, "pack", "--profile", profile, "-o", out, *files], check=True, stdout=subprocess.DEVNULL)
        return pathlib.Path(out).stat().st_size


def explained(element, value):
    """The share of the variance that the best linear function of `value` explains."""
    design = numpy.column_stack([value.ravel(), numpy.ones(value.size)])
    factors, *_ = numpy.linalg.lstsq(design, element.ravel(), rcond=None)
    return 1 - numpy.var(element.ravel() - design @ factors) / numpy.var(element)


def best_average(arrays):
    nodes = nodes_per_edge(arrays)
    corner = slice(0, nodes - 1)
    found = []
    for name, element in arrays.items():
        if element.ndim != 3 or element.shape[0] != nodes - 1 or element.dtype.kind != "f" or numpy.ptp(element) == 0:
            continue
        for other, nodal in arrays.items():
            if nodal.ndim != 3 or nodal.shape[0] != nodes:
                continue
            corners = [nodal[tuple(slice(at, at + nodes - 1) for at in place)] for place in itertools.product((0, 1), repeat=3)]
            found.append((explained(element, sum(corners) / 8), f"{name} by the mean of {other}"))
            for axis in range(3):
                step = numpy.diff(nodal, axis=axis)[(corner,) * 3]
                found.append((explained(element, step), f"{name} by the difference of {other} along axis {axis}"))
    return max(found)


def main():
    mcr, directory = sys.argv[1:]
    ranks = [cubes(path) for path in sorted(pathlib.Path(directory).glob("*.h5"))]
    for profile in PROFILES:
        whole, without = (stored(mcr, ranks, profile, skips) for skips in (0, 1))
        print(f"{profile}: {whole} bytes, {without} without the shared nodes: {100 * (1 - without / whole):.1f} % less")
    share, what = best_average(ranks[0])
    print(f"best average: {what}: {share:.2f} of the variance")


if __name__ == "__main__":
    main()
