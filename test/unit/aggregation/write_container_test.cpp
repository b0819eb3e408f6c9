// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/commit/write_container.hpp"

#include <fcntl.h>
#include <hdf5.h>

#include <atomic>
#include <cerrno>
#include <cmath>
#include <filesystem>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <string_view>

#include "restart/base/system.hpp"
#include "restart/container/container_reader.hpp"
#include "restart/container/part_image.hpp"
#include "restart/container/unpack.hpp"
#include "restart/container/verify.hpp"
#include "restart/format/stub.hpp"
#include "test/support/catch.hpp"
#include "test/unit/aggregation/part_files.hpp"
#include "test/unit/restart/scratch_directory.hpp"

namespace mcr::aggregation {
namespace {

using restart::ContainerReader;
using restart::File;
using restart::ScratchDirectory;

void write_doubles(hid_t file, const std::string& name, const std::vector<double>& values) {
  const hsize_t extent = values.size();
  const hid_t space = H5Screate_simple(1, &extent, nullptr);
  const hid_t dataset = H5Dcreate2(file, name.c_str(), H5T_NATIVE_DOUBLE, space, H5P_DEFAULT,
                                   H5P_DEFAULT, H5P_DEFAULT);
  REQUIRE(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) >= 0);
  H5Dclose(dataset);
  H5Sclose(space);
}

/// The system's calls, but nothing is synced: dozens of containers would wait for the disk.
const restart::SystemCalls& without_sync() {
  static const restart::SystemCalls calls = [] {
    restart::SystemCalls table = restart::real_system_calls();
    table.fsync = [](int) { return 0; };
    return table;
  }();
  return calls;
}

/// Parts in a directory, and the container that write_container makes of them.
class Packed {
 public:
  explicit Packed(const std::vector<std::string>& paths) : paths_(paths) {
    for (std::size_t i = 0; i < paths.size(); ++i) {
      auto file = File::open(AT_FDCWD, paths[i], O_RDONLY);
      REQUIRE(file);
      files_.push_back(std::make_unique<File>(std::move(*file)));
      PartToCommit part;
      part.part = *restart::PartId::random();
      part.rank = static_cast<std::uint32_t>(i);
      part.path = std::filesystem::path(paths[i]).filename();
      part.bytes = files_.back().get();
      part.size = *files_.back()->size();
      set_.parts.push_back(part);
    }
    set_.set.masked_name = "rank{rank}.h5";
    set_.set.launch = "test";
    set_.set.rank_count = static_cast<std::uint32_t>(paths.size());
    set_.directory = directory_.path();
    set_.name = "container.h5";
  }

  Result<CommitReport> write(MergeOptions options = {}, unsigned threads = 2) {
    options.replace = true;
    options.drain.threads = threads;
    const restart::ReplacedSystemCalls replaced(without_sync());
    return write_container(set_, options);
  }

  [[nodiscard]] std::string container() const { return directory_ / "container.h5"; }
  [[nodiscard]] std::shared_ptr<ContainerReader> open() const {
    auto reader = ContainerReader::open(AT_FDCWD, container());
    REQUIRE(reader);
    return *reader;
  }

  /// Every part by unpack and by reads of a part image; all must be the original's bytes.
  void require_same_bytes() const {
    const auto reader = open();
    const ScratchDirectory out;
    const auto unpacked = restart::unpack(*reader, out.path(), {});
    if (!unpacked) FAIL(unpacked.error().message);
    for (std::size_t i = 0; i < paths_.size(); ++i) {
      const Bytes original = read_whole(paths_[i]);
      REQUIRE(read_whole(out / set_.parts[i].path) == original);
      auto image = restart::open_part_image(reader, (**reader->parts())[i]);
      REQUIRE(image);
      REQUIRE((*image)->size() == original.size());
      Bytes read(original.size());
      for (std::size_t done = 0; done < read.size(); done += 1777) {
        const std::size_t count = std::min<std::size_t>(1777, read.size() - done);
        REQUIRE((*image)->read_at(done, MutableByteSpan(read).subspan(done, count)));
      }
      REQUIRE(read == original);
    }
    const auto verified = restart::verify_container(*reader, {});
    REQUIRE(verified);
    REQUIRE(verified->damage.empty());
  }

  SetToCommit set_;

