# SPDX-License-Identifier: BSD-3-Clause
"""python -m mcr_hdf5 view: the ranks' pieces as global arrays.

For each variable the file has a virtual dataset whose pieces are selections of the set's containers. No value is copied, and HDF5
needs mcr's filter to read it, but not mcr's connector. (Stubs cannot be the sources: HDF5 opens sources without connector, and a source
that it cannot open reads as fill values.) With --copy the file holds the values themselves.
"""
import argparse
import math
import os
import shutil
from dataclasses import dataclass

import h5py
import numpy

from . import xdmf
from .bits import different
from .checkpoint_set import open_set
from .errors import McrError
from .found_places import FoundPlaces, places_of
from .fragments import Fragments
from .hdf5_output import HDF5Output
from .json_output import add_json_option, print_json
from .new_file import expect_free, new_files
from .places import Level, Unplaced, add_options, coverage, of_region, overlaps
from .printable import say
from .variable import first_dataset, read_values


def main(words):
    parser = argparse.ArgumentParser(prog="mcr view", description="Writes the ranks' pieces as global arrays: FILE, and FILE.xdmf for ParaView "
                                                                  "and VisIt. Exit status: 0 done, 1 failed, 2 wrong usage.")
    parser.add_argument("set", metavar="SET", nargs="+", help="directory, stub, containers of one set, or a set's name")
    parser.add_argument("-o", "--output", metavar="FILE", required=True, help="the HDF5 file that is written")
    parser.add_argument("--variable", metavar="NAME", action="append", help="place only this variable (may be given several times)")
    parser.add_argument("--check", action="store_true", help="compare every element with the ranks' files, and overlapping pieces with one another")
    parser.add_argument("--copy", action="store_true", help="write the values themselves, so that the file needs neither containers nor mcr")
    parser.add_argument("--force", action="store_true", help="replace existing files")
    add_json_option(parser)
    add_options(parser)
    options = parser.parse_args(words)
    outputs = options.output, options.output + ".xdmf"
    expect_free(*outputs, force=options.force)
    with open_set(*options.set) as checkpoint:
        expect_free(*outputs, force=options.force, checkpoint=checkpoint)
        view = View(checkpoint, places_of(options, checkpoint), options)
        try:
            view.write()
        except NothingPlaced as reason:
            view.tell(str(reason))
    if options.json:
        print_json(view.as_json())
    return 0 if view.file else 1


class NothingPlaced(Exception):
    """No variable has a place."""


@dataclass
class Placed:
    """A level of a variable that has become a global array."""
    path: str
    dtype: numpy.dtype
    level: Level
    facts: dict  # for --json


