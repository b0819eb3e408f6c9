# SPDX-License-Identifier: BSD-3-Clause
"""Where each rank's piece of a variable lies in the global array: `--offset`, `--grid` or `--boxes`. Without these options the files
themselves may name the places (found_places).

A piece is a dataset without its halo (`--halo`). The origin of the global array is the smallest offset of all pieces, so
offsets may count from any number.
"""
import itertools
import math
import re
from dataclasses import dataclass, replace

import numpy

from .errors import McrError, UsageError
from .variable import read_values


MOST_ELEMENTS = (1 << 63) - 1  # of an array


@dataclass(frozen=True)
class Piece:
    rank: int
    begin: tuple  # in the global array
    inner: tuple  # slices of the rank's dataset, without its halo
    name: str  # of the dataset in the rank's file
    stored: tuple  # shape of the dataset, or the shape that the elements of a flat dataset have

    def read(self, checkpoint):
        """The values of the piece. Raises McrError if they cannot be read."""
        dataset = checkpoint.file(self.rank)[self.name]
        return read_values(dataset, self.inner) if dataset.shape == self.stored else read_values(dataset).reshape(self.stored)[self.inner]

    @property
    def shape(self):
        return tuple(axis.stop - axis.start for axis in self.inner)

    @property
    def region(self):
        """Slices of the global array."""
        return tuple(slice(b, b + n) for b, n in zip(self.begin, self.shape))


@dataclass(frozen=True)
class Level:
    """The pieces whose cells have one size. A mesh without refinement is one level."""
    pieces: list
    shape: tuple  # of the array that has all pieces
    ratio: tuple  # cells along each axis for one cell of the coarsest level
    first: tuple  # index of the array's first cell in the level, counted from the first cell of the coarsest level
    components: int = 1  # of a vector: if there are several, the first axis has them
    is_list: bool = False  # rows, such as particles, and no mesh

    @staticmethod
    def of(pieces, ratio, lowest=None, components=1):
        """`lowest` is the first cell of the coarsest level (default: of these pieces)."""
        origin = [min(numbers) for numbers in zip(*(piece.begin for piece in pieces))]
        moved = [replace(piece, begin=tuple(b - o for b, o in zip(piece.begin, origin))) for piece in pieces]
        shape = tuple(max(numbers) for numbers in zip(*([b + n for b, n in zip(piece.begin, piece.shape)] for piece in moved)))
        if math.prod(shape) > MOST_ELEMENTS:
            raise Unplaced(f"its array would have the shape {shape}, which is too large for HDF5")
        first = (0,) * len(origin) if lowest is None else tuple(o - int(n) * r for o, n, r in zip(origin, lowest, ratio))
        return Level(moved, shape, ratio, first, components)


def integers(numbers):
    return tuple(int(n) for n in numbers)


class Unplaced(Exception):
    """Why a variable has no place in a global array."""


def expect_equal(what, rank, dataset, number, first):
    if number != first:
        raise Unplaced(f"its pieces have different numbers of {what}: {first}, but {dataset.name} of rank {rank} has {number}")


def add_options(parser):
    group = parser.add_argument_group("where the ranks' pieces lie (at most one of the first three; without them the files may say it)")
    where = group.add_mutually_exclusive_group()
    where.add_argument("--offset", metavar="NAME", help="an attribute or a dataset of each rank's file: the index of the piece's first element")
    where.add_argument("--grid", metavar="NxNxN", help="numbers of ranks along the array's axes, the slowest axis first; ranks count along "
                                                       "the last axis first, as in MPI_Cart_create. One number: the ranks' pieces follow one "
                                                       "another along the slowest axis")
    where.add_argument("--boxes", metavar="FILE", help="a text file; each line has a rank and the index of its piece's first element")
    group.add_argument("--halo", metavar="N[,N...]", default="0", help="elements at both ends of each axis that belong to other ranks (0)")
    group.add_argument("--reverse", action="store_true", help="offsets and --grid name the fastest axis first, as in Fortran; ranks count "
                                                              "along it first")


