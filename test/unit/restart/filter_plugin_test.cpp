// SPDX-License-Identifier: BSD-3-Clause
// The filter plugin as HDF5 uses it: found on HDF5_PLUGIN_PATH, which meson sets for this test.
#include <hdf5.h>

#include <cstdio>
#include <numeric>

#include "codecs/frames/frame.hpp"
#include "restart/filter/filter_parameters.hpp"
#include "test/support/catch.hpp"

using namespace mcr::codecs;

namespace mcr::restart {
namespace {

constexpr hsize_t chunk_elements = 1000;

/// A file in memory with one dataset of two chunks behind the filter.
class FilteredDataset {
 public:
  FilteredDataset() {
    // HDF5 caches nothing, because cached values would hide what a chunk holds.
    access_ = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_core(access_, 1 << 20, 0);
    H5Pset_cache(access_, 0, 0, 0, 0);
    file_ = H5Fcreate("filter_plugin_test.h5", H5F_ACC_TRUNC, H5P_DEFAULT, access_);
    const hsize_t extent = 2 * chunk_elements;
    const hid_t space = H5Screate_simple(1, &extent, nullptr);
    const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(properties, 1, &chunk_elements);
    FilterParameters parameters;
    parameters.chunk_bytes = chunk_elements * sizeof(double);
    parameters.element_bytes = sizeof(double);
    const auto values = parameters.values();
    REQUIRE(H5Pset_filter(properties, filter_id, H5Z_FLAG_MANDATORY, values.size(),
                          values.data()) >= 0);
    dataset_ =
        H5Dcreate2(file_, "x", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    REQUIRE(dataset_ >= 0);
    H5Pclose(properties);
    H5Sclose(space);
  }
  ~FilteredDataset() {
    H5Dclose(dataset_);
    H5Fclose(file_);
    H5Pclose(access_);
  }
  FilteredDataset(const FilteredDataset&) = delete;
  FilteredDataset& operator=(const FilteredDataset&) = delete;

  void write_chunk(hsize_t number, const Bytes& frame) const {
    const hsize_t offset = number * chunk_elements;
    REQUIRE(H5Dwrite_chunk(dataset_, H5P_DEFAULT, 0, &offset, frame.size(), frame.data()) >= 0);
  }
  [[nodiscard]] bool write(const std::vector<double>& values) const {
    return H5Dwrite(dataset_, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) >= 0;
  }
  [[nodiscard]] bool read(std::vector<double>& values) const {
    values.assign(2 * chunk_elements, -1.0);
    H5E_auto2_t function = nullptr;
    void* data = nullptr;
    H5Eget_auto2(H5E_DEFAULT, &function, &data);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    const herr_t status =
        H5Dread(dataset_, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
    H5Eset_auto2(H5E_DEFAULT, function, data);
    return status >= 0;
  }
  [[nodiscard]] hsize_t stored_bytes(hsize_t number) const {
    const hsize_t offset = number * chunk_elements;
    hsize_t bytes = 0;
    REQUIRE(H5Dget_chunk_storage_size(dataset_, &offset, &bytes) >= 0);
    return bytes;
  }

 private:
  hid_t access_;
  hid_t file_;
  hid_t dataset_;
};

std::vector<double> ramp(std::size_t count) {
  std::vector<double> values(count);
  std::iota(values.begin(), values.end(), 1.0);
  return values;
}

Bytes frame_of(const std::vector<double>& values) {
  Scratch scratch;
  Bytes frame;
  const Layout layout{{ElementKind::floating, 8, false},
                      {Shape::flat(static_cast<std::uint32_t>(values.size()))}};
  REQUIRE(encode_frame(std::as_bytes(std::span(values)), layout, *Pipeline::parse("transpose|zstd"),
                       scratch, frame));
  return frame;
}

TEST_CASE("the filter reads frames that were written as chunks") {
  const FilteredDataset dataset;
  const auto values = ramp(2 * chunk_elements);
  dataset.write_chunk(0, frame_of({values.begin(), values.begin() + chunk_elements}));
  dataset.write_chunk(1, frame_of({values.begin() + chunk_elements, values.end()}));
  std::vector<double> back;
  REQUIRE(dataset.read(back));
  REQUIRE(back == values);
}

TEST_CASE("the filter fills the rest of a chunk with zeros if the frame is shorter") {
  const FilteredDataset dataset;
  dataset.write_chunk(0, frame_of(ramp(10)));
  dataset.write_chunk(1, frame_of({}));
  std::vector<double> expected = ramp(10);
  expected.resize(2 * chunk_elements);
  std::vector<double> back;
  REQUIRE(dataset.read(back));
  REQUIRE(back == expected);
}

TEST_CASE("the filter encodes what HDF5 writes, and reads it back") {
  const FilteredDataset dataset;
  const auto values = ramp(2 * chunk_elements);
  REQUIRE(dataset.write(values));
  REQUIRE(dataset.stored_bytes(0) < chunk_elements * sizeof(double) / 4);
  std::vector<double> back;
  REQUIRE(dataset.read(back));
  REQUIRE(back == values);
}

TEST_CASE("the filter refuses a damaged chunk") {
  const FilteredDataset dataset;
  const auto values = ramp(chunk_elements);
  Bytes frame = frame_of(values);
  frame[frame.size() / 2] ^= std::byte{1};
  dataset.write_chunk(0, frame);
  std::vector<double> back;
  REQUIRE_FALSE(dataset.read(back));
}

TEST_CASE("the filter refuses a chunk with links to data that it cannot reach") {
  const FilteredDataset dataset;
  Bytes frame;
  const Layout layout{{ElementKind::floating, 8, false}, {Shape::flat(chunk_elements)}};
  REQUIRE(encode_link_frame(layout, {1, {{0, layout.raw_bytes()}}}, 0, frame));
  dataset.write_chunk(0, frame);
  std::vector<double> back;
  REQUIRE_FALSE(dataset.read(back));
}

TEST_CASE("filter parameters are read back from HDF5's form, and newer versions are refused") {
  FilterParameters parameters;
  parameters.chunk_bytes = 123456;
  parameters.element_bytes = 8;
  parameters.container = {1, 2, 3, 4};
  auto values = parameters.values();
  const auto read = FilterParameters::from(values);
  REQUIRE(read);
  REQUIRE(read->values() == values);
  values[0] = 2;
  REQUIRE(FilterParameters::from(values).error().cause == Cause::unsupported);
  REQUIRE(FilterParameters::from({}));
}

}  // namespace
}  // namespace mcr::restart