 private:
  ScratchDirectory directory_;
  std::vector<std::string> paths_;
  std::vector<std::unique_ptr<File>> files_;
};

std::vector<std::string> feature_files(const ScratchDirectory& directory, unsigned ranks,
                                       const FileFormat& format) {
  std::vector<std::string> paths;
  for (unsigned rank = 0; rank < ranks; ++rank) {
    paths.push_back(directory / ("rank" + std::to_string(rank) + ".h5"));
    write_many_features(paths.back(), rank, format);
  }
  return paths;
}

MergeOptions options_of(Scheme scheme, codecs::Profile profile) {
  MergeOptions options;
  options.scheme = scheme;
  options.block_bytes = 1000;
  options.profile.profile = profile;
  return options;
}

std::set<std::string> variable_names(const CommitReport& report) {
  std::set<std::string> names;
  for (const VariableReport& variable : report.variables) names.insert(variable.name);
  return names;
}

TEST_CASE(
    "parts with every feature of HDF5 come back byte for byte from every scheme and profile") {
  const bool latest = GENERATE(false, true);
  const auto user_block = static_cast<hsize_t>(GENERATE(0, 1024));
  const ScratchDirectory directory;
  Packed packed(feature_files(directory, 3, {latest, user_block}));
  for (const Scheme scheme :
       {Scheme::aware, Scheme::aware_block, Scheme::agnostic, Scheme::agnostic_block}) {
    for (const auto profile : {codecs::Profile::fast, codecs::Profile::balanced,
                               codecs::Profile::none, codecs::Profile::portable}) {
      const auto report = packed.write(options_of(scheme, profile));
      if (!report) FAIL(report.error().message);
      REQUIRE(report->unreadable.empty());
      packed.require_same_bytes();
    }
  }
}

TEST_CASE("variables are found by name, type and, where exact names differ, by numbers") {
  const ScratchDirectory directory;
  Packed packed(feature_files(directory, 3, {true, 512}));
  const auto report = packed.write();
  REQUIRE(report);
  const std::set<std::string> expected{"field/pressure",
                                       "field/velocity",
                                       "field/big_endian",
                                       "field/shape_differs",
                                       "tiled",
                                       "filtered",
                                       "particles",
                                       "vectors",
                                       "names",
                                       "colors",
                                       "half",
                                       "only_here",
                                       "Grid{n}/Density",
                                       "Grid{n}/Energy",
                                       "skeletons"};
  REQUIRE(variable_names(*report) == expected);
}

TEST_CASE("a container shows variables with their types, stacked by rank, and common attributes") {
  const ScratchDirectory directory;
  Packed packed(feature_files(directory, 3, {}));
  REQUIRE(packed.write(options_of(Scheme::aware, codecs::Profile::portable)));
  const hid_t file = H5Fopen(packed.container().c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  REQUIRE(file >= 0);
  const auto shape_of = [&](const char* name) {
    const hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
    REQUIRE(dataset >= 0);
    const hid_t space = H5Dget_space(dataset);
    std::vector<hsize_t> shape(static_cast<std::size_t>(H5Sget_simple_extent_ndims(space)));
    H5Sget_simple_extent_dims(space, shape.data(), nullptr);
    H5Sclose(space);
    H5Dclose(dataset);
    return shape;
  };
  CHECK(shape_of("variables/field/pressure") == std::vector<hsize_t>{3, 20, 30, 4});
  CHECK(shape_of("variables/field/velocity") == std::vector<hsize_t>{300 + 310 + 320, 3});
  CHECK(shape_of("variables/field/shape_differs") ==
        std::vector<hsize_t>{7 * 11 + 8 * 12 + 9 * 13});
  CHECK(shape_of("variables/tiled") == std::vector<hsize_t>{3 * 12, 30, 20});
  CHECK(shape_of("variables/Grid{n}/Density") == std::vector<hsize_t>{3, 8, 8, 4});

  // Values as the program wrote them, through HDF5's own filters.
  const hid_t stacked = H5Dopen2(file, "variables/field/pressure", H5P_DEFAULT);
  std::vector<double> all(3 * 2400);
  REQUIRE(H5Dread(stacked, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, all.data()) >= 0);
  for (unsigned rank = 0; rank < 3; ++rank) {
    const std::string path = directory / ("rank" + std::to_string(rank) + ".h5");
    const hid_t part = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t dataset = H5Dopen2(part, "field/pressure", H5P_DEFAULT);
    std::vector<double> one(2400);
    REQUIRE(H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, one.data()) >= 0);
    CHECK(std::equal(one.begin(), one.end(), all.begin() + rank * 2400));
    H5Dclose(dataset);
    H5Fclose(part);
  }
  CHECK(H5Aexists(stacked, "units") > 0);
  CHECK(H5Aexists(stacked, "long_name") > 0);
  CHECK(H5Aexists(stacked, "ranks") > 0);
  H5Dclose(stacked);
  CHECK(H5Aexists_by_name(file, "variables", "time", H5P_DEFAULT) > 0);
  CHECK(H5Aexists_by_name(file, "variables", "code", H5P_DEFAULT) > 0);
  CHECK(H5Aexists_by_name(file, "variables", "rank", H5P_DEFAULT) == 0);
  const hid_t big = H5Dopen2(file, "variables/field/big_endian", H5P_DEFAULT);
  const hid_t type = H5Dget_type(big);
  CHECK(H5Tequal(type, H5T_IEEE_F64BE) > 0);
  H5Tclose(type);
  H5Dclose(big);
  H5Fclose(file);
}

TEST_CASE("sets whose choices are remembered come back, the same ones and others") {
  const ScratchDirectory directory;
  MergeOptions options;
  options.memory = std::make_shared<ChoiceMemory>();
  for (const FileFormat& format : {FileFormat{}, FileFormat{}, FileFormat{}}) {
    Packed packed(feature_files(directory, 3, format));
    REQUIRE(packed.write(options));
    packed.require_same_bytes();
  }
  // What has nothing of these variables but their names.
  std::vector<std::string> paths;
  for (int rank = 0; rank < 4; ++rank) {
    paths.push_back(std::string(MCR_TEST_DATA) + "/lulesh/rank000" + std::to_string(rank) + ".h5");
  }
  Packed lulesh(paths);
  for (int i = 0; i < 3; ++i) {
    const auto report = lulesh.write(options);
    if (!report) FAIL(report.error().message);
    lulesh.require_same_bytes();
  }
}

TEST_CASE("many variables that look alike share a few trials, and threads do not change a choice") {
  constexpr std::size_t variables = 300;
  const ScratchDirectory directory;
  const std::string path = directory / "rank0.h5";
  make_hdf5_file(path, {}, [](hid_t file) {
    std::mt19937_64 random(7);
    std::normal_distribution<double> noise;
    std::vector<double> values(1280);  // too large for a table
    for (std::size_t v = 0; v < variables; ++v) {
      for (std::size_t i = 0; i < values.size(); ++i) {
        const double wave = 2 + std::sin(0.01 * static_cast<double>(i + v));
        values[i] = v % 2 == 0 ? noise(random) : wave * (1 + 1e-9 * noise(random));
      }
      write_doubles(file, "field " + std::to_string(v), values);
    }
  });
  Packed packed({path});
  std::vector<std::string> first;
  for (const unsigned threads : {1U, 2U, 5U}) {
    const auto report = packed.write({}, threads);
    REQUIRE(report);
    packed.require_same_bytes();
    std::size_t shared = 0;
    std::vector<std::string> storages;
    for (const VariableReport& variable : report->variables) {
      shared += variable.why.find("similar") != std::string::npos;
      storages.push_back(variable.pipeline + ", " + std::to_string(variable.stored_bytes));
    }
    INFO(shared << " of " << variables << " shared");
    REQUIRE(shared > variables * 2 / 3);
    if (first.empty()) first = storages;
    REQUIRE(storages == first);
  }
}

/// A file of 300 small variables, every third of one kind of values.
void write_small_variables(const std::string& path, unsigned rank) {
  make_hdf5_file(path, {}, [&](hid_t file) {
    std::mt19937_64 random(rank);
    for (unsigned v = 0; v < 300; ++v) {
      std::vector<double> values(64);
      for (std::size_t i = 0; i < values.size(); ++i) {
        const double wave = 1 + std::sin(0.01 * static_cast<double>(i + v));
        values[i] = v % 3 == 0 ? 0 : v % 3 == 1 ? wave : std::normal_distribution<double>()(random);
      }
      write_doubles(file, "field " + std::to_string(v), values);
    }
  });
}

TEST_CASE(
    "small variables are in few datasets, like ones together, and sets that follow have the same "
    "tables") {
  const ScratchDirectory directory;
  std::vector<std::string> paths;
  for (unsigned rank = 0; rank < 2; ++rank) {
    paths.push_back(directory / ("rank" + std::to_string(rank) + ".h5"));
    write_small_variables(paths.back(), rank);
  }
  Packed packed(paths);
  MergeOptions options;
  options.memory = std::make_shared<ChoiceMemory>();
  std::vector<std::string> first;
  for (int set = 0; set < 3; ++set) {
    const auto report = packed.write(options);
    REQUIRE(report);
    packed.require_same_bytes();
    std::vector<std::string> tables;
    std::size_t variables = 0;
    for (const VariableReport& variable : report->variables) {
      if (variable.variables > 1)
        tables.push_back(variable.name + ' ' + std::to_string(variable.raw_bytes));
      variables += variable.variables > 1 ? variable.variables : 0;
    }
    REQUIRE(variables > 250);
    REQUIRE(tables.size() > 1);
    if (first.empty()) first = tables;
    REQUIRE(tables == first);
  }
}

TEST_CASE("small variables of which each has two attributes of one name are committed") {
  const ScratchDirectory directory;
  const std::string path = directory / "rank0.h5";
  write_small_variables(path, 0);
  const OwnedId file(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT));
  for (unsigned v = 0; v < 300; ++v) {
    const OwnedId dataset(
        H5Dopen2(file.get(), ("field " + std::to_string(v)).c_str(), H5P_DEFAULT));
    const OwnedId space(H5Screate(H5S_SCALAR));
    for (const char* name : {"twin 1", "twin 2"}) {
      const OwnedId attribute(
          H5Acreate2(dataset.get(), name, H5T_NATIVE_UINT, space.get(), H5P_DEFAULT, H5P_DEFAULT));
      REQUIRE(H5Awrite(attribute.get(), H5T_NATIVE_UINT, &v) >= 0);
    }
  }
  H5Fflush(file.get(), H5F_SCOPE_LOCAL);
  Bytes bytes = read_whole(path);
  const std::string_view text = as_text(bytes);
  std::size_t found = 0;
  for (std::size_t at = text.find("twin 2"); at != std::string_view::npos;
       at = text.find("twin 2", at + 1)) {
    bytes[at + 5] = std::byte{'1'};
    ++found;
  }
  REQUIRE(found == 300);
  const std::string forged = directory / "forged.h5";
  write_whole(forged, bytes);
  Packed packed({forged});
  const auto report = packed.write();
  if (!report) FAIL(report.error().message);
  REQUIRE(report->unreadable.empty());
  packed.require_same_bytes();
}

