# SPDX-License-Identifier: BSD-3-Clause
"""python -m mcr_hdf5: view, diff and plot are here; `path` prints the plugin directory; the command `mcr` runs every other word."""
import os
import signal
import sys


def main(words=None):
    words = sys.argv[1:] if words is None else words
    word = words[0] if words else ""
    from .errors import McrError, UsageError, reason_of
    from .printable import flush_output, say
    status = 1
    try:
        if signal.getsignal(signal.SIGINT) == signal.SIG_DFL:  # of __init__
            signal.signal(signal.SIGINT, signal.default_int_handler)
        _open_standard_streams()
        status = _run(word, words)
        print(end="", flush=True)  # here, so that a broken pipe is noticed
        return status
    except BrokenPipeError:  # the reader of the output has ended, as in `mcr diff A B | head`
        pass
    except McrError as error:
        for line in (f"mcr {word}: {error.args[0]}", *error.args[1:]):
            say(line, sys.stderr)
        status = 2 if isinstance(error, UsageError) else 1
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""  # HDF5's reason names the file
        say(f"mcr {word}: {where}{reason_of(error)}", sys.stderr)
    except KeyboardInterrupt:
        flush_output()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)  # the shell then sees why the command ended
    flush_output()
    return status


def _open_standard_streams():
    """A file that is opened later must not get the descriptor of a standard stream with which the process was started closed."""
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(descriptor, True)
    os.close(descriptor)


def _run(word, words):
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

  view SET... -o FILE   write the ranks' pieces as global arrays (virtual datasets), with an XDMF file
  diff SET SET          say which variables changed, and by how much
  plot SET [VARIABLE]   draw a slice, a histogram, and the ranks' minima and maxima
  path                  print the directory of the plugins: export HDF5_PLUGIN_PATH=$(python -m mcr_hdf5 path)
  any other word        is a command of mcr: ls, latest, verify, unpack, ... (`python -m mcr_hdf5 help` lists them)

SET is a directory of checkpoints (its newest whole set), a stub, a container, or a set's name as `mcr latest` prints it."""

if __name__ == "__main__":
    sys.exit(main())
