# SPDX-License-Identifier: BSD-3-Clause
"""Grids with edges: GridLeftEdge and GridRightEdge, as attributes or in a text file NAME.hierarchy beside the files. Edges name the fastest axis
first. They place a dataset only if its shape is proved to be the number of cells between them, without ghost cells and not of values on faces."""
import os
import re
from dataclasses import dataclass

import numpy

from .hierarchy import read_hierarchy
from .places import Piece, Unplaced, attribute_above, expect_equal, integers
from .variable import type_of

INEXACT = 0.001  # cells by which an edge may lie beside the border of a cell


class GridEdges:
    def __init__(self, checkpoint):
        self._checkpoint = checkpoint
        self._hierarchies = {}  # rank -> its Hierarchy, or an Unplaced
        self._used = set()  # paths of the hierarchies that placed something

    def edges(self, rank, dataset):
        """The lower and the upper edge of a grid, the slowest axis first; whether the files have its number of cells too; and the path of the text
        file that has the edges, or None."""
        if dataset.ndim == 0 or type_of(dataset).kind not in "fiu":
            return None
        low, high, cells = _grid_in_attributes(dataset)
        source = None
        if low is None or high is None:
            low, high, cells, source = self._grid_in_hierarchy(rank, dataset) or (None, None, None, None)
        if any(numpy.shape(edge) != (dataset.ndim,) or numpy.asarray(edge).dtype.kind not in "fiu" for edge in (low, high)):
            return None
        low, high = numpy.flip(numpy.asarray(low, float)), numpy.flip(numpy.asarray(high, float))
        if not (numpy.isfinite(low).all() and numpy.isfinite(high).all() and (low < high).all()):
            raise Unplaced(f"{dataset.name} of rank {rank} has the edges {low} and {high}")
        if cells is not None and tuple(reversed(cells)) != dataset.shape:
            raise Unplaced(f"{dataset.name} of rank {rank} has the shape {dataset.shape}, and its grid has {tuple(reversed(cells))} cells")
        return low, high, cells is not None, source

    def placed(self, variable, dimensions):
        """Returns (piece, ratio of its level) for all pieces."""
        return _counted([self._edged(*one, dimensions) for one in variable.pieces()])

    def describe_hierarchies(self):
        """Names the text files that placed something; empty without them."""
        names = ", ".join(sorted(min(path, os.path.relpath(path), key=len) for path in self._used))
        return names and f"the places of {self._checkpoint.short_name} are those in {names}"

    def _edged(self, rank, dataset, dimensions):
        expect_equal("dimensions", rank, dataset, dataset.ndim, dimensions)
        edges = self.edges(rank, dataset)
        if edges is None:
            raise Unplaced(f"the files do not say where the edges of {dataset.name} of rank {rank} lie")
        low, high, is_counted, source = edges
        if source:
            self._used.add(source)
        return EdgedGrid(rank, dataset.name, dataset.shape, low, (high - low) / dataset.shape, is_counted)

    def _grid_in_hierarchy(self, rank, dataset):
        if rank not in self._hierarchies:
            self._hierarchies[rank] = self._read_hierarchy(rank)
        hierarchy = self._hierarchies[rank]
        if isinstance(hierarchy, Unplaced):
            if re.fullmatch(r"/Grid\d{8,}", dataset.parent.name):  # what the file could place
                raise hierarchy
            return None
        grid = hierarchy and hierarchy.grids.get(dataset.parent.name)
        if grid is None:
            return None
        if hierarchy.why_not:
            raise Unplaced(f"{hierarchy.path} may be of another set: {hierarchy.why_not}")
        return grid.low, grid.high, grid.cells, hierarchy.path

    def _read_hierarchy(self, rank):
        """The text file beside the rank's file, or why it is not read. A newer set of the same files has replaced it."""
        for path in self._checkpoint.paths(rank):
            name = os.path.splitext(path)[0] + ".hierarchy"
            if os.path.isfile(name):
                try:
                    grids = read_hierarchy(name, os.path.basename(path), self._checkpoint.owners(rank))
                except Unplaced as reason:
                    return reason
                unknown = next((group for group in grids if group not in self._checkpoint.file(rank)), None)
                why_not = unknown and f"it has {unknown} in {os.path.basename(path)}, which this set has not"
                return Hierarchy(name, grids, why_not or self._checkpoint.why_replaced(rank, path))
        return None


