#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# provide CACHE HDF5_SOURCE_ARCHIVE [HDF5_PREFIX]: what the conformance tests need besides mcr, once, into CACHE/tests.
#
#   h5_api_test                 HDF5's own API tests, compiled against the HDF5 in use
#   hdf5-2                      an HDF5 2.x library (from the source in a crate, through cargo)
#   python/h5py-newest, -1.14   h5py's wheels, one with HDF5 2.x inside and one with 1.14; netCDF4's wheel with the first
#   python/h5py-1.12            an old wheel with HDF5 1.12, which is too old to be captured
#   python/analysis             what the Python package works with: h5py, netCDF4, PyTables, xarray, dask, matplotlib
#   python/vtk                  VTK, which reads XDMF files as ParaView does
#
# What cannot be provided on this machine (no cargo, no registry in reach) leaves a file NAME.missing that says why; the
# tests repeat the reason and count as skipped. Only a compiler that fails on h5_api_test is an error.
set -euo pipefail

cache=$1/tests archive=$2 prefix=${3:-}
mkdir -p "$cache"
log=$cache/provide.log
: > "$log"
say() { printf 'mcr: %s\n' "$*"; }
missing() { # name, reason
  printf '%s\n' "$2" > "$cache/$1.missing"
  say "tests with $1 will be skipped: $2"
}

# --- h5_api_test --------------------------------------------------------------------------------------------------
# Compiled by hand: HDF5's own build would have to compile the whole library again for it.

if [ -n "$prefix" ]; then
  flags="-I$prefix/include -L$prefix/lib -lhdf5 -Wl,-rpath,$prefix/lib"
else
  name=hdf5-serial
  pkg-config --exists "$name" || name=hdf5
  flags=$(pkg-config --cflags --libs "$name")
