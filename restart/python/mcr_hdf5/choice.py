# SPDX-License-Identifier: BSD-3-Clause
"""Which variable `plot` draws if none is named."""
from .checkpoint_set import first_dataset
from .errors import McrError
from .found_places import FoundPlaces
from .particles import is_position


def choose(checkpoint, places):
    """A density on a grid, else the largest variable on a grid, else the positions of the most particles, else the largest variable."""
    best, key = None, None
    for name in checkpoint:
        rank, dataset = first_dataset(checkpoint, name)
        if dataset.dtype.kind not in "fiu" or dataset.size < 2:
            continue
        kind = places.kind(rank, dataset) if isinstance(places, FoundPlaces) else "grid"
        found = ({"grid": 2, "particles": 1, None: 0}[kind],
                 "density" in name.lower() if kind == "grid" else kind == "particles" and is_position(dataset), dataset.size)
        if key is None or found > key:
            best, key = name, found
    if best is None:
        raise McrError(f"{checkpoint.name} has no variable with several numbers to draw")
    return best
