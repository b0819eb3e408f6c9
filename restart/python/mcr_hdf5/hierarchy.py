# SPDX-License-Identifier: BSD-3-Clause
"""Reads Enzo's text file NAME.hierarchy: each grid's edges. A dump's files NAME.cpu0000, … do not have them."""
import os
import re
import stat
from dataclasses import dataclass

from .places import Unplaced


@dataclass(frozen=True)
class Grid:
    low: tuple  # x first
    high: tuple
    cells: tuple  # without the cells that belong to neighbours


MOST_BYTES = 256 << 20  # some 200,000 grids
LONGEST_LINE = 1 << 16
MOST_DIGITS = 18
KEYS = ("BaryonFileName", "ParticleFileName", "GridLeftEdge", "GridRightEdge", "GridStartIndex", "GridEndIndex")


def read_hierarchy(path, file_name, owners):
    """Returns the name of a grid's group in the file `file_name` -> Grid. What is not written as Enzo writes it is left out. Raises
    Unplaced for a file that is too large, or that belongs to none of the `owners`."""
    found = {}
    for number, lines in _grids(path, owners):
        if os.path.basename(lines.get("BaryonFileName", lines.get("ParticleFileName", "")).strip()) != file_name:
            continue
        if len(number) > MOST_DIGITS:
            raise Unplaced(f"{path} has a grid with a number of {len(number)} digits")
        try:
            low, high = (tuple(float(word) for word in lines[key].split()) for key in ("GridLeftEdge", "GridRightEdge"))
            first, last = ([int(word) for word in lines[key].split()] for key in ("GridStartIndex", "GridEndIndex"))
        except (KeyError, ValueError):
            continue
        found[f"/Grid{int(number):08}"] = Grid(low, high, tuple(b - a + 1 for a, b in zip(first, last)))
    return found


def _grids(path, owners):
    """The grids' numbers and the lines below them, of which only one grid's are in memory."""
    number, lines = None, {}
    for line in _lines(path, owners):
        if line.startswith("Grid = "):
            if number:
                yield number[1], lines
            number, lines = re.fullmatch(r"Grid = (\d+)", line), {}
        elif number and (found := re.fullmatch(r"(\w+)[ \t]*=[ \t]*(.*)", line)) and found[1] in KEYS:
            lines[found[1]] = found[2]
    if number:
        yield number[1], lines


def _lines(path, owners):
    try:
        with open(path, errors="replace", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                return
            for owner in (os.lstat(path).st_uid, status.st_uid):  # of a link, and of the file to which it leads
                if owner not in owners:
                    raise Unplaced(f"{path} belongs to user {owner} and not to the owner of the set")
            if status.st_size > MOST_BYTES:
                raise Unplaced(f"{path} has {status.st_size} bytes; read are at most {MOST_BYTES}")
            while line := file.readline(LONGEST_LINE):
                if len(line) == LONGEST_LINE:
                    raise Unplaced(f"{path} has a line of more than {LONGEST_LINE} characters")
                yield line.rstrip("\n")
    except OSError as error:
        raise Unplaced(f"{path} cannot be read: {error.strerror}") from None
