#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures other compressors on the same rank files, for the table in docs/compression.md.

    peers.py [--variables] NAME=DIRECTORY...

General compressors (gzip, zstd, xz) take the concatenated files of a set. Compressors for numbers (blosc2, pcodec,
OpenZL, if Python has them) take each variable's data over all ranks; --variables adds a line for each variable. Times
are CPU time of one thread, the best of three runs; slow compressors run once."""

import glob
import gzip
import lzma
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

try:
    import h5py
    import numpy
except ImportError:
    h5py = None


def cpu(call):
    begin = time.process_time()
    result = call()
    return result, time.process_time() - begin


def child_cpu(command, data):
    before = os.times()
    result = subprocess.run(command, input=data, capture_output=True, check=True).stdout
    after = os.times()
    return result, after.children_user + after.children_system - before.children_user - before.children_system


def best(call, repeats):
    result, seconds = call()
    for _ in range(repeats - 1):
        result, again = call()
        seconds = min(seconds, again)
    return result, seconds


def general_peers():
    """name -> (encode, decode, repeats). The functions take bytes and return (bytes, CPU seconds)."""
    peers = {
        "gzip -6": (lambda d: cpu(lambda: gzip.compress(d, 6)), lambda d: cpu(lambda: gzip.decompress(d)), 3),
        "xz -9": (lambda d: cpu(lambda: lzma.compress(d, preset=9)), lambda d: cpu(lambda: lzma.decompress(d)), 1),
    }
    if shutil.which("zstd"):
        for name, options, repeats in [("zstd -3", ["-3"], 3), ("zstd -19 long", ["-19", "--long=27"], 1)]:
            peers[name] = (
                lambda d, o=options: child_cpu(["zstd", "-q", "-c", "--single-thread", *o], d),
                lambda d: child_cpu(["zstd", "-q", "-d", "-c", "--long=27"], d), repeats)
    return peers


def number_peers():
    """name -> (encode, decode, repeats) of numpy arrays."""
    peers = {}
    try:
        import blosc2
        blosc2.set_nthreads(1)
        for name, level, shuffle in [("blosc2 shuffle zstd1", 1, blosc2.Filter.SHUFFLE),
                                     ("blosc2 bitshuffle zstd5", 5, blosc2.Filter.BITSHUFFLE)]:
            peers[name] = (
                lambda a, l=level, s=shuffle: cpu(lambda: blosc2.compress2(
                    a, typesize=a.dtype.itemsize, clevel=l, filters=[s], codec=blosc2.Codec.ZSTD, nthreads=1)),
                lambda b, a: cpu(lambda: blosc2.decompress2(b)), 3)
    except ImportError:
        pass
    try:
        from pcodec import ChunkConfig, standalone
        for level in (8, 12):
            peers[f"pcodec {level}"] = (
                lambda a, l=level: cpu(lambda: standalone.simple_compress(a, ChunkConfig(compression_level=l))),
                lambda b, a: cpu(lambda: standalone.simple_decompress(b)), 1 if level == 12 else 3)
    except ImportError:
        pass
    try:
        import openzl.ext as zl

        def openzl(array):
            compressor = zl.Compressor()
            g = zl.graphs
            number = array.dtype.kind in "iuf"
            compressor.select_starting_graph(g.Compress()(compressor))
            context = zl.CCtx()
            context.ref_compressor(compressor)
            context.set_parameter(zl.CParam.FormatVersion, zl.MAX_FORMAT_VERSION)
            kind = zl.Type.Numeric if number else zl.Type.Serial
            words = array.view(f"u{array.dtype.itemsize}") if number else array.view(numpy.uint8)
            return context.compress([zl.Input(kind, words)])

        peers["OpenZL"] = (lambda a: cpu(lambda: openzl(a)),
                           lambda b, a: cpu(lambda: zl.DCtx().decompress(b)), 3)
    except ImportError:
        pass
    if shutil.which("zstd"):
        peers["zstd -3 a variable"] = (
            lambda a: child_cpu(["zstd", "-q", "-c", "--single-thread", "-3"], a.tobytes()),
            lambda b, a: child_cpu(["zstd", "-q", "-d", "-c"], b), 3)
    peers["xz -6 a variable"] = (lambda a: cpu(lambda: lzma.compress(a.tobytes(), preset=6)),
                                 lambda b, a: cpu(lambda: lzma.decompress(b)), 1)
    return peers


def variables(files):
    """name -> data of all files. Names that differ only in numbers of four digits and more are one name. Records and
    text are arrays of opaque elements."""
    found = {}

    def take(name, item):
        if not isinstance(item, h5py.Dataset) or item.dtype.kind == "O":
            return
        key = (re.sub(r"\d{4,}", "{n}", name), item.dtype.str)
        array = numpy.ascontiguousarray(item[...]).ravel()
        if array.dtype.kind not in "iuf":
            array = array.view(f"V{array.dtype.itemsize}")
        found.setdefault(key, []).append(array)

    for path in files:
        with h5py.File(path, "r") as file:
            file.visititems(take)
    arrays = {}
    for (name, _), pieces in found.items():
        whole = numpy.concatenate(pieces)
        arrays[name] = whole.astype(whole.dtype.newbyteorder("=")) if whole.dtype.kind in "iuf" else whole
    return arrays


def line(set_name, peer, raw, stored, encode, decode):
    print(f"{set_name:16} {peer:24} {raw:11} {stored:11} {raw / max(stored, 1):8.3f}  "
          f"encode {raw / 1e6 / max(encode, 1e-9):7.0f}  decode {raw / 1e6 / max(decode, 1e-9):7.0f} MB/s", flush=True)


def main():
    words = [word for word in sys.argv[1:] if word != "--variables"]
    each = len(words) + 1 < len(sys.argv)
    for word in words:
        name, directory = word.split("=", 1)
        files = sorted(f for f in glob.glob(os.path.join(directory, "*")) if os.path.isfile(f))
        data = b"".join(open(f, "rb").read() for f in files)
        for peer, (encode, decode, repeats) in general_peers().items():
            stored, encode_s = best(lambda: encode(data), repeats)
            back, decode_s = best(lambda: decode(stored), repeats)
            assert back == data, peer
            line(name, peer, len(data), len(stored), encode_s, decode_s)
        arrays = variables(files) if h5py else {}
        for peer, (encode, decode, repeats) in number_peers().items():
            raw = stored = 0
            encode_s = decode_s = 0.0
            for variable, array in arrays.items():
                if array.size == 0:
                    continue
                try:
                    coded, own_encode = best(lambda: encode(array), repeats)
                    _, own_decode = best(lambda: decode(coded, array), repeats)
                except (TypeError, ValueError, RuntimeError):  # the compressor does not take such elements
                    coded, own_encode, own_decode = array.tobytes(), 0, 0
                if each:
                    line(f"  {variable}", peer, array.nbytes, len(coded), own_encode, own_decode)
                raw += array.nbytes
                stored += len(coded)
                encode_s += own_encode
                decode_s += own_decode
            line(name, peer, raw, stored, encode_s, decode_s)
        if shutil.which("h5repack"):
            with tempfile.TemporaryDirectory() as folder:
                stored = 0
                before = os.times()
                for f in files:
                    target = os.path.join(folder, "packed.h5")
                    subprocess.run(["h5repack", "-f", "SHUF", "-f", "GZIP=6", f, target], check=True,
                                   capture_output=True)
                    stored += os.path.getsize(target)
                after = os.times()
                line(name, "h5repack shuffle+gzip 6", len(data), stored,
                     after.children_user - before.children_user, 1e9)


if __name__ == "__main__":
    main()
