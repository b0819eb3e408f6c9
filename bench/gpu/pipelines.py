#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Which pipelines code the bytes of sets, and which share of them the kernels for GPUs take, for docs/design/gpu-kernels.md.

    pipelines.py [--mcr PATH] [--all] NAME=DIRECTORY...

Packs the rank files of each directory with the profiles `fast` and `balanced`, and adds up raw bytes by `mcr ls -v`. NAME may be given several
times. --all prints each pipeline, not only the kinds."""

import collections
import json
import os
import re
import subprocess
import sys
import tempfile

TRANSFORMS = {"structure_split", "ordered_int", "delta", "zigzag", "transpose", "lorenzo"}
CODERS = {"class_coder", "planes", "top_bits", "entropy", "dictionary"}


def kind(pipeline):
    """(what the bytes need, encoded by kernels, decoded by kernels)"""
    steps = [(step.split("(")[0], step) for step in pipeline.split("|")]
    names = [name for name, _ in steps]
    if names[-1] in ("zstd", "zlib", "lz4"):
        return "strings (zstd)", False, False
    if names == ["solid"]:
        return "solid frames", False, False
    if names[-1] in CODERS and set(names[:-1]) <= TRANSFORMS:
        contexts = "contexts" in steps[-1][1]
        front = "lorenzo, " if "lorenzo" in names else ""
        return front + names[-1] + (" with contexts" if contexts else ""), True, not contexts
    return names[-1], False, False


def bytes_by_pipeline(mcr, profile, directory):
    files = sorted(os.path.join(directory, name) for name in os.listdir(directory))
    with tempfile.TemporaryDirectory() as work:
        container = os.path.join(work, "set.h5")
        subprocess.run([mcr, "pack", "-f", "-o", container, "--profile", profile, *files], check=True, stdout=subprocess.DEVNULL)
        listing = subprocess.run([mcr, "ls", "-v", "--json", container], check=True, capture_output=True, text=True).stdout
    found = collections.Counter()
    for variable in json.loads(listing)[0]["variables"]:
        if not variable["linked"]:  # its bytes are those of solid frames
            found[re.sub(r"each=[^)|,]*", "each", variable["pipeline"])] += variable["raw_bytes"]
    return found


def main(arguments):
    mcr = "mcr"
    if arguments[:1] == ["--mcr"]:
        mcr, arguments = arguments[1], arguments[2:]
    each = "--all" in arguments
    sets = [argument.split("=", 1) for argument in arguments if argument != "--all"]
    if not sets or any(len(pair) != 2 for pair in sets):
        print(__doc__)
        return 2
    for profile in ("fast", "balanced"):
        by_name = collections.defaultdict(collections.Counter)
        for name, directory in sets:
            by_name[name] += bytes_by_pipeline(mcr, profile, directory)
        names = list(by_name)
        print(f"| {profile}, % of raw bytes | " + " | ".join(names) + " |\n| --- |" + " --- |" * len(names))
        kinds = collections.defaultdict(collections.Counter)
        totals = {name: sum(by_name[name].values()) for name in names}
        for name in names:
            for pipeline, size in by_name[name].items():
                what, encoded, decoded = kind(pipeline)
                kinds[pipeline if each else what][name] += size
                kinds["**encoded by kernels**"][name] += size * encoded
                kinds["**decoded by kernels**"][name] += size * decoded
        share = lambda what: " | ".join(f"{100 * kinds[what][name] / totals[name]:.1f}" for name in names)
        for what in sorted(kinds, key=lambda what: (what.startswith("**"), -sum(kinds[what][n] / totals[n] for n in names))):
            print(f"| {what} | {share(what)} |")
        print()
    return 0


sys.exit(main(sys.argv[1:]))
