# SPDX-License-Identifier: BSD-3-Clause
"""Checkpoints of mcr in Python. The import lets every HDF5 of this process (h5py, netCDF4, PyTables) read containers and stubs by
path; other plugin directories stay known. `open_set` opens a whole checkpoint."""
import signal
import sys
import warnings

_is_command = sys.argv[:1] in (["-m"], ["-c"]) and sys.argv[1:2] in (["view"], ["diff"], ["plot"])  # see __main__
if _is_command and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # of a command: Ctrl-C ends the imports below without a traceback; then __main__ handles it

from .errors import McrError  # noqa: E402
from .installation import REMEDY, plugin_directory as _find  # noqa: E402
from .hdf5_plugins import make_known as _make_known  # noqa: E402

__version__ = "0.2.0"  # pyproject.toml takes it from here; a package that pip did not install has no metadata
__all__ = ["McrError", "open_set", "plugin_directory"]

plugin_directory = _find()
if plugin_directory is None:
    warnings.warn(f"mcr_hdf5 found no plugins of mcr, so h5py reads no stubs, and only containers of the profile portable: {REMEDY}")
else:
    _make_known(plugin_directory)

from .checkpoint_set import open_set  # noqa: E402  imports h5py
