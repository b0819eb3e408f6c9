#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A MODEL of checkpoints on many nodes, from measured costs of one node. Not a measurement: what a machine is assumed to
be, and what was measured, is printed before the results.

    many_nodes.py                          tables, with the assumptions printed first
    many_nodes.py --plot FILE.svg          draws them (needs matplotlib)
    many_nodes.py --json

First question: what does one checkpoint cost, from 1 to 100,000 ranks? Second: which share of its time does a job
compute, if nodes fail? Four ways are compared:

  native      each rank writes its file to storage and waits for it
  storage     mcr: each rank waits for a copy; every set goes to storage behind the program
  flush=N     every N-th set goes to storage, the others stay in node memory, compressed; N is the best of 1 to 64
  replicas    the same, and each node's finished container is copied to another node

Failures. All nodes of a job fail F = nodes / (MTBF of one node) times a second. Some failures leave the memory of the
nodes intact (`--kept`: a rank dies, a job is killed), some take one node, some several at a time (`--several`: a rack).
A failure costs the work since the newest set that is left, and a restart. With an interval t, a wait C at each
checkpoint, and a time S from the close until the set is safe against this failure, the work lost is

  t/2 + S                  if every set is made safe: the failure finds the newest set unsafe with probability S/t, and costs t then
  N t/2 + S                if every N-th set is

and the job computes the share 1 - C/(t + C) - (sum over kinds of failures) F (work lost + restart) of its time. The interval
is the best one, but not shorter than what the leader needs for a set. To first order in the waste, as Young's and Daly's
intervals are; below a share of 0.5 the figure means little.
"""

import argparse
import json
import math
import sys

YEAR = 365.25 * 24 * 3600
MOST_SKIPPED = 64  # the largest N of flush=N that is tried

MEASURED = {
    # name: (default, what it is, where it was measured)
    "copy_speed": (7.2e9, "bytes/s that one rank copies into the stage", "docs/performance.md: 512 MiB in 0.074 s"),
    "encode_speed": (307e6, "bytes/s that one core of the leader drains", "docs/performance.md, The leader: balanced, EPYC"),
    "decode_speed": (687e6, "bytes/s that one rank decodes", "docs/compression.md: balanced, set solver"),
    "ratio": (1.4, "raw / stored", "docs/compression.md: CoMD 1.34, Enzo 1.26 and 1.66"),
    "frame_bytes": (1 << 20, "raw bytes in a frame", "docs/design/containers.md"),
}
ASSUMED = {
    "ranks_a_node": (64, "ranks on a node"),
    "bytes": (1e9, "bytes of one rank's checkpoint"),
    "leader_cores": (4, "cores that the leader gets"),
    "node_copy_speed": (100e9, "bytes/s that all ranks of a node copy together"),
    "node_bandwidth": (2e9, "bytes/s between one node and storage"),
    "total_bandwidth": (200e9, "bytes/s that storage takes in all"),
    "link": (12.5e9, "bytes/s between two nodes"),
    "create_seconds": (1e-3, "seconds that a create takes on storage"),
    "create_rate": (20e3, "creates a second that storage takes in all"),
    "table_bytes": (64, "bytes about one frame that a group's first leader gets from the others"),
    "kept": (0.5, "share of failures that leave the memory of all nodes"),
    "several": (0.05, "share of failures that take several nodes at a time"),
    "start_seconds": (60, "seconds until a job that failed runs again"),
}


def creates(count, a):
    """Seconds in which `count` files are created, all at once."""
    return max(a.create_seconds, count / a.create_rate)


class Checkpoint:
    """One checkpoint of `ranks` ranks; times in seconds, sizes in bytes."""

    def __init__(self, ranks, a):
        self.nodes = math.ceil(ranks / a.ranks_a_node)
        here = min(ranks, a.ranks_a_node)
        raw = here * a.bytes  # of a node
        self.raw, self.stored = raw, raw / a.ratio
        bandwidth = min(a.node_bandwidth, a.total_bandwidth / self.nodes)
        copy = raw / min(here * a.copy_speed, a.node_copy_speed)
        decode = a.bytes / a.decode_speed
        self.creates = creates(ranks, a)
        self.native = self.creates + raw / bandwidth
        self.wait = self.creates + copy
        self.wait_without_stubs = copy
        self.encode = raw / (a.leader_cores * a.encode_speed)
        self.drain = max(self.encode, self.stored / bandwidth) + creates(self.nodes, a)
        self.replicate = max(self.encode, self.stored / a.link)
        self.native_restart = raw / bandwidth
        self.restart = max(self.stored / bandwidth, decode)
        self.restart_from_buddy = max(self.stored / a.link, decode)
        self.restart_from_memory = decode

    def group(self, nodes, a):
        """Of a container for `nodes` nodes: files of a set, seconds to create them, bytes of tables that cross the network
        to a group's first leader."""
        nodes = min(nodes, self.nodes)
        files = math.ceil(self.nodes / nodes)
        frames = math.ceil(self.raw / a.frame_bytes)
        return {"containers": files, "creates": creates(files, a), "table_bytes": (nodes - 1) * frames * a.table_bytes}


