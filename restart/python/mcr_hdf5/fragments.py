# SPDX-License-Identifier: BSD-3-Clause
"""Where the containers of a set hold a rank's dataset, as selections of `/variables/NAME` (docs/format.md, "Container and index").

A dataset counts as found only if the answer is certain: its values lie in one fragment, in row-major order, as the program wrote them.
So datasets that the program chunked or compressed, and containers of the block and agnostic schemes, have no such place.
"""
import hashlib
import itertools
import re
from dataclasses import dataclass

import h5py
import numpy

from .masked import fits
from .variable import read_values

TABLES = "~tables"  # the group of small variables
UNREADABLE = (OSError, TypeError, ValueError, LookupError, RuntimeError, AttributeError)  # what h5py raises for odd datasets
LEAST_REFUSED, MOST_OF_STORED = 1 << 26, 1 << 12  # bytes of rows, and how often the stored bytes: beyond both, a table is not read
CACHE = 1 << 28  # bytes of decoded chunks that an open container keeps


@dataclass(frozen=True)
class Fragment:
    container: str
    path: str
    space: tuple  # shape of the variable in the container
    kind: str  # stacked, joined (along the first axis) or flat
    begin: int

    def selections(self, shape, inner):
        """Yields (selection of the container's dataset, slices of the inner region that it fills). `shape` is the rank's, `inner` the
        slices of it that are wanted. If the rank's dataset is flat, `shape` may be one of as many elements."""
        extents = [s.stop - s.start for s in inner]
        is_row = self.kind == "stacked" and len(self.space) == 2 and len(shape) > 1  # of a flat dataset
        if self.kind == "stacked" and not is_row:
            yield self._block([self.begin, *(s.start for s in inner)], [1, *extents]), (...,)
        elif self.kind == "joined" and len(self.space) > 1:
            yield self._block([self.begin + inner[0].start, *(s.start for s in inner[1:])], extents), (...,)
        else:
            yield from self._flat_selections([self.begin] if is_row else [], 0 if is_row else self.begin, shape, inner, extents)

    def _flat_selections(self, row, begin, shape, inner, extents):
        """The elements lie one after another along the last axis of the container's dataset; `row` is the index along an axis before it."""
        ones = [1] * len(row)
        if extents == list(shape) or len(shape) == 1:
            yield self._block([*row, begin + (inner[0].start if len(shape) == 1 else 0)], [*ones, int(numpy.prod(extents))]), (...,)
            return
        for place in itertools.product(*(range(n) for n in extents[:-2])):  # one plane of rows at a time: rows lie at equal distances
            first = [s.start + p for s, p in zip(inner, place)] + [inner[-2].start, inner[-1].start]
            start = begin + int(numpy.ravel_multi_index(first, shape))
            space = h5py.h5s.create_simple(self.space)
            space.select_hyperslab((*row, start), (*ones, extents[-2]), (*ones, shape[-1]), (*ones, extents[-1]))
            yield space, tuple(place)

    def _block(self, begin, count):
        space = h5py.h5s.create_simple(self.space)
        space.select_hyperslab(tuple(begin), tuple(count))
        return space


