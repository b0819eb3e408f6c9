#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares sizes of frames with bench/sizes.csv. The sizes are the same on every machine, so every change of a ratio
shows as a diff of that file and is reviewed. The file has the sizes of plain frames under each profile, and of one
solid frame with all numbers of the set (`balanced` uses solid frames if they are smaller).

    check_sizes.py COMPRESSION_BENCH SIZES.CSV [--update] NAME=DIRECTORY...

If zstd has another version than the one with which the file was made, sizes may differ by two per cent. Sets that are
in the file, but not on the command line, are left as they are."""

import csv
import subprocess
import sys

PROFILES = "fast,balanced,max,portable"


def parse(lines):
    """The first line of the output names the version of zstd; a header may follow."""
    rows = [row for row in csv.reader(lines[1:]) if row and row[0] != "set"]
    return lines[0], {(row[0], row[1]): (int(row[2]), int(row[3])) for row in rows}


def measure(program, sets):
    command = [program, "--csv", "--profile", PROFILES, "--solid", *sets]
    return parse(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines())


def read(path):
    try:
        with open(path, encoding="utf-8") as file:
            return parse(file.read().splitlines())
    except FileNotFoundError:
        return "", {}


def write(path, version, sizes):
    with open(path, "w", newline="", encoding="utf-8") as file:
        file.write(version + "\n")
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["set", "profile", "raw_bytes", "frame_bytes"])
        for key in sorted(sizes):
            writer.writerow([*key, *sizes[key]])


def main():
    arguments = [word for word in sys.argv[1:] if word != "--update"]
    program, path, sets = arguments[0], arguments[1], arguments[2:]
    known_version, known = read(path)
    version, now = measure(program, sets)
    if "--update" in sys.argv:
        write(path, version, known | now)
        return 0
    allowed = 0 if version == known_version else 0.02
    wrong = [key for key in now
             if key not in known or abs(now[key][1] - known[key][1]) > allowed * known[key][1]]
    for key in wrong:
        print(f"{key[0]} {key[1]}: {now[key][1]} bytes, sizes.csv says "
              f"{known[key][1] if key in known else 'nothing'}")
    if wrong:
        print("If that is meant: the same command with --update, and commit the difference.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