fi
key=$(printf '%s %s' "$archive" "$flags" | cksum | cut -d' ' -f1)
if [ "$(cat "$cache/h5_api_test.key" 2> /dev/null)" != "$key" ]; then
  say "compiling HDF5's API tests"
  work=$cache/api.partial
  rm -rf "$work"
  mkdir -p "$work/source"
  tar xzf "$archive" -C "$work/source" --strip-components=1 --wildcards '*/src/*' '*/test/*.h' '*/test/*.c' '*/test/API/*'
  # Two headers that HDF5's configuration would write.
  printf '#define H5_API_TEST_CONFIG_H\n' > "$work/H5_api_test_config.h"
  printf '#define config_srcdir "."\n' > "$work/H5srcdir_str.h"
  s=$work/source
  # shellcheck disable=SC2086
  ${CC:-cc} -O1 -w -I"$work" -I"$s/src" -I"$s/src/H5FDsubfiling" -I"$s/test" -I"$s/test/API" "$s"/test/API/*.c "$s/test/h5test.c" \
    "$s/test/testframe.c" -o "$work/h5_api_test" $flags -lz -lm >> "$log" 2>&1 || {
    tail -n 20 "$log" >&2
    exit 1
  }
  mv "$work/h5_api_test" "$cache/h5_api_test"
  rm -rf "$work"
  printf '%s\n' "$key" > "$cache/h5_api_test.key"
fi

# --- h5py and netCDF4 -----------------------------------------------------------------------------------------------

python=$(python3 -c 'import sys; print("python%d.%d" % sys.version_info[:2])')
venv() { # name, packages…
  local name=$1 place=$cache/$python/$1
  shift
  rm -f "$cache/$name.missing"
  if [ -e "$place/complete" ]; then
    return
  fi
  say "fetching $* for the tests"
  rm -rf "$place"
  if python3 -m venv "$place" >> "$log" 2>&1 &&
    timeout 600 "$place/bin/python" -m pip install -q --disable-pip-version-check --only-binary :all: "$@" >> "$log" 2>&1; then
    touch "$place/complete"
  else
    rm -rf "$place"
    missing "$name" "python3 -m venv and pip could not provide $* here ($(tail -n 1 "$log"); more in $log)"
  fi
}
venv h5py-newest h5py pytest pytest-mpi netCDF4
venv h5py-1.14 'h5py==3.14.*' pytest pytest-mpi
venv h5py-1.12 'h5py==3.8.*' 'numpy<2'
venv analysis h5py netCDF4 tables xarray h5netcdf dask matplotlib 'setuptools>=70.1'
venv vtk vtk

# --- HDF5 2.x -------------------------------------------------------------------------------------------------------

hdf5_2() {
  local version=0.10.4 work=$cache/hdf5-2.partial cmake=cmake source
  rm -f "$cache/hdf5-2.missing"
  if [ -e "$cache/hdf5-2/lib/libhdf5.so" ]; then
    return
  fi
  command -v cargo > /dev/null || { missing hdf5-2 "cargo is not here, which fetches HDF5 2.x' source"; return; }
  if ! printf '3.26\n%s\n' "$(cmake --version 2> /dev/null | sed -n '1s/.* //p')" | sort -V -C; then
    venv cmake cmake
    cmake=$cache/$python/cmake/bin/cmake
    [ -x "$cmake" ] || { missing hdf5-2 "it needs CMake 3.26"; return; }
  fi
  say "building HDF5 2.x for the tests (once; about two minutes)"
  rm -rf "$work"
  mkdir -p "$work/crate/src"
  : > "$work/crate/src/lib.rs"
  printf '[package]\nname = "source"\nversion = "0.0.0"\nedition = "2021"\n[dependencies]\nhdf5-metno-src = "=%s"\n' "$version" \
    > "$work/crate/Cargo.toml"
  (cd "$work/crate" && timeout 600 cargo vendor -q) >> "$log" 2>&1 ||
    { missing hdf5-2 "cargo could not fetch HDF5 2.x' source ($(tail -n 1 "$log"))"; return; }
  source=$work/crate/vendor/hdf5-metno-src/ext/hdf5
  "$cmake" -G Ninja -S "$source" -B "$work/build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$cache/hdf5-2" \
    -DCMAKE_INSTALL_LIBDIR=lib -DBUILD_SHARED_LIBS=ON -DBUILD_STATIC_LIBS=OFF -DBUILD_TESTING=OFF -DHDF5_BUILD_HL_LIB=OFF \
    -DHDF5_BUILD_CPP_LIB=OFF -DHDF5_BUILD_FORTRAN=OFF -DHDF5_BUILD_JAVA=OFF -DHDF5_BUILD_EXAMPLES=OFF -DHDF5_BUILD_DOC=OFF \
    -DHDF5_BUILD_TOOLS=OFF -DHDF5_ENABLE_ZLIB_SUPPORT=ON -DHDF5_ENABLE_SZIP_SUPPORT=OFF >> "$log" 2>&1 &&
    nice ninja -C "$work/build" -j "$(nproc)" install >> "$log" 2>&1 ||
    { missing hdf5-2 "HDF5 2.x did not compile (log: $log)"; return; }
  rm -rf "$work"
}
hdf5_2

# h5_api_test of 1.14 on 2.x libraries, that one and the one inside h5py's newest wheel: the same binary, whose libhdf5.so.310 is
# a library that has what 2.x lost of 1.14's interface and takes the rest from 2.x.
as_1_14() { # name, 2.x library
  local place=$cache/as-1.14/$1 source
  source=$(dirname "$0")/hdf5_2_as_1_14.c
  if [ -e "$2" ] && { [ "$(readlink "$place/from" 2> /dev/null)" != "$2" ] ||
    [ "$source" -nt "$place/libhdf5.so.310" ]; }; then
    mkdir -p "$place"
    ${CC:-cc} -shared -fPIC "$source" -o "$place/libhdf5.so.310" -Wl,-soname,libhdf5.so.310 \
      -Wl,--no-as-needed "$2" -Wl,-rpath,"$(dirname "$2")" -Wl,--allow-shlib-undefined >> "$log" 2>&1 || return 0
    # Debian's own HDF5 has another name.
    ln -sf libhdf5.so.310 "$place/libhdf5_serial.so.310"
    ln -sfn "$2" "$place/from"
  fi
}
as_1_14 hdf5-2 "$cache/hdf5-2/lib/libhdf5.so"
as_1_14 h5py-newest "$(ls "$cache/$python"/h5py-newest/lib/python3*/site-packages/h5py.libs/libhdf5-*.so.* 2> /dev/null | head -n 1)"