/// Gives each of write_small_variables()'s an attribute of zeros.
void add_attributes(const std::string& path, const char* name, hid_t type, hsize_t count = 1) {
  const OwnedId file(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT));
  const OwnedId space(H5Screate_simple(1, &count, nullptr));
  const std::vector<std::byte> value(count * H5Tget_size(type));
  for (unsigned v = 0; v < 300; ++v) {
    const OwnedId dataset(
        H5Dopen2(file.get(), ("field " + std::to_string(v)).c_str(), H5P_DEFAULT));
    const OwnedId attribute(
        H5Acreate2(dataset.get(), name, type, space.get(), H5P_DEFAULT, H5P_DEFAULT));
    REQUIRE(H5Awrite(attribute.get(), type, value.data()) >= 0);
  }
}

/// Returns how many of a rank's small variables are in tables.
std::size_t tabled_with_attribute(const char* name, hid_t type, hsize_t count = 1) {
  const ScratchDirectory directory;
  const std::string path = directory / "rank0.h5";
  write_small_variables(path, 0);
  add_attributes(path, name, type, count);
  Packed packed({path});
  const auto report = packed.write();
  REQUIRE(report);
  packed.require_same_bytes();
  std::size_t tabled = 0;
  for (const VariableReport& variable : report->variables)
    tabled += variable.variables > 1 ? variable.variables : 0;
  return tabled;
}

