// SPDX-License-Identifier: BSD-3-Clause
#include "test/unit/aggregation/part_files.hpp"

#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "test/support/catch.hpp"

namespace mcr::aggregation {

void make_hdf5_file(const std::string& path, const FileFormat& format,
                    const std::function<void(hid_t file)>& fill) {
  const hid_t creation = H5Pcreate(H5P_FILE_CREATE);
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  REQUIRE(H5Pset_userblock(creation, format.user_block) >= 0);
  H5Pset_libver_bounds(access, format.latest ? H5F_LIBVER_LATEST : H5F_LIBVER_EARLIEST,
                       H5F_LIBVER_LATEST);
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation, access);
  REQUIRE(file >= 0);
  fill(file);
  REQUIRE(H5Fclose(file) >= 0);
  H5Pclose(access);
  H5Pclose(creation);
}

void write_dataset(hid_t file, const DatasetSpec& spec, unsigned seed) {
  const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
  const hid_t links = H5Pcreate(H5P_LINK_CREATE);
  H5Pset_create_intermediate_group(links, 1);
  if (!spec.chunk.empty()) {
    H5Pset_chunk(properties, static_cast<int>(spec.chunk.size()), spec.chunk.data());
  }
  if (spec.deflate) H5Pset_deflate(properties, 1);
  if (spec.compact) H5Pset_layout(properties, H5D_COMPACT);
  const hid_t space = spec.shape.empty() ? H5Screate(H5S_SCALAR)
                                         : H5Screate_simple(static_cast<int>(spec.shape.size()),
                                                            spec.shape.data(), nullptr);
  const hid_t dataset =
      H5Dcreate2(file, spec.path.c_str(), spec.type, space, links, properties, H5P_DEFAULT);
  REQUIRE(dataset >= 0);
  const std::size_t size = H5Tget_size(spec.type);
  std::vector<std::uint8_t> raw(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)) *
                                size);
  std::mt19937 random(seed);
  if (H5Tget_class(spec.type) == H5T_FLOAT && size == 8) {
    for (std::size_t i = 0; i + 8 <= raw.size(); i += 8) {
      const double value = std::sin(static_cast<double>(i) * 1e-4 + seed) +
                           static_cast<double>(random() % 100) * 1e-9;
      std::memcpy(&raw[i], &value, 8);
    }
  } else {
    for (std::size_t i = 0; i < raw.size(); ++i) {
      raw[i] = static_cast<std::uint8_t>(i % 7 == 0 ? random() : i / 13 + seed);
    }
  }
  if (!raw.empty())
    REQUIRE(H5Dwrite(dataset, spec.type, H5S_ALL, H5S_ALL, H5P_DEFAULT, raw.data()) >= 0);
  H5Dclose(dataset);
  H5Sclose(space);
  H5Pclose(links);
  H5Pclose(properties);
}

void write_text_attribute(hid_t object, const char* name, const std::string& text,
                          bool variable_length) {
  const hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, variable_length ? H5T_VARIABLE : text.size());
  const hid_t space = H5Screate(H5S_SCALAR);
  const hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  const char* pointer = text.c_str();
  REQUIRE(H5Awrite(attribute, type,
                   variable_length ? static_cast<const void*>(&pointer) : pointer) >= 0);
  H5Aclose(attribute);
  H5Sclose(space);
  H5Tclose(type);
}

void write_double_attribute(hid_t object, const char* name, double value) {
  const hid_t space = H5Screate(H5S_SCALAR);
  const hid_t attribute = H5Acreate2(object, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT);
  REQUIRE(H5Awrite(attribute, H5T_NATIVE_DOUBLE, &value) >= 0);
  H5Aclose(attribute);
  H5Sclose(space);
}

