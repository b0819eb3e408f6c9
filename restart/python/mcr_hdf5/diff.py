# SPDX-License-Identifier: BSD-3-Clause
"""python -m mcr_hdf5 diff: which variables of two sets differ, by how much, and in which ranks."""
import argparse
import json
from dataclasses import asdict, dataclass, field

import numpy

from .checkpoint_set import open_set


@dataclass
class Difference:
    """Of one dataset's values, or (see merged()) of several datasets'."""
    values: int = 0  # compared
    changed: int = 0
    largest: float = 0.0  # difference of two numbers
    squares: float = 0.0  # sum of the squares of the differences
    numbers: int = 0  # values that have a difference: those of numbers, and finite on both sides
    ulps: int = 0  # the largest distance in floating-point numbers
    unequal: list = field(default_factory=list)  # texts: other shape, other type

    @property
    def rms(self):
        return (self.squares / self.numbers) ** 0.5 if self.numbers else 0.0

    @property
    def is_none(self):
        return not self.changed and not self.unequal


def compare(one, other):
    """Compares two arrays. Equal bits are equal, not-a-number too."""
    if one.shape != other.shape or one.dtype != other.dtype:
        text = f"shape {one.shape} and {other.shape}" if one.shape != other.shape else f"type {one.dtype} and {other.dtype}"
        return Difference(unequal=[text])
    if one.dtype.kind not in "fiu":
        same = one == other if one.dtype.kind not in "V" or one.dtype.names else one.tobytes() == other.tobytes()
        return Difference(values=one.size, changed=int(one.size - numpy.count_nonzero(same)))
    one, other = one.astype(one.dtype.newbyteorder("=")), other.astype(other.dtype.newbyteorder("="))
    bits = f"u{one.dtype.itemsize}"
    different = one.view(bits) != other.view(bits) if one.ndim else numpy.array(one.tobytes() != other.tobytes())
    one, other = one[different], other[different]
    found = Difference(values=different.size, changed=one.size, numbers=different.size)
    if not one.size:
        return found
    if one.dtype.kind == "f":
        finite = numpy.isfinite(one) & numpy.isfinite(other)
        found.numbers -= int(numpy.count_nonzero(~finite))
        one, other = one[finite], other[finite]
        found.ulps = _ulps(one, other)
    # Wide enough for the difference of any two numbers of the type, though rounded.
    distance = numpy.abs(one.astype(numpy.longdouble) - other.astype(numpy.longdouble))
    found.largest = float(distance.max(initial=0))
    found.squares = float((distance ** 2).sum())
    return found


def _ulps(one, other):
    if one.dtype.itemsize > 8 or not one.size:
        return 0
    one, other = _ordered(one), _ordered(other)
    # The distance of two 64-bit integers needs 64 bits without sign.
    return int((numpy.maximum(one, other).view("u8") - numpy.minimum(one, other).view("u8")).max())


def _ordered(values):
    """Integers in the order of the floating-point numbers. Neighbours differ by 1; -0 and 0 are both 0."""
    bits = values.view(f"i{values.dtype.itemsize}").astype("i8")
    lowest = -(1 << (8 * values.dtype.itemsize - 1))
    return numpy.where(bits < 0, lowest - bits, bits)


def merged(several):
    total = Difference()
    for one in several:
        total.values += one.values
        total.changed += one.changed
        total.squares += one.squares
        total.numbers += one.numbers
        total.largest, total.ulps = max(total.largest, one.largest), max(total.ulps, one.ulps)
        total.unequal += [text for text in one.unequal if text not in total.unequal]
    return total


def differences(left, right):
    """Variable -> rank -> Difference, for the variables that both sets have."""
    found = {}
    for name in sorted(set(left) & set(right)):
        ones, others = left[name], right[name]
        found[name] = {rank: _compare_rank(ones, others, rank) for rank in ones.ranks if rank in others.ranks}
        for rank in set(ones.ranks) ^ set(others.ranks):
            found[name][rank] = Difference(unequal=[f"only one set has it in rank {rank}"])
    return found


def _compare_rank(ones, others, rank):
    names = ones.names(rank), others.names(rank)
    pairs = [(ones.set.file(rank)[name], others.set.file(rank)[name]) for name in names[0] if name in names[1]]
    total = merged(compare(numpy.asarray(one[()]), numpy.asarray(other[()])) for one, other in pairs)
    single = sorted(set(names[0]) ^ set(names[1]))
    if single:
        total.unequal.append(f"only one set has {single[0]}" + (f" and {len(single) - 1} more" if single[1:] else ""))
    return total


def ranks_text(ranks):
    ranks, runs = sorted(ranks), []
    for rank in ranks:
        if runs and rank == runs[-1][1] + 1:
            runs[-1][1] = rank
        else:
            runs.append([rank, rank])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def _row(name, ranks, total):
    return (name, f"{total.changed} of {total.values}", f"{total.largest:.6g}", f"{total.rms:.6g}", str(total.ulps), ranks,
            "; ".join(total.unequal))


def _print_table(rows):
    widths = [max(len(row[n]) for row in rows) for n in range(len(rows[0]) - 1)]
    for row in rows:
        print(("  ".join(cell.ljust(width) for cell, width in zip(row, widths)) + "  " + row[-1]).rstrip())


def _json(found, missing):
    def numbers(one):
        kept = {key: value for key, value in asdict(one).items() if key not in ("squares", "numbers")}
        return {**kept, "rms": one.rms}
    return {"variables": {name: {**numbers(merged(ranks.values())), "ranks": {rank: numbers(one) for rank, one in ranks.items() if not one.is_none}}
                          for name, ranks in found.items()},
            "missing": missing}


def main(words):
    parser = argparse.ArgumentParser(prog="mcr diff", description="Compares two sets variable by variable. Exit status: 0 equal, 1 different (or "
                                                                  "failed, with a message), 2 wrong usage.")
    parser.add_argument("sets", metavar="SET", nargs=2, help="directory, stub, container, or a set's name")
    parser.add_argument("--by-rank", action="store_true", help="a line for each rank that differs")
    parser.add_argument("--json", action="store_true", help="one JSON value on standard output")
    options = parser.parse_args(words)
    with open_set(options.sets[0]) as left, open_set(options.sets[1]) as right:
        found = differences(left, right)
        missing = {name: other.name for one, other in ((left, right), (right, left)) for name in one if name not in other}
    if options.json:
        print(json.dumps(_json(found, missing), indent=2))
    else:
        _print(found, missing, options.by_rank)
    return 1 if missing or any(not one.is_none for ranks in found.values() for one in ranks.values()) else 0


def _print(found, missing, by_rank):
    rows = [("variable", "changed", "max", "rms", "ulps", "ranks", "")]
    for name, ranks in found.items():
        differing = {rank: one for rank, one in ranks.items() if not one.is_none}
        if not differing:
            continue
        rows.append(_row(name, ranks_text(differing), merged(ranks.values())))
        if by_rank:
            rows += [_row("", str(rank), one) for rank, one in sorted(differing.items())]
    if len(rows) > 1:
        _print_table(rows)
    same = len(found) - len({row[0] for row in rows[1:] if row[0]})
    print(f"{same} of {len(found)} variables are equal in all ranks")
    for name, other in missing.items():
        print(f"{name}: {other} does not have it")
