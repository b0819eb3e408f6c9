# SPDX-License-Identifier: BSD-3-Clause
"""python -m mcr_hdf5 plot: a slice or a map of particles, a histogram, and the minimum and maximum of each rank of a variable."""
import argparse
import contextlib
import os
import re
import sys

import numpy

from .checkpoint_set import open_set
from .choice import choose
from .diff import ranks_text
from .errors import McrError, UsageError
from .found_places import FoundPlaces, places_of
from .json_output import add_json_option, finite_or_none, print_json
from .new_file import expect_free, new_files
from .particles import density_map
from .places import Unplaced, add_options
from .plane import no_slices, paint
from .printable import printable, say
from .variable import read_values, type_of

DESCRIPTION = """Draws a variable: a slice of the global array or a map of the particles (of one rank if neither options nor files say where the
pieces lie), a histogram, and each rank's minimum and maximum. Exit status: 0 done, 1 failed, 2 wrong usage."""


def main(words):
    parser = argparse.ArgumentParser(prog="mcr plot", description=DESCRIPTION)
    parser.add_argument("set", metavar="SET", help="directory, stub, container, or a set's name")
    parser.add_argument("variable", metavar="VARIABLE", nargs="?",
                        help="its name, or a part that no other variable has (default: a density, else the largest variable with a place)")
    parser.add_argument("-o", "--output", metavar="FILE", help="picture: its suffix says the format, such as .png or .svg (NAME.png)")
    parser.add_argument("--rank", type=int, help="the slice is of this rank's piece (the first rank)")
    parser.add_argument("--slice", type=int, metavar="N",
                        help="index along the first axis of a 3-dimensional array, in cells of the finest level (the middle)")
    parser.add_argument("--force", action="store_true", help="replace an existing file")
    add_json_option(parser)
    add_options(parser)
    options = parser.parse_args(words)
    for number, option in ((options.rank, "--rank"), (options.slice, "--slice")):
        if number is not None and number < 0:
            raise UsageError(f"{option} {number}: {option[2:]}s count from 0")
    if options.output is not None:
        expect_free(options.output, force=options.force)
    pyplot = _pyplot()
    with open_set(options.set) as checkpoint:
        places = places_of(options, checkpoint)
        name = choose(checkpoint, places, options.variable)
        if name != options.variable:
            say(f"mcr plot: draws {name} of {_from_here(checkpoint)}", sys.stderr)
        if missing := checkpoint.describe_missing():
            say(f"mcr plot: {missing}", sys.stderr)
        variable = checkpoint[name]
        kinds = {type_of(dataset).kind for dataset in variable if dataset.size}
        if not kinds or not kinds <= set("fiu"):
            raise McrError(f"{name} cannot be drawn, because {'its values are no numbers' if kinds else 'it has no elements'}")
        if options.rank is not None and options.rank not in variable.ranks:
            raise McrError(f"--rank {options.rank}: {name} is in the files of the ranks {ranks_text(variable.ranks)}")
        output = options.output if options.output is not None else re.sub(r"[^\w.]+", "-", name.replace("{n}", "")).strip("-") + ".png"
        expect_free(output, force=options.force, checkpoint=checkpoint)
        try:
            figure, facts = _figure(pyplot, variable, places, options)
        except (ValueError, OverflowError) as error:
            raise McrError(f"{name} cannot be drawn: {error}") from None
        try:
            with numpy.errstate(all="ignore"), new_files(output, force=options.force) as ((made, _),):
                figure.savefig(made, format=os.path.splitext(output)[1][1:] or "png", dpi=80)
        except (ValueError, OverflowError) as error:
            raise McrError(f"cannot write {output}: {' '.join(str(error).split())}") from None
    if options.json:
        print_json({"file": output, "set": checkpoint.name, "variable": name, **facts})
    else:
        say(output)
    return 0


def _pyplot():
    try:
        with _in_own_directory():
            import matplotlib
            from matplotlib import pyplot
    except ImportError:
        raise McrError("plot needs matplotlib: `pip install matplotlib`, or `pip install mcr-hdf5[plot]`") from None
    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "mcr"  # the same picture gives the same bytes
    return pyplot


