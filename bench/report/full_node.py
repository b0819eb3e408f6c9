# SPDX-License-Identifier: BSD-3-Clause
"""Measures how commands and restarts become faster with the threads, or with the ranks, of one node."""
import json
import os

from drawing import lines
from measure import Figure, quantile, together
from restarts import Captured

MIB = 1 << 20


def counts():
    """1, 2, 4 and so on, up to all cores."""
    cores = len(os.sched_getaffinity(0))
    doubled = [1 << i for i in range(cores.bit_length()) if 1 << i <= cores]
    return doubled if doubled[-1] == cores else [*doubled, cores]


def efficiencies(rounds, measure):
    """Calls measure(count) for every count, up and down in turn. Returns {count: [time of 1 ÷ (count × time of count)]}."""
    found = {count: [] for count in counts()}
    for i in range(rounds):
        order = counts() if i % 2 == 0 else counts()[::-1]
        seconds = {count: measure(count) for count in order}
        for count in order:
            found[count].append(seconds[1] / (count * seconds[count]))
    return found


def figures_and_line(group, title, found, asked):
    """Returns the figure of each count, and a curve for the plot. Only the greatest count is compared with what is asked."""
    most = max(found)
    figures = [Figure(group, f"{title}, {count}", values, (">=", asked) if asked and count == most else None, more_is_better=True)
               for count, values in found.items() if count > 1]
    return figures, [(count, quantile(values, 0.5), min(values), max(values)) for count, values in found.items()]


def drain_seconds(trace):
    return dict(map(tuple, json.loads(trace.read_text())["phases"]))["drain"]


def apart(place, files, profile, count):
    """Drains the same set in that many processes of one thread. They share nothing but the machine.
    Returns the seconds of a set, as if the processes had shared the work."""
    places = [place.directory(f"apart-{i}") for i in range(count)]
    together([[place.mcr, "pack", "--profile", profile, "-j", 1, "--trace", at / "trace.json", "-o", at / "packed.h5", *files] for at in places], [{}] * count)
    seconds = max(drain_seconds(at / "trace.json") for at in places) / count
    for at in places:
        place.drop(at.name)
    return seconds


def full_node(place):
    """Efficiency of 1, 2, 4 … threads: time of one thread ÷ (threads × their time)."""
    group = "A full node: time of one thread ÷ (threads × their time)"
    rounds = 1 if place.quick else 3
    files = place.make_set("full-node", ranks=16, variables=7, elements=(1 if place.quick else 8) * 65536)
    trace, unpacked = place.memory / "full-node.json", place.memory / "unpacked"
    figures, curves = [], {}

    def add(title, found, asked=None):
        more, curves[title] = figures_and_line(group, title, found, asked)
        figures.extend(more)

    for profile in ("fast", "balanced"):
        peaks, whole = [], {}

        def pack(threads):
            cost = place.pack(files, "--profile", profile, "-j", threads, "--trace", trace)
            peaks.append(cost.peak / MIB)
            whole.setdefault(threads, []).append(cost.wall)
            return drain_seconds(trace)

        add(f"drain, {profile}", efficiencies(rounds, pack), 0.8)
        add(f"whole mcr pack, {profile}",
            {count: [one / (count * time) for one, time in zip(whole[1], times)] for count, times in sorted(whole.items())}, 0.8)
        add(f"that many processes of one thread, drain, {profile}", efficiencies(rounds, lambda count: apart(place, files, profile, count)))
        figures.append(Figure(group, f"peak resident memory of mcr pack, {profile}", max(peaks), None, "MiB"))
    container = place.memory / "packed.h5"  # of the profile balanced

    def unpack(threads):
        place.drop("unpacked")
        return place.command("unpack", "-j", threads, "-d", unpacked, container).wall

    add("mcr verify, balanced", efficiencies(rounds, lambda threads: place.command("verify", "-j", threads, container).wall), 0.8)
    add("mcr unpack, balanced", efficiencies(rounds, unpack), 0.8)
    place.drop("unpacked")
    place.drop("full-node")
    return figures, {group: [lines("Efficiency against threads", "threads", "efficiency", curves)]}


def full_node_restart(place):
    """All ranks of a node read their own files at once."""
    group = "A full node, restart: time of one rank ÷ time of that many, each of which reads its own file"
    files = place.make_set("full-node", ranks=16, variables=7, elements=(1 if place.quick else 8) * 65536)
    captured = Captured(place, "full-node-captured", files)
    figures = []
    for title, restart, asked in (("container, balanced", lambda count: captured.restart(ranks=count), 0.8),
                                  ("native files", lambda count: captured.natives(files[:count]), None)):
        at_once = {count: [] for count in counts() if count <= len(files)}
        for _ in range(1 if place.quick else 3):
            seconds = {count: max(rank["seconds"] for rank in restart(count).ranks) for count in at_once}
            for count in at_once:
                at_once[count].append(seconds[1] / seconds[count])
        figures += figures_and_line(group, title, at_once, asked)[0]
    place.drop("full-node")
    return figures, {}
