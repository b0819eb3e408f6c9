# SPDX-License-Identifier: BSD-3-Clause
"""A whole checkpoint: the files of all ranks, and the variables over them."""
import os
import re
import stat
from collections import Counter, OrderedDict
from collections.abc import Mapping

import h5py
import numpy

from .command import mcr
from .errors import McrError
from .parts import part_of_stub, unpacked

def _owners(entry):
    return {os.stat(entry["container"]).st_uid, os.geteuid(), 0}


def _is_file_of(owners, path):
    there = os.lstat(path)
    return stat.S_ISREG(there.st_mode) and there.st_uid in owners


OPEN_FILES = 16  # files that a set keeps open for the next access


def open_set(*names, quick=False):
    """Opens a set: a directory (its newest whole set, as `mcr latest` names it), a stub, containers of one set, or a set's name as
    `mcr latest` or `mcr ls` prints it. With `quick`, `mcr latest` does not read the frames of a directory's set first."""
    if len(names) == 1 and isinstance(names[0], (list, tuple)):
        names = names[0]
    names = [os.path.abspath(os.fspath(name)) if os.path.exists(os.fspath(name)) else os.fspath(name) for name in names]
    if not names:
        raise McrError("open_set needs a directory, a stub, containers, or a set's name")
    if len(names) == 1 and os.path.isdir(names[0]):
        return CheckpointSet(mcr("latest", *(["--quick"] if quick else []), names[0]), None)
    return _named_set(names)


def _named_set(names):
    listed = mcr("latest", "--all", names[0])
    is_prefix = not os.path.exists(names[0])
    found = [entry for entry in listed if not is_prefix or names[0] in (entry["set"], entry["name"])]
    if len(found) != 1:
        lines = "".join(f"\n  {entry['set']}" for entry in found or listed)
        raise McrError(f"{names[0]} holds {len(found) or 'no'} sets of that name; name one of:{lines}")
    chosen = None
    if not is_prefix and part_of_stub(names[0]) is None:
        chosen = [os.path.realpath(name) for name in names]
        others = [name for name in chosen if name not in map(os.path.realpath, found[0]["containers"])]
        if others:
            raise McrError(f"{others[0]} does not belong to the set of {names[0]}; open_set opens the containers of one set")
    elif len(names) > 1:
        raise McrError("open_set takes several names only if all are containers; name one directory, stub or set")
    return CheckpointSet(found[0], chosen)


