#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws ratio against speed, with the Pareto front, from the output of compression_bench and peers.py:

    plot.py OUT.svg [--decode] FILE...        one panel for each set; ours are filled

Writes the SVG as text, without a library."""
import html
import math
import re
import sys

LINE = re.compile(r"^(\S+)\s+(\S.*?)\s+(\d+)\s+(\d+)\s+[\d.]+\s+encode\s+(\d+)\s+decode\s+(\d+) MB/s")
OURS = ("fast", "balanced", "max", "portable", "paper")
WIDTH, HEIGHT, MARGIN, COLUMNS = 330, 250, 46, 3


def read(paths):
    """set -> [(name, ratio, encode, decode, is ours)]"""
    sets = {}
    for path in paths:
        for line in open(path, encoding="utf-8"):
            found = LINE.match(line)
            if not found:
                continue
            name, what, raw, stored, encode, decode = found.groups()
            ratio = int(raw) / max(int(stored), 1)
            sets.setdefault(name, []).append((what, ratio, int(encode), int(decode), what in OURS))
    return sets


def front(points):
    """Names of the points that no other point beats in both ratio and speed."""
    return {p[0] for p in points if not any(q[1] >= p[1] and q[2] >= p[2] and q[1:3] != p[1:3] for q in points)}


def panel(title, points, x, y, speed):
    points = [(what, ratio, max(p[speed - 2], 1), ours) for what, ratio, *p, ours in points]
    low = math.log10(min(p[2] for p in points)) - 0.1
    high = math.log10(max(p[2] for p in points)) + 0.3
    least, most = min(p[1] for p in points), max(p[1] for p in points)
    span = (most - least) or 1
    least, most = least - 0.08 * span, most + 0.12 * span
    to_x = lambda s: x + MARGIN + (math.log10(s) - low) / (high - low) * (WIDTH - MARGIN - 12)
    to_y = lambda r: y + HEIGHT - 34 - (r - least) / (most - least) * (HEIGHT - 60)
    out = [f'<text x="{x + MARGIN}" y="{y + 16}" class="t">{html.escape(title)}</text>',
           f'<rect x="{x + MARGIN}" y="{y + 22}" width="{WIDTH - MARGIN - 8}" height="{HEIGHT - 56}" class="b"/>']
    for decade in range(math.ceil(low), math.floor(high) + 1):
        at = to_x(10**decade)
        out.append(f'<line x1="{at:.1f}" y1="{y + 22}" x2="{at:.1f}" y2="{y + HEIGHT - 34}" class="g"/>'
                   f'<text x="{at:.1f}" y="{y + HEIGHT - 20}" class="a" text-anchor="middle">{10**decade}</text>')
    for i in range(5):
        ratio = least + (most - least) * (i + 0.5) / 5
        out.append(f'<text x="{x + MARGIN - 4}" y="{to_y(ratio) + 3:.1f}" class="a" text-anchor="end">{ratio:.3g}</text>')
    best = front(points)
    steps = sorted((p for p in points if p[0] in best), key=lambda p: p[2])
    path = " ".join(f"{to_x(p[2]):.1f},{to_y(p[1]):.1f}" for p in steps)
    out.append(f'<polyline points="{path}" class="f"/>')
    for what, ratio, rate, ours in points:
        at_x, at_y = to_x(rate), to_y(ratio)
        out.append(f'<circle cx="{at_x:.1f}" cy="{at_y:.1f}" r="3.2" class="{"o" if ours else "p"}"/>'
                   f'<text x="{at_x + 5:.1f}" y="{at_y - 4:.1f}" class="n">{html.escape(what)}</text>')
    return out


def main():
    decode = "--decode" in sys.argv
    target, *paths = [word for word in sys.argv[1:] if word != "--decode"]
    sets = read(paths)
    rows = (len(sets) + COLUMNS - 1) // COLUMNS
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{COLUMNS * WIDTH}" height="{rows * HEIGHT + 20}" font-family="sans-serif">',
           "<style>.t{font-size:12px;font-weight:bold}.a{font-size:9px;fill:#555}.n{font-size:8px;fill:#333}.b{fill:none;stroke:#999}"
           ".g{stroke:#eee}.f{fill:none;stroke:#c60;stroke-dasharray:4 2}.o{fill:#06c}.p{fill:#fff;stroke:#555}</style>",
           '<rect width="100%" height="100%" fill="#fff"/>']
    for i, (name, points) in enumerate(sets.items()):
        out += panel(name, points, i % COLUMNS * WIDTH, i // COLUMNS * HEIGHT, 3 if decode else 2)
    out.append(f'<text x="8" y="{rows * HEIGHT + 12}" class="a">ratio (up) against {"decode" if decode else "encode"} MB/s of one '
               "thread (right); filled: ours; dashed: Pareto front</text></svg>")
    with open(target, "w", encoding="utf-8") as file:
        file.write("\n".join(out) + "\n")


if __name__ == "__main__":
    main()
