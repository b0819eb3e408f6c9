#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A SIMULATION of the leader's drain on nodes with many cores, from recorded times of each block. Not a measurement.

    mcr pack -j 1 --trace ONE.json -o OUT.h5 FILE…
    mcr pack -j 2 --trace TWO.json -o OUT.h5 FILE…
    full_node.py ONE.json TWO.json         times and efficiency for 1 to 16 threads
    full_node.py --json ONE.json TWO.json

Both traces must be of the same files, on idle cores. The blocks of the first one go through the drain's pipeline again
(docs/design/containers.md), with more threads: fetch in order and one at a time, encode and verify in parallel, place in
order and one at a time, write by `--streams` threads. So the simulation has the drain's queues and its waits. It has neither the
limits of memory bandwidth and caches that threads share, nor locks: real nodes are slower, or equal.

The phases before and after the drain (inventory, plan, choice, commit) get the parallel share that both traces show (Amdahl's
law). The line of two threads compares the simulation with the second trace, which it has not seen.
"""
import argparse
import heapq
import json
import sys

THREADS = (1, 2, 4, 8, 16)
DIRECT_WRITE = 16 << 10  # smaller frames are written by the thread that places them


class Block:
    def __init__(self, entry):
        _, self.raw, self.stored, _, at = entry
        self.fetch = at[1] - at[0]
        self.encode = (at[3] - at[2]) + (at[4] - at[3])  # with the check of the encoded frame
        self.write = at[6] - at[5]


def blocks_allowed(largest, threads, streams, memory):
    """As allowed_blocks() in aggregation/pipeline/drain_pipeline.cpp. Returns (encoding, storing)."""
    encoding, storing = 2, 2
    fitting = max(0, memory - threads * 6 * largest) // (largest * 2 + largest // 8)
    if fitting <= encoding + storing:
        return encoding, storing
    encoding = max(encoding, min(encoding + fitting - encoding - storing, threads * 4))
    return encoding, min(fitting - encoding, max(streams, 1) * 2)


def drain(blocks, threads, streams, memory):
    """Returns the seconds until all blocks are written. A free thread places the next block if it can, else it fetches and
    encodes another one."""
    encoding, storing = blocks_allowed(max(block.raw for block in blocks), threads, streams, memory)
    free = [0.0] * threads  # when each thread is free
    heapq.heapify(free)
    encoded = {}  # block: when it can be placed
    writers = [0.0] * min(streams, (storing + 1) // 2)
    written = []  # ends of writes that hold a block
    fetched_until = placed_until = end = 0.0
    next_fetch = next_place = 0
    while next_place < len(blocks):
        now = heapq.heappop(free)
        written = [time for time in written if time > now]
        may_place = next_place in encoded and encoded[next_place] <= now and placed_until <= now and len(written) < storing
        may_fetch = next_fetch < len(blocks) and next_fetch - next_place < encoding and fetched_until <= now
        if may_place:
            block = blocks[next_place]
            next_place += 1
            if block.stored < DIRECT_WRITE:
                placed_until = now + block.write
                heapq.heappush(free, placed_until)
                end = max(end, placed_until)
            else:
                writers.sort()
                writers[0] = max(writers[0], now) + block.write
                written.append(writers[0])
                end = max(end, writers[0])
                heapq.heappush(free, now)
        elif may_fetch:
            block = blocks[next_fetch]
            fetched_until = now + block.fetch
            encoded[next_fetch] = fetched_until + block.encode
            heapq.heappush(free, encoded[next_fetch])
            next_fetch += 1
        else:  # waits for the next event
            events = [time for time in (fetched_until, placed_until, encoded.get(next_place, now), *free, *written) if time > now]
            heapq.heappush(free, min(events) if events else now + 1e-9)
    return end


def phases(one, two):
    """Returns {phase: (seconds with one thread, parallel share)} of all phases but the drain."""
    found = {}
    second = dict(map(tuple, two["phases"]))
    for name, seconds in one["phases"]:
        if name == "drain" or seconds <= 0:
            continue
        found[name] = seconds, max(0.0, min(1.0, 2 * (1 - second.get(name, seconds) / seconds)))
    return found


def simulate(one, two, streams, memory):
    blocks = [Block(entry) for entry in one["first_blocks"]]
    if len(blocks) != one["blocks"]:
        sys.exit(f"the trace has the times of {len(blocks)} of {one['blocks']} blocks: take a smaller set")
    rest = phases(one, two)
    lines = []
    for threads in THREADS:
        seconds = drain(blocks, threads, streams, memory)
        whole = seconds + sum(time * (1 - share + share / threads) for time, share in rest.values())
        lines.append({"threads": threads, "drain": seconds, "whole": whole, "encoding_blocks": blocks_allowed(max(b.raw for b in blocks), threads, streams, memory)[0]})
    for line in lines:
        line["drain_efficiency"] = lines[0]["drain"] / line["drain"] / line["threads"]
        line["efficiency"] = lines[0]["whole"] / line["whole"] / line["threads"]
    measured = {name: dict(map(tuple, trace["phases"]))["drain"] for name, trace in (("one", one), ("two", two))}
    return {"raw_bytes": one["raw_bytes"], "blocks": len(blocks), "phases": rest, "measured_drain": measured, "lines": lines}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("one", metavar="ONE.json", help="trace with one thread")
    parser.add_argument("two", metavar="TWO.json", help="trace of the same files with two threads")
    parser.add_argument("--streams", type=int, default=4, help="write_streams= (default 4)")
    parser.add_argument("--memory", type=int, default=256, help="leader_memory= in MiB (default 256)")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    one, two = (json.load(open(path)) for path in (options.one, options.two))
    if (one["threads"], two["threads"]) != (1, 2) or one["blocks"] != two["blocks"]:
        sys.exit("the traces must be of the same files, with one thread and with two")
    found = simulate(one, two, options.streams, options.memory << 20)
    if options.json:
        print(json.dumps(found, indent=1))
        return
    print(f"SIMULATION from recorded times: {found['raw_bytes'] / 1e6:.0f} MB in {found['blocks']} blocks; phases beside the drain:")
    for name, (seconds, share) in found["phases"].items():
        print(f"  {name:10} {1000 * seconds:8.1f} ms with one thread, parallel share {share:.2f}")
    print(f"{'threads':>7} {'drain':>10} {'efficiency':>10} {'whole':>10} {'efficiency':>10} {'blocks':>7}")
    for line in found["lines"]:
        print(f"{line['threads']:7} {1000 * line['drain']:7.1f} ms {line['drain_efficiency']:10.2f} {1000 * line['whole']:7.1f} ms {line['efficiency']:10.2f} {line['encoding_blocks']:7}")
    print(f"measured drain: one thread {1000 * found['measured_drain']['one']:.1f} ms, two {1000 * found['measured_drain']['two']:.1f} ms "
          f"({found['measured_drain']['one'] / found['measured_drain']['two']:.2f}; simulated {found['lines'][0]['drain'] / found['lines'][1]['drain']:.2f})")


if __name__ == "__main__":
    main()