class View:
    def __init__(self, checkpoint, places, options):
        self._checkpoint, self._places, self._options = checkpoint, places, options
        self._output = os.path.abspath(options.output)
        self._fragments = None if options.copy else Fragments(checkpoint)
        self._placed = []
        self._unplaced = []  # variables
        self._reasons = []  # (name, why it is not placed)
        self._messages = []
        self.file = self._document = None  # the names of what was written; no document if no array is a field on a mesh

    def tell(self, text):
        self._messages.append(text)
        self._print(text)

    def _print(self, text):
        if not self._options.json:
            say(text)

    def as_json(self):
        """What write() prints as text."""
        return {"file": self.file, "xdmf": self._document, "set": self._checkpoint.name,
                "variables": [placed.facts for placed in self._placed],
                "not_placed": [{"name": name, "reason": reason} for name, reason in self._reasons],
                "messages": self._messages}

    def write(self):
        if missing := self._checkpoint.describe_missing():
            self.tell(missing)
        with new_files(self._output, self._output + ".xdmf", force=self._options.force) as ((made, made_name), (document, _)):
            output = HDF5Output(made)
            with h5py.File(output, "w") as file:
                self._copy_equal_attributes(file, [_attributes(self._checkpoint.file(rank)) for rank in self._checkpoint.ranks])
                file.attrs["mcr_set"] = self._checkpoint.name
                for name in self._names():
                    self._add(file, self._checkpoint[name])
                    output.expect_written()
                time = file.attrs.get("time")
            output.expect_written()
            if isinstance(self._places, FoundPlaces) and (described := self._places.describe_hierarchies()):
                self.tell(described)
            remedy = self._places.remedy(self._unplaced) if isinstance(self._places, FoundPlaces) else ""
            if not self._placed:
                raise NothingPlaced(f"mcr view: no variable of {self._checkpoint.name} has a place, so nothing was written" +
                                    (f"; {remedy}" if remedy else ""))
            if self._unplaced and remedy:
                self.tell(f"for variables that are not placed, {remedy}")
            self._verify(made_name)
            is_number = isinstance(time, (float, int, numpy.number))
            arrays = [xdmf.Array(placed.path, placed.dtype, placed.level) for placed in self._placed]
            document.write(xdmf.document(os.path.basename(self._output), arrays, time if is_number else None).encode())
        self.file, document = self._options.output, f"{self._options.output}.xdmf"
        self._document = document if any(array.drawn for array in arrays) and xdmf.is_xml(os.path.basename(self._output)) else None
        self._print(f"{len(arrays)} global array{'s' * (len(arrays) != 1)} in {self.file}" +
                    (f" and {document}" if self._document else f"; none of them is a field on a mesh, so {document} shows nothing"))

    def _names(self):
        """The variables to place. Without options these are only the ones that the files give a place, of often hundreds."""
        if self._options.variable:
            return list(dict.fromkeys(self._options.variable))
        names = list(self._checkpoint)
        if not isinstance(self._places, FoundPlaces):
            return names
        found = [name for name in names if self._places.says_something(*first_dataset(self._checkpoint, name))]
        if found and len(found) < len(names):
            self.tell(f"{len(names) - len(found)} of {len(names)} variables have no place: the files do not say where their pieces lie")
        return found

    def _add(self, file, variable):
        try:
            _expect_writable(variable)
            levels = self._places.levels(variable)
        except (Unplaced, TypeError, ValueError) as reason:  # the last two of h5py, for example for attributes of some types
            self._leave_out(variable.name, reason)
            self._unplaced.append(variable)
            return
        for number, level in enumerate(levels):
            above = f"level{number}/" if len(levels) > 1 else ""
            try:
                self._add_level(file, _free_path(file, above, variable), variable, level)
            except Unplaced as reason:
                self._leave_out(f"{above}{variable.name}", reason)

    def _leave_out(self, name, reason):
        self._reasons.append((name, str(reason)))
        self._print(f"not placed: {name}, because {reason}")

    def _add_level(self, file, path, variable, level):
        if self._options.check:
            self._check_overlaps(level.pieces)
        dtype = next(iter(variable)).dtype
        if self._options.copy:
            self._expect_space(path, level, dtype)
            dataset = file.create_dataset(path, level.shape, dtype, fillvalue=_fill_value(dtype))
            for piece in level.pieces:
                dataset[piece.region] = piece.read(self._checkpoint)
        else:
            self._create_virtual(file, path, level, dtype)
        self._copy_equal_attributes(file[path], [_attributes(dataset) for dataset in variable])
        self._placed.append(Placed(path, dtype, level, self._facts(path, level)))
        self._report(self._placed[-1].facts)

    def _copy_equal_attributes(self, target, all_attributes):
        """Copies the attributes that are equal in all ranks."""
        first = all_attributes[0]
        for name, value in first.items():
            if all(name in other and _are_equal(other[name], value) for other in all_attributes):
                try:
                    target.attrs[name] = value
                except (OSError, RuntimeError, TypeError, ValueError) as error:  # for example one that is too large for HDF5's oldest format
                    self.tell(f"not copied: attribute {name} of {target.name}, because {' '.join(str(error).split())}")

    def _expect_space(self, path, level, dtype):
        directory = os.path.dirname(self._output)
        free = shutil.disk_usage(directory).free
        values = sum(math.prod(piece.shape) for piece in level.pieces) * dtype.itemsize
        if values > free:
            raise McrError(f"cannot write {self._output}: {path[1:]} has {values} bytes, and {directory} has space for {free}")
        whole = math.prod(level.shape) * dtype.itemsize
        if whole > free:  # with elements without a piece
            raise Unplaced(f"its array has {whole} bytes, most of them without a piece, and {directory} has space for {free}")

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
            values = [read_values(self._checkpoint.file(piece.rank)[piece.name], of_region(piece, region)) for piece in (one, other)]
            if different(*values).any():
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
                    if different(piece.read(self._checkpoint), file[placed.path][piece.region]).any():
                        raise McrError(f"{placed.path} would give other values than the file of rank {piece.rank}, so nothing was written. "
                                       f"--copy writes the values themselves. Please report this fault")

    def _facts(self, path, level):
        owners = sorted({piece.rank for piece in level.pieces})
        some, several = coverage(level.pieces)
        return {"name": path[1:], "shape": list(level.shape), "pieces": len(level.pieces), "ranks": owners,
                "ranks_without_piece": sorted(set(self._checkpoint.ranks) - set(owners)),
                "elements_without_piece": math.prod(level.shape) - some, "elements_of_several_pieces": several}

    def _report(self, facts):
        owners, missing, empty, shared = (len(facts["ranks"]), facts["ranks_without_piece"], facts["elements_without_piece"],
                                          facts["elements_of_several_pieces"])
        holes = f"; {empty} elements belong to no piece and have the fill value" if empty else ""
        if shared and not self._options.check:
            holes += f"; {shared} elements belong to several pieces and have the value of one of them (--check compares the values)"
        without = f"; {_ranks(missing)} {'have' if len(missing) > 1 else 'has'} no piece of it" if missing else ""
        count = f"{facts['pieces']} pieces of " if facts["pieces"] > owners else ""
        self._print(f"{facts['name']}: {'x'.join(map(str, facts['shape']))} from {count}{owners} rank{'s' * (owners > 1)}{holes}{without}")


