#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""nvCOMP's codecs on the raw frames that `gpu_bench --raw` wrote: ratio, and GB/s with the transfers to and from the card.

    python3 -m pip install nvidia-nvcomp-cu12 numpy
    nvcomp_codecs.py FILE.raw…

Each frame is one item of a batch. Times are wall-clock, the shortest of three runs: host memory -> card -> encode -> host memory.
"""
import struct
import sys
import time
from pathlib import Path

import numpy
from nvidia import nvcomp

CODECS = ("Bitcomp", "Cascaded", "ANS", "LZ4", "Snappy", "GDeflate", "Zstd")
TYPES = {1: "|u1", 2: "<u2", 4: "<u4", 8: "<u8"}
BATCH = 64 << 20


def batches(path):
    """Lists of frames of one element size, of about BATCH bytes: (element size, arrays)."""
    data = Path(path).read_bytes()
    groups, at = {}, 0
    while at < len(data):
        size, element = struct.unpack_from("<QQ", data, at)
        element = element if element in TYPES else 1
        groups.setdefault(element, []).append(numpy.frombuffer(data, TYPES[element], size // element, at + 16))
        at += 16 + size
    for element, frames in groups.items():
        batch, bytes_in_batch = [], 0
        for frame in frames:
            batch.append(frame)
            bytes_in_batch += frame.nbytes
            if bytes_in_batch >= BATCH:
                yield element, batch
                batch, bytes_in_batch = [], 0
        if batch:
            yield element, batch


def shortest(work, runs=3):
    times = []
    for _ in range(runs):
        begin = time.perf_counter()
        result = work()
        times.append(time.perf_counter() - begin)
    return min(times), result


def codec_for(name, element):
    if name in ("Bitcomp", "Cascaded"):
        return nvcomp.Codec(algorithm=name, data_type=TYPES[element])
    return nvcomp.Codec(algorithm=name)


def measure(name, path):
    raw = stored = encode = decode = 0
    for element, frames in batches(path):
        codec = codec_for(name, element)
        seconds, compressed = shortest(lambda: [item.cpu() for item in codec.encode([a.cuda() for a in nvcomp.as_arrays(frames)])])
        encode += seconds
        seconds, back = shortest(lambda: [item.cpu() for item in codec.decode([a.cuda() for a in compressed])])
        decode += seconds
        for frame, again in zip(frames, back):
            if numpy.asarray(again).tobytes() != frame.tobytes():
                sys.exit(f"{name} is not lossless on {path}")
        raw += sum(frame.nbytes for frame in frames)
        stored += sum(numpy.asarray(item).nbytes for item in compressed)
    return raw, stored, encode, decode


def main():
    print(f"# nvCOMP {nvcomp.__version__}")
    for path in sys.argv[1:]:
        for name in CODECS:
            try:
                raw, stored, encode, decode = measure(name, path)
            except (RuntimeError, ValueError) as error:
                print(f"{Path(path).stem:16} {name:9} does not run: {error}")
                continue
            print(f"{Path(path).stem:16} {name:9} ratio {raw / stored:7.3f}  encode GB/s {raw / 1e9 / encode:6.2f}  "
                  f"decode GB/s {raw / 1e9 / decode:6.2f}", flush=True)


if __name__ == "__main__":
    main()
