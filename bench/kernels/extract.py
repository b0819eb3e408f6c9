#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the datasets of a set of checkpoint files as raw bytes, one file per variable over all ranks.

    extract.py OUT FILE...

Numbers inside path components are masked (Grid00000012 -> Grid{n}), so that a variable gathers its
fragments over files and grids. OUT/list.txt has a line per variable:
    file kind size big_endian shape;shape;...      (kind: i, u, f or b; shape: 12x13)
Needs h5py.
"""
import os
import re
import sys

import h5py


def main():
    out, files = sys.argv[1], sorted(sys.argv[2:])
    os.makedirs(out, exist_ok=True)
    variables = {}
    for name in files:
        with h5py.File(name, "r") as file:
            def visit(path, item):
                if not isinstance(item, h5py.Dataset) or item.dtype.kind not in "iuf":
                    return
                key = re.sub(r"\d+", "{n}", path)
                kind = (item.dtype.kind, item.dtype.itemsize, int(item.dtype.byteorder == ">"))
                variables.setdefault((key, kind), []).append(item[()])
            file.visititems(visit)
    with open(os.path.join(out, "list.txt"), "w") as listing:
        for (key, kind), arrays in variables.items():
            file = key.replace("/", "_").replace("{n}", "N") + f"_{kind[0]}{kind[1]}"
            shapes = ";".join("x".join(map(str, a.shape)) or "1" for a in arrays)
            with open(os.path.join(out, file), "wb") as raw:
                for array in arrays:
                    raw.write(array.tobytes())
            print(file, *kind, shapes, file=listing)


if __name__ == "__main__":
    main()
