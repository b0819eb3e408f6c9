# SPDX-License-Identifier: BSD-3-Clause
"""Finds the plugin directory and the command `mcr`: those in the wheel first, else those of an installation."""
import os
import shutil
from pathlib import Path

from .errors import McrError

SHIPPED = Path(__file__).resolve().parent / "installed"  # build-wheel copies an installation to this directory
BELOW = Path("lib/mcr/plugin")
REMEDY = ("install a wheel that ships them (restart/python/build-wheel PREFIX makes one), load mcr's module, "
          "or add PREFIX/bin of an installation to PATH")


def _holds_plugins(directory):
    return (directory / "libmcr_vol.so").is_file() and (directory / "libmcr_filter.so").is_file()


def command():
    """The path of the command `mcr`, or None."""
    if (SHIPPED / "bin/mcr").is_file():
        return SHIPPED / "bin/mcr"
    found = shutil.which("mcr")
    return Path(found).resolve() if found else None


def _candidates():
    yield SHIPPED / BELOW
    for directory in os.environ.get("HDF5_PLUGIN_PATH", "").split(":"):
        if directory:
            yield Path(directory)
    found = command()
    if found:
        yield found.parent.parent / BELOW


def plugin_directory():
    """The directory with mcr's plugins for HDF5, or None."""
    return next((directory for directory in _candidates() if _holds_plugins(directory)), None)


def required_plugin_directory():
    found = plugin_directory()
    if found is None:
        raise McrError(f"the plugins of mcr (libmcr_vol.so, libmcr_filter.so) were not found: {REMEDY}")
    return found


def required_command():
    found = command()
    if found is None:
        raise McrError(f"the command `mcr` was not found: {REMEDY}")
    return found
