# SPDX-License-Identifier: BSD-3-Clause
"""Checkpoints of mcr in Python. The import lets every HDF5 of this process (h5py, netCDF4, PyTables) read containers and stubs by
path; other plugin directories stay known. `open_set` opens a whole checkpoint."""
import warnings

from .errors import McrError
from .installation import REMEDY, plugin_directory as _find
from .hdf5_plugins import make_known as _make_known

__version__ = "0.1.0"
__all__ = ["McrError", "open_set", "plugin_directory"]

plugin_directory = _find()
if plugin_directory is None:
    warnings.warn(f"mcr_hdf5 found no plugins of mcr, so h5py reads no stubs, and only containers of the profile portable: {REMEDY}")
else:
    _make_known(plugin_directory)

from .checkpoint_set import open_set  # noqa: E402  imports h5py