TEST_CASE("variables with attributes that HDF5's tools may not know have datasets of their own") {
  const OwnedId medium(H5Tcopy(H5T_STD_I32LE));
  H5Tset_size(medium.get(), 3);
  const OwnedId partial(H5Tcopy(H5T_STD_I32LE));
  H5Tset_precision(partial.get(), 17);
  const OwnedId brain(H5Tcopy(H5T_IEEE_F32LE));  // bfloat16
  H5Tset_fields(brain.get(), 15, 7, 8, 0, 7);
  H5Tset_precision(brain.get(), 16);
  H5Tset_size(brain.get(), 2);
  const OwnedId opaque(H5Tcreate(H5T_OPAQUE, 4));
  const OwnedId record(H5Tcreate(H5T_COMPOUND, 8));
  H5Tinsert(record.get(), "usual", 0, H5T_STD_I32LE);
  H5Tinsert(record.get(), "odd", 4, medium.get());
  for (const hid_t type : {medium.get(), partial.get(), brain.get(), opaque.get(), record.get(),
                           H5T_UNIX_D32LE, H5T_STD_B8LE}) {
    INFO(H5Tget_class(type));
    CHECK(tabled_with_attribute("a", type) == 0);
  }
  for (const char* name : {"stra\xdf"
                           "e",
                           "\xff", "\xc0\x80", "\xed\xa0\x80", "\xe2\x82"})
    CHECK(tabled_with_attribute(name, H5T_STD_I32LE) == 0);
}

