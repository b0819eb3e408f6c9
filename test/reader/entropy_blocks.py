# SPDX-License-Identifier: BSD-3-Clause
"""Entropy blocks and rest bits: codecs/entropy/spec.md."""
from reader_basics import Bytes, Damaged

SEGMENT = 32768


class Bits:
    """Bits of bytes, the lowest first."""

    def __init__(self, data):
        self.value, self.left = int.from_bytes(data, "little"), 8 * len(data)
        self.data, self.at = data, 0

    def take(self, count):
        if self.at + count > 8 * len(self.data):
            raise Damaged("ends within bits")
        first, last = self.at // 8, (self.at + count + 7) // 8
        value = int.from_bytes(self.data[first:last], "little") >> (self.at % 8) & ((1 << count) - 1)
        self.at += count
        return value


def number_table(data, count):
    bits, numbers = Bits(data.data[data.at :]), []
    while len(numbers) < count:
        width = bits.take(4)
        if width == 0:
            numbers += [0] * (bits.take(4) + 1)
        else:
            numbers.append(1 << (width - 1) | bits.take(width - 1))
    if len(numbers) != count:
        raise Damaged("a run of zeros passes the table's end")
    data.take((bits.at + 7) // 8)
    return numbers


def huffman_stream(lengths):
    codes, code, last = {}, 0, 0
    for length, symbol in sorted((l, s) for s, l in enumerate(lengths) if l):
        code <<= length - last
        last = length
        codes[length, code] = symbol
        code += 1
    if sum(2.0 ** -l for l in lengths if l) != 1:
        raise Damaged("codes are not complete")

    def decode(stream, count):
        bits, symbols = Bits(stream), []
        for _ in range(count):
            code = length = 0
            while (length, code) not in codes or length == 0:
                code, length = code << 1 | bits.take(1), length + 1
            symbols.append(codes[length, code])
        if (bits.at + 7) // 8 != len(stream):
            raise Damaged("bytes behind a stream")
        return symbols

    return decode


def tans_stream(counts, log_states):
    states = 1 << log_states
    if sum(counts) != states:
        raise Damaged("states")
    symbol_of, position = [0] * states, 0
    for symbol, count in enumerate(counts):
        for _ in range(count):
            symbol_of[position] = symbol
            position = (position + states // 2 + states // 8 + 3) % states
    seen, table = list(counts), []
    for state in range(states):
        j = seen[symbol_of[state]]
        seen[symbol_of[state]] += 1
        width = log_states - (j.bit_length() - 1)
        table.append((symbol_of[state], width, (j << width) - states))

    def decode(stream, count):
        bits = Bits(stream)
        while bits.take(1) == 0:
            pass
        state, symbols = bits.take(log_states), []
        for _ in range(count):
            symbol, width, base = table[state]
            symbols.append(symbol)
            state = base + bits.take(width)
        if state != 0 or bits.at != 8 * len(stream):
            raise Damaged("end of a tANS stream")
        return symbols

    return decode


def decode_block(block, count):
    data = Bytes(block)
    method = data.number(1)
    if method == 0:
        symbols = list(data.rest())
        if len(symbols) != count:
            raise Damaged("raw block")
        return symbols
    if method == 1:
        symbols = [data.number(1)] * count
    elif method in (2, 3):
        last = data.number(1)
        log_states = data.number(1) if method == 3 else 0
        numbers = number_table(data, last + 1)
        decode = huffman_stream(numbers) if method == 2 else tans_stream(numbers, log_states)
        sizes = [min(SEGMENT, count - at) for at in range(0, count, SEGMENT)]
        lengths = [[data.number(2) for _ in range(4)] for _ in sizes]
        symbols = []
        for size, four in zip(sizes, lengths):
            for i, length in enumerate(four):
                symbols += decode(data.take(length), size * (i + 1) // 4 - size * i // 4)
    else:
        raise Damaged("method of an entropy block")
    if data.at != len(block):
        raise Damaged("bytes behind a block")
    return symbols


def rest_bits(data, widths):
    """One number of each width, in segments."""
    starts = range(0, len(widths), SEGMENT)
    lengths = [data.number(4) for _ in starts]
    values = []
    for start, length in zip(starts, lengths):
        bits = Bits(data.take(length))
        values += [bits.take(width) for width in widths[start : start + SEGMENT]]
        if (bits.at + 7) // 8 != length:
            raise Damaged("rest bits")
    if data.at != len(data.data):
        raise Damaged("bytes behind the rest bits")
    return values
