# SPDX-License-Identifier: BSD-3-Clause
"""Makes mcr's plugin directory known to each HDF5 of this process.

The wheels of h5py, netCDF4 and PyTables each have an HDF5 of their own. An HDF5 that is loaded already gets the directory through
its function H5PLprepend, so its other plugin directories stay. An HDF5 that is loaded later reads HDF5_PLUGIN_PATH. That
variable replaces HDF5's default directories, so the function adds these, and the filters of netCDF4's wheel, to it.
"""
import ctypes
import importlib.util
import os
import warnings
from pathlib import Path

VARIABLE = "HDF5_PLUGIN_PATH"
DEFAULT = "/usr/local/hdf5/lib/plugin"  # of HDF5, unless its build named another directory


def loaded_libraries():
    """The HDF5 libraries that this process has loaded."""
    paths = set()
    with open("/proc/self/maps", errors="surrogateescape") as maps:
        for line in maps:
            fields = line.rstrip("\n").split(maxsplit=5)
            if len(fields) == 6 and os.path.basename(fields[5]).startswith("libhdf5"):
                paths.add(fields[5])
    libraries = []
    for path in sorted(paths):
        try:
            library = ctypes.PyDLL(path)  # the library keeps Python's lock: HDF5 is not thread-safe
        except OSError:
            continue  # removed since it was loaded
        if hasattr(library, "H5PLprepend"):
            libraries.append(library)
    return libraries


def directories(library):
    """The plugin directories of an HDF5."""
    count = ctypes.c_uint()
    if library.H5PLsize(ctypes.byref(count)) < 0:
        return []
    library.H5PLget.restype = ctypes.c_ssize_t
    library.H5PLget.argtypes = [ctypes.c_uint, ctypes.c_char_p, ctypes.c_size_t]
    found = []
    for number in range(count.value):
        text = ctypes.create_string_buffer(max(library.H5PLget(number, None, 0), 0) + 1)
        if library.H5PLget(number, text, len(text)) >= 0:
            found.append(os.fsdecode(text.value))
    return found


def netcdf4_filters():
    """The directory of the filters that netCDF4's wheel brings. The package adds it itself only if HDF5_PLUGIN_PATH is not set."""
    spec = importlib.util.find_spec("netCDF4")
    plugins = Path(spec.origin).parent / "plugins" if spec and spec.origin else None
    return [str(plugins)] if plugins and plugins.is_dir() else []


def make_known(plugin_directory):
    given = os.environ.get(VARIABLE)
    if os.environ.get("HDF5_VOL_CONNECTOR"):  # h5py's HDF5 looks for the connector as soon as it is loaded
        os.environ[VARIABLE] = f"{plugin_directory}:{given or DEFAULT}"
    import h5py  # loaded before HDF5_PLUGIN_PATH is set, so that its HDF5 shows the default directories

    if h5py.version.hdf5_version_tuple < (1, 14):
        warnings.warn(f"h5py {h5py.version.version} uses HDF5 {h5py.version.hdf5_version}, which reads containers, but no stubs: these need HDF5 "
                      f"1.14. Install h5py 3.11 or newer")
    ours = str(plugin_directory)
    searched = []
    for library in loaded_libraries():
        before = directories(library)
        searched += [directory for directory in before if directory not in searched]
        if before[:1] != [ours]:
            library.H5PLprepend(os.fsencode(ours))
    later = given.split(":") if given else netcdf4_filters() + searched
    os.environ[VARIABLE] = ":".join([ours] + [directory for directory in later if directory and directory != ours])