TEST_CASE("variables with numbers, text, enums, arrays and records as attributes are in tables") {
  const OwnedId word(H5Tcopy(H5T_C_S1));
  H5Tset_size(word.get(), 7);
  const OwnedId choice(H5Tenum_create(H5T_STD_I8LE));
  const signed char zero = 0;
  H5Tenum_insert(choice.get(), "none", &zero);
  const hsize_t three = 3;
  const OwnedId triple(H5Tarray_create2(choice.get(), 1, &three));
  const OwnedId half(H5Tcopy(H5T_IEEE_F32LE));
  H5Tset_fields(half.get(), 15, 10, 5, 0, 10);
  H5Tset_precision(half.get(), 16);
  H5Tset_ebias(half.get(), 15);
  H5Tset_size(half.get(), 2);
  const OwnedId record(H5Tcreate(H5T_COMPOUND, 12));
  H5Tinsert(record.get(), "big-endian", 0, H5T_IEEE_F64BE);
  H5Tinsert(record.get(), "größe €𝄞", 8, triple.get());
  for (const hid_t type : {word.get(), choice.get(), half.get(), record.get(), H5T_STD_U64BE}) {
    INFO(H5Tget_class(type));
    CHECK(tabled_with_attribute("größe €𝄞", type) > 250);
  }
}

TEST_CASE(
    "variables whose attributes would make rows larger than the values have datasets of their "
    "own") {
  CHECK(tabled_with_attribute("a", H5T_STD_I8LE, 450) > 250);  // of 512 bytes
  CHECK(tabled_with_attribute("a", H5T_STD_I8LE, 600) == 0);
}

TEST_CASE("a setting for variables called values or elements is none for the tables") {
  const ScratchDirectory directory;
  const std::string path = directory / "rank0.h5";
  write_small_variables(path, 0);
  Packed packed({path});
  const auto pipelines = [&](const MergeOptions& options) {
    const auto report = packed.write(options);
    REQUIRE(report);
    std::vector<std::string> found;
    for (const VariableReport& variable : report->variables) {
      if (variable.variables > 1) found.push_back(variable.pipeline);
    }
    return found;
  };
  MergeOptions named;
  REQUIRE(named.profile.set_pipeline("values", "none"));
  REQUIRE(named.profile.set_pipeline("elements", "none"));
  const auto found = pipelines(named);
  CHECK(found.size() > 1);
  CHECK(found == pipelines({}));
}

TEST_CASE("a part that is no HDF5 file, cut off or empty is committed whole") {
  const ScratchDirectory directory;
  std::vector<std::string> paths = feature_files(directory, 2, {});
  const Bytes whole = read_whole(paths[0]);
  paths.push_back(directory / "cut.h5");
  write_whole(paths.back(), ByteSpan(whole).first(whole.size() / 2));
  paths.push_back(directory / "empty.h5");
  write_whole(paths.back(), {});
  paths.push_back(directory / "text.h5");
  write_whole(paths.back(), as_bytes("no HDF5 at all"));
  Bytes garbled = whole;
  for (std::size_t i = 600; i < garbled.size(); i += 97) garbled[i] ^= std::byte{0x5a};
  paths.push_back(directory / "garbled.h5");
  write_whole(paths.back(), garbled);
  Packed packed(paths);
  const auto report = packed.write();
  if (!report) FAIL(report.error().message);
  REQUIRE(report->unreadable.size() >= 3);
  packed.require_same_bytes();
}

