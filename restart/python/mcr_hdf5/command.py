# SPDX-License-Identifier: BSD-3-Clause
"""Runs the command `mcr`. The rules for sets (what is whole, whom to believe) are there, and only there."""
import json
import os
import subprocess
import sys

from .errors import McrError
from .installation import required_command


def _environment():
    # The command uses an HDF5 of its own, and captures nothing.
    return {key: value for key, value in os.environ.items() if key != "HDF5_VOL_CONNECTOR"}


def mcr(*words):
    """Returns the JSON value that `mcr WORDS --json` prints."""
    words = [os.fspath(word) for word in words]
    done = subprocess.run([required_command(), *words, "--json"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=_environment())
    message = done.stderr.decode(errors="replace").strip()
    if done.returncode == 127 and "shared libraries" in message:
        raise McrError(f"{message}. The command `mcr` needs this library: install it (build-wheel names all)")
    if done.returncode:
        lines = message.removeprefix(f"mcr {words[0]}: ").splitlines()
        raise McrError(*(lines or [f"`mcr {' '.join(words)}` ended with status {done.returncode}"]))
    if message:  # a warning, for example that an older set is named because the newest one is damaged
        print(message, file=sys.stderr)
    # mcr writes a byte that is not UTF-8 as a lone surrogate; os.fsencode restores it.
    return json.loads(done.stdout)


def execute(words):
    """Replaces this process by `mcr WORDS`."""
    found = required_command()
    os.execve(found, [str(found), *words], dict(os.environ))
