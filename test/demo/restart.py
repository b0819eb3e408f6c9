# SPDX-License-Identifier: BSD-3-Clause
"""First part: a run with mcr is killed and restarted. Its answer and every byte of its checkpoints must be those of an
undisturbed run without mcr."""
import re
import subprocess

from build_config import PLUGINS, hdf5_tool, program
from compare import containers_below, difference, files_below, is_stub
from jobs import VARIABLES, Failed, Job, clean_environment, mcr
from progress import Progress, say
from shape import CHECKPOINTS, STEPS_BETWEEN

# HDF5 notes the second at which a dataset is made. With the same clock for both runs, the same files have the same bytes.
FIXED_TIME = {"LD_PRELOAD": program("test/support/libfixed_time.so")}


def kill_and_restart(place, shape):
    """Returns the directories of the undisturbed run and of the restarted one."""
    native, ours = place / "native", place / "mcr"
    say("1. Without mcr, undisturbed")
    with Progress("without mcr") as progress:
        undisturbed = Job("native", native, shape, FIXED_TIME).run(progress)
    say(f"   final answer {undisturbed.answer()}")

    say("2. With two variables set:")
    for key, value in VARIABLES.items():
        say(f"     export {key}={value}")
    half = CHECKPOINTS // 2 * STEPS_BETWEEN
    with Progress("with mcr") as progress:
        killed = Job("mcr-killed", ours, shape, VARIABLES | FIXED_TIME).run(progress, kill_after=half).killed
    say(f"   all {killed} ranks killed with SIGKILL right after the checkpoint of step {half}")

    say("3. The same command with --restart")
    with Progress("restarted") as progress:
        restarted = Job("mcr-restarted", ours, shape, VARIABLES | FIXED_TIME, "--restart").run(progress)
    begun = re.search(r"^restart from step (\d+)$", restarted.text, re.M)
    if not begun:
        raise Failed("the solver found no complete checkpoint to restart from", restarted.log)
    say(f"   it went on from step {begun.group(1)}; final answer {restarted.answer()}")
    if restarted.answer() != undisturbed.answer():
        raise Failed("the answers differ", restarted.log)
    say("   the same to the last bit as the undisturbed run")
    return native, ours


def take_back(ours, unpacked):
    """Verifies every container and unpacks it, each into the directory of its step. Returns the containers."""
    with Progress("mcr drain, verify and unpack") as progress:
        mcr("drain")  # of the killed job too, on a machine that is busy with others
        containers = containers_below(ours)
        for number, container in enumerate(containers):
            progress.show(f"container {number + 1} of {len(containers)}")
            place = unpacked / container.parent.parent.relative_to(ours)
            place.mkdir(parents=True, exist_ok=True)
            mcr("verify", container)
            mcr("unpack", container, "-d", place)
    return containers


def compare(native, ours, unpacked):
    """Raises Failed unless each native file was captured, and what was unpacked has the same bytes. Returns the names."""
    names = files_below(native)
    different = [name for name in names if not is_stub(ours / name)]
    if different or not names:
        raise Failed(f"these files were not captured: {different}")
    with Progress("comparing") as progress:
        for number, name in enumerate(names):
            progress.show(f"file {number + 1} of {len(names)}")
            found = difference(native / name, unpacked / name)
            if found:
                raise Failed(found)
    return names


def read_in_place(native, ours, name):
    """h5diff reads a stub by its path, with the plugin's path set alone."""
    with Progress("h5diff"):
        diff = subprocess.run([hdf5_tool("h5diff"), native / name, ours / name], capture_output=True, text=True,
                              env=dict(clean_environment(), HDF5_PLUGIN_PATH=str(PLUGINS)))
    if diff.returncode:
        raise Failed(f"h5diff finds {name} different:\n{diff.stdout}{diff.stderr}")


def list_container(container):
    listing = subprocess.run([hdf5_tool("h5ls"), "-r", container], capture_output=True, text=True,
                             env=dict(clean_environment(), HDF5_PLUGIN_PATH=str(PLUGINS)))
    if listing.returncode:
        raise Failed(f"h5ls cannot read {container}\n{listing.stdout}{listing.stderr}")
    return listing.stdout.strip()