class Fragments:
    def __init__(self, checkpoint):
        self._checkpoint = checkpoint
        self._variables = []  # (container, path, mask of the names, shape, dtype, ranks, offsets, shapes of the pieces of a table)
        self._opened = None, None  # the container that was read last, and its file
        self._by_values = {}  # (rank, numbers of the variables, shape) -> digest of the values -> fragment
        self.why_none = None
        self._not_read = None  # why a table was left out
        for container in checkpoint.containers:
            with h5py.File(container, "r") as file:
                scheme = file.attrs["scheme"]
                scheme = scheme.decode() if isinstance(scheme, bytes) else scheme
                if scheme not in ("aware", "auto"):
                    self.why_none = f"the container's scheme {scheme} cuts datasets into blocks"
                elif "variables" in file:
                    tables = file["variables"].get(TABLES)
                    own = set()  # paths of the tables' datasets
                    for table in tables.values() if isinstance(tables, h5py.Group) else ():
                        if (told := _members_of_rows(table)) is None:
                            continue
                        own.update(item.name for item in table.values())
                        try:
                            self._add_table(container, table, told)
                        except UNREADABLE as error:
                            self._not_read = f"a table of small variables, {table.name} of {container}, cannot be read: {error}"
                    file["variables"].visititems(lambda name, item: item.name not in own and self._add(container, name, item))

    def _add_table(self, container, table, own):
        is_flat = "elements" in table
        values = table["elements" if is_flat else "values"]
        told = _read_members(table["rows"], own)
        names = told[own[2 if is_flat else 1]]
        pieces = {}
        for row, name in enumerate(names):
            pieces.setdefault(name, []).append(row)
        for name, numbers in pieces.items():
            begins = [int(told[own[1]][row]) for row in numbers] if is_flat else numbers
            shapes = [tuple(int(n) for n in told[own[3]][row] if n) if is_flat else values.shape[1:] for row in numbers]
            ranks = [int(told[own[0]][row]) for row in numbers]
            mask = _mask(name.decode(errors="surrogateescape"))
            self._variables.append((container, values.name, mask, values.shape, values.dtype, ranks, begins, shapes))

    def _add(self, container, name, item):
        if not isinstance(item, h5py.Dataset):
            return
        def numbers(key):
            found = item.attrs.get("mcr_" + key, item.attrs.get(key))
            return None if found is None else [int(n) for n in numpy.atleast_1d(found)]
        self._variables.append((container, item.name, _mask(name), item.shape, item.dtype, numbers("ranks"), numbers("offsets"), None))

    def find(self, rank, dataset):
        """Returns the fragment, or a text that says why there is none."""
        if self.why_none:
            return self.why_none
        if self._checkpoint.part_entry(rank) is None:
            return f"the file of rank {rank} is a native file, or was amended after its set was committed"
        layout = dataset.id.get_create_plist()
        if layout.get_nfilters():
            return "the program compressed it"
        if layout.get_layout() == h5py.h5d.CHUNKED and dataset.chunks != dataset.shape:
            return "the program chunked it"
        if layout.get_layout() == h5py.h5d.COMPACT:
            return "it is a compact dataset, which the containers do not merge"
        found, variables = [], []
        for variable, (container, path, mask, shape, dtype, ranks, offsets, shapes) in enumerate(self._variables):
            if dtype == dataset.dtype and ranks and fits(mask, dataset.name.strip("/"), literal=True):
                found += [(container, path, shape, ranks, offsets, shapes, n) for n, owner in enumerate(ranks) if owner == rank]
                variables.append(variable)
        if not found:
            return self._not_read or "the containers do not merge it, as they do not merge the smallest datasets"
        if len(found) > 1:
            return self._of_equal_values(rank, dataset, found, tuple(variables))
        return _fragment(dataset.shape, *found[0])

    def _of_equal_values(self, rank, dataset, found, variables):
        """Of several fragments of the rank, such as the grids of a refined mesh, the one with the dataset's values: which of them is the
        dataset's own does not matter, because equal fragments give equal values."""
        key = rank, variables, dataset.shape
        if key not in self._by_values:
            whole = tuple(slice(0, n) for n in dataset.shape)
            fragments = [fragment for one in found if isinstance(fragment := _fragment(dataset.shape, *one), Fragment)]
            self._by_values[key] = {self._digest(fragment, dataset, whole): fragment for fragment in fragments}
        return self._by_values[key].get(_digest(read_values(dataset)), f"no fragment of that name for rank {rank} has its values")

    def _digest(self, fragment, dataset, whole):
        (space, _), = fragment.selections(dataset.shape, whole)
        values = numpy.empty(dataset.shape, dataset.dtype)
        source = self._open_variable(fragment)
        source.id.read(h5py.h5s.create_simple(dataset.shape), space, values)
        return _digest(values)

    def _open_variable(self, fragment):
        name, file = self._opened
        if name != fragment.container:
            if file:
                file.close()
            file = h5py.File(fragment.container, "r", rdcc_nbytes=CACHE)
            self._opened = fragment.container, file
        return file[fragment.path]


def _digest(values):
    return hashlib.sha256(values.tobytes()).digest()


def _members_of_rows(item):
    """The names of the first members of a table's rows; None: the item is no table, but perhaps a program's own group."""
    if not isinstance(item, h5py.Group) or set(item) not in ({"rows", "values"}, {"rows", "elements"}):
        return None
    rows = item["rows"]
    if not isinstance(rows, h5py.Dataset) or {"ranks", "mcr_ranks"} & set(rows.attrs):
        return None
    kind = rows.id.get_type()
    wanted = ("rank", "begin", "variable", "shape") if "elements" in item else ("rank", "variable")
    if not isinstance(kind, h5py.h5t.TypeCompoundID) or kind.get_nmembers() < len(wanted):
        return None
    names = [kind.get_member_name(n) for n in range(len(wanted))]
    if not all(re.fullmatch(b"(mcr_)*" + word.encode(), name) for name, word in zip(names, wanted)):
        return None
    return [name.decode() for name in names]


def _read_members(rows, names):
    """Reads the first members of the rows. The other members, a program's attributes, may have types that NumPy does not know."""
    members = [rows.id.get_type().get_member_type(n) for n in range(len(names))]
    kind = h5py.h5t.create(h5py.h5t.COMPOUND, sum(member.get_size() for member in members))
    end = 0
    for name, member in zip(names, members):
        kind.insert(name.encode(), end, member)
        end += member.get_size()
    size = rows.size * kind.get_size()
    if size > LEAST_REFUSED + MOST_OF_STORED * rows.id.get_storage_size():
        raise ValueError(f"{rows.name} claims {size:,} bytes, too many for what is stored of it")
    told = numpy.empty(rows.shape, [(name, member.dtype) for name, member in zip(names, members)])
    rows.id.read(h5py.h5s.ALL, h5py.h5s.ALL, told, kind)
    return told


def _mask(name):
    return re.sub(r"~\d+$", "", name)


def _fragment(own, container, path, shape, ranks, offsets, shapes, number):
    if shapes is not None and shapes[number] == own:
        return Fragment(container, path, shape, "flat" if path.endswith("/elements") else "stacked", offsets[number])
    if shapes is not None:
        return f"a table of the container has it with the shape {shapes[number]}"
    size = int(numpy.prod(own))
    if offsets is None and shape[1:] == own and shape[0] == len(ranks):
        return Fragment(container, path, shape, "stacked", number)
    begins = offsets or list(range(len(ranks)))
    end = min((b for b in begins if b > begins[number]), default=shape[0])
    if len(own) == len(shape) and shape[1:] == own[1:] and end - begins[number] == own[0]:
        return Fragment(container, path, shape, "joined", begins[number])
    if len(shape) == 1 and end - begins[number] == size:
        return Fragment(container, path, shape, "flat", begins[number])
    return f"the container's shape {shape} does not show where its values lie"
