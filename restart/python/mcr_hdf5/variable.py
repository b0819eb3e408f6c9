# SPDX-License-Identifier: BSD-3-Clause
"""A variable: the datasets of one name over all ranks of a set."""
import re

import numpy

from .errors import McrError, reason_of
from .masked import fits


def masked(name):
    """The name with `{n}` for each number in the names of its groups."""
    groups, _, own = name.rpartition("/")
    return re.sub(r"\d+", "{n}", groups) + "/" + own if groups else own


def read_values(dataset, key=()):
    """Returns dataset[key]. Raises McrError with the path of the file if h5py cannot read the values; h5py's own error has no path."""
    try:
        return dataset[key]
    except OSError as error:
        raise McrError(f"{dataset.file.filename}: {reason_of(error)}") from None


def type_of(dataset):
    """The NumPy type of the dataset's elements; raw bytes if NumPy has no such type, and for a dataset without a dataspace."""
    try:
        return dataset.dtype if dataset.shape is not None else numpy.dtype("V")
    except (TypeError, ValueError):  # of h5py, for example for integers of 3 bytes
        return numpy.dtype("V")


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
        self.is_literal = "{n}" not in self.name or any(self.name in of.dataset_names(rank) for rank in of.ranks)
        self.ranks = [rank for rank in of.ranks if self.names(rank)]

    def names(self, rank):
        """The names of the rank's datasets."""
        return [name for name in self.set.dataset_names(rank) if (name == self.name if self.is_literal else fits(self.name, name))]

    @property
    def has_several(self):
        """Some rank has several datasets."""
        return any(len(self.names(rank)) > 1 for rank in self.ranks)

    def datasets(self, rank):
        """The rank's datasets, as a list of h5py.Dataset; empty if the rank does not have the variable."""
        return [self.set.file(rank)[name] for name in self.names(rank)]

    def pieces(self):
        """(rank, dataset), of which only a few are open at a time."""
        return ((rank, dataset) for rank in self.ranks for dataset in self.datasets(rank))

    def dataset(self, rank):
        """The rank's only dataset. Raises McrError if the rank has none or several."""
        names = self.names(rank) if rank in self.ranks else []
        if len(names) != 1:
            why = f"{len(names)} such datasets, from {names[0]} to {names[-1]}; name one of them" if names else "no such dataset"
            raise McrError(f"{self.name}: the file of rank {rank} has {why}")
        return self.set.file(rank)[names[0]]

    def __getitem__(self, key):
        """`variable[rank]` is the rank's only h5py.Dataset, from which nothing is read yet. `variable[rank, …]` is an array of its values, with
        the shape that h5py gives the other indexes. Raises McrError if the rank has no such dataset or several, and if values cannot be read."""
        rank, *inner = key if isinstance(key, tuple) else (key,)
        if not isinstance(rank, (int, numpy.integer)):
            raise McrError(f"{self.name}: the first index is a rank's number; stacked() gives an array over all ranks")
        dataset = self.dataset(int(rank))
        return read_values(dataset, tuple(inner)) if isinstance(key, tuple) else dataset

    def __iter__(self):
        return (dataset for rank in self.ranks for dataset in self.datasets(rank))

    def __len__(self):
        return len(self.ranks)

    def attrs(self, rank):
        """The attributes of the rank's only dataset, as a dict. Raises McrError if the rank has none or several."""
        return dict(self.dataset(rank).attrs)

    def shapes(self):
        """Rank -> shape. Raises McrError if a rank has several datasets."""
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
        """Reads the values of all ranks into one array in memory, of the shape (number of ranks, *shape of a rank's dataset). The first axis
        is in the order of `ranks`. Raises McrError if the shapes differ, or if a rank has several datasets."""
        self._one_shape()
        return numpy.stack([read_values(dataset) for dataset in self])

    def dask(self):
        """As stacked(), as a dask array: a rank is read when its values are needed. Raises McrError also if dask is not installed."""
        try:
            import dask.array
        except ImportError:
            raise McrError("dask is not installed: `pip install mcr-hdf5[dask]`") from None
        shape, dtype = self._one_shape(), self.dataset(self.ranks[0]).dtype
        lazy = dask.delayed(lambda rank: read_values(self.dataset(rank)), pure=False)
        return dask.array.stack([dask.array.from_delayed(lazy(rank), shape, dtype) for rank in self.ranks])

    def xarray(self):
        """As dask(), as an xarray.DataArray with the ranks as coordinate. Raises McrError also if xarray is not installed."""
        try:
            import xarray
        except ImportError:
            raise McrError("xarray is not installed: `pip install mcr-hdf5[xarray]`") from None
        values = self.dask()
        dimensions = ["rank"] + [f"axis{n}" for n in range(values.ndim - 1)]
        return xarray.DataArray(values, dims=dimensions, coords={"rank": self.ranks}, name=self.name)

    def __repr__(self):
        return f"<variable {self.name} of {len(self.ranks)} ranks>"