class Places:
    def __init__(self, options):
        if options.offset == "":
            raise UsageError("--offset needs the name of an attribute or dataset")
        self._offset, self._reverse = options.offset, options.reverse
        self._grid = None if options.grid is None else _grid(options.grid)
        self._boxes = None if options.boxes is None else _boxes(options.boxes)
        self._halo = _numbers(options.halo, ",", "--halo")
        self.named = not (self._offset is None and self._grid is None and self._boxes is None)

    def levels(self, variable):
        """Returns one level with the pieces of all ranks that have the variable."""
        several = next((rank for rank in variable.ranks if len(variable.names(rank)) > 1), None)
        if several is not None:
            raise Unplaced(f"rank {several} has {len(variable.names(several))} such datasets")
        without = next((rank for rank, shape in variable.shapes().items() if shape is None), None)
        if without is not None:
            raise Unplaced(f"the dataset of rank {without} has no elements (a null dataspace)")
        inner = {rank: self._inner(rank, shape) for rank, shape in variable.shapes().items()}
        dimensions = {len(slices) for slices in inner.values()}
        if len(dimensions) != 1 or dimensions == {0}:
            raise Unplaced("scalars and ranks with different numbers of dimensions have no place")
        begins = self._begins(variable, {rank: tuple(s.stop - s.start for s in slices) for rank, slices in inner.items()})
        shapes = variable.shapes()
        pieces = [Piece(rank, begins[rank], inner[rank], variable.names(rank)[0], shapes[rank]) for rank in sorted(inner)]
        return [Level.of(pieces, (1,) * len(pieces[0].begin))]

    def _inner(self, rank, shape):
        halo = self._halo * len(shape) if len(self._halo) == 1 else self._halo
        if len(halo) != len(shape):
            raise Unplaced(f"it is {len(shape)}-dimensional, and --halo is for {len(halo)} dimensions")
        slices = tuple(slice(width, extent - width) for width, extent in zip(halo, shape))
        if any(s.stop <= s.start for s in slices):
            raise Unplaced(f"nothing is left of rank {rank}'s shape {shape} without the halo" if any(halo) else
                           f"rank {rank}'s shape {shape} has no element")
        return slices

    def _begins(self, variable, shapes):
        if self._grid:
            return _begins_in_grid(self._in_order(self._grid), self._reverse, shapes)
        begins = {rank: self._in_order(self._begin(variable, rank)) for rank in shapes}
        for rank, begin in begins.items():
            if len(begin) != len(shapes[rank]):
                raise Unplaced(f"it is {len(shapes[rank])}-dimensional, and the place of rank {rank} has {len(begin)} numbers")
        return begins

    def _in_order(self, numbers):
        return tuple(reversed(numbers)) if self._reverse else tuple(numbers)

    def _begin(self, variable, rank):
        if self._boxes is not None:
            if rank not in self._boxes:
                raise Unplaced(f"--boxes has no line for rank {rank}")
            return self._boxes[rank]
        values = _find_offset(variable.dataset(rank), self._offset)
        if values is None:
            raise Unplaced(f"the file of rank {rank} has no attribute and no dataset {self._offset}")
        values = numpy.atleast_1d(values)
        if values.dtype.kind not in "iu" or values.ndim != 1:
            raise Unplaced(f"{self._offset} of rank {rank} is no list of integers")
        return tuple(int(v) for v in values)


def attribute_above(dataset, name):
    """The attribute of the dataset or of the nearest group above it; else None."""
    place = dataset
    while True:
        if name in place.attrs:
            return place.attrs[name]
        if place.name == "/":
            return None
        place = place.parent


def _find_offset(dataset, name):
    """The attribute; else the dataset of that path."""
    found = attribute_above(dataset, name)
    if found is None and name in dataset.file and hasattr(dataset.file[name], "dtype"):
        return dataset.file[name][()]
    return found


def level_of_rows(datasets):
    """Places (rank, dataset) one after another along the first axis, such as lists of particles."""
    pieces, begin = [], 0
    for rank, dataset in datasets:
        if not dataset.size:
            continue
        if pieces and dataset.shape[1:] != pieces[0].stored[1:]:
            raise Unplaced("the ranks' lists have different numbers of columns")
        whole = tuple(slice(0, n) for n in dataset.shape)
        pieces.append(Piece(rank, (begin,) + (0,) * (dataset.ndim - 1), whole, dataset.name, dataset.shape))
        begin += dataset.shape[0]
    if not pieces:
        raise Unplaced("no rank has a row")
    return replace(Level.of(pieces, (1,) * len(pieces[0].begin)), is_list=True)


NUMBER = "[0-9]{1,18}"


