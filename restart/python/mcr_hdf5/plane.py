# SPDX-License-Identifier: BSD-3-Clause
"""Paints a plane of a variable from the pieces of all levels of refinement: where levels overlap, the finest one shows."""
import numpy

from .errors import McrError

SAMPLES = 2048  # values along one axis of the plane; of a longer axis values are left out


def paint(checkpoint, levels, number=None):
    """Returns the plane (of a 1-dimensional variable: a line), its extents in cells of the finest level, and which plane it is. A long axis has
    fewer values than cells. `number` is the index along the first axis, in cells of the
    finest level; the default is the middle. The middle is also taken of each further axis before the last two."""
    finest = numpy.max([level.ratio for level in levels], axis=0)
    scales = [finest // level.ratio for level in levels]
    if any((scale * level.ratio != finest).any() for scale, level in zip(scales, levels)):
        raise McrError("the levels of refinement have ratios that do not divide one another")
    starts = [scale * level.first for scale, level in zip(scales, levels)]
    low = numpy.min(starts, axis=0)
    extents = numpy.max([start + scale * level.shape for start, scale, level in zip(starts, scales, levels)], axis=0) - low
    components = levels[0].components
    fixed = _fixed(extents, number, components)
    axes = [_sampled(int(n)) for n in extents[len(fixed):]]
    plane = numpy.full([len(axis) for axis in axes], numpy.nan)
    for level, scale, start in sorted(zip(levels, scales, starts), key=lambda one: one[0].ratio):
        for piece in level.pieces:
            _paint_piece(plane, [*([n] for n in fixed), *axes], checkpoint, piece, scale, start - low)
    shown = fixed[1:] if components > 1 else fixed
    return plane, tuple(int(n) for n in extents[len(fixed):]), (f", component 1 of {components}" if components > 1 else "") + "".join(f", slice {n}" for n in shown)


def _fixed(extents, number, components):
    """The indexes along the axes that the plane does not have. Of a vector it has the first component."""
    if components > 1:
        return [0, *_fixed(extents[1:], number, 1)]
    fixed = [int(n) // 2 for n in extents[:-2]]
    if not fixed and number is not None:
        raise McrError(no_slices(number, len(extents)))
    if fixed and number is not None:
        if not 0 <= number < extents[0]:
            raise McrError(f"--slice {number}: the first axis has the indices 0 to {extents[0] - 1}")
        fixed[0] = number
    return fixed


def no_slices(number, dimensions):
    return f"--slice {number}: the array has {dimensions} dimension{'s' * (dimensions != 1)}; --slice is for 3 or more"


def _sampled(extent):
    return numpy.arange(extent) if extent <= SAMPLES else numpy.array([n * extent // SAMPLES for n in range(SAMPLES)])


def _paint_piece(plane, axes, checkpoint, piece, scale, start):
    """`axes`: for each axis the indexes that the plane shows, in cells of the finest level."""
    places, inside = [], []
    for indexes, begin, count, width, first in zip(axes, piece.begin, piece.shape, scale, start):
        cells = (numpy.asarray(indexes) - first) // width - begin
        shown = numpy.nonzero((cells >= 0) & (cells < count))[0]
        if not len(shown):
            return
        places.append(shown)
        inside.append(cells[shown])
    values = piece.read(checkpoint)[numpy.ix_(*inside)]
    drawn = places[-plane.ndim:]
    plane[numpy.ix_(*drawn)] = values.reshape([len(axis) for axis in drawn])
