# SPDX-License-Identifier: BSD-3-Clause
"""The demonstration of `./bootstrap demo`: a heat solver on as many MPI ranks as there are cores (2 to 8), which knows nothing
of mcr, writes checkpoints without and with mcr. A run with mcr is killed with SIGKILL and restarted: its final answer and
the bytes of its checkpoints must be those of an undisturbed run. Then it measures what checkpoints cost, natively and with
mcr in turn, on the storage that is here and on storage that is slowed down.
"""
import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import shape as shapes
from build_config import BUILD, COMMAND, mpiexec
from costs import show_costs
from jobs import Failed
from progress import Progress, say, size
from restart import compare, kill_and_restart, list_container, read_in_place, take_back
from shape import CHECKPOINTS, MIB


def read_options():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--place", type=Path, default=BUILD / "demo", help="directory that is removed, made, and written into")
    parser.add_argument("--stage", default="/dev/shm", help="file system of mcr's stage, whose room bounds the sizes (/dev/shm)")
    parser.add_argument("--mib", type=float, help="MiB a rank, instead of 32 or 64")
    parser.add_argument("--rounds", type=int, help="jobs of each kind, instead of as many as fit into 20 s")
    return parser.parse_args()


def check_tools():
    if not COMMAND.exists():
        raise Failed(f"{COMMAND} is not installed")
    if subprocess.run(mpiexec() + ["-n", "2", "true"], capture_output=True).returncode:
        raise Failed(f"{' '.join(mpiexec())} cannot start two processes on this machine")


def choose_shape(options):
    try:
        shape = shapes.choose(shapes.look(options.place, options.stage), options.mib and int(options.mib * MIB))
    except (ValueError, OSError) as error:
        raise Failed(str(error))
    say(f"A heat solver on {shape.ranks} ranks ({len(os.sched_getaffinity(0))} cores), {shape.size}³ cells; a checkpoint is {shape.ranks} files of "
        f"{size(shape.bytes_per_rank)}, {CHECKPOINTS} in a job. It knows HDF5 and MPI, nothing of mcr.")
    if shape.bounded_by:
        say(f"(The files are smaller than they should be, because {shape.bounded_by} has little room.)")
    return shape


def show_sizes(native, ours, names, containers):
    raw = sum((native / name).stat().st_size for name in names)
    stubs = sum((ours / name).stat().st_size for name in names)
    stored = sum(path.stat().st_size for path in containers)
    rows = [("", "without mcr", "with mcr"),
            ("large files", str(len(names)), str(len(containers))),
            ("stubs", "-", f"{len(names)} ({size(stubs)} together)"),
            ("bytes in storage", size(raw), size(stored + stubs)),
            ("ratio", "1.0", f"{raw / (stored + stubs):.1f}")]
    say()
    for row in rows:
        say(f"   {row[0]:36}{row[1]:>14}{row[2]:>24}")
    say("   (This solver's fields are smooth. docs/compression.md has the ratios of other data.)")


def show(options):
    check_tools()
    place = options.place
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    shape = choose_shape(options)
    native, ours = kill_and_restart(place, shape)

    say("4. Every checkpoint taken back as plain files and compared")
    unpacked = place / "unpacked"
    containers = take_back(ours, unpacked)
    names = compare(native, ours, unpacked)
    say(f"   all {len(names)} files have, byte for byte, the contents of those of the run without mcr")
    read_in_place(native, ours, names[-1])
    say(f"   h5diff reads the stub {names[-1]} at its place, and finds no difference")
    show_sizes(native, ours, names, containers)

    show_costs(place, shape, options.rounds)

    say(f"\n6. A container is an HDF5 file. h5ls {containers[-1].relative_to(place)}:")
    say("     " + list_container(containers[-1]).replace("\n", "\n     "))
    say("\nWhere things lie")
    say(f"   without mcr   {native}")
    say(f"   with mcr      {ours}   (stubs; the containers are in {containers[-1].parent.relative_to(ours)})")
    say(f"   taken back    {unpacked}   (mcr unpack)")
    say(f"   the command   {COMMAND} --help")


def main():
    options = read_options()
    try:
        show(options)
    except Failed as failure:
        what, *log = failure.args
        say(f"\nThe demonstration failed: {what}")
        if log and log[0].exists():
            say(log[0].read_text(errors="replace")[-3000:])
        say(f"Everything that was written is in {options.place}; `{COMMAND} doctor` looks for what is wrong on this machine.")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
