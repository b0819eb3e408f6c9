# SPDX-License-Identifier: BSD-3-Clause
"""Coders of our own, from their spec.md files: each takes payload, layout and parameters and gives the bytes before it."""
import math

from reader_basics import BYTES, Bytes, Damaged, FLOATING, UNSIGNED, bytes_of, flat, unordered, unzigzag, words_of
from entropy_blocks import decode_block, rest_bits
from library_codecs import zstd


def constant(data, layout, _):
    return bytes(data) * layout.count()


def planes(data, layout, _):
    source, size, count = Bytes(data), layout.size, layout.count()
    out = bytearray(size * count)
    for byte in range(size):
        head = source.varint()
        stored = source.take(head // 2)
        out[byte::size] = zstd(stored, flat(BYTES, 1, count), b"") if head % 2 else bytes(decode_block(stored, count))
    if source.at != len(data):
        raise Damaged("bytes behind planes")
    return bytes(out)


def top_bits(data, layout, parameters):
    size, source = layout.size, Bytes(data)
    mantissa = parameters[0] & 15 if parameters else 2
    key_bits = 1 + {2: 5, 4: 8, 8: 11}[size] + mantissa
    low = 8 * size - key_bits
    head = source.number(1)
    table = {i: (source.number(size), 0) for i in range(head & 127)}
    first, key = len(table), -1
    for k in range(source.varint()):
        key = source.varint() if k == 0 else key + 1 + source.varint()
        table[first + k] = (key << low, low)
    if head & 128:
        table[255] = (0, 8 * size)
    symbols = decode_block(source.take(source.varint()), layout.count())
    rests = rest_bits(source, [table.get(s, (0, 0))[1] for s in symbols])
    return bytes_of([table.get(s, (0, 0))[0] | rest for s, rest in zip(symbols, rests)], size)


def grouped_symbols(source, layout):
    firsts = [0]
    for _ in range(source.number(1) - 1):
        firsts.append(source.number(1))
    groups = []
    for _ in firsts:
        count = source.varint()
        groups.append(iter(decode_block(source.take(source.varint()), count)))
    symbols = []
    for brick in layout.bricks:
        start, columns = len(symbols), brick[-1] if len(brick) > 1 else 0
        for i in range(math.prod(brick)):
            before = symbols[-1] if symbols else 0
            above = symbols[start + i - columns] if columns and i >= columns else before
            context = (before + above) // 2
            group = max(j for j, f in enumerate(firsts) if f <= context)
            try:
                symbols.append(next(groups[group]))
            except StopIteration:
                raise Damaged("a group ends") from None
    return symbols


def class_coder(data, layout, parameters):
    size, source = layout.size, Bytes(data)
    if parameters and parameters[0] & 2:
        symbols = grouped_symbols(source, layout)
    else:
        symbols = decode_block(source.take(source.varint()), layout.count())
    top = {1: 8, 2: 4, 4: 3, 8: 2}[size]

    def parts(symbol):
        above = symbol >> top
        if size == 1 or above == 0:
            return symbol, 0
        if above + top > 8 * size:
            return 0, 0
        return (1 << top | symbol & ((1 << top) - 1)) << (above - 1), above - 1

    table = [parts(symbol) for symbol in range(256)]
    rests = rest_bits(source, [table[s][1] for s in symbols])
    return bytes_of([table[s][0] | rest for s, rest in zip(symbols, rests)], size)


TAPS = {
    1: [(0, 0, -k) for k in range(1, 13)],
    2: [(0, 0, -1), (0, 0, -2), (0, 0, -3), (0, -1, -2), (0, -1, -1), (0, -1, 0), (0, -1, 1), (0, -1, 2), (0, -2, -1),
        (0, -2, 0), (0, -2, 1), (0, -3, 0)],
    3: [(0, 0, -1), (0, 0, -2), (0, -1, -1), (0, -1, 0), (0, -1, 1), (0, -2, 0), (-1, 0, -1), (-1, 0, 0), (-1, 0, 1),
        (-1, -1, 0), (-1, 1, 0), (-1, -1, -1)],
}


def fpc(data, layout, parameters):
    count, mask = layout.count(), (1 << 64) - 1
    slots = (1 << (parameters[0] if parameters else 16)) - 1
    source = Bytes(data)
    codes = source.take((count + 1) // 2)
    f, d, f_hash, d_hash, last, out = {}, {}, 0, 0, 0, []
    for i in range(count):
        code = codes[i // 2] >> (4 if i % 2 == 0 else 0) & 15
        zeros = code & 7
        zeros += zeros >= 4
        predicted = d.get(d_hash, 0) + last & mask if code & 8 else f.get(f_hash, 0)
        value = source.number(8 - zeros) ^ predicted
        f[f_hash] = value
        f_hash = (f_hash << 6 ^ value >> 48) & slots
        difference = value - last & mask
        d[d_hash] = difference
        d_hash = (d_hash << 2 ^ difference >> 40) & slots
        last = value
        out.append(value)
    if source.at != len(data):
        raise Damaged("bytes behind fpc")
    return bytes_of(out, 8)


def entropy(data, layout, _):
    return bytes(decode_block(data, layout.bytes()))


def dictionary(data, layout, _):
    source, size, mask = Bytes(data), layout.size, (1 << 8 * layout.size) - 1
    count = source.varint()
    table, last = words_of(planes(source.take(source.varint()), flat(UNSIGNED, size, count), b""), size), 0
    for i, difference in enumerate(table):
        table[i] = last = last + difference & mask
    if layout.kind == FLOATING:
        table = [unordered(word, size) for word in table]
    differences = source.number(1)
    width = 1 if count <= 256 else 2
    numbers, last = words_of(planes(source.rest(), flat(UNSIGNED, width, layout.count()), b""), width), 0
    if differences:
        for i, number in enumerate(numbers):
            numbers[i] = last = last + unzigzag(number) & (1 << 8 * width) - 1
    return bytes_of([table[number] for number in numbers], size)