def _ranks(numbers):
    return f"rank{'s' * (len(numbers) > 1)} {', '.join(map(str, numbers))}"


def _fill_value(dtype):
    """What an element without a piece reads as: not a number, or the smallest (unsigned: largest) integer; also in members of compounds."""
    value = numpy.zeros((), dtype)
    _fill(value)
    return value[()]


def _fill(values):
    kind = values.dtype.kind
    for name in values.dtype.names or ():
        _fill(values[name])
    if kind in "fc":
        values[...] = complex(numpy.nan, numpy.nan) if kind == "c" else numpy.nan
    elif kind in "iu":
        limits = numpy.iinfo(values.dtype)
        values[...] = limits.min if kind == "i" else limits.max


def _expect_writable(variable):
    """Raises Unplaced for types of which HDF5, h5py or NumPy make no array."""
    if all(dataset.shape is None for dataset in variable):
        raise Unplaced("it has no elements (a null dataspace)")
    for dataset in variable:
        try:
            dtype = dataset.dtype
        except (TypeError, ValueError):
            raise Unplaced("h5py cannot read its type") from None
        if dtype.hasobject:
            raise Unplaced("its elements are references, or texts or lists of variable length")
        if dtype.subdtype:
            raise Unplaced("its elements are arrays")
    if len({dataset.dtype for dataset in variable}) > 1:
        raise Unplaced("the ranks have different types")


def _free_path(file, above, variable):
    """The array's name: the variable's without `{n}`, or with it if another array has that name."""
    name = variable.name
    without = name if variable.is_literal else name.replace("{n}", "")
    for path in dict.fromkeys((f"/{above}{without}", f"/{above}{name}")):
        groups = path.split("/")[1:-1]
        parents = ["/".join(groups[:n + 1]) for n in range(len(groups))]
        if path not in file and not any(parent in file and isinstance(file[parent], h5py.Dataset) for parent in parents):
            return path
    raise Unplaced(f"another array has the name {path[1:]}, or a part of it")


def _are_equal(one, other):
    one, other = numpy.asarray(one), numpy.asarray(other)
    return one.shape == other.shape and one.dtype == other.dtype and not different(one, other).any()


def _attributes(item):
    """Those that h5py can read, without references, which have no meaning in another file."""
    found = {}
    for name in item.attrs:
        try:
            value = item.attrs[name]
        except (TypeError, ValueError):
            continue
        if not _has_references(numpy.asarray(value)) and not isinstance(value, h5py.Empty):
            found[name] = value
    return found


def _has_references(values):
    if values.dtype.names:
        return any(_has_references(values[name]) for name in values.dtype.names)
    return values.dtype.kind == "O" and any(isinstance(value, h5py.h5r.Reference) or (isinstance(value, numpy.ndarray) and _has_references(value))
                                            for value in values.flat)
