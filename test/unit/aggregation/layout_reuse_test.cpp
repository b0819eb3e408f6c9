// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/merge/layout_reuse.hpp"

#include <fcntl.h>

#include <array>

#include "test/support/catch.hpp"
#include "test/unit/aggregation/part_files.hpp"
#include "test/unit/restart/scratch_directory.hpp"

namespace mcr::aggregation {
namespace {

using restart::File;
using restart::ScratchDirectory;

struct Opened {
  File file;
  std::uint64_t size = 0;
};

Opened open(const std::string& path) {
  auto file = File::open(AT_FDCWD, path, O_RDONLY);
  REQUIRE(file);
  const std::uint64_t size = *file->size();
  return {std::move(*file), size};
}

ReferencePart reference_of(const std::string& path, Datatypes& types) {
  const Opened opened = open(path);
  const auto walked = read_part_layout(path, opened.size, types);
  REQUIRE(walked);
  auto reference = ReferencePart::make(opened.file, opened.size, *walked);
  REQUIRE(reference);
  return std::move(*reference);
}

/// `names` in the order in which they are made; all have one shape.
void write_part(const std::string& path, const FileFormat& format,
                const std::array<const char*, 2>& names, double time, unsigned seed) {
  make_hdf5_file(path, format, [&](hid_t file) {
    for (const char* name : names) {
      write_dataset(file, {name, H5T_IEEE_F64LE, {40}, {}, false, false}, ++seed);
      const hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
      write_double_attribute(dataset, "time", time);
      write_text_attribute(dataset, "units", "m", false);
      H5Dclose(dataset);
    }
    write_dataset(file, {"compact", H5T_STD_I32LE, {10}, {}, false, true}, ++seed);
    write_double_attribute(file, "rank", seed);
  });
}

std::vector<std::string> attribute_names(const std::vector<AttributeValue>& attributes) {
  std::vector<std::string> names;
  for (const AttributeValue& attribute : attributes) names.push_back(attribute.name);
  return names;
}

TEST_CASE("a part that differs in values only has the layout of one that was walked") {
  const FileFormat format = GENERATE(FileFormat{false, 0}, FileFormat{true, 0},
                                     FileFormat{false, 512}, FileFormat{true, 1024});
  const ScratchDirectory directory;
  write_part(directory / "0.h5", format, {"group/x", "group/y"}, 1.5, 0);
  write_part(directory / "1.h5", format, {"group/x", "group/y"}, 2.5, 7);
  Datatypes types;
  ReferencePart reference = reference_of(directory / "0.h5", types);
  const Opened other = open(directory / "1.h5");
  REQUIRE(reference.fits(other.file, other.size));
  for (const DatasetInfo& dataset : reference.layout()->datasets) {
    CHECK(attribute_names(dataset.attributes) ==
          std::vector<std::string>{"units"});  // time differs
  }
  for (const GroupInfo& group : reference.layout()->groups) CHECK(group.attributes.empty());
}

TEST_CASE("a part whose datasets lie elsewhere is walked, however alike the files are") {
  const bool latest = GENERATE(false, true);
  const ScratchDirectory directory;
  write_part(directory / "0.h5", {latest, 0}, {"group/x", "group/y"}, 1.5, 0);
  write_part(directory / "swapped.h5", {latest, 0}, {"group/y", "group/x"}, 1.5, 0);
  write_part(directory / "renamed.h5", {latest, 0}, {"group/x", "group/z"}, 1.5, 0);
  Datatypes types;
  ReferencePart reference = reference_of(directory / "0.h5", types);
  for (const char* name : {"swapped.h5", "renamed.h5"}) {
    const Opened other = open(directory / name);
    CHECK_FALSE(reference.fits(other.file, other.size));
  }
}

TEST_CASE("any changed byte of metadata that is no value makes a part be walked") {
  const ScratchDirectory directory;
  write_part(directory / "0.h5", {}, {"group/x", "group/y"}, 1.5, 0);
  Datatypes types;
  ReferencePart reference = reference_of(directory / "0.h5", types);
  const Bytes good = read_whole(directory / "0.h5");
  write_whole(directory / "1.h5", good);
  auto other = File::open(AT_FDCWD, directory / "1.h5", O_RDWR);
  REQUIRE(other);
  std::vector<bool> raw(good.size());
  for (const DatasetInfo& dataset : reference.layout()->datasets) {
    for (const Extent& extent : dataset.extents) {
      for (std::uint64_t i = 0; i < extent.bytes; ++i) raw[extent.offset + i] = true;
    }
  }
  std::size_t values = 0;
  for (std::size_t place = 0; place < good.size(); ++place) {
    if (raw[place]) continue;
    const std::byte changed = ~good[place];
    REQUIRE(other->write_at(place, {&changed, 1}));
    values += reference.fits(*other, good.size());
    REQUIRE(other->write_at(place, {&good[place], 1}));
  }
  // Two times and two texts, a number of the root, the compact dataset, and times of change: no
  // more than these, each with what the format pads it to.
  CHECK(values >= 2 * 8 + 2 * 1 + 8 + 40);
  CHECK(values <= 2 * 8 + 2 * 8 + 8 + 40 + 5 * 8);
}

}  // namespace
}  // namespace mcr::aggregation
