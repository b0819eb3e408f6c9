# SPDX-License-Identifier: BSD-3-Clause
"""Opens the file of one rank. Nothing remains on disk.

If the rank's stub is still in place and names this set's part, the stub is opened: HDF5 then decodes only what is read. Otherwise
`mcr unpack` writes the rank's file, byte for byte and checked, into a directory that is removed as soon as the file is open.
"""
import os
import shutil
import struct
import tempfile
from pathlib import Path

import h5py

from .command import mcr
from .errors import McrError

STUB_BEGIN = b"\x89HDF\r\n\x1a\n\xffmcr-stub"  # docs/format.md, "Stub"
MEMORY = Path("/dev/shm")


def part_of_stub(path):
    """The id of the part that the stub at the path names; None if no stub lies there."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # does not wait if a pipe lies there
    except OSError:
        return None
    try:
        begin = os.read(file, 38)
    except OSError:
        return None  # a directory, or an empty pipe
    finally:
        os.close(file)
    if len(begin) < 38 or not begin.startswith(STUB_BEGIN) or begin[17] != 1 or struct.unpack_from("<I", begin, 18)[0] < 16:
        return None
    return begin[22:38].hex()


def _scratch(size):
    """A directory of this user alone, in memory if half of the free memory there holds the file."""
    if size and MEMORY.is_dir() and os.access(MEMORY, os.W_OK) and size < shutil.disk_usage(MEMORY).free // 2:
        return tempfile.mkdtemp(prefix="mcr-python-", dir=MEMORY)
    return tempfile.mkdtemp(prefix="mcr-python-")


def unpacked(names, rank, size):
    """Opens the rank's file as `mcr unpack` restores it."""
    directory = _scratch(size)
    try:
        files = mcr("unpack", *names, "--rank", str(rank), "-d", directory)["files"]
        if len(files) != 1:
            raise McrError(f"rank {rank} has {len(files)} files in this set ({', '.join(sorted(files))}), and mcr_hdf5 opens sets with "
                           f"one file a rank; `mcr unpack` writes all of them")
        return h5py.File(os.path.join(directory, files[0]), "r")
    finally:
        shutil.rmtree(directory)  # the open file keeps its bytes
