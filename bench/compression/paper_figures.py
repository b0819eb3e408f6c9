#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the figures of mcrEngine's evaluation with our containers and its codecs (profile `paper`). Varied are the
scheme, the number of merged ranks, the block size of the block schemes, and one codec or two in a row. Also shows what
merging alone gains: the same codecs on each rank file and on all files together.

    paper_figures.py MCR OUT.svg NAME=DIRECTORY...

Ratios compare whole containers with the rank files. They do not depend on the machine. Prints the figures as tables,
too."""
import math
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "report"))
import drawing

SCHEMES = ("agnostic", "agnostic-block", "aware", "aware-block")
BLOCKS = (4, 16, 64, 256, 1024)  # KiB
ONE_PASS = ("--codec", "double=fpc", "--codec", "float=fpzip(1d)", "--codec", "integer=lz4", "--codec", "bytes=lz4")
WIDTH, LEFT, TOP, HEIGHT, LINE = 760, 150, 46, 300, 13
STYLE = "text{font:11px sans-serif;fill:#333}.title{font-weight:bold}line{stroke:#ddd}polyline{fill:none;stroke-width:2}"


class Packer:
    def __init__(self, program):
        self.program = program

    def size(self, files, *options):
        """Returns the size of a container of `files` in bytes."""
        with tempfile.TemporaryDirectory() as place:
            target = pathlib.Path(place) / "container.h5"
            subprocess.run([self.program, "pack", "-j", "1", "--no-verify", "-o", target, *options, *files], check=True,
                           stdout=subprocess.DEVNULL)
            return target.stat().st_size

    def ratio(self, files, *options, group=None):
        """Returns the size of all containers if `size` consecutive files are merged into each."""
        group = group or len(files)
        raw = sum(file.stat().st_size for file in files)
        return raw / sum(self.size(files[i:i + group], *options) for i in range(0, len(files), group))


def table(title, head, rows):
    print(f"\n{title}\n\n| set | " + " | ".join(head) + " |\n|" + " --- |" * (len(head) + 1))
    for name, values in rows.items():
        print(f"| {name} | " + " | ".join(values) + " |")


def heading(title, names):
    parts, x = [drawing.text(8, 14, title, extra='class="title"')], LEFT
    for i, name in enumerate(names):
        parts += [f'<rect x="{x}" y="22" width="10" height="10" fill="{drawing.COLOURS[i % 6]}"/>', drawing.text(x + 14, 31, name)]
        x += 34 + 6.6 * len(name)
    return parts


def bars(title, names, rows):
    """rows: {set: [ratio for each name]}; a set's bars are drawn relative to its best ratio, because the ratios of sets
    differ much."""
    parts, y = heading(title, names), TOP
    for name, values in rows.items():
        parts.append(drawing.text(LEFT - 8, y + LINE * len(values) / 2 + 3, name, "end"))
        for i, value in enumerate(values):
            width = value / max(values) * (WIDTH - LEFT - 70)
            parts += [f'<rect x="{LEFT}" y="{y}" width="{width:.1f}" height="{LINE - 3}" fill="{drawing.COLOURS[i % 6]}"/>',
                      drawing.text(LEFT + width + 6, y + 9, f"{value:.3f}")]
            y += LINE
        y += 8
    return parts, y


def lines(title, x_name, series):
    """series: {set: [(x, per cent)]}, x by powers of two."""
    points = [point for line in series.values() for point in line]
    xs = sorted({x for x, _ in points})
    low, high = min(0, *(y for _, y in points)), max(1, *(y for _, y in points))
    to_x = lambda x: LEFT + (math.log2(x) - math.log2(xs[0])) / (math.log2(xs[-1] / xs[0]) or 1) * (WIDTH - LEFT - 40)
    to_y = lambda y: HEIGHT - 40 - (y - low) / (high - low) * (HEIGHT - 40 - TOP)
    parts = heading(title, series)
    for y in drawing.ticks(low, high):
        parts += [f'<line x1="{LEFT}" x2="{WIDTH - 40}" y1="{to_y(y):.1f}" y2="{to_y(y):.1f}"/>',
                  drawing.text(LEFT - 8, to_y(y) + 4, f"{y:+.3g} %", "end")]
    parts += [drawing.text(to_x(x), HEIGHT - 22, x, "middle") for x in xs] + [drawing.text(WIDTH - 40, HEIGHT - 8, x_name, "end")]
    for i, line in enumerate(series.values()):
        way = " ".join(f"{to_x(x):.1f},{to_y(y):.1f}" for x, y in line)
        parts.append(f'<polyline points="{way}" stroke="{drawing.COLOURS[i % 6]}"/>')
    return parts, HEIGHT


def group_sizes(count):
    sizes = [1]
    while sizes[-1] * 2 <= count:
        sizes.append(sizes[-1] * 2)
    return sizes


def scheme_figure(packer, sets):
    ratios = {name: [packer.ratio(files, "--profile", "paper", "--scheme", s) for s in SCHEMES] for name, files in sets.items()}
    table("Scheme: ratio of all ranks merged", SCHEMES, {n: [f"{r:.3f}" for r in row] for n, row in ratios.items()})
    return bars("Scheme: ratio, all ranks in a group", SCHEMES, ratios)


def group_figure(packer, sets):
    series, rows = {}, {}
    sizes = max((group_sizes(len(files)) for files in sets.values()), key=len)
    for name, files in sets.items():
        gains = []
        for size in group_sizes(len(files)):
            aware, agnostic = (packer.ratio(files, "--profile", "paper", "--scheme", s, group=size) for s in ("aware", "agnostic"))
            gains.append((size, 100 * (aware / agnostic - 1)))
        series[name] = gains
        rows[name] = [f"{y:+.1f} %" for _, y in gains]
    table("Ranks in a group: aware above agnostic", [str(s) for s in sizes], rows)
    return lines("Ranks in a group: aware above agnostic", "ranks", series)


def block_figure(packer, sets):
    series, rows = {}, {}
    for name, files in sets.items():
        plain = packer.ratio(files, "--profile", "paper", "--scheme", "aware")
        gains = [(b, 100 * (packer.ratio(files, "--profile", "paper", "--scheme", "aware-block", "--block", f"{b}KiB") / plain - 1))
                 for b in BLOCKS]
        series[name] = gains
        rows[name] = [f"{y:+.1f} %" for _, y in gains]
    table("Block: aware-block above aware", [f"{b} KiB" for b in BLOCKS], rows)
    return lines("Block: aware-block above aware", "KiB", series)


def pass_figure(packer, sets):
    names = ["first pass", "both passes", "balanced"]
    ratios = {name: [packer.ratio(files, "--profile", "paper", *ONE_PASS), packer.ratio(files, "--profile", "paper"),
                     packer.ratio(files, "--profile", "balanced")] for name, files in sets.items()}
    table("Passes: ratio, aware", names, {n: [f"{r:.3f}" for r in row] for n, row in ratios.items()})
    return bars("Passes: FPC, fpzip and LZ; then deflate; ours beside them", names, ratios)


def merge_table(packer, sets):
    rows = {}
    for name, files in sets.items():
        rows[name] = []
        for profile in ("paper", "balanced"):
            alone, merged = (packer.ratio(files, "--profile", profile, group=g) for g in (1, len(files)))
            rows[name] += [f"{alone:.3f}", f"{merged:.3f}", f"{100 * (merged / alone - 1):+.1f} %"]
    table("The merge's own share: each file alone, all merged, gain",
          [f"{p} {what}" for p in ("`paper`", "`balanced`") for what in ("alone", "merged", "gain")], rows)


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    packer = Packer(sys.argv[1])
    sets = {}
    for word in sys.argv[3:]:
        name, directory = word.split("=", 1)
        sets[name] = sorted(f for f in pathlib.Path(directory).iterdir() if f.is_file() and not f.name.startswith("."))
    out, y = [], 0
    for figure in (scheme_figure, group_figure, block_figure, pass_figure):
        parts, height = figure(packer, sets)
        out.append(f'<g transform="translate(0 {y})">{"".join(parts)}</g>')
        y += height + 16
    merge_table(packer, sets)
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{y}"><style>{STYLE}</style>'
            '<rect width="100%" height="100%" fill="#fff"/>')
    pathlib.Path(sys.argv[2]).write_text("\n".join([head, *out]) + "</svg>\n", encoding="utf-8")


if __name__ == "__main__":
    main()