namespace {

hid_t particle_type() {
  const hid_t type = H5Tcreate(H5T_COMPOUND, 24);
  H5Tinsert(type, "id", 0, H5T_STD_I32LE);
  H5Tinsert(type, "position", 8, H5T_IEEE_F64LE);
  H5Tinsert(type, "mass", 16, H5T_IEEE_F32LE);
  return type;
}

void write_variable_length(hid_t file, const char* name, unsigned count) {
  const hid_t type = H5Tvlen_create(H5T_STD_I32LE);
  const hsize_t length = count;
  const hid_t space = H5Screate_simple(1, &length, nullptr);
  const hid_t dataset = H5Dcreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  std::vector<std::int32_t> numbers(64, 3);
  std::vector<hvl_t> rows(count);
  for (unsigned i = 0; i < count; ++i) rows[i] = {i % 64, numbers.data()};
  REQUIRE(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows.data()) >= 0);
  H5Dclose(dataset);
  H5Sclose(space);
  H5Tclose(type);
}

}  // namespace

void write_many_features(const std::string& path, unsigned rank, const FileFormat& format) {
  make_hdf5_file(path, format, [&](hid_t file) {
    const hid_t compound = particle_type();
    const std::array<hsize_t, 1> three{3};
    const hid_t array = H5Tarray_create2(H5T_IEEE_F32BE, 1, three.data());
    const hid_t text = H5Tcopy(H5T_C_S1);
    H5Tset_size(text, 17);
    const hid_t color = H5Tenum_create(H5T_STD_I16LE);
    std::int16_t value = 0;
    H5Tenum_insert(color, "red", &value);

    const hsize_t n = 300 + 10 * rank;
    unsigned seed = rank;
    write_dataset(file, {"field/pressure", H5T_IEEE_F64LE, {20, 30, 4}, {}, false, false}, seed);
    write_dataset(file, {"field/velocity", H5T_IEEE_F64LE, {n, 3}, {}, false, false}, ++seed);
    write_dataset(file, {"field/big_endian", H5T_IEEE_F64BE, {n}, {}, false, false}, ++seed);
    write_dataset(file,
                  {"field/shape_differs", H5T_STD_I32LE, {7 + rank, 11 + rank}, {}, false, false},
                  ++seed);
    write_dataset(file, {"tiled", H5T_STD_U16LE, {100, 50}, {30, 20}, false, false}, ++seed);
    write_dataset(file, {"filtered", H5T_IEEE_F64LE, {64, 64}, {32, 32}, true, false}, ++seed);
    write_dataset(file, {"compact", H5T_STD_I32LE, {40}, {}, false, true}, ++seed);
    write_dataset(file, {"particles", compound, {n}, {}, false, false}, ++seed);
    write_dataset(file, {"vectors", array, {n}, {}, false, false}, ++seed);
    write_dataset(file, {"names", text, {n}, {}, false, false}, ++seed);
    write_dataset(file, {"colors", color, {n}, {}, false, false}, ++seed);
    write_dataset(file, {"half", H5T_STD_B8LE, {2, n}, {}, false, false}, ++seed);
    write_dataset(file, {"scalar", text, {}, {}, false, false}, ++seed);
    write_dataset(file, {"empty", H5T_IEEE_F32LE, {0, 5}, {}, false, false}, ++seed);
    const std::string grid = "Grid0000" + std::to_string(rank * 2 + 1);
    write_dataset(file, {grid + "/Density", H5T_IEEE_F64LE, {8, 8, 4}, {}, false, false}, ++seed);
    write_dataset(file, {grid + "/Energy", H5T_IEEE_F64LE, {8, 8, 4}, {}, false, false}, ++seed);
    write_variable_length(file, "ragged", 50 + rank);
    if (rank == 1)
      write_dataset(file, {"only_here", H5T_STD_I64LE, {99}, {}, false, false}, ++seed);
    write_text_attribute(file, "code", "solver 1.0", true);
    write_double_attribute(file, "time", 0.125);
    write_double_attribute(file, "rank", rank);
    const hid_t dataset = H5Dopen2(file, "field/pressure", H5P_DEFAULT);
    write_text_attribute(dataset, "units", "Pa", false);
    write_text_attribute(dataset, "long_name", "pressure", true);
    H5Dclose(dataset);
    for (const hid_t type : {compound, array, text, color}) H5Tclose(type);
  });
}

Bytes read_whole(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const ByteSpan span = std::as_bytes(std::span(bytes));
  return {span.begin(), span.end()};
}

void write_whole(const std::string& path, ByteSpan bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

}  // namespace mcr::aggregation
