// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/merge/part_inventory.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include "test/support/catch.hpp"
#include "test/unit/aggregation/part_files.hpp"
#include "test/unit/restart/scratch_directory.hpp"

namespace mcr::aggregation {
namespace {

/// A virtual dataset whose extent is that of its source file, or, with a "%b" in the source's name, of as
/// many source files as there are.
void write_virtual_dataset(hid_t file, const std::string& source) {
  const bool is_one_a_block = source.find("%b") != std::string::npos;
  const hsize_t extent = 10;
  const hsize_t unlimited = H5S_UNLIMITED;
  const hsize_t start = 0;
  const hid_t space = H5Screate_simple(1, &extent, &unlimited);
  REQUIRE(H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, is_one_a_block ? &extent : nullptr,
                              &unlimited, is_one_a_block ? &extent : nullptr) >= 0);
  const hid_t source_space =
      is_one_a_block ? H5Screate_simple(1, &extent, nullptr) : H5Scopy(space);
  const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
  REQUIRE(H5Pset_virtual(properties, space, source.c_str(), "/data", source_space) >= 0);
  const hid_t dataset =
      H5Dcreate2(file, "virtual", H5T_IEEE_F64LE, space, H5P_DEFAULT, properties, H5P_DEFAULT);
  REQUIRE(dataset >= 0);
  H5Dclose(dataset);
  H5Pclose(properties);
  H5Sclose(source_space);
  H5Sclose(space);
}

TEST_CASE("the source files of a virtual dataset are not opened") {
  const restart::ScratchDirectory scratch;
  const std::string pipe = scratch.path() + "/source0";
  REQUIRE(::mkfifo(pipe.c_str(), 0666) == 0);  // whoever opens it waits for ever
  const std::string source = GENERATE("/source0", "/source%b");
  const std::string path = scratch.path() + "/part.h5";
  make_hdf5_file(path, {}, [&](hid_t file) {
    write_virtual_dataset(file, scratch.path() + source);
    write_dataset(file, {"own", H5T_IEEE_F64LE, {40}, {}, false, false}, 1);
  });
  Datatypes types;
  ::alarm(60);
  const auto walked = read_part_layout(path, std::filesystem::file_size(path), types);
  ::alarm(0);
  REQUIRE(walked);
  REQUIRE(walked->layout->datasets.size() == 1);
  CHECK(walked->layout->datasets.front().path == "own");
}

}  // namespace
}  // namespace mcr::aggregation
