# SPDX-License-Identifier: BSD-3-Clause
"""python -m mcr_hdf5 view: the ranks' pieces as global arrays.

For each variable the file has a virtual dataset whose pieces are selections of the set's containers. No value is copied, and HDF5
needs mcr's filter to read it, but not mcr's connector. (Stubs cannot be the sources: HDF5 opens sources without connector, and a source
that it cannot open reads as fill values.) With --copy the file holds the values themselves.
"""
import argparse
import os
from dataclasses import dataclass

import h5py
import numpy

from . import xdmf
from .checkpoint_set import Variable, open_set
from .errors import McrError
from .fragments import Fragments
from .places import Places, Unplaced, add_options, of_region, overlaps


def main(words):
    parser = argparse.ArgumentParser(prog="mcr view", description="Writes the ranks' pieces as global arrays: FILE, and FILE.xdmf for ParaView "
                                                                  "and VisIt. Exit status: 0 done, 1 failed, 2 wrong usage.")
    parser.add_argument("set", metavar="SET", nargs="+", help="directory, stub, containers of one set, or a set's name")
    parser.add_argument("-o", "--output", metavar="FILE", required=True, help="the HDF5 file that is written")
    parser.add_argument("--variable", metavar="NAME", action="append", help="place only this variable (may be given several times)")
    parser.add_argument("--check", action="store_true", help="compare every element with the ranks' files, and overlapping pieces with one another")
    parser.add_argument("--copy", action="store_true", help="write the values themselves, so that the file needs neither containers nor mcr")
    parser.add_argument("--force", action="store_true", help="replace existing files")
    add_options(parser)
    options = parser.parse_args(words)
    for path in (options.output, options.output + ".xdmf"):
        if os.path.exists(path) and not options.force:
            raise McrError(f"{path} exists already; --force replaces it")
    places = Places(options)
    with open_set(*options.set) as checkpoint:
        if len(checkpoint.ranks) < checkpoint.rank_count:
            print(f"the set is {checkpoint.state}: {len(checkpoint.ranks)} of {checkpoint.rank_count} ranks have a file in it")
        written = View(checkpoint, places, options).write()
    return 0 if written else 1


@dataclass
class Placed:
    """A variable that has become a global array."""
    path: str
    shape: tuple
    dtype: numpy.dtype
    variable: Variable
    pieces: list


