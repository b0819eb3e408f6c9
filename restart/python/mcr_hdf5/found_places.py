# SPDX-License-Identifier: BSD-3-Clause
"""Where the pieces of a variable lie, if the files say so themselves (docs/python.md, "Places that the files name"):

* grids with edges: GridLeftEdge and GridRightEdge, as attributes or in a text file NAME.hierarchy beside the files. Edges place a dataset only
  if its shape is proved to be the number of cells between them, without ghost cells and not of values on faces: see _expect_proved;
* index boxes: a compound dataset with the members `lo` and `hi` beside a flat dataset;
* particles: rows of a group with positions follow one another.

Edges and indexes name the fastest axis first. What contradicts the datasets' shapes is no place.
"""
import math
import os
import re
from dataclasses import dataclass

import h5py
import numpy

from .errors import McrError
from .hierarchy import read_hierarchy
from .particles import positions_beside
from .places import Level, Piece, Places, Unplaced, attribute_above, integers, level_of_rows, overlaps

INEXACT = 0.001  # cells by which an edge may lie beside the border of a cell

LEVEL = re.compile(r"(?:(?:lev|lvl|ref|amr)[a-z]*|(?<![a-z])l)[-_ ]?(\d+)", re.I)  # a level's number in the name of a group


def places_of(options, checkpoint):
    """Places by the options, or without them by what the files say."""
    given = Places(options)
    if given.named:
        return given
    if options.halo != "0" or options.reverse:
        raise McrError("--halo and --reverse need --offset, --grid or --boxes")
    return FoundPlaces(checkpoint)


