# SPDX-License-Identifier: BSD-3-Clause
"""Which variable `plot` draws: the one that is named, by its name or a part of it; else one that has a place."""
from .errors import McrError
from .found_places import FoundPlaces
from .particles import is_position
from .places import Unplaced
from .variable import first_dataset, type_of

LISTED = 20  # names in a message
TRIED = 10  # variables whose place is examined before those of another kind are


def choose(checkpoint, places, text):
    if text is None:
        return _default(checkpoint, places)
    if text in checkpoint:
        return text
    names = _drawable(checkpoint, places)
    found = [name for name in names if text in name]
    placed = [name for name in found if names[name][0]] or found
    whole = [name for name in placed if text in name.split("/")] or placed
    if len(whole) == 1:
        return whole[0]
    with_place = [name for name in names if names[name][0]]
    listed = whole or with_place or list(names)
    more = f", and {len(listed) - LISTED} more" if len(listed) > LISTED else ""
    why = (f"{len(whole)} variables have {text} in their names" if whole else f"no variable has {text} in its name; " +
           ("variables with a place are" if with_place else "the set has"))
    raise McrError(f"{why}: {', '.join(listed[:LISTED])}{more}")


def _default(checkpoint, places):
    """A density on a grid, else the largest variable on a grid, else the positions of the most particles, else the largest variable. Of the
    variables with a place, one that the files place without contradiction."""
    names = _drawable(checkpoint, places)
    if not names:
        raise McrError(f"{checkpoint.name} has no variable with several numbers to draw")

    def preference(name):
        kind, dataset = names[name]
        preferred = is_position(dataset) if kind == "particles" else kind == "grid" and "density" in name.lower()
        return {"grid": 2, "particles": 1, None: 0}[kind], preferred, dataset.size
    in_order = sorted(names, key=preference, reverse=True)
    for kind in ("grid", "particles"):
        for name in [name for name in in_order if names[name][0] == kind][:TRIED]:
            if kind == "particles" or _has_levels(places, checkpoint[name]):
                return name
    return in_order[0]


def _has_levels(places, variable):
    try:
        return bool(places.levels(variable))
    except Unplaced:
        return False


def _drawable(checkpoint, places):
    """Name -> (kind of its place, a dataset)."""
    found = {}
    for name in checkpoint:
        rank, dataset = first_dataset(checkpoint, name)
        if type_of(dataset).kind in "fiu" and dataset.size and dataset.size > 1:
            found[name] = (places.kind(rank, dataset) if isinstance(places, FoundPlaces) else "grid"), dataset
    return found