def best(share, shortest):
    """(share, interval) at the best interval of at least `shortest` seconds."""
    tried = [max(shortest, 1) * 1.05 ** step for step in range(300)]
    return max((share(t), t) for t in tried)


def useful(c, mtbf, a):
    """way -> (share of the time that the job computes, interval in seconds, N)."""
    failures = c.nodes / mtbf
    one = 1 - a.kept - a.several

    def of(wait, lost_of_kinds):
        def share(t):
            lost = sum(part * (work(t) + restart + a.start_seconds) for part, work, restart in lost_of_kinds)
            return 1 - wait / (t + wait) - failures * lost
        return share

    half = lambda t: t / 2  # noqa: E731
    since_drain = lambda t: t / 2 + c.drain  # noqa: E731
    ways = {
        "native": (*best(of(c.native, [(1, half, c.native_restart)]), c.native), 1),
        "storage": (*best(of(c.wait, [(a.kept, half, c.restart), (1 - a.kept, since_drain, c.restart)]), c.drain), 1),
    }
    for way in ("flush", "replicas"):
        tried = []
        for n in range(1, MOST_SKIPPED + 1):
            since_flush = lambda t, n=n: n * t / 2 + c.drain  # noqa: E731
            since_replica = lambda t: t / 2 + c.replicate  # noqa: E731
            alone = (one, since_flush, c.restart) if way == "flush" else (one, since_replica, c.restart_from_buddy)
            kinds = [(a.kept, half, c.restart_from_memory), alone, (a.several, since_flush, c.restart)]
            behind = c.encode if way == "flush" else c.replicate
            tried.append((*best(of(c.wait, kinds), max(behind, c.drain / n)), n))
        ways[way] = max(tried)
    return ways


