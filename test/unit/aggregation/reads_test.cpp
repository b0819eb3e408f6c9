// SPDX-License-Identifier: BSD-3-Clause
// What a reader of one part takes from the storage: bytes and calls are counted at the one door to
// the system.
#include <fcntl.h>
#include <hdf5.h>

#include <algorithm>
#include <memory>

#include "aggregation/commit/write_container.hpp"
#include "restart/base/system.hpp"
#include "restart/container/container_reader.hpp"
#include "restart/container/part_image.hpp"
#include "test/support/catch.hpp"
#include "test/unit/aggregation/part_files.hpp"
#include "test/unit/restart/scratch_directory.hpp"

namespace mcr::aggregation {
namespace {

using restart::ContainerReader;
using restart::File;

std::uint64_t read_bytes = 0;
std::uint64_t read_calls = 0;

const restart::SystemCalls& counting_calls() {
  static const restart::SystemCalls calls = [] {
    restart::SystemCalls table = restart::real_system_calls();
    table.fsync = [](int) { return 0; };
    table.pread = [](int file, void* data, std::size_t bytes, off_t offset) {
      const ssize_t count = restart::real_system_calls().pread(file, data, bytes, offset);
      read_bytes += count > 0 ? static_cast<std::uint64_t>(count) : 0;
      ++read_calls;
      return count;
    };
    return table;
  }();
  return calls;
}

struct Shape {
  unsigned ranks = 1;
  unsigned variables = 1;
  hsize_t elements = 1;
};

std::string variable_name(unsigned variable) { return "field" + std::to_string(10000 + variable); }

/// A container of such parts, whose values do not compress much.
class Container {
 public:
  explicit Container(const Shape& shape) {
    SetToCommit set;
    std::vector<std::unique_ptr<File>> files;
    for (unsigned rank = 0; rank < shape.ranks; ++rank) {
      const std::string path = part(rank);
      make_hdf5_file(path, {}, [&](hid_t file) {
        std::vector<double> values(shape.elements);
        const hid_t space = H5Screate_simple(1, &shape.elements, nullptr);
        for (unsigned v = 0; v < shape.variables; ++v) {
          for (double& value : values) {
            state_ = state_ * 6364136223846793005U + 1442695040888963407U;
            value = static_cast<double>(state_ >> 11) * 0x1p-53;
          }
          const hid_t dataset = H5Dcreate2(file, variable_name(v).c_str(), H5T_NATIVE_DOUBLE, space,
                                           H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
          H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
          H5Dclose(dataset);
        }
        H5Sclose(space);
      });
      files.push_back(std::make_unique<File>(*File::open(AT_FDCWD, path, O_RDONLY)));
      set.parts.push_back(
          {*restart::PartId::random(), rank, "part", files.back().get(), *files.back()->size()});
    }
    set.set.masked_name = "part{rank}.h5";
    set.set.launch = "test";
    set.set.rank_count = shape.ranks;
    set.directory = directory_.path();
    set.name = "container.h5";
    const restart::ReplacedSystemCalls replaced(counting_calls());
    const auto report = write_container(set, {});
    REQUIRE(report);
    bytes = report->container_bytes;
  }

  [[nodiscard]] std::string part(unsigned rank) const {
    return directory_ / ("part" + std::to_string(rank) + ".h5");
  }
  [[nodiscard]] std::unique_ptr<restart::PartSource> open(unsigned rank) const {
    const auto reader = ContainerReader::open(AT_FDCWD, directory_ / "container.h5");
    REQUIRE(reader);
    const auto parts = (*reader)->parts();
    REQUIRE(parts);
    auto image = restart::open_part_image(*reader, (**parts)[rank]);
    REQUIRE(image);
    return std::move(*image);
  }

  std::uint64_t bytes = 0;

 private:
  restart::ScratchDirectory directory_;
  std::uint64_t state_ = 1;
};

}  // namespace

TEST_CASE("one dataset of one rank of 64 x 100 reads less than 3 % of the container") {
  const Shape shape{64, 100, 512};
  const Container container(shape);
  const unsigned rank = 41;
  const Bytes native = read_whole(container.part(rank));
  const hid_t file = H5Fopen(container.part(rank).c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  const hid_t dataset = H5Dopen2(file, variable_name(57).c_str(), H5P_DEFAULT);
  const haddr_t offset = H5Dget_offset(dataset);
  H5Dclose(dataset);
  std::vector<std::uint64_t> raw_begins;
  for (unsigned v = 0; v < shape.variables; ++v) {
    const hid_t other = H5Dopen2(file, variable_name(v).c_str(), H5P_DEFAULT);
    raw_begins.push_back(H5Dget_offset(other));
    H5Dclose(other);
  }
  H5Fclose(file);
  std::sort(raw_begins.begin(), raw_begins.end());

  const restart::ReplacedSystemCalls replaced(counting_calls());
  read_bytes = read_calls = 0;
  const auto image = container.open(rank);
  // All of HDF5's metadata, more than a search for one name can touch, ...
  const std::uint64_t raw_bytes = shape.elements * sizeof(double);
  std::uint64_t done = 0;
  raw_begins.push_back(image->size());
  for (const std::uint64_t begin : raw_begins) {
    Bytes metadata(static_cast<std::size_t>(begin - done));
    REQUIRE(image->read_at(done, metadata));
    REQUIRE(std::equal(metadata.begin(), metadata.end(),
                       native.begin() + static_cast<std::ptrdiff_t>(done)));
    done = begin + raw_bytes;
  }
  // ... and the values.
  Bytes values(static_cast<std::size_t>(raw_bytes));
  REQUIRE(image->read_at(offset, values));
  REQUIRE(std::equal(values.begin(), values.end(),
                     native.begin() + static_cast<std::ptrdiff_t>(offset)));
  INFO(read_bytes << " of " << container.bytes << " bytes in " << read_calls << " reads");
  CHECK(read_bytes * 100 < container.bytes * 3);
}

TEST_CASE("opening a part does not grow with the variables that nobody asks for") {
  std::vector<std::uint64_t> bytes;
  std::vector<std::uint64_t> calls;
  for (const unsigned variables : {10U, 2000U}) {
    const Container container({4, variables, 8});
    const restart::ReplacedSystemCalls replaced(counting_calls());
    read_bytes = read_calls = 0;
    const auto image = container.open(2);
    bytes.push_back(read_bytes);
    calls.push_back(read_calls);
  }
  INFO(bytes[0] << " and " << bytes[1] << " bytes");
  CHECK(calls[0] == calls[1]);
  CHECK(bytes[1] < bytes[0] + 1024);  // a table of pages: some bytes for hundreds of variables
}

}  // namespace mcr::aggregation
