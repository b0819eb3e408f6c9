# SPDX-License-Identifier: BSD-3-Clause
"""Codecs whose streams belong to others: zstd by its library, zlib by Python's, lz4 by its description."""
import ctypes
import zlib as zlib_module

from reader_basics import Bytes, Damaged, Unsupported, library


def zstd(data, layout, _):
    size = layout.bytes()
    zstd_library = library("zstd")
    zstd_library.ZSTD_decompress.restype = ctypes.c_size_t
    out = ctypes.create_string_buffer(max(size, 1))
    if zstd_library.ZSTD_decompress(out, ctypes.c_size_t(size), bytes(data), ctypes.c_size_t(len(data))) != size:
        raise Damaged("zstd payload")
    return out.raw[:size]


def zlib(data, _, __):
    return zlib_module.decompress(data)


def lz4(data, layout, _):
    source, out = Bytes(data), bytearray()

    def length(nibble):
        total = nibble
        while nibble == 15:
            byte = source.number(1)
            total += byte
            if byte != 255:
                break
        return total

    while source.at < len(data):
        token = source.number(1)
        out += source.take(length(token >> 4))
        if source.at == len(data):
            break
        back = source.number(2)
        if not 0 < back <= len(out):
            raise Damaged("lz4 offset")
        for _ in range(length(token & 15) + 4):
            out.append(out[-back])
    return bytes(out)


def fpzip(data, layout, parameters):
    raise Unsupported("fpzip needs libfpzip")
