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
from .checkpoint_set import Variable, first_dataset, open_set
from .errors import McrError
from .found_places import FoundPlaces, places_of
from .fragments import Fragments
from .new_file import name_to_write, new_file
from .places import Level, Unplaced, add_options, of_region, overlaps


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
    with open_set(*options.set) as checkpoint:
        places = places_of(options, checkpoint)
        if missing := checkpoint.describe_missing():
            print(missing)
        try:
            View(checkpoint, places, options).write()
        except NothingPlaced as reason:
            print(reason)
            return 1
    return 0


class NothingPlaced(Exception):
    """No variable has a place."""


@dataclass
class Placed:
    """A level of a variable that has become a global array."""
    path: str
    dtype: numpy.dtype
    variable: Variable
    level: Level


class View:
    def __init__(self, checkpoint, places, options):
        self._checkpoint, self._places, self._options = checkpoint, places, options
        self._output = os.path.abspath(options.output)
        self._fragments = None if options.copy else Fragments(checkpoint)
        self._placed = []
        self._unplaced = []  # variables

    def write(self):
        with new_file(self._output) as (made, made_name):
            with h5py.File(name_to_write(made, made_name), "w") as file:
                _copy_equal_attributes(file, [self._checkpoint.attrs(rank) for rank in self._checkpoint.ranks])
                file.attrs["mcr_set"] = self._checkpoint.name
                for name in self._names():
                    self._add(file, self._checkpoint[name])
                time = file.attrs.get("time")
            if isinstance(self._places, FoundPlaces) and (described := self._places.describe_hierarchies()):
                print(described)
            remedy = self._places.remedy(self._unplaced) if isinstance(self._places, FoundPlaces) else ""
            if not self._placed:
                raise NothingPlaced(f"mcr view: no variable of {self._checkpoint.name} has a place, so nothing was written" +
                                    (f"; {remedy}" if remedy else ""))
            if self._unplaced and remedy:
                print(f"for variables that are not placed, {remedy}")
            self._verify(made_name)
        is_number = isinstance(time, (float, int, numpy.number))
        arrays = [xdmf.Array(placed.path, placed.dtype, placed.level) for placed in self._placed]
        with new_file(self._output + ".xdmf") as (made, _):
            made.write(os.fsencode(xdmf.document(os.path.basename(self._output), arrays, time if is_number else None)))
        document = f"{self._options.output}.xdmf"
        print(f"{len(arrays)} global array{'s' * (len(arrays) != 1)} in {self._options.output}" +
              (f" and {document}" if any(array.drawn for array in arrays) else f"; none of them is a field on a mesh, so {document} shows nothing"))

    def _names(self):
        """The variables to place. Without options these are only the ones that the files give a place, of often hundreds."""
        if self._options.variable:
            return self._options.variable
        names = list(self._checkpoint)
        if not isinstance(self._places, FoundPlaces):
            return names
        found = [name for name in names if self._places.says_something(*first_dataset(self._checkpoint, name))]
        if found and len(found) < len(names):
            print(f"{len(names) - len(found)} of {len(names)} variables have no place: the files do not say where their pieces lie")
        return found

    def _add(self, file, variable):
        try:
            levels = self._places.levels(variable)
            if len({dataset.dtype for dataset in variable}) > 1:
                raise Unplaced("the ranks have different types")
        except Unplaced as reason:
            print(f"not placed: {variable.name}, because {reason}")
            self._unplaced.append(variable)
            return
        for number, level in enumerate(levels):
            above = f"level{number}/" if len(levels) > 1 else ""
            try:
                self._add_level(file, f"/{above}{variable.name.replace('{n}', '')}", variable, level)
            except Unplaced as reason:
                print(f"not placed: {above}{variable.name}, because {reason}")

    def _add_level(self, file, path, variable, level):
        if self._options.check:
            self._check_overlaps(level.pieces)
        dtype = next(iter(variable)).dtype
        if self._options.copy:
            dataset = file.create_dataset(path, level.shape, dtype, fillvalue=_fill_value(dtype))
            for piece in level.pieces:
                dataset[piece.region] = piece.read(self._checkpoint)
        else:
            self._create_virtual(file, path, level, dtype)
        _copy_equal_attributes(file[path], [dict(dataset.attrs) for dataset in variable])
        placed = Placed(path, dtype, variable, level)
        self._placed.append(placed)
        self._report(placed)

    def _create_virtual(self, file, path, level, dtype):
        layout = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        layout.set_fill_value(numpy.asarray(_fill_value(dtype), dtype))
        for piece in level.pieces:
            fragment = self._fragments.find(piece.rank, self._checkpoint.file(piece.rank)[piece.name])
            if isinstance(fragment, str):
                raise Unplaced(f"{fragment}; --copy writes its values instead")
            for source, part in fragment.selections(piece.stored, piece.inner):
                begin, count = list(piece.begin), list(piece.shape)
                if part != (...,):
                    for axis, place in enumerate(part):
                        begin[axis], count[axis] = begin[axis] + place, 1
                target = h5py.h5s.create_simple(level.shape)
                target.select_hyperslab(tuple(begin), tuple(count))
                layout.set_virtual(target, self._source_name(fragment.container), fragment.path.replace("%", "%%").encode(), source)
        links = h5py.h5p.create(h5py.h5p.LINK_CREATE)
        links.set_create_intermediate_group(True)
        first = level.pieces[0]
        stored_type = self._checkpoint.file(first.rank)[first.name].id.get_type()
        h5py.h5d.create(file.id, path.encode(), stored_type, h5py.h5s.create_simple(level.shape), layout, links)

    def _source_name(self, container):
        """Relative if the container lies below the file's directory, so that both can be moved together. `%` begins a pattern in HDF5."""
        container = os.path.abspath(container)
        here = os.path.dirname(self._output)
        if os.path.commonpath([here, container]) == here:
            container = os.path.relpath(container, here)
        return os.fsencode(container).replace(b"%", b"%%")

    def _check_overlaps(self, pieces):
        for one, other, region in overlaps(pieces):
            values = [self._checkpoint.file(piece.rank)[piece.name][of_region(piece, region)] for piece in (one, other)]
            if values[0].tobytes() != values[1].tobytes():
                raise Unplaced(f"ranks {one.rank} and {other.rank} have different values where their pieces overlap")

    def _verify(self, path):
        """Compares what the file gives with the ranks' files: one piece of each array, with --check all pieces."""
        with h5py.File(path, "r") as file:
            for placed in self._placed:
                # Where pieces overlap, the array has the values of one of them. --check has compared these.
                every = placed.level.pieces
                shared = set() if self._options.check else {id(piece) for pair in overlaps(every) for piece in pair[:2]}
                pieces = [piece for piece in every if id(piece) not in shared]
                for piece in pieces if self._options.check else pieces[:1]:
                    if file[placed.path][piece.region].tobytes() != piece.read(self._checkpoint).tobytes():
                        raise McrError(f"{placed.path} would give other values than the file of rank {piece.rank}, so nothing was written. "
                                       f"--copy writes the values themselves. Please report this fault")

    def _report(self, placed):
        level = placed.level
        owners = {piece.rank for piece in level.pieces}
        missing = sorted(set(self._checkpoint.ranks) - owners)
        covered = sum(int(numpy.prod(piece.shape)) for piece in level.pieces)
        total = int(numpy.prod(level.shape))
        holes = f"; {total - covered} elements belong to no piece and have the fill value" if covered < total else ""
        without = f"; {_ranks(missing)} {'have' if len(missing) > 1 else 'has'} no piece of it" if missing else ""
        count = f"{len(level.pieces)} pieces of " if len(level.pieces) > len(owners) else ""
        print(f"{placed.path[1:]}: {'x'.join(map(str, level.shape))} from {count}{len(owners)} rank{'s' * (len(owners) > 1)}{holes}{without}")


def _ranks(numbers):
    return f"rank{'s' * (len(numbers) > 1)} {', '.join(map(str, numbers))}"


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
