# SPDX-License-Identifier: BSD-3-Clause
"""python -m mcr_hdf5 plot: a slice, a histogram, and the minimum and maximum of each rank of a variable."""
import argparse

import numpy

from .checkpoint_set import open_set
from .errors import McrError
from .places import Places, Unplaced, add_options


def main(words):
    parser = argparse.ArgumentParser(prog="mcr plot", description="Draws a variable: a slice (of the global array if the ranks' places are given, else "
                                                                  "of one rank), a histogram, and each rank's minimum and maximum. "
                                                                  "Exit status: 0 done, 1 failed, 2 wrong usage.")
    parser.add_argument("set", metavar="SET", help="directory, stub, container, or a set's name")
    parser.add_argument("variable", metavar="VARIABLE")
    parser.add_argument("-o", "--output", metavar="FILE", help="picture: its suffix says the format, such as .png or .svg (VARIABLE.png)")
    parser.add_argument("--rank", type=int, help="the slice is of this rank's piece (the first rank)")
    parser.add_argument("--slice", type=int, metavar="N", help="index along the first axis of a 3-dimensional array (the middle)")
    add_options(parser)
    options = parser.parse_args(words)
    pyplot = _pyplot()
    with open_set(options.set) as checkpoint:
        variable = checkpoint[options.variable]
        if any(dataset.dtype.kind not in "fiu" for dataset in variable):
            raise McrError(f"{options.variable} cannot be drawn, because its values are no numbers")
        figure = _figure(pyplot, variable, options)
        output = options.output or options.variable.replace("/", "-") + ".png"
        try:
            figure.savefig(output, dpi=80)
        except (OSError, ValueError) as error:
            raise McrError(f"cannot write {output}: {error}") from None
    print(output)
    return 0


def _pyplot():
    try:
        import matplotlib
    except ImportError:
        raise McrError("plot needs matplotlib: `pip install matplotlib`, or `pip install mcr-hdf5[plot]`") from None
    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "mcr"  # the same picture gives the same bytes
    from matplotlib import pyplot
    return pyplot


def _figure(pyplot, variable, options):
    field, title = _field(variable, options)
    figure, axes = pyplot.subplots(1, 3, figsize=(12, 3.8), layout="constrained")
    _draw_slice(figure, axes[0], field, title, options.slice)
    limits, counts, edges = _summary(variable)
    axes[1].stairs(counts, edges, fill=True)
    axes[1].set(title="values of all ranks", xlabel=variable.name, ylabel="elements", yscale="log")
    axes[2].vlines(variable.ranks, limits[:, 0], limits[:, 1], linewidth=3)
    axes[2].plot(variable.ranks, limits, "k_")
    axes[2].set(title="minimum and maximum", xlabel="rank")
    axes[2].xaxis.get_major_locator().set_params(integer=True)
    figure.suptitle(f"{variable.name}   {variable.set.name.rsplit('/', 1)[-1].rstrip('.')}", fontsize="medium")
    return figure


def _field(variable, options):
    """Returns the array of which a slice is drawn, and what it is."""
    if options.rank is None and (options.offset or options.grid or options.boxes):
        try:
            pieces, shape = Places(options).pieces(variable)
        except Unplaced as reason:
            raise McrError(f"{variable.name} has no place in a global array, because {reason}") from None
        field = numpy.full(shape, numpy.nan)
        for piece in pieces:
            field[piece.region] = variable.dataset(piece.rank)[piece.inner]
        return field, "all ranks"
    rank = variable.ranks[0] if options.rank is None else options.rank
    datasets = variable.datasets(rank) or [variable.dataset(rank)]  # the latter says what is missing
    return datasets[0][()], f"rank {rank}" + (f", dataset 1 of {len(datasets)}" if len(datasets) > 1 else "")


def _draw_slice(figure, axes, field, title, number):
    field = numpy.atleast_1d(field)
    while field.ndim > 2:
        middle = field.shape[0] // 2 if number is None else number
        if not 0 <= middle < field.shape[0]:
            raise McrError(f"--slice {middle}: the first axis has the indices 0 to {field.shape[0] - 1}")
        title, field, number = f"{title}, slice {middle}", field[middle], None
    if field.ndim == 1:
        axes.plot(field)
    else:
        figure.colorbar(axes.imshow(field, origin="lower", interpolation="nearest", aspect="auto"), ax=axes)
    axes.set_title(title)


def _summary(variable, bins=60):
    """The minimum and maximum of each rank, and a histogram of all. Reads one rank at a time."""
    def finite(rank):
        values = numpy.concatenate([numpy.asarray(dataset[()], float).ravel() for dataset in variable.datasets(rank)])
        return values[numpy.isfinite(values)]
    limits = numpy.array([(v.min(), v.max()) if (v := finite(rank)).size else (numpy.nan, numpy.nan) for rank in variable.ranks])
    if numpy.isnan(limits).all():
        raise McrError(f"{variable.name} has no finite values to draw")
    edges = numpy.histogram_bin_edges([], bins, (numpy.nanmin(limits), numpy.nanmax(limits)))
    return limits, sum(numpy.histogram(finite(rank), edges)[0] for rank in variable.ranks), edges
