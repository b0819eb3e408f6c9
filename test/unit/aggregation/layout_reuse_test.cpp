// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/merge/layout_reuse.hpp"

#include <fcntl.h>

#include <array>
#include <random>

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
  auto reference = ReferencePart::make(opened.file, opened.size, types, *walked);
  REQUIRE(reference);
  return std::move(*reference);
}

bool is_same(const PartLayout& a, const PartLayout& b) {
  const auto same_groups = [](const GroupInfo& x, const GroupInfo& y) {
    return x.path == y.path && x.attributes == y.attributes;
  };
  const auto same_extents = [](const Extent& x, const Extent& y) {
    return x.offset == y.offset && x.bytes == y.bytes;
  };
  const auto same_datasets = [&](const DatasetInfo& x, const DatasetInfo& y) {
    return x.path == y.path && x.type == y.type && x.form == y.form && x.shape == y.shape &&
           std::equal(x.extents.begin(), x.extents.end(), y.extents.begin(), y.extents.end(),
                      same_extents) &&
           x.attributes == y.attributes;
  };
  return std::equal(a.groups.begin(), a.groups.end(), b.groups.begin(), b.groups.end(),
                    same_groups) &&
         std::equal(a.datasets.begin(), a.datasets.end(), b.datasets.begin(), b.datasets.end(),
                    same_datasets);
}

/// In a new set: returns whether the part fits, and checks that its layout is then what a walk finds.
bool fits_as_walked(ReferencePart& reference, const std::string& path, Datatypes& types) {
  const Opened opened = open(path);
  reference.end_set();
  if (!reference.fits(opened.file, opened.size)) return false;
  const auto walked = read_part_layout(path, opened.size, types);
  REQUIRE(walked);
  CHECK(is_same(*reference.layout(), *walked->layout));
  return true;
}

std::vector<std::string> attribute_names(const std::vector<AttributeValue>& attributes) {
  std::vector<std::string> names;
  for (const AttributeValue& attribute : attributes) names.push_back(attribute.name);
  return names;
}

std::vector<std::string> attributes_at(const PartLayout& layout, const std::string& path) {
  for (const DatasetInfo& dataset : layout.datasets) {
    if (dataset.path == path) return attribute_names(dataset.attributes);
  }
  return {"no such dataset"};
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
  CHECK(fits_as_walked(reference, directory / "1.h5", types));
}

TEST_CASE("a part of a set is walked if the checksum over its value is wrong") {
  const ScratchDirectory directory;
  write_part(directory / "0.h5", {true, 0}, {"group/x", "group/y"}, 1.5, 0);
  Datatypes types;
  ReferencePart reference = reference_of(directory / "0.h5", types);
  Bytes changed = read_whole(directory / "0.h5");
  const double time = 1.5;
  const std::size_t place = as_text(changed).find(as_text(as_bytes(std::span(&time, 1))));
  REQUIRE(place < changed.size());
  changed[place] ^= std::byte{1};
  write_whole(directory / "1.h5", changed);
  const Opened other = open(directory / "1.h5");
  CHECK_FALSE(reference.fits(other.file, other.size));
  for (const DatasetInfo& dataset : reference.layout()->datasets) {
    if (dataset.path != "compact") CHECK(dataset.attributes.size() == 2);
  }
}

TEST_CASE("a part whose datasets lie elsewhere is walked, however alike the files are") {
  const bool latest = GENERATE(false, true);
  const ScratchDirectory directory;
  write_part(directory / "0.h5", {latest, 0}, {"group/x", "group/y"}, 1.5, 0);
  write_part(directory / "swapped.h5", {latest, 0}, {"group/y", "group/x"}, 1.5, 0);
  write_part(directory / "renamed.h5", {latest, 0}, {"group/x", "group/z"}, 1.5, 0);
  Datatypes types;
  ReferencePart reference = reference_of(directory / "0.h5", types);
  const Opened swapped = open(directory / "swapped.h5");
  CHECK_FALSE(reference.fits(swapped.file, swapped.size));
  CHECK(fits_as_walked(reference, directory / "renamed.h5", types) == !latest);
  CHECK(fits_as_walked(reference, directory / "0.h5", types));
}