class View:
    def __init__(self, checkpoint, places, options):
        self._checkpoint, self._places, self._options = checkpoint, places, options
        self._output = os.path.abspath(options.output)
        self._fragments = None if options.copy else Fragments(checkpoint)
        self._placed = []

    def write(self):
        temporary = f"{self._output}.{os.getpid()}.tmp"
        try:
            with h5py.File(temporary, "w") as file:
                _copy_equal_attributes(file, [self._checkpoint.attrs(rank) for rank in self._checkpoint.ranks])
                file.attrs["mcr_set"] = self._checkpoint.name
                for name in self._options.variable or list(self._checkpoint):
                    self._add(file, self._checkpoint[name])
                time = file.attrs.get("time")
            if not self._placed:
                print(f"mcr view: no variable of {self._checkpoint.name} has a place, so nothing was written")
                return False
            self._verify(temporary)
            os.replace(temporary, self._output)
        finally:
            if os.path.exists(temporary):
                os.unlink(temporary)
        is_number = isinstance(time, (float, int, numpy.number))
        arrays = [(placed.path, placed.shape, placed.dtype) for placed in self._placed]
        with open(self._output + ".xdmf", "w") as file:
            file.write(xdmf.document(os.path.basename(self._output), arrays, time if is_number else None))
        print(f"{len(arrays)} global arrays in {self._options.output} and {self._options.output}.xdmf")
        return True

    def _add(self, file, variable):
        try:
            pieces, shape = self._places.pieces(variable)
            if self._options.check:
                self._check_overlaps(variable, pieces)
            path = "/" + variable.name.replace("{n}", "")
            dtype = variable.dataset(pieces[0].rank).dtype
            if any(dataset.dtype != dtype for dataset in variable):
                raise Unplaced("the ranks have different types")
            if self._options.copy:
                dataset = file.create_dataset(path, shape, dtype, fillvalue=_fill_value(dtype))
                for piece in pieces:
                    dataset[piece.region] = variable.dataset(piece.rank)[piece.inner]
            else:
                self._create_virtual(file, path, variable, pieces, shape, dtype)
        except Unplaced as reason:
            print(f"not placed: {variable.name}, because {reason}")
            return
        _copy_equal_attributes(file[path], [variable.attrs(rank) for rank in variable.ranks])
        self._placed.append(Placed(path, shape, dtype, variable, pieces))
        self._report(path, variable, pieces, shape)

    def _create_virtual(self, file, path, variable, pieces, shape, dtype):
        layout = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        layout.set_fill_value(numpy.asarray(_fill_value(dtype), dtype))
        for piece in pieces:
            dataset = variable.dataset(piece.rank)
            fragment = self._fragments.find(piece.rank, dataset)
            if isinstance(fragment, str):
                raise Unplaced(f"{fragment}; --copy writes its values instead")
            for source, part in fragment.selections(dataset.shape, piece.inner):
                begin, count = list(piece.begin), list(piece.shape)
                if part != (...,):
                    for axis, place in enumerate(part):
                        begin[axis], count[axis] = begin[axis] + place, 1
                target = h5py.h5s.create_simple(shape)
                target.select_hyperslab(tuple(begin), tuple(count))
                layout.set_virtual(target, self._source_name(fragment.container), fragment.path.replace("%", "%%").encode(), source)
        links = h5py.h5p.create(h5py.h5p.LINK_CREATE)
        links.set_create_intermediate_group(True)
        h5py.h5d.create(file.id, path.encode(), variable.dataset(pieces[0].rank).id.get_type(), h5py.h5s.create_simple(shape), layout, links)

    def _source_name(self, container):
        """Relative if the container lies below the file's directory, so that both can be moved together. `%` begins a pattern in HDF5."""
        container = os.path.abspath(container)
        here = os.path.dirname(self._output)
        if os.path.commonpath([here, container]) == here:
            container = os.path.relpath(container, here)
        return os.fsencode(container).replace(b"%", b"%%")

    def _check_overlaps(self, variable, pieces):
        for one, other, region in overlaps(pieces):
            values = [variable.dataset(piece.rank)[of_region(piece, region)] for piece in (one, other)]
            if values[0].tobytes() != values[1].tobytes():
                raise Unplaced(f"ranks {one.rank} and {other.rank} have different values where their pieces overlap")

    def _verify(self, path):
        """Compares what the file gives with the ranks' files: one piece of each array, with --check all pieces."""
        with h5py.File(path, "r") as file:
            for placed in self._placed:
                # Where pieces overlap, the array has the values of one of them. --check has compared these.
                shared = set() if self._options.check else {piece.rank for pair in overlaps(placed.pieces) for piece in pair[:2]}
                pieces = [piece for piece in placed.pieces if piece.rank not in shared]
                for piece in pieces if self._options.check else pieces[:1]:
                    wanted = placed.variable.dataset(piece.rank)[piece.inner]
                    if file[placed.path][piece.region].tobytes() != wanted.tobytes():
                        raise McrError(f"{placed.path} would give other values than the file of rank {piece.rank}, so nothing was written. "
                                       f"--copy writes the values themselves. Please report this fault")

    def _report(self, path, variable, pieces, shape):
        missing = sorted(set(self._checkpoint.ranks) - {piece.rank for piece in pieces})
        covered = sum(int(numpy.prod(piece.shape)) for piece in pieces)
        total = int(numpy.prod(shape))
        holes = f"; {total - covered} elements belong to no piece and have the fill value" if covered < total else ""
        ranks = f"; ranks {', '.join(map(str, missing))} have no such dataset" if missing else ""
        print(f"{path[1:]}: {'x'.join(map(str, shape))} from {len(pieces)} ranks{holes}{ranks}")


def _fill_value(dtype):
    """What an element without a piece reads as: not a number, or the smallest (unsigned: largest) integer."""
    if dtype.kind == "f":
        return numpy.nan
    if dtype.kind in "iu":
        limits = numpy.iinfo(dtype)
        return limits.min if dtype.kind == "i" else limits.max
    return numpy.zeros((), dtype)[()]


def _copy_equal_attributes(target, all_attributes):
    """Copies the attributes that are equal in all ranks."""
    first = all_attributes[0]
    for name, value in first.items():
        if all(name in other and numpy.array_equal(other[name], value) for other in all_attributes):
            target.attrs[name] = value
