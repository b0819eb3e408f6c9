# SPDX-License-Identifier: BSD-3-Clause
"""What all decoders stand on: bytes from the front, layouts, types, numbers and their words, checksums."""
import ctypes
import ctypes.util
import math
import struct


class Damaged(Exception):
    pass


class Unsupported(Exception):
    pass


def library(name):
    found = ctypes.util.find_library(name)
    if not found:
        raise Unsupported(f"lib{name} is not there")
    return ctypes.CDLL(found)


xxhash = library("xxhash")
xxhash.XXH3_64bits.restype = ctypes.c_uint64
xxhash.XXH3_64bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]


def checksum(data):
    return xxhash.XXH3_64bits(bytes(data), len(data))


class Bytes:
    """Reads from the front of bytes."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, count):
        if count > len(self.data) - self.at:
            raise Damaged("ends too early")
        taken = self.data[self.at : self.at + count]
        self.at += count
        return taken

    def rest(self):
        return self.take(len(self.data) - self.at)

    def number(self, size):
        return int.from_bytes(self.take(size), "little")

    def varint(self):
        value = 0
        for i in range(10):
            byte = self.number(1)
            value |= (byte & 0x7F) << (7 * i)
            if byte < 0x80:
                if value >> 64:
                    raise Damaged("varint of more than 64 bits")
                return value
        raise Damaged("varint of more than ten bytes")

    def zigzag(self):
        value = self.varint()
        return value >> 1 ^ -(value & 1)

    def text(self):
        return self.take(self.varint()).decode("utf-8", "surrogateescape")

    def place(self):
        return {"offset": self.varint(), "size": self.varint(), "count": self.varint(), "checksum": self.number(8)}


BYTES, UNSIGNED, SIGNED, FLOATING = range(4)


class Layout:
    def __init__(self, kind, size, bricks, big_endian=False):
        self.kind, self.size, self.bricks, self.big_endian = kind, size, bricks, big_endian

    def count(self):
        return sum(math.prod(brick) for brick in self.bricks)

    def bytes(self):
        return self.count() * self.size

    def with_type(self, kind, size):
        return Layout(kind, size, self.bricks)


def flat(kind, size, count):
    return Layout(kind, size, [(count,)])


def read_type(data):
    head = data.number(1)
    size = data.varint() if head >> 3 & 15 == 15 else 1 << (head >> 3 & 15)
    return head & 3, size, bool(head & 4)


def read_layout(data):
    kind, size, big_endian = read_type(data)
    bricks = []
    for _ in range(data.varint()):
        run = data.varint()
        brick = tuple(data.varint() for _ in range(run % 4 + 1))
        bricks += [brick] * (run // 4 + 1)
    return Layout(kind, size, bricks, big_endian)


def read_pipeline(data):
    return [(data.number(1), data.take(data.varint())) for _ in range(data.number(1))]


def words_of(data, size):
    return list(struct.unpack(f"<{len(data) // size}{'_BH_I___Q'[size]}", data))


def bytes_of(words, size):
    return struct.pack(f"<{len(words)}{'_BH_I___Q'[size]}", *words)


def reversed_elements(data, size):
    return b"".join(data[i : i + size][::-1] for i in range(0, len(data), size))


def unzigzag(value):
    return value >> 1 ^ -(value & 1)


def ordered(word, size):
    top = 1 << (8 * size - 1)
    return word ^ (2 * top - 1) if word & top else word | top


def unordered(word, size):
    top = 1 << (8 * size - 1)
    return word ^ top if word & top else word ^ (2 * top - 1)


FORMATS = {4: ("<I", "<f"), 8: ("<Q", "<d")}


def to_float(word, size):
    integer, floating = FORMATS[size]
    return struct.unpack(floating, struct.pack(integer, word))[0]


def to_word(number, size):
    """The bits of a number after rounding to `size` bytes; a NaN is 0."""
    if number != number:
        return 0
    integer, floating = FORMATS[size]
    try:
        return struct.unpack(integer, struct.pack(floating, number))[0]
    except OverflowError:
        return struct.unpack(integer, struct.pack(floating, math.copysign(math.inf, number)))[0]


def rounded(number, size):
    return number if size == 8 or number != number else to_float(to_word(number, size), size)
