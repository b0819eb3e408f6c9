# SPDX-License-Identifier: BSD-3-Clause
"""Compares files, and says where they differ."""
import os
from pathlib import Path

BLOCK = 1 << 20
STUB_BEGIN = b"\x89HDF\r\n\x1a\n\xff"  # HDF5's signature and a superblock version that cannot be


def difference(left, right):
    """Returns None if both files have the same bytes, else a sentence about the first difference."""
    left, right = Path(left), Path(right)
    for path in (left, right):
        if not path.is_file():
            return f"{path} is not there"
    with open(left, "rb") as a, open(right, "rb") as b:
        place = 0
        while True:
            x, y = a.read(BLOCK), b.read(BLOCK)
            if x != y:
                same = next((i for i, (p, q) in enumerate(zip(x, y)) if p != q), min(len(x), len(y)))
                return (f"{left} ({left.stat().st_size} B) and {right} ({right.stat().st_size} B) "
                        f"differ from byte {place + same} on")
            if not x:
                return None
            place += len(x)


def _unnoticed(path, flags):
    """Reads without changing the access time: the leader takes a stub that was read for one that may have been
    copied."""
    try:
        return os.open(path, flags | os.O_NOATIME)
    except PermissionError:
        return os.open(path, flags)


def is_stub(path):
    with open(path, "rb", opener=_unnoticed) as file:
        return file.read(len(STUB_BEGIN)) == STUB_BEGIN


def files_below(directory, pattern="*"):
    """Returns the sorted relative names of regular files, without those in our own directories."""
    directory = Path(directory)
    found = (p.relative_to(directory) for p in directory.rglob(pattern) if p.is_file() and not p.is_symlink())
    return sorted(str(p) for p in found if "mcr" not in p.parts[:-1])


def stubs_below(directory):
    return [name for name in files_below(directory) if is_stub(os.path.join(directory, name))]


def containers_below(directory):
    return sorted(p for p in Path(directory).rglob("mcr/set-*.h5") if p.is_file())