class CheckpointSet(Mapping):
    """`set["Density"]` is a variable over all ranks, `set.parts[3]` the file of rank 3. Use it in `with`, or call close()."""

    def __init__(self, entry, containers):
        self.name = entry["set"]
        self.short_name = entry["name"]
        self.state = entry["state"]
        self.rank_count = entry["rank_count"]
        self._masked_name, self._created = entry["masked_name"], entry["created_ns"]
        self.containers = [path for path in entry["containers"] if containers is None or os.path.realpath(path) in containers]
        self._unpack_names = [self.name] if containers is None else self.containers
        self._recorded = entry["files"]
        self._passed = set()
        self._entries = self._read_entries(entry)
        if self.state == "whole" and containers is None:
            # Of a whole set, a rank that is in no container and did not pass has a native file (docs/format.md, "Directory").
            for rank in set(range(self.rank_count)) - self._passed:
                self._entries.setdefault(rank, [])
        self._open = OrderedDict()
        self._names = {}
        self.parts = Parts(self)

    def _read_entries(self, entry):
        """Rank -> the part's rows in the containers: several if the file was amended after the commit, none if it is a native file."""
        found = {}
        for container in mcr("ls", *self.containers):
            if "error" in container:
                raise McrError(container["error"])
            self._passed.update(container["passed_ranks"])
            for part in container["parts"]:
                key = part.get("masked_name", container["masked_name"]), part.get("sequence", container["sequence"])
                if key == (entry["masked_name"], entry["sequence"]):
                    found.setdefault(part["rank"], []).append(dict(part, container=container["container"]))
        return found

    @property
    def ranks(self):
        """The ranks that have a file in this set."""
        return sorted(self._entries)

    def describe_missing(self):
        """A sentence if ranks have no file in the set; else empty."""
        return f"the set is {self.state}: {len(self.ranks)} of {self.rank_count} ranks have a file in it" if len(self.ranks) < self.rank_count else ""

    def part_entry(self, rank):
        """The row of the rank's part in a container, or None if there is not exactly one."""
        entries = self._entries.get(rank, [])
        return entries[0] if len(entries) == 1 else None

    def paths(self, rank):
        """Where the rank's file lay, or lies as a stub: relative to the container, and as the set records it."""
        entry = self.part_entry(rank)
        return self._paths(entry) if entry else []

    def _paths(self, entry):
        beside = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(entry["container"]))), entry["path"])
        return [beside, *(path for path in self._recorded if path.endswith("/" + entry["path"]))]

    def why_replaced(self, rank, path):
        """Why what lies at a path of the rank's file, and beside it, may be of another set than this one; None if it is of this one."""
        entry, part = self.part_entry(rank), part_of_stub(path)
        if part is not None:
            return None if part == entry["id"] else f"{path} is of another set"
        try:
            there = os.stat(path)
        except OSError:
            newer = self._newer_set()
            return newer and f"{newer} is a newer set of the same files"
        if there.st_size != entry["size"] or there.st_mtime_ns > self._created:
            return f"{path} is not the file of this set, or was written after the set"
        return None

    def _newer_set(self):
        """The short name of a newer set of the same files, in the directory of the containers; else None."""
        try:
            listed = mcr("latest", "--all", os.path.dirname(os.path.abspath(self.containers[0])))
        except McrError:  # for example if only `mcr pack` wrote containers there
            return None
        newer = (entry for entry in listed if entry["masked_name"] == self._masked_name and entry["created_ns"] > self._created)
        return next((entry["name"] for entry in newer), None)

    def _stub_of(self, entry):
        """The path of the rank's stub. A stub of another user, or one to which a link leads, may have any content."""
        owners = _owners(entry)
        return next((path for path in self._paths(entry) if part_of_stub(path) == entry["id"] and _is_file_of(owners, path)), None)

    def owners(self, rank):
        """The users whose files beside the rank's file are believed."""
        entry = self.part_entry(rank)
        return _owners(entry) if entry else {os.geteuid(), 0}

    def open_part(self, rank):
        """Opens the rank's file anew; the caller closes it."""
        entry = self.part_entry(rank)
        # An open of a stub gives the part that the stub names only if the part's set is whole (docs/design/restart.md).
        stub = self._stub_of(entry) if entry and self.state == "whole" else None
        if stub:
            return h5py.File(stub, "r")
        return unpacked(self._unpack_names, rank, max((e["size"] for e in self._entries.get(rank, [])), default=0))

    def file(self, rank):
        """The rank's file, kept open for the next access."""
        if rank not in self._open:
            self._open[rank] = self.open_part(rank)
            if len(self._open) > OPEN_FILES:
                self._open.popitem(last=False)  # h5py closes it when no dataset of it is in use
        self._open.move_to_end(rank)
        return self._open[rank]

    def dataset_names(self, rank):
        if rank not in self._names:
            names = []
            self.file(rank).visititems(lambda name, item: names.append(name) if isinstance(item, h5py.Dataset) else None)
            self._names[rank] = names
        return self._names[rank]

    def attrs(self, rank):
        """The attributes of the root group of the rank's file."""
        return dict(self.file(rank).attrs)

    def __getitem__(self, name):
        variable = Variable(self, name)
        if not variable.ranks:
            raise McrError(f"no rank of {self.name} has a dataset {name}; the set has: {', '.join(self) or 'none'}")
        return variable

    def __iter__(self):
        counts = Counter(name for rank in self.ranks for name in self.dataset_names(rank))
        # Numbers in groups' names are masked if each rank has numbers of its own (Grid00000012/Density), and not if ranks share them:
        # PartType4 may lie in one rank only, but it is not PartType0.
        kept = {masked(name) for name, count in counts.items() if count > 1 or len(self.ranks) == 1}
        return iter(sorted({name if masked(name) in kept else masked(name) for name in counts}))

    def __len__(self):
        return len(list(iter(self)))

    def __contains__(self, name):
        return bool(Variable(self, name).ranks)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        for file in self._open.values():
            file.close()
        self._open.clear()

    def __repr__(self):
        return f"<set {self.name} ({self.state}): {len(self.ranks)} of {self.rank_count} ranks>"


class Parts(Mapping):
    """Rank -> its file, as an h5py.File that is read-only. Close it, or use it in `with`."""

    def __init__(self, of):
        self._set = of

    def __getitem__(self, rank):
        return self._set.open_part(rank)

    def __iter__(self):
        return iter(self._set.ranks)

    def __len__(self):
        return len(self._set.ranks)

    def __contains__(self, rank):
        return rank in self._set.ranks


def masked(name):
    groups, _, own = name.rpartition("/")
    return re.sub(r"\d+", "{n}", groups) + "/" + own if groups else own


