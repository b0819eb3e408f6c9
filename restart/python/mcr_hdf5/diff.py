# SPDX-License-Identifier: BSD-3-Clause
"""python -m mcr_hdf5 diff: which variables and attributes of two sets differ, by how much, and in which ranks."""
import argparse
from dataclasses import asdict, dataclass, field

import numpy

from .bits import attribute_values, dataset_values, different
from .checkpoint_set import open_set
from .json_output import add_json_option, finite_or_none, print_json
from .printable import printable, say
from .variable import masked

LONGEST_VALUE = 40  # characters of an attribute's value in the output
ALONE = "only one set has it"


@dataclass
class Difference:
    """Of one dataset's values, or (see merged()) of several datasets'."""
    values: int = 0  # compared
    changed: int = 0
    largest: numpy.longdouble = 0.0  # difference of two numbers
    squares: numpy.longdouble = 0.0  # sum of the squares of the differences
    numbers: int = 0  # values that are numbers and finite on both sides, equal ones too: rms is their mean
    ulps: int = 0  # the largest distance in floating-point numbers
    unequal: list = field(default_factory=list)  # texts: other shape, other type

    @property
    def rms(self):
        return numpy.sqrt(self.squares / self.numbers) if self.numbers else 0.0

    @property
    def is_none(self):
        return not self.changed and not self.unequal


def compare(one, other):
    """Compares two arrays. Equal bits are equal, not-a-number too."""
    if one.shape != other.shape or one.dtype != other.dtype:
        text = f"shape {one.shape} and {other.shape}" if one.shape != other.shape else f"type {one.dtype} and {other.dtype}"
        return Difference(unequal=[text])
    changed = different(one, other)
    found = Difference(values=one.size, changed=int(numpy.count_nonzero(changed)))
    if one.dtype.kind not in "fiu":
        return found
    one, other = one.astype(one.dtype.newbyteorder("=")), other.astype(other.dtype.newbyteorder("="))
    finite = numpy.isfinite(one) & numpy.isfinite(other)
    found.numbers = int(numpy.count_nonzero(finite))
    one, other = one[changed & finite], other[changed & finite]
    if one.dtype.kind == "f":
        found.ulps = _ulps(one, other)
    # Wide enough for the difference of any two 64-bit numbers, and for its square, though rounded. Those of two long doubles may overflow.
    with numpy.errstate(over="ignore"):
        distance = numpy.abs(one.astype(numpy.longdouble) - other.astype(numpy.longdouble))
        found.largest = distance.max(initial=0)
        found.squares = (distance ** 2).sum()
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


def over_ranks(ranks):
    """Rank -> Difference, as one Difference."""
    total = merged(ranks.values())
    alone = [rank for rank, one in ranks.items() if ALONE in one.unequal]
    total.unequal = [text if text != ALONE else f"{ALONE} in rank{'s' * (len(alone) > 1)} {ranks_text(alone)}" for text in total.unequal]
    return total


def differences(left, right):
    """Variable -> rank -> Difference, for the variables that both sets have."""
    found = {}
    for name in sorted(set(left) & set(right)):
        ones, others = left[name], right[name]
        found[name] = {rank: _compare_rank(ones, others, rank) for rank in ones.ranks if rank in others.ranks}
        for rank in set(ones.ranks) ^ set(others.ranks):
            found[name][rank] = Difference(unequal=[ALONE])
    return found


def _compare_rank(ones, others, rank):
    names = ones.names(rank), others.names(rank)
    pairs = [(ones.set.file(rank)[name], others.set.file(rank)[name]) for name in names[0] if name in names[1]]
    total = merged(_compare_datasets(*pair) for pair in pairs)
    single = sorted(set(names[0]) ^ set(names[1]))
    if single:
        total.unequal.append(f"only one set has {single[0]}" + (f" and {len(single) - 1} more" if single[1:] else ""))
    return total


def _compare_datasets(one, other):
    if one.shape is None or other.shape is None or one.id.get_type().get_class() != other.id.get_type().get_class():
        shapes, types = (one.shape, other.shape), (_type_text(one), _type_text(other))
        if shapes[0] != shapes[1]:
            return Difference(unequal=[f"shape {shapes[0]} and {shapes[1]}"])
        if types[0] != types[1]:
            return Difference(unequal=[f"type {types[0]} and {types[1]}"])
    return compare(dataset_values(one), dataset_values(other))


def _type_text(item):
    try:
        return str(item.dtype)
    except (TypeError, ValueError):
        return f"of {item.id.get_type().get_size()} bytes"


def attribute_differences(left, right):
    """(masked name of an object, attribute) -> rank -> a text, for the attributes of the objects that both sets have."""
    found = {}
    for rank in (rank for rank in left.ranks if rank in right.ranks):
        files = left.file(rank), right.file(rank)
        names = [set(of.dataset_names(rank)) | set(of.group_names(rank)) for of in (left, right)]
        for name in ["/", *sorted(names[0] & names[1])]:
            for attribute, text in _compare_attributes(*(file[name] for file in files)):
                found.setdefault((masked(name) if name != "/" else name, attribute), {})[rank] = text
    return found