@contextlib.contextmanager
def _in_own_directory():
    """matplotlib obeys a file matplotlibrc in the current directory, which may be another user's. Some of its settings are code. What
    the user's own variables name is obeyed, also relative to the current directory."""
    here = os.open(".", os.O_PATH | os.O_CLOEXEC)
    relative = {name: os.environ[name] for name in ("MATPLOTLIBRC", "MPLCONFIGDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")
                if os.environ.get(name, "/")[:1] not in ("", "/", "~")}
    try:
        os.environ.update((name, os.path.abspath(path)) for name, path in relative.items())
        os.chdir(os.path.dirname(os.path.abspath(__file__)))
        yield
    finally:
        os.environ.update(relative)
        os.fchdir(here)
        os.close(here)


def _figure(pyplot, variable, places, options):
    """Returns the figure, and for --json what it shows."""
    figure, axes = pyplot.subplots(1, 3, figsize=(12, 4), layout="constrained")
    levels = _draw_first(figure, axes[0], variable, places, options)
    limits, counts, edges = _summary(variable, levels)
    axes[1].stairs(counts, edges, fill=True)
    axes[1].set(title=f"values of {_ranks_of(variable.set)}", xlabel=_short(variable.name), ylabel="elements", yscale="log")
    axes[2].vlines(variable.ranks, limits[:, 0], limits[:, 1], linewidth=3)
    axes[2].plot(variable.ranks, limits, "k_")
    axes[2].set(title="minimum and maximum", xlabel="rank")
    axes[2].xaxis.get_major_locator().set_params(integer=True)
    figure.suptitle(f"{_short(variable.name, 110)}\n{_short(_from_here(variable.set), 110)}", fontsize="medium")
    facts = {"shows": axes[0].get_title(), "minimum": numpy.nanmin(limits), "maximum": numpy.nanmax(limits),
             "ranks": {rank: {"minimum": finite_or_none(low), "maximum": finite_or_none(high)} for rank, (low, high) in zip(variable.ranks, limits)}}
    return figure, facts


def _ranks_of(checkpoint):
    return f"{len(checkpoint.ranks)} of {checkpoint.rank_count} ranks" if checkpoint.describe_missing() else "all ranks"


def _from_here(checkpoint):
    """The set's short name: relative to the current directory, if that is shorter."""
    return min(checkpoint.short_name, os.path.relpath(checkpoint.short_name), key=len)


def _short(name, longest=40):
    text = printable(name)
    return (text if len(text) <= longest else "…" + text[1 - longest:]).replace("$", r"\$")  # matplotlib takes texts between $ as formulas


def _draw_first(figure, axes, variable, places, options):
    """A plane of all ranks' pieces, a map of particles, or else one dataset of one rank. Returns the levels that the plane shows, or None."""
    if options.rank is not None:
        _draw_dataset(figure, axes, variable, options.rank, options.slice)
        return None
    if isinstance(places, FoundPlaces) and places.is_particles(variable):
        if options.slice is not None:
            raise McrError(f"--slice {options.slice}: {variable.name} is drawn as a map of particles, which has no slices")
        _draw_particles(figure, axes, variable)
        return None
    try:
        levels = places.levels(variable)
    except Unplaced as reason:
        if not isinstance(places, FoundPlaces):
            raise McrError(f"{variable.name} has no place in a global array, because {reason}") from None
        drawn = _draw_dataset(figure, axes, variable, variable.ranks[0], options.slice)
        say(f"mcr plot: the slice shows {drawn} alone, because {reason}; {places.remedy([variable])}", sys.stderr)
        return None
    if isinstance(places, FoundPlaces) and (described := places.describe_hierarchies()):
        say(f"mcr plot: {described}", sys.stderr)
    plane, extents, title = paint(variable.set, levels, options.slice)
    pieces = sum(len(level.pieces) for level in levels)
    refined = f" ({pieces} pieces, {len(levels)} levels)" if len(levels) > 1 else f" ({pieces} pieces)" if pieces > len(variable.ranks) else ""
    _draw_plane(figure, axes, plane, extents, f"{_ranks_of(variable.set)}{refined}{title}")
    return levels