TEST_CASE("any changed byte of metadata that is no value makes a part be walked") {
  const bool latest = GENERATE(false, true);
  const ScratchDirectory directory;
  write_part(directory / "0.h5", {latest, 0}, {"group/x", "group/y"}, 1.5, 0);
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
    for (const std::byte changed : {~good[place], good[place] ^ std::byte{1}}) {
      REQUIRE(other->write_at(place, {&changed, 1}));
      values += fits_as_walked(reference, directory / "1.h5", types);
    }
    REQUIRE(other->write_at(place, {&good[place], 1}));
    REQUIRE(fits_as_walked(reference, directory / "1.h5", types));
  }
  if (latest) {
    CHECK(values == 0);  // a checksum is over each value
    return;
  }
  // Two times and two texts, a number of the root, the compact dataset, and times of change: no
  // more than these, each with what the format pads it to, and the names `group`, `x`, `y` and
  // `compact`.
  CHECK(values >= 2 * (2 * 8 + 2 * 1 + 8 + 40 + 5));
  CHECK(values <= 2 * (2 * 8 + 2 * 8 + 8 + 40 + 5 * 4 + 5 + 1 + 1 + 7));
}

// --- steps of a program -------------------------------------------------------------------------

/// A step of a program; each member is something in which steps differ.
struct Step {
  unsigned iteration = 100;
  double time = 0.5;
  unsigned seed = 1;
  std::string text = "abc";
  std::string words = "de";      ///< of variable length
  bool has_more = false;         ///< one attribute more
  bool is_integer = false;       ///< the type of a dataset
  int fill = 0;                  ///< the fill value of a dataset
  hsize_t chunk = 4;             ///< of a tiled dataset
  hsize_t extent = 16;           ///< of the same dataset
  bool is_filtered = false;      ///< the same dataset
  bool is_reversed = false;      ///< the order in which datasets are made
  std::string group = "g";       ///< names a group
  bool has_link = false;         ///< a second name for a dataset
  std::string target = "tiled";  ///< of a soft link
};

void write_step(const std::string& path, const FileFormat& format, const Step& step) {
  make_hdf5_file(path, format, [&](hid_t file) {
    unsigned seed = step.seed;
    const std::string at = " it=" + std::to_string(step.iteration) + " rl=";
    for (int i = 0; i < 40; ++i) {
      const int number = step.is_reversed ? 39 - i : i;
      const std::string name =
          (number % 3 == 0 ? step.group + "/rho" : "phi") + at + std::to_string(number);
      write_dataset(file, {name, H5T_IEEE_F64LE, {17}, {}, false, false}, ++seed);
      const hid_t dataset = H5Dopen2(file, name.c_str(), H5P_DEFAULT);
      write_double_attribute(dataset, "time", step.time + i % 2);
      write_text_attribute(dataset, "name", step.text, false);
      if (i == 7) write_text_attribute(dataset, "words", step.words, true);
      if (i == 9 && step.has_more) write_double_attribute(dataset, "more", 1);
      H5Dclose(dataset);
    }
    const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_fill_value(properties, H5T_NATIVE_INT, &step.fill);
    const hid_t space = H5Screate_simple(1, &step.extent, nullptr);
    H5Dclose(H5Dcreate2(file, "filled", step.is_integer ? H5T_STD_I32LE : H5T_STD_I32BE, space,
                        H5P_DEFAULT, properties, H5P_DEFAULT));
    H5Sclose(space);
    H5Pclose(properties);
    write_dataset(file,
                  {"tiled", H5T_STD_I32LE, {step.extent}, {step.chunk}, step.is_filtered, false},
                  ++seed);
    write_dataset(file, {"compact", H5T_STD_I32LE, {10}, {}, false, true}, ++seed);
    H5Lcreate_soft(step.target.c_str(), file, "soft", H5P_DEFAULT, H5P_DEFAULT);
    if (step.has_link) H5Lcreate_hard(file, "tiled", file, "hard", H5P_DEFAULT, H5P_DEFAULT);
    write_double_attribute(file, "iteration", step.iteration);
  });
}

TEST_CASE("a step that differs in values and in a number in names has the layout of another step") {
  const hsize_t user_block = GENERATE(0, 512);
  const ScratchDirectory directory;
  const FileFormat format{false, user_block};
  write_step(directory / "0.h5", format, {});
  Datatypes types;
  ReferencePart reference = reference_of(directory / "0.h5", types);
  for (unsigned i = 1; i < 6; ++i) {
    Step step{.iteration = 100 + 64 * i,
              .time = i * 0.25,
              .seed = i,
              .text = "x" + std::to_string(9 + i)};
    step.group = std::string(1, static_cast<char>('g' + i % 3));
    write_step(directory / "1.h5", format, step);
    CHECK(fits_as_walked(reference, directory / "1.h5", types));
  }
}