@dataclass(frozen=True)
class Hierarchy:
    path: str
    grids: dict  # name of the grid's group -> its hierarchy.Grid
    why_not: str  # why it may be of another set; or None


def _grid_in_attributes(dataset):
    """Lower edge, upper edge and number of cells, the fastest axis first; None for what the attributes do not say."""
    low, high, first, last = (attribute_above(dataset, name) for name in ("GridLeftEdge", "GridRightEdge", "GridStartIndex", "GridEndIndex"))
    if any(numpy.shape(index) != (dataset.ndim,) or numpy.asarray(index).dtype.kind not in "iu" for index in (first, last)):
        return low, high, None
    return low, high, integers(numpy.subtract(last, first, dtype=numpy.int64) + 1)


@dataclass(frozen=True)
class EdgedGrid:
    """The slowest axis first."""
    rank: int
    name: str
    shape: tuple
    low: numpy.ndarray
    width: numpy.ndarray  # of a cell
    is_counted: bool  # the files have its number of cells, which is its shape


def _counted(grids):
    """Edges become indexes of cells of the grid's own level, counted from the lowest edge of all grids."""
    origin = numpy.min([grid.low for grid in grids], axis=0)
    coarsest = numpy.max([grid.width for grid in grids], axis=0)
    found = []
    for grid in grids:
        begin, ratio = (grid.low - origin) / grid.width, coarsest / grid.width
        nearest = numpy.rint(begin), numpy.rint(ratio)
        if (abs(begin - nearest[0]) > INEXACT).any() or (abs(ratio / nearest[1] - 1) * grid.shape > INEXACT).any():
            raise Unplaced(f"the edges of {grid.name} of rank {grid.rank} are not borders of cells of the other grids")
        piece = Piece(grid.rank, integers(nearest[0]), tuple(slice(0, n) for n in grid.shape), grid.name, grid.shape)
        found.append((piece, integers(nearest[1])))
    if not all(grid.is_counted for grid in grids):
        _expect_proved(found, coarsest)
    return found


def _expect_proved(placed, coarsest):
    """Edges do not say how many cells lie between them: a dataset may have ghost cells too, or values on the faces between cells. The datasets'
    shapes are proved to be numbers of cells along an axis if two grids of a level have cells of one width, but different numbers of them: with one
    more value in each dataset the widths would differ. The same holds for cubes of cells, if the axes have different numbers. One value is one cell."""
    counts = {}  # ratio of the level -> for each axis the numbers of cells
    for piece, ratio in placed:
        for numbers, count in zip(counts.setdefault(ratio, [set() for _ in ratio]), piece.shape):
            numbers.add(count)
    for axis in range(len(coarsest)):
        if not any(_is_proved(axis, of_level, coarsest / ratio) for ratio, of_level in counts.items()):
            raise Unplaced(f"the files have the edges of its grids, but not the numbers of cells between them (attributes GridStartIndex and "
                           f"GridEndIndex): along axis {axis} the datasets may have ghost cells or values on faces")


def _is_proved(axis, counts, widths):
    def differ(numbers):
        return max(numbers) - min(numbers) > 2 * INEXACT * min(numbers)

    long = [other for other in range(len(counts)) if counts[other] != {1}]
    are_cubes = all(abs(widths[other] / widths[axis] - 1) * max(counts[other] | counts[axis]) <= INEXACT for other in long)
    return 1 in counts[axis] or differ(counts[axis]) or (are_cubes and differ(set().union(*(counts[other] for other in long))))
