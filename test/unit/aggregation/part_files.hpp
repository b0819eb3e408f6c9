// SPDX-License-Identifier: BSD-3-Clause
// Rank files for tests, written with HDF5 as a program would.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "codecs/base/bytes.hpp"

namespace mcr::aggregation {

/// How a file is made: the earliest and the latest format of HDF5 differ in every structure.
struct FileFormat {
  bool latest = false;
  hsize_t user_block = 0;
};

/// Makes an HDF5 file at `path` that `fill` writes into.
void make_hdf5_file(const std::string& path, const FileFormat& format,
                    const std::function<void(hid_t file)>& fill);

/// One dataset of `type`, of any shape, with values that depend on `seed`; groups are made.
struct DatasetSpec {
  std::string path;
  hid_t type = -1;
  std::vector<hsize_t> shape;
  std::vector<hsize_t> chunk;  ///< empty: contiguous
  bool deflate = false;
  bool compact = false;
};
void write_dataset(hid_t file, const DatasetSpec& spec, unsigned seed);

void write_text_attribute(hid_t object, const char* name, const std::string& text,
                          bool variable_length);
void write_double_attribute(hid_t object, const char* name, double value);

/// Everything of HDF5 that a part may hold, in one file; parts of different `rank` differ in
/// values, in some shapes and in some names.
void write_many_features(const std::string& path, unsigned rank, const FileFormat& format);

Bytes read_whole(const std::string& path);
void write_whole(const std::string& path, ByteSpan bytes);

}  // namespace mcr::aggregation