TEST_CASE("ranks whose names differ have layouts of their own") {
  const ScratchDirectory directory;
  Datatypes types;
  write_step(directory / "0.h5", {}, {});
  write_step(directory / "1.h5", {}, {.iteration = 101, .time = 2});
  write_step(directory / "2.h5", {}, {.iteration = 101, .time = 3});
  ReferencePart reference = reference_of(directory / "0.h5", types);
  const auto first = reference.layout();
  const Opened second = open(directory / "1.h5");
  REQUIRE(reference.fits(second.file, second.size));
  const auto other = reference.layout();
  CHECK(other != first);
  CHECK(attributes_at(*first, "g/rho it=100 rl=0") == std::vector<std::string>{"time", "name"});
  const Opened third = open(directory / "2.h5");
  REQUIRE(reference.fits(third.file, third.size));
  CHECK(reference.layout() == other);
  CHECK(attributes_at(*other, "g/rho it=101 rl=0") == std::vector<std::string>{"name"});
}

TEST_CASE("a step that differs in more than values and names is walked") {
  const bool latest = GENERATE(false, true);
  const ScratchDirectory directory;
  write_step(directory / "0.h5", {latest, 0}, {});
  Datatypes types;
  ReferencePart reference = reference_of(directory / "0.h5", types);
  const std::vector<Step> others{
      {.iteration = 1000},   {.text = "abcd"},     {.words = "ed"},
      {.has_more = true},    {.is_integer = true}, {.fill = 5},
      {.chunk = 8},          {.extent = 12},       {.is_filtered = true},
      {.is_reversed = true}, {.group = "gg"},      {.is_reversed = true, .group = "z"},
      {.has_link = true},    {.target = "delit"}};
  for (std::size_t i = 0; i < others.size(); ++i) {
    INFO(i);
    write_step(directory / "1.h5", {latest, 0}, others[i]);
    CHECK_FALSE(fits_as_walked(reference, directory / "1.h5", types));
  }
  CHECK(fits_as_walked(reference, directory / "0.h5", types));
}

TEST_CASE("steps that differ at random have the layout of another step only if a walk finds it") {
  const ScratchDirectory directory;
  std::mt19937 random(7);
  const auto one_in = [&](unsigned n) { return random() % n == 0; };
  Datatypes types;
  unsigned fitting = 0;
  for (unsigned round = 0; round < 12; ++round) {
    const FileFormat format{one_in(3), one_in(2) ? hsize_t{0} : hsize_t{1024}};
    const auto any_step = [&] {
      Step step{.iteration = 90 + static_cast<unsigned>(random() % 20),
                .time = one_in(2) ? 0.5 : 1.5,
                .seed = static_cast<unsigned>(random())};
      if (one_in(4)) step.text = "cba";
      if (one_in(12)) step.words = "f";
      if (one_in(12)) step.has_more = true;
      if (one_in(12)) step.is_integer = true;
      if (one_in(12)) step.fill = 3;
      if (one_in(12)) step.is_filtered = true;
      if (one_in(12)) step.is_reversed = true;
      if (one_in(3)) step.group = one_in(3) ? "a" : "h";
      if (one_in(6)) step.has_link = true;
      return step;
    };
    write_step(directory / "0.h5", format, any_step());
    ReferencePart reference = reference_of(directory / "0.h5", types);
    for (unsigned i = 0; i < 16; ++i) {
      write_step(directory / "1.h5", format, any_step());
      fitting += fits_as_walked(reference, directory / "1.h5", types);
    }
  }
  CHECK(fitting >= 10);
}