def _draw_dataset(figure, axes, variable, rank, number):
    """Returns what it draws."""
    datasets = variable.datasets(rank) or [variable.dataset(rank)]  # the latter says what is missing
    drawn = (f"dataset 1 of {len(datasets)} of " if len(datasets) > 1 else "") + f"rank {rank}"
    field, title = numpy.atleast_1d(read_values(datasets[0])), drawn
    if number is not None and field.ndim < 3:
        raise McrError(no_slices(number, field.ndim))
    while field.ndim > 2:
        middle = field.shape[0] // 2 if number is None else number
        if not 0 <= middle < field.shape[0]:
            raise McrError(f"--slice {middle}: the first axis has the indices 0 to {field.shape[0] - 1}")
        title, field, number = f"{title}, slice {middle}", field[middle], None
    _draw_plane(figure, axes, field, field.shape, title)
    return drawn


def _draw_plane(figure, axes, field, extents, title):
    """The axes count cells, of which the field may have fewer values. The middle of cell 0 is at 0."""
    borders = [(-0.5, n - 0.5) for n in extents]
    if field.ndim == 1:
        axes.plot(numpy.arange(len(field)) * extents[0] // len(field), field)
    else:
        image = axes.imshow(field, origin="lower", interpolation="nearest", aspect="auto", extent=(*borders[1], *borders[0]))
        figure.colorbar(image, ax=axes)
    axes.set_title(title)


def _draw_particles(figure, axes, variable):
    """How many particles lie in each cell of a mesh over the first two coordinates."""
    drawn = density_map(variable)
    extent = [edge for edges in drawn.edges for edge in edges[[0, -1]]]
    figure.colorbar(axes.imshow(drawn.counts.T, origin="lower", interpolation="nearest", aspect="auto", extent=extent), ax=axes)
    left_out = [f"{drawn.without} of {drawn.groups} groups without {drawn.names[0]}"] if drawn.without else []
    left_out += [f"{drawn.not_finite} particle{'s' * (drawn.not_finite > 1)} without a finite position"] if drawn.not_finite else []
    if left_out:
        say(f"mcr plot: the map leaves out {' and '.join(left_out)}", sys.stderr)
    of = f"{drawn.groups - drawn.without} of {drawn.groups} groups" if drawn.without else _ranks_of(variable.set)
    axes.set(title=f"particles of {of} ({int(drawn.counts.sum())})", xlabel=drawn.labels[0], ylabel=drawn.labels[1])


def _edges(low, high, bins):
    """Of the histogram. Between two values that are nearly equal there are fewer numbers than bins."""
    least = bins * max(numpy.spacing(abs(low)), numpy.spacing(abs(high)))
    with numpy.errstate(over="ignore"):
        if not numpy.isfinite((high - low) * 2):
            raise McrError(f"values from {low:g} to {high:g} are too far apart to draw")
    if high - low < 2 * least:
        low, high = (low - 0.5, high + 0.5) if low == high and least < 0.25 else (low - least, high + least)
    return numpy.linspace(low, high, bins + 1)


def _summary(variable, levels=None, bins=60):
    """The minimum and maximum of each rank, and a histogram of all: of the pieces if there are levels, so without halos. Reads one rank at a time."""
    def arrays(rank):
        if levels is None:
            return (read_values(dataset) for dataset in variable.datasets(rank) if dataset.size)
        return (piece.read(variable.set) for level in levels for piece in level.pieces if piece.rank == rank)

    def finite(rank):
        values = numpy.concatenate([numpy.asarray(array, float).ravel() for array in arrays(rank)] or [[]])
        return values[numpy.isfinite(values)]
    limits = numpy.array([(v.min(), v.max()) if (v := finite(rank)).size else (numpy.nan, numpy.nan) for rank in variable.ranks])
    if numpy.isnan(limits).all():
        raise McrError(f"{variable.name} has no finite values to draw")
    edges = _edges(numpy.nanmin(limits), numpy.nanmax(limits), bins)
    return limits, sum(numpy.histogram(finite(rank), edges)[0] for rank in variable.ranks), edges