class FoundPlaces:
    def __init__(self, checkpoint):
        self._checkpoint = checkpoint
        self._hierarchies = {}  # rank -> its Hierarchy
        self._used_hierarchies = set()  # paths of those that placed something
        self._groups = {}  # (rank, name of a group) -> its IndexGroup

    def kind(self, rank, dataset):
        """`grid` or `particles`; None if the files name no place for this dataset."""
        try:
            return self._kind(rank, dataset)
        except Unplaced:
            return None

    def says_something(self, rank, dataset):
        """Whether the files say where this dataset lies, even if they contradict themselves: levels() then says how."""
        try:
            return self._kind(rank, dataset) is not None
        except Unplaced:
            return True

    @staticmethod
    def remedy(variables):
        """What the user can say if the files do not say where the pieces of these variables lie."""
        if variables and all(variable.has_several for variable in variables):
            return "--offset, --grid and --boxes cannot say it, because a rank has several datasets of the variable"
        return ("say where the ranks' pieces lie: --offset NAME (an attribute or dataset of each file), --grid NxNxN, or --boxes FILE; "
                "if they have ghost cells, also --halo N")

    def is_particles(self, variable):
        return self.kind(*_first(variable)) == "particles"

    def levels(self, variable):
        """Returns the variable's levels of refinement, the coarsest first."""
        rank, first = _first(variable)
        kind = self._kind(rank, first)
        if kind == "particles":
            return [_level_of_particles(variable)]
        if kind is None:
            raise Unplaced("the files do not say where its pieces lie")
        box = self._box(rank, first)
        if box:
            return _levels(_with_ratios([self._boxed(*one, box) for one in _each(variable)]), box[2])
        return _levels(_counted([self._edged(*one, first.ndim) for one in _each(variable)]))

    def describe_hierarchies(self):
        """Names the text files that placed something; empty without them."""
        names = ", ".join(sorted(min(path, os.path.relpath(path), key=len) for path in self._used_hierarchies))
        return names and f"the places of {self._checkpoint.short_name} are those in {names}"

    def _kind(self, rank, dataset):
        if self._box(rank, dataset):
            return "grid"
        if positions_beside(dataset):
            # A group with a grid may have particles too, whose edges are the grid's. Only long rows could also be a field on the grid.
            if dataset.ndim == 2 and dataset.shape[1] > 3 and self._edges(rank, dataset):
                raise Unplaced(f"{dataset.name} of rank {rank} may be a field on a grid with edges, or have a row for each of the positions beside it")
            return "particles"
        return "grid" if self._edges(rank, dataset) else None

    def _boxed(self, rank, dataset, first):
        box = self._box(rank, dataset)
        if box is None:
            raise Unplaced(f"{dataset.name} of rank {rank} has no index box of its size")
        low, high, components = box
        _expect_equal("dimensions", rank, dataset, len(low), len(first[0]))
        _expect_equal("components", rank, dataset, components, first[2])
        stored = integers(high - low + 1)
        begin, end, ratio = self._within(rank, dataset, low, high + 1)
        inner = tuple(slice(int(b), int(e)) for b, e in zip(begin - low, end - low))
        begin = integers(begin)
        if components > 1:
            stored, begin, inner, ratio = (components, *stored), (0, *begin), (slice(0, components), *inner), ratio and (1, *ratio)
        return Piece(rank, begin, inner, dataset.name, stored), ratio

    def _box(self, rank, dataset):
        """The first and last index of a flat dataset's cells, the slowest axis first, and its number of components."""
        if dataset.ndim != 1 or dataset.dtype.kind not in "fiu":
            return None
        beside = self._group(rank, dataset.parent)
        found = None
        for low, high in beside.boxes.values():
            if (high >= low).all() and math.prod(integers(high - low + 1)) * beside.components == dataset.size:
                if found and not (numpy.array_equal(low, found[0]) and numpy.array_equal(high, found[1])):
                    raise Unplaced(f"several index boxes beside {dataset.name} of rank {rank} have its size")
                found = low, high, beside.components
        return found

    def _within(self, rank, dataset, begin, end):
        """The part of the cells that lies in the boxes of the groups above (cells outside belong to neighbours), and the ratio of the level:
        cells for each cell of the coarsest level; None if no group has it. Above the group with the ratio, boxes count other cells."""
        stored = begin, end
        for group in _groups_of(dataset):
            said = self._group(rank, group)
            if said.ratio is not None:
                if len(said.ratio) not in (1, len(begin)):
                    raise Unplaced(f"{dataset.name} of rank {rank} has {len(begin)} dimensions, and its ratio of refinement is {said.ratio}")
                return begin, end, said.ratio * (len(begin) // len(said.ratio))
            if group == dataset.parent:
                continue
            for name, (low, high) in said.boxes.items():
                if "ghost" in name and len(low) == len(begin) and not _is_grown(stored, (low, high + 1)):
                    raise Unplaced(f"the index box of {dataset.name} of rank {rank} is not that of the cells and ghost cells in {group.name}/{name}")
                if "ghost" not in name and len(low) == len(begin) and (numpy.maximum(begin, low) < numpy.minimum(end, high + 1)).all():
                    begin, end = numpy.maximum(begin, low), numpy.minimum(end, high + 1)
        return begin, end, None

    def _group(self, rank, group):
        key = rank, group.name
        if key not in self._groups:
            self._groups[key] = IndexGroup.of(group)
        return self._groups[key]

    def _edged(self, rank, dataset, dimensions):
        _expect_equal("dimensions", rank, dataset, dataset.ndim, dimensions)
        edges = self._edges(rank, dataset)
        if edges is None:
            raise Unplaced(f"the files do not say where the edges of {dataset.name} of rank {rank} lie")
        low, high, is_counted, source = edges
        if source:
            self._used_hierarchies.add(source)
        return EdgedGrid(rank, dataset.name, dataset.shape, low, (high - low) / dataset.shape, is_counted)

    def _edges(self, rank, dataset):
        """The lower and the upper edge of a grid, the slowest axis first; whether the files have its number of cells too; and the path of the text
        file that has the edges, or None."""
        if dataset.ndim == 0 or dataset.dtype.kind not in "fiu":
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

    def _grid_in_hierarchy(self, rank, dataset):
        if rank not in self._hierarchies:
            self._hierarchies[rank] = self._read_hierarchy(rank)
        hierarchy = self._hierarchies[rank]
        grid = hierarchy and hierarchy.grids.get(dataset.parent.name)
        if grid is None:
            return None
        if hierarchy.why_not:
            raise Unplaced(f"{hierarchy.path} may be of another set: {hierarchy.why_not}")
        return grid.low, grid.high, grid.cells, hierarchy.path

    def _read_hierarchy(self, rank):
        """The text file beside the rank's file. A newer set of the same files has replaced it."""
        for path in self._checkpoint.paths(rank):
            name = os.path.splitext(path)[0] + ".hierarchy"
            if os.path.isfile(name):
                grids = read_hierarchy(name, os.path.basename(path))
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


def _each(variable):
    """(rank, dataset), of which only a few are open at a time."""
    return ((rank, dataset) for rank in variable.ranks for dataset in variable.datasets(rank))


def _is_grown(stored, cells):
    """Values in cells have the box of the cells; values on faces, edges or corners have one more at the upper end. A box whose axes are in another
    order, as SAMRAI has it for the faces of y and z, is neither."""
    more = stored[1] - cells[1]
    return (stored[0] == cells[0]).all() and ((more == 0) | (more == 1)).all()


def _groups_of(dataset):
    """The dataset's group and all groups above it."""
    group = dataset.parent
    yield group
    while group.name != "/":
        group = group.parent
        yield group


def _first(variable):
    """The first dataset that has elements, else the first one."""
    return next((one for one in _each(variable) if one[1].size), next(_each(variable)))


def _level_of_particles(variable):
    has_positions = [bool(positions_beside(dataset)) for _, dataset in _each(variable) if dataset.size]
    if not all(has_positions):
        raise Unplaced(f"{has_positions.count(False)} of its {len(has_positions)} pieces have no positions beside them with as many rows")
    return level_of_rows(_each(variable))


def _expect_equal(what, rank, dataset, number, first):
    if number != first:
        raise Unplaced(f"its pieces have different numbers of {what}: {first}, but {dataset.name} of rank {rank} has {number}")


@dataclass(frozen=True)
class IndexGroup:
    """What the datasets of a group say about indexes, the slowest axis first."""
    boxes: dict  # name -> first and last index
    components: int
    ratio: tuple  # one number for all axes, or one for each; or None

    @staticmethod
    def of(group):
        boxes, components = {}, 1
        ratio = next((_ratio(value) for name, value in group.attrs.items() if name.endswith("ratio_to_level_zero")), None)
        for name in group:
            item = group.get(name) if re.search("box|depth$|ratio_to_level_zero$", name) else None
            if not isinstance(item, h5py.Dataset):
                continue
            if item.shape == (1,) and _is_box(item.dtype):
                boxes[name] = _bounds(item[0])
            elif item.dtype.kind in "iu" and item.shape == (1,) and name.endswith("depth"):
                components = max(1, int(item[0]))
            elif name.endswith("ratio_to_level_zero"):
                ratio = _ratio(item[()])
        return IndexGroup(boxes, components, ratio)


def _ratio(value):
    numbers = numpy.atleast_1d(value)
    return integers(numpy.flip(numbers)) if numbers.dtype.kind in "iu" and numbers.ndim == 1 and numbers.size else None


def _is_box(dtype):
    fields = dtype.fields or {}
    return all(name in fields and fields[name][0].base.kind in "iu" and len(fields[name][0].shape) == 1 for name in ("lo", "hi"))


def _bounds(value):
    """The slowest axis first. A member `dim` says how many axes count."""
    count = int(value["dim"]) if "dim" in value.dtype.fields else len(value["lo"])
    return tuple(numpy.flip(numpy.asarray(value[name], numpy.int64)[:count]) for name in ("lo", "hi"))


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
    more value in each dataset the widths would differ. The same holds for two axes with cells of one width. One value is one cell."""
    counts = {}  # ratio of the level -> for each axis the numbers of cells
    for piece, ratio in placed:
        for numbers, count in zip(counts.setdefault(ratio, [set() for _ in ratio]), piece.shape):
            numbers.add(count)
    for axis in range(len(coarsest)):
        if not any(_is_proved(axis, of_level, coarsest / ratio) for ratio, of_level in counts.items()):
            raise Unplaced(f"the files have the edges of its grids, but not the numbers of cells between them (attributes GridStartIndex and "
                           f"GridEndIndex): along axis {axis} the datasets may have ghost cells or values on faces")


def _is_proved(axis, counts, widths):
    comparable = set()
    for numbers, width in zip(counts, widths):
        if abs(width / widths[axis] - 1) * max(numbers | counts[axis]) <= INEXACT:
            comparable |= numbers
    return 1 in counts[axis] or max(comparable) - min(comparable) > 2 * INEXACT * min(comparable)


def _with_ratios(placed):
    """Without ratios, boxes count the same cells only if the pieces are of one level. Then they fill a box without gaps."""
    pieces = [piece for piece, _ in placed]
    ratios = {ratio for _, ratio in placed}
    if None not in ratios:
        return placed
    without = "index boxes without a ratio of refinement (ratio_to_level_zero)"
    if len(ratios) > 1:
        raise Unplaced(f"some of its pieces have {without}, others have the ratio")
    level = Level.of(pieces, (1,) * len(pieces[0].begin))
    if len({tuple(LEVEL.findall(piece.name)) for piece in pieces}) > 1:
        raise Unplaced(f"its pieces have {without}, and their names are those of several levels")
    if sum(math.prod(piece.shape) for piece in pieces) != math.prod(level.shape):
        raise Unplaced(f"its pieces have {without}, and do not fill a box, so they may be of several levels")
    return [(piece, level.ratio) for piece in pieces]


def _levels(placed, components=1):
    """Groups (piece, ratio) by ratio. Indexes then count from the first piece of the level, and the level knows its own origin."""
    by_ratio = {}
    for piece, ratio in placed:
        by_ratio.setdefault(ratio, []).append(piece)
    if any(min(ratio) < 1 for ratio in by_ratio):
        raise Unplaced("a level of refinement has a ratio below one")
    lowest = numpy.min([[math.floor(b / r) for b, r in zip(piece.begin, ratio)] for piece, ratio in placed], axis=0)
    levels = []
    for ratio, pieces in sorted(by_ratio.items()):
        level = Level.of(pieces, ratio, lowest, components)
        pair = next(overlaps(level.pieces), None)
        if pair:
            raise Unplaced(f"{pair[0].name} of rank {pair[0].rank} and {pair[1].name} of rank {pair[1].rank} would lie at the same place")
        levels.append(level)
    return levels
