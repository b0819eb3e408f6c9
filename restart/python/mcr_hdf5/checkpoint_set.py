# SPDX-License-Identifier: BSD-3-Clause
"""A whole checkpoint: the files of all ranks, and the variables over them."""
import os
import stat
from collections import Counter, OrderedDict
from collections.abc import Mapping

import h5py

from .command import mcr
from .errors import McrError, NotInSetError
from .parts import part_of_stub, unpacked
from .variable import Variable, masked

OPEN_FILES = 16  # files that a set keeps open for the next access


def open_set(*names, quick=False):
    """Opens a set: a directory (its newest whole set, as `mcr latest` names it), a stub, containers of one set, or a set's name as
    `mcr latest` or `mcr ls` prints it. With `quick`, `mcr latest` does not read the frames of a directory's set first.

    Returns a CheckpointSet. Raises McrError if nothing of that name is a set, if a directory has no whole set, if the names belong to
    several sets, if a container is damaged, or if the command `mcr` is not found."""
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
        lines = [f"  {entry['set']}" for entry in found or listed]
        raise McrError(f"{names[0]} holds {len(found) or 'no'} sets of that name; name one of:", *lines)
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
    """`set["Density"]` is a Variable over all ranks, `set.parts[3]` the file of rank 3. Use it in `with`, or call close()."""

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
        self._is_closed = False
        self._names = {}  # rank -> names of datasets, and of groups
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

    def member_files(self):
        """Yields where the set's containers lie, and where the ranks' files lay or lie as stubs."""
        yield from self.containers
        yield from self._recorded
        for entries in self._entries.values():
            for entry in entries:
                yield entry["container"]
                yield from self._paths(entry)

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
        self._expect_open()
        entry = self.part_entry(rank)
        # An open of a stub gives the part that the stub names only if the part's set is whole (docs/design/restart.md).
        stub = self._stub_of(entry) if entry and self.state == "whole" else None
        if stub:
            return h5py.File(stub, "r")
        return unpacked(self._unpack_names, rank, max((e["size"] for e in self._entries.get(rank, [])), default=0))

    def file(self, rank):
        """The rank's file, kept open for the next access."""
        self._expect_open()
        if rank not in self._open:
            self._open[rank] = self.open_part(rank)
            if len(self._open) > OPEN_FILES:
                self._open.popitem(last=False)  # h5py closes it when no dataset of it is in use
        self._open.move_to_end(rank)
        return self._open[rank]

    def dataset_names(self, rank):
        """The names of all datasets in the rank's file, as a list without the first `/`. A dataset with several hard links has several
        names. The file is read for them once."""
        return self._names_of(rank)[0]

    def group_names(self, rank):
        """As dataset_names(), of groups; without the root group."""
        return self._names_of(rank)[1]

    def _names_of(self, rank):
        if rank not in self._names:
            self._names[rank] = _names_below(self.file(rank))
        return self._names[rank]

    def attrs(self, rank):
        """The attributes of the root group of the rank's file, as a dict."""
        return dict(self.file(rank).attrs)

    def __getitem__(self, name):
        """The Variable of that name. Raises NotInSetError, an McrError and KeyError, if no rank has such a dataset."""
        variable = Variable(self, name)
        if not variable.ranks:
            raise NotInSetError(f"no rank of {self.name} has a dataset {name}; the set has: {', '.join(self) or 'none'}")
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
        """Closes the files that the set keeps open, and with them the datasets that came from them. Files of `parts` remain open. No file
        is opened later: what needs one raises McrError."""
        self._is_closed = True
        for file in self._open.values():
            file.close()
        self._open.clear()

    def _expect_open(self):
        if self._is_closed:
            raise McrError(f"the set {self.name} is closed; open_set opens it again")

    def __repr__(self):
        return f"<set {self.name} ({self.state}): {len(self.ranks)} of {self.rank_count} ranks>"


class Parts(Mapping):
    """Rank -> its file, as an h5py.File that is read-only. Close it, or use it in `with`."""

    def __init__(self, of):
        self._set = of

    def __getitem__(self, rank):
        """Opens the rank's file anew. Raises NotInSetError, an McrError and KeyError, if the rank has no file in the set."""
        if rank not in self:
            raise NotInSetError(f"rank {rank} has no file in {self._set.name}, which has files of {len(self)} of {self._set.rank_count} ranks")
        return self._set.open_part(rank)

    def __iter__(self):
        return iter(self._set.ranks)

    def __len__(self):
        return len(self._set.ranks)

    def __contains__(self, rank):
        return rank in self._set.ranks


def _names_below(file):
    """The names of datasets, and of groups. HDF5 visits all links of each group once."""
    datasets, groups = [], []

    def add(name, link):
        if link.type == h5py.h5l.TYPE_HARD:
            kind = h5py.h5o.get_info(file.id, name).type
            if kind in (h5py.h5o.TYPE_DATASET, h5py.h5o.TYPE_GROUP):
                (datasets if kind == h5py.h5o.TYPE_DATASET else groups).append(name.decode("utf-8", "surrogateescape"))
    file.id.links.visit(add, info=True)
    return datasets, groups


def _owners(entry):
    return {os.stat(entry["container"]).st_uid, os.geteuid(), 0}


def _is_file_of(owners, path):
    there = os.lstat(path)
    return stat.S_ISREG(there.st_mode) and there.st_uid in owners