def _numbers(text, separator, option):
    words = text.split(separator)
    if not all(re.fullmatch(NUMBER, word) for word in words):
        raise UsageError(f"{option} {text}: not a list of numbers that are separated by '{separator}'")
    return tuple(map(int, words))


def _grid(text):
    counts = _numbers(text, "x", "--grid")
    if 0 in counts:
        raise UsageError(f"--grid {text}: each axis has at least one rank")
    return counts


def _boxes(path):
    found = {}
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            for number, line in enumerate(file, 1):
                words = line.split("#")[0].split()
                if not words:
                    continue
                if len(words) < 2 or not all(re.fullmatch(f"-?{NUMBER}", word) for word in words) or int(words[0]) in found:
                    raise McrError(f"{path}, line {number}: a line has a rank, which no other line has, and the index of its piece's first element")
                found[int(words[0])] = tuple(int(word) for word in words[1:])
    except OSError as error:
        raise McrError(f"cannot read {path}: {error.strerror}") from None
    return found


def _begins_in_grid(grid, first_fastest, shapes):
    ranks = sorted(shapes)
    dimensions = len(shapes[ranks[0]])
    if len(grid) == 1:
        grid += (1,) * (dimensions - 1)
    if len(grid) != dimensions:
        raise Unplaced(f"it is {dimensions}-dimensional, and --grid has {len(grid)} numbers")
    if math.prod(grid) != len(ranks):
        raise Unplaced(f"--grid has {math.prod(grid)} places for {len(ranks)} ranks")
    places = dict(zip(ranks, zip(*numpy.unravel_index(range(len(ranks)), grid, order="F" if first_fastest else "C"))))
    starts = []
    for axis, count in enumerate(grid):
        extents = [{shapes[rank][axis] for rank in ranks if places[rank][axis] == n} for n in range(count)]
        uneven = next((n for n, found in enumerate(extents) if len(found) > 1), None)
        if uneven is not None:
            raise Unplaced(f"the ranks at place {uneven} of axis {axis} have different extents {sorted(extents[uneven])}")
        starts.append([0, *itertools.accumulate(min(found) for found in extents)])
    return {rank: tuple(starts[axis][n] for axis, n in enumerate(places[rank])) for rank in ranks}


def overlaps(pieces):
    """Pairs of pieces that share elements, with the shared region of the global array."""
    begins = numpy.array([piece.begin for piece in pieces])
    ends = begins + numpy.array([piece.shape for piece in pieces])
    for i, piece in enumerate(pieces):
        low = numpy.maximum(begins[i], begins[i + 1:])
        high = numpy.minimum(ends[i], ends[i + 1:])
        for j in numpy.nonzero((low < high).all(axis=1))[0]:
            yield piece, pieces[i + 1 + j], tuple(slice(int(b), int(e)) for b, e in zip(low[j], high[j]))


def coverage(pieces):
    """How many elements of the array belong to some piece, and how many to several pieces."""
    if next(overlaps(pieces), None) is None:
        return sum(math.prod(piece.shape) for piece in pieces), 0
    return _coverage([tuple((b, b + n) for b, n in zip(piece.begin, piece.shape)) for piece in pieces])


def _coverage(boxes):
    """As coverage(), of boxes with a beginning and an end for each axis. Between two borders along the first axis, the boxes do not change."""
    if len(boxes) == 1:
        return math.prod(end - begin for begin, end in boxes[0]), 0
    if len(boxes[0]) == 1:
        return _coverage_of_line(boxes)
    some = several = 0
    borders = sorted({border for box in boxes for border in box[0]})
    for begin, end in zip(borders, borders[1:]):
        inside = [box[1:] for box in boxes if box[0][0] <= begin and end <= box[0][1]]
        if inside:
            of_some, of_several = _coverage(inside)
            some, several = some + of_some * (end - begin), several + of_several * (end - begin)
    return some, several


def _coverage_of_line(boxes):
    some = several = depth = last = 0
    for place, step in sorted(border for (begin, end), in boxes for border in ((begin, 1), (end, -1))):
        some, several = some + (place - last) * (depth > 0), several + (place - last) * (depth > 1)
        depth, last = depth + step, place
    return some, several


def of_region(piece, region):
    """The slices of the rank's dataset that a region of the global array names."""
    return tuple(slice(inner.start + r.start - begin, inner.start + r.stop - begin)
                 for inner, begin, r in zip(piece.inner, piece.begin, region))