TEST_CASE("one part alone, and none at all, make a container") {
  const ScratchDirectory directory;
  Packed one(feature_files(directory, 1, {}));
  REQUIRE(one.write());
  one.require_same_bytes();

  Packed none({});
  none.set_.set.passed_ranks = {0, 1, 2, 3};
  none.set_.set.rank_count = 4;
  REQUIRE(none.write());
  const auto reader = none.open();
  CHECK((*reader->parts())->empty());
  CHECK(reader->set().passed_ranks == std::vector<std::uint32_t>{0, 1, 2, 3});
  CHECK(reader->set().masked_name == "rank{rank}.h5");
}

TEST_CASE(
    "a container of that name stays unless it is to be replaced, and a failure leaves nothing") {
  const ScratchDirectory directory;
  Packed packed(feature_files(directory, 1, {}));
  REQUIRE(packed.write());
  const Bytes before = read_whole(packed.container());
  const auto again = write_container(packed.set_, {});
  REQUIRE_FALSE(again);
  CHECK(again.error().system_error == EEXIST);
  CHECK(read_whole(packed.container()) == before);
  const auto files = std::filesystem::directory_iterator(packed.set_.directory);
  CHECK(std::distance(begin(files), end(files)) == 1);  // no temporary file

  packed.set_.directory = directory / "missing";
  CHECK_FALSE(write_container(packed.set_, {}));
}

TEST_CASE("a changed byte anywhere in a container gives an error or right data, never wrong data") {
  const ScratchDirectory directory;
  std::vector<std::string> paths;
  for (unsigned rank = 0; rank < 2; ++rank) {
    paths.push_back(directory / ("rank" + std::to_string(rank) + ".h5"));
    make_hdf5_file(paths.back(), {}, [&](hid_t file) {
      write_dataset(file, {"a/x", H5T_IEEE_F64LE, {60}, {}, false, false}, rank);
      write_dataset(file, {"a/y", H5T_STD_I32LE, {50 + rank}, {}, false, false}, rank);
    });
  }
  const auto profile = GENERATE(codecs::Profile::balanced, codecs::Profile::portable);
  Packed packed(paths);
  REQUIRE(packed.write(options_of(Scheme::aware, profile)));
  const Bytes good = read_whole(packed.container());
  const std::vector<Bytes> originals{read_whole(paths[0]), read_whole(paths[1])};
  std::size_t noticed = 0;
  const auto change = [&](const File& file, std::size_t place) {
    std::byte changed = good[place] ^ static_cast<std::byte>(1U << place % 8);
    REQUIRE(file.write_at(place, {&changed, 1}));
  };
  const auto file = File::open(AT_FDCWD, packed.container(), O_RDWR);
  REQUIRE(file);
  for (std::size_t place = 0; place < good.size(); ++place) {
    change(*file, place);
    if (place != 0) REQUIRE(file->write_at(place - 1, {&good[place - 1], 1}));
    const auto reader = ContainerReader::open(AT_FDCWD, packed.container());
    if (!reader) {
      ++noticed;
      continue;
    }
    const auto parts = (*reader)->parts();
    if (!parts) {
      ++noticed;
      continue;
    }
    for (std::size_t part = 0; part < (*parts)->size(); ++part) {
      const auto image = restart::open_part_image(*reader, (**parts)[part]);
      Bytes read(originals[part].size());
      if (!image || (*image)->size() != read.size() || !(*image)->read_at(0, read)) {
        ++noticed;
      } else if (read != originals[part]) {
        FAIL("wrong data after a change of byte " << place);
      }
    }
  }
  CHECK(noticed > good.size() / 10);
  WARN(good.size() << " bytes changed one after the other: none gave wrong data");
}