def size(text):
    """Number with an optional unit K, M, G, T (powers of 1000)."""
    units = {"K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
    return float(text[:-1]) * units[text[-1]] if text[-1:] in units else float(text)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, (default, what, *where) in {**MEASURED, **ASSUMED}.items():
        parser.add_argument("--" + name.replace("_", "-"), type=size, default=default, metavar="X",
                            help=f"{what} ({default:g}; {'measured, ' + where[0] if where else 'assumed'})")
    parser.add_argument("--json", action="store_true", help="print the results as JSON")
    parser.add_argument("--plot", metavar="FILE", help="draw them (needs matplotlib)")
    a = parser.parse_args()
    if a.kept < 0 or a.several < 0 or a.kept + a.several > 1:
        parser.error("--kept and --several are shares, together at most 1")
    return a


def results(a):
    counts = sorted({round(10 ** (step / 4)) for step in range(21)})
    sizes = (100, 1000, 10000)  # nodes
    years = (1, 2, 5, 10, 20, 50)
    groups = (1, 10, 100, 1000)
    checkpoints = {ranks: Checkpoint(ranks, a) for ranks in counts}
    largest = checkpoints[counts[-1]]
    return {
        "model": "a model, no measurement",
        "inputs": {name: getattr(a, name) for name in {**MEASURED, **ASSUMED}},
        "checkpoints": [{"ranks": ranks, "nodes": c.nodes, "native wait": c.native, "wait": c.wait,
                         "wait, stubs=late": c.wait_without_stubs, "replicated": c.wait + c.replicate,
                         "durable": c.wait + c.drain, "native restart": c.native_restart, "restart": c.restart,
                         "from another node": c.restart_from_buddy, "creates": c.creates} for ranks, c in checkpoints.items()],
        "groups": [{"nodes in a group": nodes, **largest.group(nodes, a)} for nodes in groups],
        "memory": {"raw": 1.0, "own container": 1 / a.ratio, "replicas=1": 1 / a.ratio, "replicas=xor:8": 1 / a.ratio / 7},
        "useful": [{"nodes": nodes, "years": mtbf, **{way: {"share": share, "interval": interval, "N": n}
                    for way, (share, interval, n) in useful(Checkpoint(nodes * a.ranks_a_node, a), mtbf * YEAR, a).items()}}
                   for nodes in sizes for mtbf in years],
    }


def show(result, a):
    print("A model, not a measurement.\n\nmeasured:")
    for name, (_, what, where) in MEASURED.items():
        print(f"  {getattr(a, name):<12g} {what} ({where})")
    print("assumed:")
    for name, (_, what) in ASSUMED.items():
        print(f"  {getattr(a, name):<12g} {what}")
    print("\none checkpoint, seconds:")
    names = [name for name in result["checkpoints"][0] if name not in ("ranks", "nodes")]
    print(f"{'ranks':>8} {'nodes':>6}  " + "  ".join(f"{name:>17}" for name in names))
    for row in result["checkpoints"][::2]:
        print(f"{row['ranks']:>8} {row['nodes']:>6}  " + "  ".join(f"{row[name]:17.3f}" for name in names))
    last = result["checkpoints"][-1]
    print(f"\none container for several nodes, {last['nodes']} nodes:")
    for row in result["groups"]:
        print(f"  {row['nodes in a group']:>5} nodes in a group: {row['containers']:>5} containers, {row['creates']:.3f} s for their creates, "
              f"{row['table_bytes'] / 1e6:.1f} MB of tables to the first leader")
    print("\nmemory of a node for one set, in raw bytes of the set: " +
          ", ".join(f"{name} {share:.2f}" for name, share in result["memory"].items()))
    print("\nshare of the time that a job computes (best interval in seconds; N):")
    ways = ("native", "storage", "flush", "replicas")
    print(f"{'nodes':>6} {'MTBF of a node':>15}  " + "  ".join(f"{way:>20}" for way in ways))
    for row in result["useful"]:
        cells = []
        for way in ways:
            found = row[way]
            text = f"{found['share']:.3f} ({found['interval']:.0f}" + (f"; {found['N']})" if way in ("flush", "replicas") else ")")
            cells.append(f"{text if found['share'] > 0 else 'no progress':>20}")
        print(f"{row['nodes']:>6} {row['years']:>9} years  " + "  ".join(cells))


def draw(result, file):
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "mcr"})  # text as text; the same file each time
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.5))
    rows = result["checkpoints"]
    for name in ("native wait", "wait", "replicated", "durable", "native restart", "restart", "from another node"):
        left.loglog([row["ranks"] for row in rows], [row[name] for row in rows], label=name)
    left.set(xlabel="ranks", ylabel="seconds", title="One checkpoint (model, not measured)")
    left.legend(fontsize="small")
    for way, style in (("native", ":"), ("storage", "--"), ("flush", "-."), ("replicas", "-")):
        for nodes, colour in ((1000, "tab:blue"), (10000, "tab:red")):
            of = [row for row in result["useful"] if row["nodes"] == nodes]
            right.semilogx([row["years"] for row in of], [max(row[way]["share"], 0) for row in of], style, color=colour,
                           label=f"{way}, {nodes} nodes")
    right.set(xlabel="MTBF of a node, years", ylabel="share of time that computes", title="Failures (model, not measured)", ylim=(0, 1))
    right.legend(fontsize="small")
    figure.tight_layout()
    figure.savefig(file, metadata={"Date": None} if file.endswith(".svg") else None)


def main():
    a = arguments()
    result = results(a)
    if a.plot:
        draw(result, a.plot)
    if a.json:
        json.dump(result, sys.stdout, indent=1)
        print()
    else:
        show(result, a)


if __name__ == "__main__":
    main()
