// SPDX-License-Identifier: BSD-3-Clause
// Tools to make the sets: a rank's file, and numbers for its datasets.
#pragma once

#include <hdf5.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "bench/unseen/numbers.hpp"

namespace mcr::bench {

using Extents = std::vector<hsize_t>;

class RankFile {
 public:
  explicit RankFile(const std::string& path) {
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_LATEST);
    file_ = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access);
    H5Pclose(access);
    if (file_ < 0) std::exit(1);
  }
  RankFile(const RankFile&) = delete;
  RankFile& operator=(const RankFile&) = delete;
  ~RankFile() { H5Fclose(file_); }

  /// `stored` is the type in the file, if it differs from the type of `data`.
  template <typename T>
  void write(const std::string& name, const Extents& extents, const std::vector<T>& data,
             hid_t type, hid_t stored = -1) {
    const hid_t space = extents.empty() ? H5Screate(H5S_SCALAR)
                                        : H5Screate_simple(static_cast<int>(extents.size()),
                                                           extents.data(), nullptr);
    const hid_t links = H5Pcreate(H5P_LINK_CREATE);
    H5Pset_create_intermediate_group(links, 1);
    const hid_t create = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_obj_track_times(create, false);
    const hid_t dataset = H5Dcreate2(file_, name.c_str(), stored < 0 ? type : stored, space, links,
                                     create, H5P_DEFAULT);
    if (dataset < 0 || H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data.data()) < 0) {
      std::fprintf(stderr, "unseen_sets: cannot write %s\n", name.c_str());
      std::exit(1);
    }
    H5Dclose(dataset);
    H5Pclose(create);
    H5Pclose(links);
    H5Sclose(space);
  }
  void write(const std::string& name, const Extents& extents, const std::vector<double>& data) {
    write(name, extents, data, H5T_NATIVE_DOUBLE);
  }
  void write(const std::string& name, const Extents& extents, const std::vector<float>& data) {
    write(name, extents, data, H5T_NATIVE_FLOAT);
  }
  void write(const std::string& name, const Extents& extents,
             const std::vector<std::int64_t>& data) {
    write(name, extents, data, H5T_NATIVE_INT64);
  }
  void write(const std::string& name, const Extents& extents,
             const std::vector<std::int32_t>& data) {
    write(name, extents, data, H5T_NATIVE_INT32);
  }
  void write(const std::string& name, const Extents& extents,
             const std::vector<std::uint64_t>& data) {
    write(name, extents, data, H5T_NATIVE_UINT64);
  }

 private:
  hid_t file_;
};

/// One rank's part of one set.
struct Part {
  RankFile& file;
  unsigned rank;
  double scale;
  Random random;

  [[nodiscard]] std::size_t count(double usual) const {
    return static_cast<std::size_t>(usual * scale);
  }
  /// Returns the side of a box that has `usual`^3 elements if the scale is 1.
  [[nodiscard]] std::size_t side(double usual) const {
    return static_cast<std::size_t>(std::lround(usual * std::cbrt(scale)));
  }
};

template <typename T, typename Make>
std::vector<T> made(std::size_t count, const Make& make) {
  std::vector<T> data(count);
  for (std::size_t i = 0; i < count; ++i) data[i] = static_cast<T>(make(i));
  return data;
}

template <typename T>
std::vector<T> box_field(const Part& part, std::size_t nz, std::size_t ny, std::size_t nx,
                         unsigned number, double step) {
  return made<T>(nz * ny * nx, [&](std::size_t i) {
    return field(static_cast<double>(i % nx) * step + 0.618034 * part.rank,
                 static_cast<double>(i / nx % ny) * step, static_cast<double>(i / nx / ny) * step,
                 number);
  });
}

/// Results of explicit solvers: smooth in space to the last bits (solver_set.cpp).
void solver(Part& part);

}  // namespace mcr::bench