TEST_CASE("frames that change places in a container give errors, never wrong data") {
  const ScratchDirectory directory;
  std::vector<std::string> paths;
  for (unsigned rank = 0; rank < 3; ++rank) {
    paths.push_back(directory / ("rank" + std::to_string(rank) + ".h5"));
    make_hdf5_file(paths.back(), {}, [&](hid_t file) {
      for (const char* name : {"x", "y", "z"})
        write_dataset(file, {name, H5T_IEEE_F64LE, {500}, {}, false, false},
                      rank + static_cast<unsigned char>(name[0]));
    });
  }
  Packed packed(paths);
  REQUIRE(packed.write(options_of(Scheme::aware, codecs::Profile::none)));
  const Bytes good = read_whole(packed.container());
  std::vector<restart::FramePlace> frames;
  {
    const auto reader = ContainerReader::open(AT_FDCWD, packed.container());
    REQUIRE(reader);
    for (const restart::DatasetEntry& dataset : **(*reader)->datasets()) {
      for (std::uint32_t i = 0; i < dataset.frame_count; ++i)
        frames.push_back(*(*reader)->frame_place(dataset, i));
    }
  }
  std::size_t swaps = 0;
  for (const auto& a : frames) {
    for (const auto& b : frames) {
      if (a.file_offset >= b.file_offset || a.stored_bytes != b.stored_bytes) continue;
      Bytes swapped = good;
      std::copy_n(good.begin() + static_cast<std::ptrdiff_t>(a.file_offset), a.stored_bytes,
                  swapped.begin() + static_cast<std::ptrdiff_t>(b.file_offset));
      std::copy_n(good.begin() + static_cast<std::ptrdiff_t>(b.file_offset), a.stored_bytes,
                  swapped.begin() + static_cast<std::ptrdiff_t>(a.file_offset));
      ++swaps;
      {
        const auto file = File::open(AT_FDCWD, packed.container(), O_RDWR);
        REQUIRE(file->write_at(0, swapped));
      }
      const auto reader = ContainerReader::open(AT_FDCWD, packed.container());
      REQUIRE(reader);
      std::size_t failed = 0;
      for (std::size_t part = 0; part < paths.size(); ++part) {
        const Bytes original = read_whole(paths[part]);
        const auto image = restart::open_part_image(*reader, (**(*reader)->parts())[part]);
        Bytes read(original.size());
        if (!image || !(*image)->read_at(0, read)) {
          ++failed;
        } else {
          REQUIRE(read == original);
        }
      }
      CHECK(failed > 0);
    }
  }
  CHECK(swaps > 0);
  WARN(swaps << " pairs of frames exchanged: all noticed");
}

TEST_CASE("a container cut off at any length is an error or gives right data") {
  const ScratchDirectory directory;
  const std::string path = directory / "rank0.h5";
  make_hdf5_file(path, {}, [&](hid_t file) {
    write_dataset(file, {"x", H5T_IEEE_F64LE, {100}, {}, false, false}, 1);
  });
  Packed packed({path});
  REQUIRE(packed.write());
  const Bytes good = read_whole(packed.container());
  const Bytes original = read_whole(path);
  const auto gives_part = [&] {  // wrong data fails the case
    const auto reader = ContainerReader::open(AT_FDCWD, packed.container());
    if (!reader) return false;
    const auto parts = (*reader)->parts();
    if (!parts) return false;
    const auto image = restart::open_part_image(*reader, (**parts)[0]);
    Bytes read(original.size());
    if (!image || (*image)->size() != read.size() || !(*image)->read_at(0, read)) return false;
    REQUIRE(read == original);
    return true;
  };
  REQUIRE(gives_part());
  std::size_t errors = 0;
  for (std::size_t length = good.size(); length-- > 0;) {
    std::filesystem::resize_file(packed.container(), length);
    if (!gives_part()) ++errors;
  }
  CHECK(errors > good.size() / 2);
  WARN("cut to each of " << good.size() << " lengths: " << errors << " errors, "
                         << good.size() - errors << " times the right data");
}

TEST_CASE("an error names container, variable and rank, and the rest stays readable") {
  const ScratchDirectory directory;
  Packed packed(feature_files(directory, 2, {}));
  REQUIRE(packed.write());
  std::uint64_t place = 0;
  {
    const auto reader = packed.open();
    for (const restart::DatasetEntry& dataset : **reader->datasets()) {
      if (dataset.name == "field/velocity")
        place = reader->frame_place(dataset, 0)->file_offset + 40;
    }
  }
  Bytes bytes = read_whole(packed.container());
  bytes[place] ^= std::byte{1};
  write_whole(packed.container(), bytes);
  const auto verified = restart::verify_container(*packed.open(), {});
  REQUIRE(verified);
  REQUIRE(verified->damaged_ranks == std::vector<std::uint32_t>{0, 1});
  const std::string& message = verified->damage.back();
  CHECK(message.find("container.h5") != std::string::npos);
  CHECK(message.find("field/velocity") != std::string::npos);
  CHECK(message.find("rank 1") != std::string::npos);
  const ScratchDirectory out;
  CHECK_FALSE(restart::unpack(*packed.open(), out.path(), {}));
  CHECK(std::filesystem::is_empty(out.path()));  // no half files
}

