# SPDX-License-Identifier: BSD-3-Clause
"""Particles in a group: a dataset of positions with a row for each particle, or a dataset for each axis."""
import re
from dataclasses import dataclass

import h5py
import numpy

from .errors import McrError
from .places import Unplaced
from .variable import read_values, type_of

EXACT = ("position", "particle_position", "coordinates", "positions", "particle_positions")  # in lower case, the preferred name first
AXES = re.compile(r"((?:.*_)?positions?)[-_]?([xyz012])", re.I)


def positions_beside(dataset):
    """The datasets of positions in the dataset's group: one with a column for each axis, or one for each axis, x first. None if they have
    another number of rows than the dataset. Others, such as `birth_position_x`, count only if the group has none of the exact names."""
    if dataset.ndim not in (1, 2) or type_of(dataset).kind not in "fiu":
        return None
    whole, by_axis = {}, {}  # name in lower case, without the axis -> the dataset; and -> axis -> the dataset
    for name in dataset.parent:
        axis = AXES.fullmatch(name)
        item = dataset.parent.get(name) if axis or name.lower() in EXACT else None
        if isinstance(item, h5py.Dataset) and type_of(item).kind in "fiu":
            if axis:
                by_axis.setdefault(axis[1].lower(), {})[axis[2].lower()] = item
            else:
                whole[name.lower()] = item
    exact = [name for name in EXACT if name in whole or name in by_axis]
    found = [fitting for name in exact or by_axis if (fitting := _fitting(dataset, whole.get(name), by_axis.get(name, {})))]
    if len(found) > 1 and not exact:
        raise Unplaced(f"the positions of {dataset.name} may be {' or '.join(fitting[0].name for fitting in found)}")
    return found[0] if found else None


def _fitting(dataset, whole, by_axis):
    """Those of the candidates that have the dataset's number of rows."""
    if whole is not None and whole.ndim == 2 and whole.shape[0] == dataset.shape[0] and whole.shape[1] in (2, 3):
        return [whole]
    for letters in ("xyz", "012"):
        found = [by_axis[letter] for letter in letters if letter in by_axis and by_axis[letter].shape == dataset.shape[:1]]
        if len(found) > 1:
            return found
    return None


def is_position(dataset):
    return any(item.name == dataset.name for item in positions_beside(dataset) or [])


@dataclass(frozen=True)
class DensityMap:
    counts: numpy.ndarray
    edges: list  # of the mesh, along both axes
    labels: list  # of the axes
    names: tuple  # of the datasets that have the positions
    groups: int  # that have elements of the variable
    without: int  # of these groups, those without such datasets
    not_finite: int  # particles whose position is not a number


def density_map(datasets):
    """Counts the particles of the datasets' groups in a mesh over their first two coordinates. Reads one group at a time."""
    names, spans, groups, without, total, number = (), [], 0, 0, 0, 0
    for dataset in datasets:
        if dataset.size:
            own = _names(dataset)
            names = names or own
            groups, without = groups + 1, without + (not own or own != names)
            rows = _plane_of(dataset, names)
            finite = _finite(rows)
            total, number = total + rows.shape[1], number + finite.shape[1]
            if finite.size:
                spans.append((finite.min(axis=1), finite.max(axis=1)))
    if not spans:
        raise McrError("no particle has a position that is a number")
    bins = int(numpy.clip(round(number ** (1 / 3)), 8, 512))  # the mean distance of particles that fill a cube
    lowest, highest = numpy.min([low for low, _ in spans], axis=0), numpy.max([high for _, high in spans], axis=0)
    edges = [numpy.histogram_bin_edges([], bins, span) for span in zip(lowest, highest)]
    counts = sum(numpy.histogram2d(*_finite(_plane_of(dataset, names)), edges)[0] for dataset in datasets)
    return DensityMap(counts, edges, _labels(names), names, groups, without, total - number)


def _names(dataset):
    """The positions of the dataset's group, without the group."""
    try:
        return tuple(item.name.rpartition("/")[2] for item in positions_beside(dataset) or ())
    except Unplaced:
        return ()


def _labels(names):
    """Of the first two axes: the letter in the dataset's name, or the whole name if it has no letter or is not one of the exact names."""
    if len(names) == 1:
        return ["x", "y"]
    axes = [AXES.fullmatch(name) for name in names[:2]]
    return [axis[2].lower() if axis[1].lower() in EXACT and axis[2].isalpha() else axis[0] for axis in axes]


def _plane_of(dataset, names):
    """The first two coordinates of the particles in the dataset's group; none if the group has not these positions."""
    if not dataset.size or _names(dataset) != names:
        return numpy.empty((2, 0))
    items = [dataset.parent[name] for name in names[:2]]
    if len(names) == 1:
        return numpy.asarray(read_values(items[0], numpy.s_[:, :2]), float).T
    return numpy.array([read_values(item) for item in items], float)


def _finite(rows):
    return rows[:, numpy.isfinite(rows).all(axis=0)]
