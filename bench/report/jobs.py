# SPDX-License-Identifier: BSD-3-Clause
"""Jobs without MPI that write rank files, natively, through filters and through mcr."""
import time

from measure import Failed, Figure, quantile, together


def captured(place, settings):
    return {"HDF5_VOL_CONNECTOR": f"mcr under_vol=0;under_info={{}};files=*;stage={place.memory}/stage;launch=bench{time.monotonic_ns()};"
                                  f"log=quiet;node=bench;{settings}"}


def write_by_ranks(place, directory, ranks, elements, env, *options):
    """Each rank writes a file of 8 variables and ends. Parameters as together()."""
    commands = [[place.make_set_program, directory, "--rank", rank, "--variables", 8, "--elements", elements, *options]
                for rank in range(ranks)]
    # The variables that a launcher would set.
    envs = [{**env, "PMI_RANK": str(rank), "PMI_SIZE": str(ranks), "MPI_LOCALRANKID": str(rank), "MPI_LOCALNRANKS": str(ranks)}
            for rank in range(ranks)]
    return together(commands, envs)


def job(place, way, ranks, elements, on_disk=False, rate=None):
    """Each rank writes a file and ends. Returns the seconds until all is durable, and the seconds that the slowest rank
    waited. `way`: native, a filter (gzip, zstd), mcr, or mcr and a profile."""
    directory = place.directory("storage", on_disk)
    env = {"HDF5_PLUGIN_PATH": str((place.throttled_prefix() if rate else place.prefix) / "lib/mcr/plugin")}
    captures = way.startswith("mcr")
    if captures:
        env |= captured(place, f"profile={way[4:] or 'balanced'}")
    if rate:
        env |= place.throttled(directory, rate, rate * 2) | {"THROTTLE_READS": "0"}
    options = ["--" + way, 1] if way in ("gzip", "zstd") else []
    if on_disk and not captures:
        options += ["--fsync", 1]
    wall, printed = write_by_ranks(place, directory, ranks, elements, env, *options)
    if captures and len(list(directory.rglob("set-*.h5"))) != 1:
        raise Failed("mcr wrote no container, or several")
    return wall, max(float(text) for text in printed)


def durable_figure(group, kind, durable, most=None):
    """`durable`: {way: seconds of each round}. `most`: the ratio that is asked."""
    return Figure(group, f"{kind}: until durable (start and fill included), mcr ÷ native",
                  [m / n for m, n in zip(durable["mcr"], durable["native"])], most and ("<=", most),
                  note=", ".join(f"{way} {1000 * quantile(seconds, 0.5):.0f} ms" for way, seconds in durable.items()))
