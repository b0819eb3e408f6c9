#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A MODEL of how a drain becomes faster with the threads of a node. Not a measurement: it takes the times of the blocks of a drain with one
thread, and places them on many threads, as the pipeline would.

    build/bench/sets/make_set SET --ranks 16 --variables 7 --elements 524288
    mcr pack --profile fast -j 1 --trace TRACE -o OUT.h5 SET/*.h5
    full_node.py TRACE

Blocks are fetched one at a time, and their checksums are computed one at a time, both in order. They are encoded and verified by all threads. A thread
takes the oldest block of the latest step. The model knows nothing of caches, memory, the clock of the cores and the threads that write. Three pipelines are
compared: the real one, the real one with four times as many blocks, and one in which no step waits for another block. What the last one lacks
to 1 is lost because blocks cannot be divided: at the end, threads have no block.
"""
import argparse
import heapq
import json
import sys

BLOCKS_A_THREAD = 4  # in the pipeline, as DrainPipeline::allowed_blocks() has it where memory is no limit


def seconds(blocks, in_order, threads):
    """Returns how long that many threads need. `blocks` has the seconds of each step, for each block; `in_order` says which steps take one block at a time."""
    steps = len(in_order)
    waiting = [set() for _ in range(steps)]
    busy, next_block = [False] * steps, [0] * steps
    begun = in_pipeline = 0
    idle, now, ends = threads, 0.0, []

    def next_work():
        for step in reversed(range(1, steps)):
            if in_order[step]:
                if not busy[step] and next_block[step] in waiting[step]:
                    return step, next_block[step]
            elif waiting[step]:
                return step, min(waiting[step])
        may_begin = begun < len(blocks) and in_pipeline < BLOCKS_A_THREAD * threads and not (in_order[0] and busy[0])
        return (0, begun) if may_begin else None

    while True:
        while idle and (work := next_work()):
            step, block = work
            if step == 0:
                begun, in_pipeline = begun + 1, in_pipeline + 1
            waiting[step].discard(block)
            busy[step] = True
            idle -= 1
            heapq.heappush(ends, (now + blocks[block][step], step, block))
        if not ends:
            return now
        now, step, block = heapq.heappop(ends)
        idle, busy[step], next_block[step] = idle + 1, False, block + 1
        if step + 1 < steps:
            waiting[step + 1].add(block)
        else:
            in_pipeline -= 1


def efficiency(blocks, in_order, threads):
    return sum(map(sum, blocks)) / (threads * seconds(blocks, in_order, threads))


def main():
    arguments = argparse.ArgumentParser(description="A model: the efficiency of a drain with many threads, from the trace of one with one thread.")
    arguments.add_argument("trace", help="written by `mcr pack -j 1 --trace`")
    arguments.add_argument("--threads", type=int, nargs="*", default=[2, 4, 8, 16, 32])
    arguments.add_argument("--sum", type=float, default=0.5, help="share of the checksum in the time that the trace shows as fetch (default %(default)s)")
    given = arguments.parse_args()
    with open(given.trace) as file:
        trace = json.load(file)
    if trace["threads"] != 1:
        sys.exit(f"{given.trace}: a trace of one thread is needed")
    known = []
    for *_, begins in trace["first_blocks"]:
        fetch, encode = begins[1] - begins[0], begins[4] - begins[2]
        known.append((fetch * (1 - given.sum), fetch * given.sum, encode))
    blocks = [known[i % len(known)] for i in range(trace["blocks"])]
    whole = [(sum(steps),) for steps in blocks]
    print(f"model, from {len(known)} of {len(blocks)} blocks: fetch and checksum {sum(a + b for a, b, _ in known) / len(known) * 1e3:.2f} ms, "
          f"encode and verify {sum(c for *_, c in known) / len(known) * 1e3:.2f} ms")
    print("threads  efficiency  four times as many blocks  no step waits")
    real = (True, True, False)
    for threads in given.threads:
        print(f"{threads:7}  {efficiency(blocks, real, threads):10.3f}  {efficiency(blocks * 4, real, threads):25.3f}  {efficiency(whole, (False,), threads):13.3f}")


if __name__ == "__main__":
    main()