TEST_CASE("bytes of old-style groups that change at random never give another layout than a walk") {
  const ScratchDirectory directory;
  write_step(directory / "0.h5", {}, {});
  Datatypes types;
  ReferencePart reference = reference_of(directory / "0.h5", types);
  const Bytes good = read_whole(directory / "0.h5");
  std::vector<std::size_t> places;  // in names and beside them
  const std::string_view text = as_text(good);
  for (std::size_t at = text.find("HEAP"); at != std::string_view::npos;
       at = text.find("HEAP", at + 1)) {
    for (std::size_t i = 0; i < 32; ++i) places.push_back(at + i);
  }
  for (std::size_t at = text.find(" it="); at != std::string_view::npos;
       at = text.find(" it=", at + 1)) {
    for (std::size_t i = at - 8; i < at + 16; ++i) places.push_back(i);
  }
  REQUIRE(places.size() > 40 * 24);
  std::mt19937 random(3);
  write_whole(directory / "1.h5", good);
  auto other = File::open(AT_FDCWD, directory / "1.h5", O_RDWR);
  REQUIRE(other);
  unsigned fitting = 0;
  for (unsigned round = 0; round < 1500; ++round) {
    const std::size_t place = places[random() % places.size()];
    constexpr std::string_view bytes("\0/.0123456789it= zZ\xff", 22);
    const std::byte changed{static_cast<unsigned char>(bytes[random() % bytes.size()])};
    if (changed == good[place]) continue;
    REQUIRE(other->write_at(place, {&changed, 1}));
    fitting += fits_as_walked(reference, directory / "1.h5", types);
    REQUIRE(other->write_at(place, {&good[place], 1}));
  }
  CHECK(fitting > 20);
}

// --- headers that HDF5 does not write -------------------------------------------------------------

void replace_all(Bytes& bytes, ByteSpan from, ByteSpan to) {
  for (auto at = bytes.begin();; ++at) {
    at = std::search(at, bytes.end(), from.begin(), from.end());
    if (at == bytes.end()) return;
    std::copy(to.begin(), to.end(), at);
  }
}

TEST_CASE("if a header has two attributes of one name, no value in it may differ") {
  const ScratchDirectory directory;
  const auto write = [&](const std::string& path, double second) {
    make_hdf5_file(path, {}, [&](hid_t file) {
      write_dataset(file, {"x", H5T_IEEE_F64LE, {40}, {}, false, false}, 1);
      write_double_attribute(file, "time_1", 1.5);
      write_double_attribute(file, "time_2", second);
    });
    Bytes bytes = read_whole(path);
    replace_all(bytes, as_bytes(std::span("time_2", 6)), as_bytes(std::span("time_1", 6)));
    write_whole(path, bytes);
  };
  write(directory / "0.h5", 1.5);
  write(directory / "1.h5", 2.5);
  Datatypes types;
  ReferencePart reference = reference_of(directory / "0.h5", types);
  CHECK_FALSE(fits_as_walked(reference, directory / "1.h5", types));
  CHECK(fits_as_walked(reference, directory / "0.h5", types));
}

TEST_CASE("a part with an object header inside of a value is no reference") {
  const ScratchDirectory directory;
  const std::string path = directory / "0.h5";
  haddr_t address = HADDR_UNDEF;
  const std::string blob(512, 'b');
  make_hdf5_file(path, {}, [&](hid_t file) {
    const OwnedId properties(H5Pcreate(H5P_DATASET_CREATE));
    H5Pset_obj_track_times(properties.get(), false);
    const hsize_t extent = 40;
    const OwnedId space(H5Screate_simple(1, &extent, nullptr));
    const OwnedId dataset(H5Dcreate2(file, "x", H5T_IEEE_F64LE, space.get(), H5P_DEFAULT,
                                     properties.get(), H5P_DEFAULT));
    const std::vector<double> values(40, 1.5);
    REQUIRE(H5Dwrite(dataset.get(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT,
                     values.data()) >= 0);
    H5O_info2_t info{};
    REQUIRE(H5Oget_info3(dataset.get(), &info, H5O_INFO_BASIC) >= 0);
    REQUIRE(H5VLnative_token_to_addr(dataset.get(), info.token, &address) >= 0);
    write_text_attribute(file, "blob", blob, false);
  });
  Bytes bytes = read_whole(path);
  const std::uint64_t inside = as_text(bytes).find(blob);
  REQUIRE(inside < bytes.size());
  std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(address), 400,
              bytes.begin() + static_cast<std::ptrdiff_t>(inside));
  replace_all(bytes, as_bytes(std::span(&address, 1)), as_bytes(std::span(&inside, 1)));
  write_whole(path, bytes);
  const Opened opened = open(path);
  Datatypes types;
  const auto walked = read_part_layout(path, opened.size, types);
  REQUIRE(walked);
  REQUIRE(walked->layout->datasets.size() == 1);
  REQUIRE(walked->layout->groups.size() == 1);
  CHECK_FALSE(ReferencePart::make(opened.file, opened.size, types, *walked));
}

