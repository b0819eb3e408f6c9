# SPDX-License-Identifier: BSD-3-Clause
"""Compares a run's figures with the last run that was kept in bench/history. There is one file for each kept run."""
import json
import pathlib
import re

DIRECTORY = pathlib.Path(__file__).resolve().parents[1] / "history"
LEAST_CHANGE = 0.02  # smaller changes count as none, even if the quartiles of both runs lie apart


def is_same_machine(one, other):
    return (one["processor"], one["cores"]) == (other["processor"], other["cores"])


def last_kept(machine, directory=DIRECTORY):
    """Returns the newest kept run of this kind of machine; else the newest of any; else None."""
    runs = [json.loads(path.read_text()) for path in sorted(directory.glob("*.json"))]
    runs.sort(key=lambda run: (is_same_machine(run["machine"], machine), run["machine"]["date"]))
    return runs[-1] if runs else None


def keep(results, directory=DIRECTORY):
    """Writes the results into the history. Returns the path."""
    machine = results["machine"]
    name = re.sub(r"[^a-z0-9]+", "-", f"{machine['processor']} {machine['cores']}".lower()).strip("-")
    directory.mkdir(exist_ok=True)
    path = directory / f"{machine['date'][:19].replace(':', '')}-{name}.json"
    path.write_text(json.dumps(results, indent=1) + "\n")
    return path


def is_worse(now, before):
    """True if the middle halves of the rounds do not overlap, this run's is the worse one, and the medians differ by
    more than LEAST_CHANGE. Both: Figure.to_json()."""
    sign = 1 if now["less_is_better"] else -1
    low, high = (now["low"], before["high"]) if sign > 0 else (before["low"], now["high"])
    return low > high and sign * (now["value"] - before["value"]) > LEAST_CHANGE * abs(before["value"])


def compare(figures, kept):
    """Returns {(group, title): (the figure of the kept run, True if this run's is worse)} for figures that both have."""
    earlier = {(one["group"], one["title"]): one for one in kept["figures"]} if kept else {}
    found = {}
    for figure in figures:
        key = figure.group, figure.title
        if key in earlier:
            found[key] = earlier[key], is_worse(figure.to_json(), earlier[key])
    return found
