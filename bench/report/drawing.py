# SPDX-License-Identifier: BSD-3-Clause
"""Plots as SVG, and the page that shows them. Uses only the standard library."""
import html
import math

COLOURS = ["#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#b07aa1", "#9c755f"]
WIDTH, LEFT, RIGHT = 760, 64, 20


def esc(text):
    return html.escape(str(text), quote=True)


def number(value):
    if value == 0:
        return "0"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:.{min(digits, 4)}f}"


def mark(value):
    """A number as text beside an axis."""
    return f"{int(value):,}" if value == int(value) else number(value)


def ticks(low, high, count=5):
    """Round numbers that cover [low, high]."""
    step = 10 ** math.floor(math.log10((high - low) / count or 1))
    for factor in (1, 2, 5, 10):
        if (high - low) / (step * factor) <= count:
            step *= factor
            break
    value = math.ceil(low / step) * step
    while value <= high * 1.0001:
        yield value
        value += step


def text(x, y, words, anchor="start", extra=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {extra}>{esc(words)}</text>'


def svg(height, parts, title):
    return f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{esc(title)}">' + "".join(parts) + "</svg>"


def legend(names, y):
    parts, x = [], LEFT
    for i, name in enumerate(names):
        parts += [f'<rect x="{x}" y="{y - 9}" width="10" height="10" rx="2" fill="{COLOURS[i % 6]}"/>', text(x + 14, y, name)]
        x += 30 + 6.6 * len(name)
    return parts


def lines(title, x_name, y_name, series, x_log=True, y_log=False):
    """series: {name: [(x, y, low, high)]}; low to high is shaded."""
    points = [p for line in series.values() for p in line]
    if not points:
        return ""
    fx = (lambda v: math.log2(v)) if x_log else float
    fy = (lambda v: math.log10(v)) if y_log else float
    x0, x1 = min(fx(p[0]) for p in points), max(fx(p[0]) for p in points)
    top, bottom, height = 34, 230, 276
    y0 = math.floor(min(fy(p[2]) for p in points)) if y_log else 0
    y1 = math.ceil(max(fy(p[3]) for p in points)) if y_log else max(p[3] for p in points) * 1.1 or 1
    px = lambda v: LEFT + (fx(v) - x0) / ((x1 - x0) or 1) * (WIDTH - LEFT - RIGHT)
    py = lambda v: bottom - (fy(v) - y0) / ((y1 - y0) or 1) * (bottom - top)
    parts = []
    for value in [10**e for e in range(int(y0), int(y1) + 1)] if y_log else ticks(y0, y1):
        parts += [f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{py(value):.1f}" y2="{py(value):.1f}"/>',
                  text(LEFT - 6, py(value) + 4, mark(value), "end")]
    values = sorted({p[0] for p in points})
    for value in values if len(values) < 12 else values[::len(values) // 6]:
        parts.append(text(px(value), bottom + 16, mark(value), "middle"))
    for i, line in enumerate(series.values()):
        colour = COLOURS[i % 6]
        band = [f"{px(x):.1f},{py(h):.1f}" for x, _, _, h in line] + [f"{px(x):.1f},{py(l):.1f}" for x, _, l, _ in reversed(line)]
        parts += [f'<polygon points="{" ".join(band)}" fill="{colour}" opacity=".18"/>',
                  f'<polyline points="{" ".join(f"{px(x):.1f},{py(y):.1f}" for x, y, _, _ in line)}" fill="none" '
                  f'stroke="{colour}" stroke-width="2"/>']
        if len(line) < 20:
            parts += [f'<circle cx="{px(x):.1f}" cy="{py(y):.1f}" r="3.2" fill="{colour}"><title>{esc(number(y))}</title></circle>'
                      for x, y, _, _ in line]
    parts += [text(LEFT, 14, y_name), text(WIDTH - RIGHT, bottom + 34, x_name, "end"), *legend(series, bottom + 34)]
    return f"<figure><figcaption>{esc(title)}</figcaption>{svg(height, parts, title)}</figure>"


def bars(title, unit, groups, names):
    """groups: {group: [(value, low, high) or None for each of names]}; on a logarithmic scale if values differ much."""
    values = [v for row in groups.values() for v in row if v]
    if not values:
        return ""
    most, least = max(v[2] for v in values), min(v[1] for v in values)
    is_log = least > 0 and most / least > 30
    left, step = 150, 17
    low = math.floor(math.log10(least)) if is_log else 0
    place = (lambda v: (math.log10(max(v, 10**low)) - low) / (math.log10(most) - low + 0.05)) if is_log else (lambda v: v / most)
    px = lambda v: left + place(v) * (WIDTH - left - 90)
    parts, y = legend(names, 12), 26
    for group, row in groups.items():
        parts.append(text(left - 8, y + step * len(row) / 2 + 3, group, "end"))
        for i, value in enumerate(row):
            if value:
                v, a, b = value
                parts += [f'<rect x="{left}" y="{y}" width="{max(px(v) - left, 1):.1f}" height="{step - 4}" rx="2" fill="{COLOURS[i % 6]}"/>',
                          f'<line x1="{px(a):.1f}" x2="{px(b):.1f}" y1="{y + 6}" y2="{y + 6}" stroke="#222"/>',
                          text(px(max(v, b)) + 6, y + 11, f"{number(v)} {unit}")]
            y += step
        y += 9
    scale = " (logarithmic)" if is_log else ""
    return f"<figure><figcaption>{esc(title + scale)}</figcaption>{svg(y + 4, parts, title)}</figure>"


def meter(figure):
    """A figure and its target: a bar, and a mark at the target. The bar must end left of the mark if less is better,
    else right of it."""
    if figure.asked is None:
        return ""
    sign, bound = figure.asked
    most = max(figure.high, bound) * 1.25 or 1
    place = lambda v: 200 * v / most
    colour = "#59a14f" if figure.holds() else "#e15759"
    return (f'<svg class="meter" viewBox="0 0 200 16"><rect width="200" height="10" y="3" rx="3" fill="#eee"/>'
            f'<rect width="{place(figure.value):.1f}" height="10" y="3" rx="3" fill="{colour}"/>'
            f'<line x1="{place(figure.low):.1f}" x2="{place(figure.high):.1f}" y1="8" y2="8" stroke="#222"/>'
            f'<line x1="{place(bound):.1f}" x2="{place(bound):.1f}" y1="0" y2="16" stroke="#222" stroke-width="2"/></svg>')


STYLE = """
:root{color-scheme:light}
body{font:16px/1.5 system-ui,sans-serif;max-width:56rem;margin:2.5rem auto;padding:0 1.2rem;color:#1d2129;background:#fcfcfd}
h1{font-size:1.7rem;margin-bottom:.2rem} h2{font-size:1.15rem;margin:2.4rem 0 .5rem;border-top:1px solid #e3e5ea;padding-top:1.3rem}
.facts,.note{color:#667;font-size:.87rem} table{border-collapse:collapse;width:100%;font-size:.92rem}
td,th{padding:.32rem .5rem;text-align:left;vertical-align:top;border-bottom:1px solid #eef0f3} td.n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
figure{margin:1.2rem 0} figcaption{font-weight:600;font-size:.93rem;margin-bottom:.2rem}
svg{width:100%;height:auto} svg text{font-size:12px;fill:#444} .grid{stroke:#e6e8ee} svg.meter{width:9rem;height:1rem}
.score{display:flex;gap:.8rem;flex-wrap:wrap;margin:1.2rem 0}.score div{background:#fff;border:1px solid #e3e5ea;border-radius:8px;padding:.6rem 1.1rem}
.score b{display:block;font-size:1.5rem}"""


def earlier_figure(figure, compared):
    """The table's cell about the last kept run. `compared`: of history.compare()."""
    before, is_worse = compared.get((figure.group, figure.title), (None, False))
    if before is None:
        return ""
    return f'{"<b>worse</b> than " if is_worse else ""}{number(before["value"])}<div class="note">{number(before["low"])} … {number(before["high"])}</div>'


def page(machine, quick, figures, plots, failures, kept=None, compared=None):
    """plots: {group: [svg, …]}; kept: the machine's facts of the last kept run; compared: of history.compare()."""
    compared = compared or {}
    facts = ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in machine.items() if value != "")
    held = [f for f in figures if f.holds()]
    missed = [f for f in figures if f.holds() is False]
    out = [f'<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
           f"<title>mcr: benchmarks</title><style>{STYLE}</style><h1>What mcr costs, and what it saves</h1>"
           f'<p class="facts">{esc(facts)}{"; quick run: small sets, few rounds" if quick else ""}. Every figure is a ratio of things '
           f"measured in this run, alternating; the thin line is the middle half of the rounds, the mark what was asked.</p>"
           f'<div class="score"><div><b>{len(held)}</b>as asked</div><div><b>{len(missed)}</b>short of it</div>'
           f"<div><b>{len(figures) - len(held) - len(missed)}</b>with nothing asked</div>"
           f"<div><b>{sum(worse for _, worse in compared.values())} of {len(compared)}</b>worse than the last kept run</div></div>"]
    if kept:
        out.append(f'<p class="facts">The last column shows the last kept run: {esc(", ".join(f"{key} {value}" for key, value in kept.items() if value != ""))}. '
                   f"A figure is worse if the middle halves of the rounds of both runs do not overlap.</p>")
    for group in dict.fromkeys([f.group for f in figures] + list(plots)):
        out.append(f"<h2>{esc(group)}</h2>{''.join(plots.get(group, []))}<table>")
        for f in (f for f in figures if f.group == group):
            asked = f"{'≤' if f.asked[0] == '<=' else '≥'} {number(f.asked[1])}" if f.asked else ""
            note = f'<div class="note">{esc(f.note)}</div>' if f.note else ""
            spread = "" if f.low == f.high else f'<div class="note">{number(f.low)} … {number(f.high)}</div>'
            out.append(f'<tr><td>{esc(f.title)}{note}</td><td class="n">{number(f.value)} {esc(f.unit)}{spread}</td>'
                       f'<td class="n">{asked}</td><td>{meter(f)}</td><td class="n">{earlier_figure(f, compared)}</td></tr>')
        out.append("</table>")
    if failures:
        out.append("<h2>Not measured</h2>" + "".join(f"<p><b>{esc(name)}</b>: {esc(why)}</p>" for name, why in failures))
    return "\n".join(out) + "</html>\n"
