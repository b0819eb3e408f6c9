# SPDX-License-Identifier: BSD-3-Clause
"""python -m mcr_hdf5: view, diff and plot are here; `path` prints the plugin directory; the command `mcr` runs every other word."""
import os
import sys


def main(words=None):
    words = sys.argv[1:] if words is None else words
    word = words[0] if words else ""
    from .errors import McrError
    try:
        if word in ("", "-h", "--help"):
            print(HELP)
            return 0 if word else 2
        if word == "path":
            from .installation import required_plugin_directory
            print(required_plugin_directory())
            return 0
        if word in COMMANDS:
            _start_without_connector()
            return COMMANDS[word](words[1:])
        from .command import execute
        return execute(words)
    except McrError as error:
        print(f"mcr {word}: {error}", file=sys.stderr)
        return 1


def _start_without_connector():
    """HDF5 has read HDF5_VOL_CONNECTOR already. What these commands write is no checkpoint, and they read stubs without the variable."""
    if os.environ.pop("HDF5_VOL_CONNECTOR", None) is not None:
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])


def view(words):
    from .view import main as run
    return run(words)


def diff(words):
    from .diff import main as run
    return run(words)


def plot(words):
    from .plot import main as run
    return run(words)


COMMANDS = {"view": view, "diff": diff, "plot": plot}
HELP = """python -m mcr_hdf5 COMMAND

  view SET -o FILE      write the ranks' pieces as global arrays (virtual datasets), with an XDMF file
  diff SET SET          say which variables changed, and by how much
  plot SET VARIABLE     draw a slice, a histogram, and the ranks' minima and maxima
  path                  print the directory of the plugins: export HDF5_PLUGIN_PATH=$(python -m mcr_hdf5 path)
  any other word        is a command of mcr: ls, latest, verify, unpack, ... (`python -m mcr_hdf5 help` lists them)

SET is a directory of checkpoints (its newest whole set), a stub, a container, or a set's name as `mcr latest` prints it."""

if __name__ == "__main__":
    sys.exit(main())
