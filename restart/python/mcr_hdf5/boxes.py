# SPDX-License-Identifier: BSD-3-Clause
"""Pieces with index boxes: a compound dataset with the members `lo` and `hi` beside a flat dataset. Boxes name the fastest axis first."""
import math
import re
from dataclasses import dataclass

import h5py
import numpy

from .places import Level, Piece, Unplaced, expect_equal, integers
from .variable import type_of

LEVEL = re.compile(r"(?:(?:lev|lvl|ref|amr)[a-z]*|(?<![a-z])l)[-_ ]?(\d+)", re.I)  # a level's number in the name of a group


class IndexBoxes:
    def __init__(self):
        self._groups = {}  # (rank, name of a group) -> its IndexGroup

    def box(self, rank, dataset):
        """The first and last index of a flat dataset's cells, the slowest axis first, and its number of components."""
        if dataset.ndim != 1 or type_of(dataset).kind not in "fiu":
            return None
        beside = self._group(rank, dataset.parent)
        found = None
        for low, high in beside.boxes.values():
            if (high >= low).all() and math.prod(integers(high - low + 1)) * beside.components == dataset.size:
                if found and not (numpy.array_equal(low, found[0]) and numpy.array_equal(high, found[1])):
                    raise Unplaced(f"several index boxes beside {dataset.name} of rank {rank} have its size")
                found = low, high, beside.components
        return found

    def placed(self, variable, first):
        """Returns (piece, ratio of its level) for all pieces. `first` is the box of the first one."""
        return _with_ratios([self._boxed(*one, first) for one in variable.pieces()])

    def _boxed(self, rank, dataset, first):
        box = self.box(rank, dataset)
        if box is None:
            raise Unplaced(f"{dataset.name} of rank {rank} has no index box of its size")
        low, high, components = box
        expect_equal("dimensions", rank, dataset, len(low), len(first[0]))
        expect_equal("components", rank, dataset, components, first[2])
        stored = integers(high - low + 1)
        begin, end, ratio = self._within(rank, dataset, low, high + 1)
        inner = tuple(slice(int(b), int(e)) for b, e in zip(begin - low, end - low))
        begin = integers(begin)
        if components > 1:
            stored, begin, inner, ratio = (components, *stored), (0, *begin), (slice(0, components), *inner), ratio and (1, *ratio)
        return Piece(rank, begin, inner, dataset.name, stored), ratio

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
            if item.shape == (1,) and _is_box(type_of(item)):
                boxes[name] = _bounds(item[0])
            elif type_of(item).kind in "iu" and item.shape == (1,) and name.endswith("depth"):
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


def _groups_of(dataset):
    """The dataset's group and all groups above it."""
    group = dataset.parent
    yield group
    while group.name != "/":
        group = group.parent
        yield group


def _is_grown(stored, cells):
    """Values in cells have the box of the cells; values on faces, edges or corners have one more at the upper end. A box whose axes are in another
    order, as SAMRAI has it for the faces of y and z, is neither."""
    more = stored[1] - cells[1]
    return (stored[0] == cells[0]).all() and ((more == 0) | (more == 1)).all()


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