TEST_CASE("names must be equal if a part has a new-style group, where a name may have a slash") {
  const ScratchDirectory directory;
  const auto write = [&](const std::string& path, const char* name) {
    make_hdf5_file(path, {}, [&](hid_t file) {
      write_dataset(file, {name, H5T_IEEE_F64LE, {40}, {}, false, false}, 1);
      const OwnedId properties(H5Pcreate(H5P_GROUP_CREATE));
      H5Pset_link_creation_order(properties.get(), H5P_CRT_ORDER_TRACKED);
      const OwnedId group(H5Gcreate2(file, "new", H5P_DEFAULT, properties.get(), H5P_DEFAULT));
      REQUIRE(group.is_valid());
    });
  };
  write(directory / "0.h5", "x");
  write(directory / "1.h5", "y");
  Datatypes types;
  ReferencePart reference = reference_of(directory / "0.h5", types);
  CHECK_FALSE(fits_as_walked(reference, directory / "1.h5", types));
  CHECK(fits_as_walked(reference, directory / "0.h5", types));
}

// --- values that refer to the file's heap ---------------------------------------------------------

hid_t variable_string() {
  const hid_t type = H5Tcopy(H5T_C_S1);
  REQUIRE(H5Tset_size(type, H5T_VARIABLE) >= 0);
  return type;
}

hid_t array_of(hid_t element) {
  const hsize_t two = 2;
  return H5Tarray_create2(element, 1, &two);
}

hid_t compound_of(hid_t member) {
  const hid_t type = H5Tcreate(H5T_COMPOUND, 8 + H5Tget_size(member));
  REQUIRE(H5Tinsert(type, "number", 0, H5T_NATIVE_DOUBLE) >= 0);
  REQUIRE(H5Tinsert(type, "member", 8, member) >= 0);
  return type;
}

TEST_CASE("a type that contains strings of variable length refers to the heap") {
  Datatypes types;
  const auto refers_to_heap = [&](hid_t type) {
    const auto number = types.find_or_add(type);
    REQUIRE(number);
    return types[*number].refers_to_heap;
  };
  const OwnedId string(variable_string());
  const OwnedId array(array_of(string.get()));
  const OwnedId compound(compound_of(array.get()));
  for (const OwnedId* type : {&string, &array, &compound}) CHECK(refers_to_heap(type->get()));
  CHECK(refers_to_heap(OwnedId(array_of(compound.get())).get()));
  CHECK(refers_to_heap(OwnedId(compound_of(H5T_STD_REF_OBJ)).get()));
  const OwnedId numbers(array_of(H5T_NATIVE_DOUBLE));
  const OwnedId plain(compound_of(numbers.get()));
  CHECK_FALSE(refers_to_heap(plain.get()));
  CHECK_FALSE(refers_to_heap(OwnedId(array_of(H5T_C_S1)).get()));
}

TEST_CASE("references into the heap are never taken for an attribute's value") {
  const bool is_compound = GENERATE(false, true);
  const ScratchDirectory directory;
  const OwnedId string(variable_string());
  const OwnedId array(array_of(string.get()));
  const OwnedId compound(compound_of(array.get()));
  make_hdf5_file(directory / "0.h5", {}, [&](hid_t file) {
    write_dataset(file, {"x", H5T_IEEE_F64LE, {40}, {}, false, false}, 1);
    // HDF5 reads an attribute without a value as zero bytes, and the file has zero bytes too.
    const OwnedId space(H5Screate(H5S_SCALAR));
    const OwnedId attribute(H5Acreate2(file, "no value yet",
                                       is_compound ? compound.get() : array.get(), space.get(),
                                       H5P_DEFAULT, H5P_DEFAULT));
    REQUIRE(attribute.is_valid());
  });
  Datatypes types;
  ReferencePart reference = reference_of(directory / "0.h5", types);
  const Bytes good = read_whole(directory / "0.h5");
  const std::size_t message = as_text(good).find("no value yet") - 8;
  const std::size_t end = message + (std::to_integer<std::size_t>(good[message - 6]) |
                                     std::to_integer<std::size_t>(good[message - 5]) << 8);
  REQUIRE(end < good.size());
  REQUIRE(end - message >= 8 + 16 + 32);
  for (std::size_t place = end - 32; place + 8 <= end; ++place) {
    Bytes changed = good;
    std::fill_n(changed.begin() + static_cast<std::ptrdiff_t>(place), 8, std::byte{0x41});
    write_whole(directory / "1.h5", changed);
    CHECK_FALSE(fits_as_walked(reference, directory / "1.h5", types));
  }
  CHECK(fits_as_walked(reference, directory / "0.h5", types));
}

}  // namespace
}  // namespace mcr::aggregation
