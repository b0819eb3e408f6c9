# SPDX-License-Identifier: BSD-3-Clause
"""Particles in a group: a dataset of positions with a row for each particle, or a dataset for each axis."""
import re

import h5py
import numpy

from .errors import McrError

ROWS = re.compile(r"coordinates|positions?", re.I)
AXES = re.compile(r"((?:.*_)?positions?)[-_]?([xyz012])", re.I)


def positions_beside(dataset):
    """The datasets of positions in the dataset's group, x first: one with a column for each axis, or one for each axis. None if they have
    another number of rows than the dataset."""
    if dataset.ndim not in (1, 2) or dataset.dtype.kind not in "fiu":
        return None
    by_axis = {}
    for name in dataset.parent:
        rows, axis = ROWS.fullmatch(name), AXES.fullmatch(name)
        item = dataset.parent.get(name) if rows or axis else None
        if not isinstance(item, h5py.Dataset) or item.dtype.kind not in "fiu" or not item.shape or item.shape[0] != dataset.shape[0]:
            continue
        if rows and item.ndim == 2 and item.shape[1] in (2, 3):
            return [item]
        if axis and item.ndim == 1:
            by_axis.setdefault(axis[1], {})[axis[2].lower()] = item
    for axes in by_axis.values():
        if len(axes) > 1:
            return [axes[letter] for letter in sorted(axes)]
    return None


def is_position(dataset):
    return any(item.name == dataset.name for item in positions_beside(dataset) or [])


def density_map(datasets):
    """Counts the particles of the datasets' groups in a mesh over their first two coordinates: (counts, edges). Reads one group at a time."""
    spans, number = [], 0
    for rows in map(_plane_of, datasets):
        if rows.size:
            spans.append((rows.min(axis=1), rows.max(axis=1)))
            number += rows.shape[1]
    if not spans:
        raise McrError("no particle has a position that is a number")
    bins = int(numpy.clip(round(number ** (1 / 3)), 8, 512))  # the mean distance of particles that fill a cube
    lowest, highest = numpy.min([low for low, _ in spans], axis=0), numpy.max([high for _, high in spans], axis=0)
    edges = [numpy.histogram_bin_edges([], bins, span) for span in zip(lowest, highest)]
    return sum(numpy.histogram2d(*rows, edges)[0] for rows in map(_plane_of, datasets)), edges


def _plane_of(dataset):
    """The first two coordinates of the particles in the dataset's group."""
    positions = positions_beside(dataset) or []
    if len(positions) == 1:
        rows = numpy.asarray(positions[0][:, :2], float).T
    else:
        rows = numpy.array([item[()] for item in positions[:2]] or [[], []], float)
    return rows[:, numpy.isfinite(rows).all(axis=0)]