def _compare_attributes(one, other):
    """Yields (attribute, what differs)."""
    for name in sorted(set(one.attrs) | set(other.attrs)):
        if name not in one.attrs or name not in other.attrs:
            yield name, ALONE
            continue
        values = attribute_values(one, name), attribute_values(other, name)
        compared = compare(*values)
        if not compared.is_none:
            few = all(value.size == 1 and value.dtype.kind in "fciubSUO" for value in values)
            texts = [str(value[()] if value.ndim == 0 else value.flat[0]) for value in values] if few else []
            short = few and texts[0] != texts[1] and max(map(len, texts)) <= LONGEST_VALUE
            yield name, " and ".join(texts) if short else "".join(compared.unequal) or f"{compared.changed} of {compared.values} values differ"


def ranks_text(ranks):
    ranks, runs = sorted(ranks), []
    for rank in ranks:
        if runs and rank == runs[-1][1] + 1:
            runs[-1][1] = rank
        else:
            runs.append([rank, rank])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def _row(name, ranks, total):
    return (name, f"{total.changed} of {total.values}", f"{float(total.largest):.6g}", f"{float(total.rms):.6g}", str(total.ulps), ranks,
            "; ".join(total.unequal))


def _print_table(rows):
    rows = [[printable(cell) for cell in row] for row in rows]
    widths = [max(len(row[n]) for row in rows) for n in range(len(rows[0]) - 1)]
    for row in rows:
        say(("  ".join(cell.ljust(width) for cell, width in zip(row, widths)) + "  " + row[-1]).rstrip())


def _json(found, missing, attributes, incomplete):
    def numbers(one):
        kept = {key: value for key, value in asdict(one).items() if key not in ("squares", "numbers")}
        return {**kept, "largest": finite_or_none(one.largest), "rms": finite_or_none(one.rms)}
    return {"variables": {name: {**numbers(over_ranks(ranks)), "ranks": {rank: numbers(one) for rank, one in ranks.items() if not one.is_none}}
                          for name, ranks in found.items()},
            "attributes": [{"object": item, "attribute": name, "ranks": ranks} for (item, name), ranks in attributes.items()],
            "missing": missing, "incomplete": incomplete}


def main(words):
    parser = argparse.ArgumentParser(prog="mcr diff", description="Compares two sets: variables and attributes. Exit status: 0 equal, 1 different (or "
                                                                  "failed, with a message), 2 wrong usage.")
    parser.add_argument("sets", metavar="SET", nargs=2, help="directory, stub, container, or a set's name")
    parser.add_argument("--by-rank", action="store_true", help="a line for each rank that differs")
    add_json_option(parser)
    options = parser.parse_args(words)
    with open_set(options.sets[0]) as left, open_set(options.sets[1]) as right:
        found = differences(left, right)
        attributes = attribute_differences(left, right)
        missing = {name: other.name for one, other in ((left, right), (right, left)) for name in one if name not in other}
        incomplete = {one.name: text for one in (left, right) if (text := one.describe_missing())}
        are_whole = left.state == right.state == "whole"  # a rank of a whole set may have written nothing
    if options.json:
        print_json(_json(found, missing, attributes, incomplete))
    else:
        _print(found, missing, attributes, incomplete, options.by_rank)
    is_equal = not missing and not attributes and (are_whole or not incomplete)
    return 0 if is_equal and all(one.is_none for ranks in found.values() for one in ranks.values()) else 1


def _print(found, missing, attributes, incomplete, by_rank):
    for name, text in incomplete.items():
        say(f"{name}: {text}")
    rows = [("variable", "changed", "max", "rms", "ulps", "ranks", "")]
    for name, ranks in found.items():
        differing = {rank: one for rank, one in ranks.items() if not one.is_none}
        if not differing:
            continue
        rows.append(_row(name, ranks_text(differing), over_ranks(ranks)))
        if by_rank:
            rows += [_row("", str(rank), one) for rank, one in sorted(differing.items())]
    if len(rows) > 1:
        _print_table(rows)
    same = len(found) - len({row[0] for row in rows[1:] if row[0]})
    say(f"{same} of {len(found)} {'variable is' if len(found) == 1 else 'variables are'} equal in all ranks")
    for (item, name), ranks in attributes.items():
        texts = list(dict.fromkeys(ranks.values()))
        more = f" (and {len(texts) - 1} other differences)" if len(texts) > 2 else " (and another difference)" if len(texts) > 1 else ""
        where = "the root group" if item == "/" else item
        say(f"attribute {name} of {where}: {texts[0]}{more}, rank{'s' * (len(ranks) > 1)} {ranks_text(ranks)}")
    for name, other in missing.items():
        say(f"{name}: {other} does not have it")