def first_dataset(checkpoint, name):
    """The first rank that has elements of the variable (else the first that has the variable), and the largest of its first few datasets."""
    found = None
    for rank in checkpoint.ranks:
        names = [own for own in checkpoint.dataset_names(rank) if own == name or masked(own) == name]
        if names:
            largest = max((checkpoint.file(rank)[own] for own in names[:8]), key=lambda dataset: dataset.size or 0)
            if largest.size:
                return rank, largest
            found = found or (rank, largest)
    if found:
        return found
    raise McrError(f"no rank of {checkpoint.name} has a dataset {name}")


class Variable:
    """A dataset's name over all ranks. `variable[3]` is rank 3's h5py.Dataset, `variable[3, 1:-1]` an array of its values. Iteration
    gives the datasets of the ranks. `{n}` in the name stands for numbers that differ between the ranks; a rank may have several datasets
    then, such as the grids of a refined mesh: datasets(3)."""

    def __init__(self, of, name):
        self.set, self.name = of, name.strip("/")
        self._pattern = re.compile(re.escape(self.name).replace(r"\{n\}", r"\d+"))
        self.ranks = [rank for rank in of.ranks if self.names(rank)]

    def names(self, rank):
        """The names of the rank's datasets."""
        return [name for name in self.set.dataset_names(rank) if self._pattern.fullmatch(name)]

    @property
    def has_several(self):
        """Some rank has several datasets."""
        return any(len(self.names(rank)) > 1 for rank in self.ranks)

    def datasets(self, rank):
        return [self.set.file(rank)[name] for name in self.names(rank)]

    def pieces(self):
        """(rank, dataset), of which only a few are open at a time."""
        return ((rank, dataset) for rank in self.ranks for dataset in self.datasets(rank))

    def dataset(self, rank):
        """The rank's only dataset."""
        names = self.names(rank) if rank in self.ranks else []
        if len(names) != 1:
            why = f"{len(names)} such datasets, from {names[0]} to {names[-1]}; name one of them" if names else "no such dataset"
            raise McrError(f"{self.name}: the file of rank {rank} has {why}")
        return self.set.file(rank)[names[0]]

    def __getitem__(self, key):
        rank, *inner = key if isinstance(key, tuple) else (key,)
        if not isinstance(rank, (int, numpy.integer)):
            raise McrError(f"{self.name}: the first index is a rank's number; stacked() gives an array over all ranks")
        dataset = self.dataset(int(rank))
        return dataset[tuple(inner)] if isinstance(key, tuple) else dataset

    def __iter__(self):
        return (dataset for rank in self.ranks for dataset in self.datasets(rank))

    def __len__(self):
        return len(self.ranks)

    def attrs(self, rank):
        return dict(self.dataset(rank).attrs)

    def shapes(self):
        """Rank -> shape."""
        return {rank: self.dataset(rank).shape for rank in self.ranks}

    def _one_shape(self):
        shapes = self.shapes()
        first = shapes[self.ranks[0]]
        other = next((rank for rank in self.ranks if shapes[rank] != first), None)
        if other is not None:
            raise McrError(f"{self.name} cannot be stacked: rank {self.ranks[0]} has the shape {first}, rank {other} {shapes[other]}. "
                           f"Read the ranks one by one, or place them with `python -m mcr_hdf5 view`")
        return first

    def stacked(self):
        """The values of all ranks as one array, whose first axis is the rank (in the order of `ranks`). All shapes must agree."""
        self._one_shape()
        return numpy.stack([dataset[()] for dataset in self])

    def dask(self):
        """As stacked(), as a dask array: a rank is read when its values are needed."""
        try:
            import dask.array
        except ImportError:
            raise McrError("dask is not installed: `pip install mcr-hdf5[dask]`") from None
        shape, dtype = self._one_shape(), self.dataset(self.ranks[0]).dtype
        lazy = dask.delayed(lambda rank: self.dataset(rank)[()], pure=False)
        return dask.array.stack([dask.array.from_delayed(lazy(rank), shape, dtype) for rank in self.ranks])

    def xarray(self):
        """As dask(), as an xarray.DataArray with the ranks as coordinate."""
        try:
            import xarray
        except ImportError:
            raise McrError("xarray is not installed: `pip install mcr-hdf5[xarray]`") from None
        values = self.dask()
        dimensions = ["rank"] + [f"axis{n}" for n in range(values.ndim - 1)]
        return xarray.DataArray(values, dims=dimensions, coords={"rank": self.ranks}, name=self.name)

    def __repr__(self):
        return f"<variable {self.name} of {len(self.ranks)} ranks>"
