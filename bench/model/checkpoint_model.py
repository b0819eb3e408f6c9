#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""PCCR's performance model of a checkpoint, with measured speed and ratio of codecs as input. A MODEL, not a
measurement.

p processes write D bytes each to storage that gives one process at most b and all together at most B bytes
a second, so that one process gets x(p) = min(b, B/p). Compression runs at s bytes a second per process with
ratio r; the pipeline works in blocks of d bytes.

  uncompressed        T_u(p) = D / x
  serial compressed   T_s(p) = D / s + D / (r x)
  pipelined           T_p(p) = max(D / s, D / (r x)) + min(d / s, d / (r x))      (fill of the first block)
  mcr                 the application waits D / m (memory copy, m bytes a second); T_p passes behind it

  saturation point    k  = B / b                    from k processes on the storage is shared
  beneficial point    p0 = smallest p at which compressing is faster than not:
                      serial    x(p) < s (1 - 1/r)
                      pipelined x(p) < s
"""

import argparse
import json
import math
import sys


def share(p, one, all_):
    """Bandwidth of each of p processes, in bytes a second."""
    return min(one, all_ / p)


def times(p, a):
    """The four times in seconds for p processes."""
    x = share(p, a.process_bandwidth, a.total_bandwidth)
    encode, write = a.bytes / a.speed, a.bytes / (a.ratio * x)
    block = a.block / a.bytes
    return {
        "uncompressed": a.bytes / x,
        "serial compressed": encode + write,
        "pipelined": max(encode, write) + min(encode, write) * block,
        "mcr, application waits": a.bytes / a.copy_speed,
    }


def beneficial_point(a, pipelined):
    """The smallest number of processes at which compression pays; None if it never does."""
    limit = a.speed if pipelined else a.speed * (1 - 1 / a.ratio)
    if limit <= 0 or a.ratio <= 1:
        return None
    if a.process_bandwidth < limit:
        return 1
    return math.floor(a.total_bandwidth / limit) + 1


def size(text):
    """Number with an optional unit K, M, G, T (powers of 1000)."""
    units = {"K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
    return float(text[:-1]) * units[text[-1]] if text[-1:] in units else float(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bytes", type=size, default=1e9, help="D, bytes of one process (1G)")
    parser.add_argument("--process-bandwidth", type=size, default=1e9, help="b, bytes/s (1G)")
    parser.add_argument("--total-bandwidth", type=size, default=100e9, help="B, bytes/s (100G)")
    parser.add_argument("--speed", type=size, required=True, help="s, measured encode speed, bytes/s")
    parser.add_argument("--ratio", type=float, required=True, help="r, measured compression ratio")
    parser.add_argument("--copy-speed", type=size, required=True, help="m, measured speed of the stage, bytes/s")
    parser.add_argument("--block", type=size, default=1 << 20, help="d, pipeline block (1 MiB)")
    parser.add_argument("--json", action="store_true", help="print the curves as JSON")
    parser.add_argument("--plot", metavar="FILE", help="draw them (needs matplotlib)")
    a = parser.parse_args()

    counts = [round(10 ** (i / 10)) for i in range(51)]  # 1 to 100,000
    rows = [{"processes": p, **times(p, a)} for p in counts]
    result = {
        "model": "PCCR; a model, no measurement",
        "saturation_point_k": a.total_bandwidth / a.process_bandwidth,
        "beneficial_point_p0": {"serial": beneficial_point(a, False), "pipelined": beneficial_point(a, True)},
        "rows": rows,
    }
    if a.plot:
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots(figsize=(7, 4.5))
        for name in times(1, a):
            axes.loglog(counts, [row[name] for row in rows], label=name)
        axes.axvline(result["saturation_point_k"], color="grey", linestyle=":", label="saturation point k")
        axes.set(xlabel="processes", ylabel="seconds", title="Checkpoint time (model, not measured)")
        axes.legend()
        figure.tight_layout()
        figure.savefig(a.plot)
    if a.json:
        json.dump(result, sys.stdout, indent=1)
        print()
        return
    print(f"model, not measured: k = {result['saturation_point_k']:.0f} processes, p0 = {result['beneficial_point_p0']}")
    names = list(times(1, a))
    print(f"{'processes':>10}  " + "  ".join(f"{n:>24}" for n in names))
    for row in rows[::5]:
        print(f"{row['processes']:>10}  " + "  ".join(f"{row[n]:>22.3f} s" for n in names))


if __name__ == "__main__":
    main()
