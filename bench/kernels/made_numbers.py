#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes made numbers, as extract.py writes those of a set, to measure predictors alone: made_numbers.py OUT

Each type has 8 MiB: smooth numbers with noise in their last bits, in bricks of one, two and three dimensions, of 1 MiB (one in
a unit of kernel_bench) or of half a MiB (two in a unit); and numbers of float and double whose signs are random. Needs NumPy."""
import pathlib
import sys

import numpy

UNIT = 1 << 20
SHAPES = {1: lambda count: (count,), 2: lambda count: (count // 512, 512), 3: lambda count: (count // 4096, 64, 64)}


def smooth(count, kind, random):
    phase = numpy.arange(count) * 1e-3
    waves = numpy.sin(phase) + 0.3 * numpy.sin(phase * 7.3) + 1e-5 * random.standard_normal(count)
    if kind == "f":
        return 3.0 + waves
    return numpy.rint(60 * waves) if kind == "i1" else numpy.rint(1e6 * waves)


def main():
    out = pathlib.Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    random = numpy.random.default_rng(1)
    with (out / "list.txt").open("w") as listing:
        for dtype in ("i1", "i4", "f4", "f8"):
            size = int(dtype[1])
            count = 8 * UNIT // size
            numbers = smooth(count, "f" if dtype[0] == "f" else dtype, random)
            signs = {"": numbers} | ({"_signs": numbers * random.choice((-1, 1), count)} if dtype[0] == "f" else {})
            for suffix, values in signs.items():
                for dimensions, shape_of in SHAPES.items():
                    for bricks in (1, 2):
                        name = f"{dtype}_{dimensions}d_{bricks}{suffix}"
                        shape = "x".join(map(str, shape_of(UNIT // size // bricks)))
                        (out / name).write_bytes(values.astype(dtype).tobytes())
                        print(name, dtype[0], size, 0, ";".join([shape] * (8 * bricks)), file=listing)


if __name__ == "__main__":
    main()