TEST_CASE("a part whose bytes are a stub is not unpacked, nor any file beside it") {
  const ScratchDirectory directory;
  std::vector<std::string> paths{directory / "rank0.h5", directory / "rank1.h5"};
  restart::Stub stub;
  stub.masked_names = {"/elsewhere/rank{rank}.h5"};
  stub.container_directory = "mcr";
  stub.launch_directory = "/dev/shm/mcr/node.launch";
  stub.path = "/elsewhere/rank0.h5";
  write_whole(paths[0], as_bytes("no HDF5 at all"));
  write_whole(paths[1], restart::write_stub(stub));
  Packed packed(paths);
  REQUIRE(packed.write());
  const ScratchDirectory out;
  const auto unpacked = restart::unpack(*packed.open(), out.path(), {});
  REQUIRE_FALSE(unpacked);
  CHECK(unpacked.error().message.find("rank 1 would be a stub") != std::string::npos);
  CHECK(std::filesystem::is_empty(out.path()));
}

/// What somebody else moves to a container's unfinished name as soon as it is there; "": nothing any
/// more.
std::string moved_over;

TEST_CASE("what comes to the name of an unfinished container is neither written to nor truncated") {
  const ScratchDirectory directory;
  Packed packed(feature_files(directory, 2, {}));
  const std::string of_somebody_else = directory / "of-somebody-else";
  write_whole(of_somebody_else, Bytes(10, std::byte{7}));
  const ScratchDirectory kept;
  std::filesystem::create_hard_link(of_somebody_else, kept / "link");
  moved_over = of_somebody_else;
  restart::SystemCalls calls = restart::real_system_calls();
  calls.openat = [](int home, const char* name, int flags, mode_t mode) {
    const int made = restart::real_system_calls().openat(home, name, flags, mode);
    if ((flags & O_CREAT) != 0 && std::string_view(name).starts_with(".mcr-") &&
        !moved_over.empty()) {
      REQUIRE(::renameat(AT_FDCWD, moved_over.c_str(), home, name) == 0);
      moved_over.clear();
    }
    return made;
  };
  {
    const restart::ReplacedSystemCalls replaced(calls);
    CHECK_FALSE(write_container(packed.set_, {}));
  }
  CHECK(moved_over.empty());
  CHECK(read_whole(kept / "link") == Bytes(10, std::byte{7}));
  CHECK(packed.write());
}

/// Counts writes; the one with the number `full_at` finds no space.
std::atomic<int> writes_done;
int full_at = -1;

TEST_CASE("if storage is full at any write, the error says so and no container appears") {
  const ScratchDirectory directory;
  std::vector<std::string> paths = feature_files(directory, 2, {});
  Bytes noise(5U << 20);  // frames of it do not shrink, so that threads store them
  std::uint32_t state = 1;
  for (std::byte& one : noise)
    one = static_cast<std::byte>((state = state * 1664525U + 1013904223U) >> 24);
  paths.push_back(directory / "noise.h5");
  write_whole(paths.back(), noise);
  Packed packed(paths);
  restart::SystemCalls calls = without_sync();
  calls.pwrite = [](int descriptor, const void* data, std::size_t bytes, off_t offset) -> ssize_t {
    if (writes_done++ == full_at) {
      errno = ENOSPC;
      return -1;
    }
    return restart::real_system_calls().pwrite(descriptor, data, bytes, offset);
  };
  MergeOptions options;
  options.frame_bytes = 256U << 10;
  const auto write_full_at = [&](int number) {
    full_at = number;
    writes_done = 0;
    const restart::ReplacedSystemCalls replaced(calls);
    return write_container(packed.set_, options);
  };
  int number = 0;
  for (;; ++number) {
    const auto report = write_full_at(number);
    if (report) break;
    REQUIRE(report.error().cause == Cause::full);
    REQUIRE(std::filesystem::is_empty(packed.set_.directory));
  }
  CHECK(number > 20);
  packed.require_same_bytes();
}

TEST_CASE("paths from a container do not lead out of the directory") {
  CHECK(restart::path_below("a/b.h5", 0) == "a/b.h5");
  CHECK(restart::path_below("/etc/passwd", 0) == "etc/passwd");
  CHECK(restart::path_below("../../x.h5", 0) == "x.h5");
  CHECK(restart::path_below("a/./../b//c", 0) == "a/b/c");
  CHECK(restart::path_below("", 7) == "part-of-rank-7");
  CHECK(restart::path_below("..", 7) == "part-of-rank-7");
}

}  // namespace
}  // namespace mcr::aggregation
