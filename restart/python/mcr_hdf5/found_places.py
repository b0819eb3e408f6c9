# SPDX-License-Identifier: BSD-3-Clause
"""Where the pieces of a variable lie, if the files say so themselves (docs/python.md, "Places that the files name"): index boxes, grids with
edges, or particles, whose rows follow one another. What contradicts the datasets' shapes is no place."""
import math

import numpy

from .boxes import IndexBoxes
from .edges import GridEdges
from .errors import UsageError
from .particles import positions_beside
from .places import Level, Places, Unplaced, level_of_rows, overlaps


def places_of(options, checkpoint):
    """Places by the options, or without them by what the files say."""
    given = Places(options)
    if given.named:
        return given
    if options.halo != "0" or options.reverse:
        raise UsageError("--halo and --reverse need --offset, --grid or --boxes")
    return FoundPlaces(checkpoint)


class FoundPlaces:
    def __init__(self, checkpoint):
        self._boxes = IndexBoxes()
        self._edges = GridEdges(checkpoint)

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
        box = self._boxes.box(rank, first)
        if box:
            return _levels(self._boxes.placed(variable, box), box[2])
        return _levels(self._edges.placed(variable, first.ndim))

    def describe_hierarchies(self):
        return self._edges.describe_hierarchies()

    def _kind(self, rank, dataset):
        if self._boxes.box(rank, dataset):
            return "grid"
        if positions_beside(dataset):
            # A group with a grid may have particles too, whose edges are the grid's. Only long rows could also be a field on the grid.
            if dataset.ndim == 2 and dataset.shape[1] > 3 and self._edges.edges(rank, dataset):
                raise Unplaced(f"{dataset.name} of rank {rank} may be a field on a grid with edges, or have a row for each of the positions beside it")
            return "particles"
        return "grid" if self._edges.edges(rank, dataset) else None


def _first(variable):
    """The first dataset that has elements, else the first one."""
    return next((one for one in variable.pieces() if one[1].size), next(variable.pieces()))


def _level_of_particles(variable):
    has_positions = [bool(positions_beside(dataset)) for _, dataset in variable.pieces() if dataset.size]
    if not all(has_positions):
        raise Unplaced(f"{has_positions.count(False)} of its {len(has_positions)} pieces have no positions beside them with as many rows")
    return level_of_rows(variable.pieces())


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
