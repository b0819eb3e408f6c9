# SPDX-License-Identifier: BSD-3-Clause
"""Reads Enzo's text file NAME.hierarchy: each grid's edges. A dump's files NAME.cpu0000, … do not have them."""
import os
import re
import stat
from dataclasses import dataclass


@dataclass(frozen=True)
class Grid:
    low: tuple  # x first
    high: tuple
    cells: tuple  # without the cells that belong to neighbours


MOST_BYTES = 256 << 20  # some 200,000 grids


def read_hierarchy(path, file_name, owners):
    """Returns the name of a grid's group in the file `file_name` -> Grid. What is not written as Enzo writes it is left out, and so is
    a file that is too large, or that belongs to none of the `owners`."""
    try:
        with open(path, errors="replace", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode) or status.st_uid not in owners or status.st_size > MOST_BYTES:
                return {}
            text = file.read(MOST_BYTES)
    except OSError:
        return {}
    found = {}
    for number, body in re.findall(r"^Grid = (\d+)$(.*?)(?=^Grid = |\Z)", text, re.M | re.S):
        lines = dict(re.findall(r"^(\w+)[ \t]*=[ \t]*(.*)$", body, re.M))
        if os.path.basename(lines.get("BaryonFileName", lines.get("ParticleFileName", "")).strip()) != file_name:
            continue
        try:
            low, high = (tuple(float(word) for word in lines[key].split()) for key in ("GridLeftEdge", "GridRightEdge"))
            first, last = ([int(word) for word in lines[key].split()] for key in ("GridStartIndex", "GridEndIndex"))
            group = f"/Grid{int(number):08}"
        except (KeyError, ValueError):
            continue
        found[group] = Grid(low, high, tuple(b - a + 1 for a, b in zip(first, last)))
    return found
