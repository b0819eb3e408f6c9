// SPDX-License-Identifier: BSD-3-Clause
// Containers with solid frames: variables that are computed from others, in parts of every size.
#include <fcntl.h>
#include <hdf5.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <random>

#include "aggregation/commit/write_container.hpp"
#include "codecs/frames/frame.hpp"
#include "restart/container/container_reader.hpp"
#include "restart/container/linked_frames.hpp"
#include "restart/container/unpack.hpp"
#include "restart/container/verify.hpp"
#include "restart/filter/linked_chunk.hpp"
#include "test/support/catch.hpp"
#include "test/unit/aggregation/part_files.hpp"
#include "test/unit/restart/scratch_directory.hpp"

namespace mcr::aggregation {
namespace {

using restart::ContainerReader;
using restart::DatasetKind;
using restart::File;
using restart::ScratchDirectory;

void write_values(hid_t file, const std::string& name, hsize_t edge,
                  const std::vector<double>& values) {
  const hsize_t extent[] = {edge, edge, edge};
  const hid_t space = H5Screate_simple(3, extent, nullptr);
  const hid_t dataset =
      H5Dcreate2(file, name.c_str(), H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  REQUIRE(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) >= 0);
  H5Dclose(dataset);
  H5Sclose(space);
}

/// Density and pressure are noise; the energy follows from both; "noise" stands alone. The names
/// end in `suffix`.
void write_part(const std::string& path, hsize_t edge, unsigned seed,
                const std::string& suffix = "") {
  make_hdf5_file(path, {true, 0}, [&](hid_t file) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> values(1, 2);
    const auto count = static_cast<std::size_t>(edge * edge * edge);
    std::vector<double> density(count);
    std::vector<double> pressure(count);
    std::vector<double> energy(count);
    std::vector<double> noise(count);
    for (std::size_t i = 0; i < count; ++i) {
      density[i] = values(random);
      pressure[i] = values(random);
      energy[i] = 1.5 * pressure[i] / density[i];
      noise[i] = values(random);
    }
    write_values(file, "density" + suffix, edge, density);
    write_values(file, "energy" + suffix, edge, energy);
    write_values(file, "noise" + suffix, edge, noise);
    write_values(file, "pressure" + suffix, edge, pressure);
  });
}

struct Packed {
  ScratchDirectory directory;
  std::vector<std::unique_ptr<File>> files;
  SetToCommit set;

  Packed(unsigned parts, hsize_t edge)
      : Packed(parts,
               [edge](const std::string& path, unsigned seed) { write_part(path, edge, seed); }) {}

  Packed(unsigned parts, const std::function<void(const std::string&, unsigned)>& write_one) {
    for (unsigned i = 0; i < parts; ++i) {
      const std::string path = directory / ("rank" + std::to_string(i) + ".h5");
      write_one(path, i + 1);
      auto file = File::open(AT_FDCWD, path, O_RDONLY);
      REQUIRE(file);
      files.push_back(std::make_unique<File>(std::move(*file)));
      PartToCommit part;
      part.part = *restart::PartId::random();
      part.rank = i;
      part.path = "rank" + std::to_string(i) + ".h5";
      part.bytes = files.back().get();
      part.size = *files.back()->size();
      set.parts.push_back(part);
    }
    set.set.masked_name = "rank{rank}.h5";
    set.set.launch = "test";
    set.set.rank_count = parts;
    set.directory = directory.path();
    set.name = "container.h5";
  }

  CommitReport write(codecs::Profile profile, std::uint64_t memory_bytes = 256U << 20,
                     std::shared_ptr<ChoiceMemory> memory = nullptr) {
    MergeOptions options;
    options.replace = true;
    options.memory = std::move(memory);
    options.drain.threads = 2;
    options.drain.memory_bytes = memory_bytes;
    options.profile.profile = profile;
    auto report = write_container(set, options);
    if (!report) FAIL(report.error().message);
    return std::move(*report);
  }
  [[nodiscard]] std::string container() const { return directory / "container.h5"; }
  [[nodiscard]] std::shared_ptr<ContainerReader> open() const {
    auto reader = ContainerReader::open(AT_FDCWD, container());
    REQUIRE(reader);
    return *reader;
  }
  void require_same_bytes() const {
    const auto reader = open();
    const ScratchDirectory out;
    const auto unpacked = restart::unpack(*reader, out.path(), {});
    if (!unpacked) FAIL(unpacked.error().message);
    for (const PartToCommit& part : set.parts) {
      REQUIRE(read_whole(out / part.path) == read_whole(directory / part.path));
    }
    const auto verified = restart::verify_container(*reader, {});
    REQUIRE(verified);
    REQUIRE(verified->damage.empty());
  }
};

bool is_linked(ContainerReader& reader, const restart::DatasetEntry& dataset) {
  Bytes stored;
  REQUIRE(reader.stored_frame(*reader.frame_place(dataset, 0), stored));
  return codecs::read_frame_info(stored)->link.has_value();
}

const VariableReport& row_of(const CommitReport& report, const std::string& name) {
  for (const VariableReport& row : report.variables) {
    if (row.name == name) return row;
  }
  FAIL("no variable " + name);
  return report.variables.front();
}

TEST_CASE("variables that follow from others share solid frames, the others keep their own") {
  Packed packed(3, 24);
  const CommitReport report = packed.write(codecs::Profile::balanced);
  packed.require_same_bytes();
  CHECK(row_of(report, "energy").pipeline == "linked");
  CHECK(row_of(report, "density").pipeline == "linked");
  CHECK(row_of(report, "noise").pipeline != "linked");
  CHECK(row_of(report, "batches").pipeline == "solid");
  // The energy costs next to nothing: three of four variables are noise of some 53 bits.
  CHECK(report.container_bytes < report.raw_bytes * 7 / 10);
  const auto reader = packed.open();
  for (const restart::DatasetEntry& dataset : **reader->datasets()) {
    if (dataset.kind != DatasetKind::variable) continue;
    CHECK(is_linked(*reader, dataset) == (dataset.name != "noise"));
  }
}

TEST_CASE(
    "choices of a set are used in the next one, also if the step stands in the variables' names") {
  const auto memory = std::make_shared<ChoiceMemory>();
  for (const std::string step : {"0", "64", "1024"}) {
    const std::string suffix = " it=" + step + " c=3";
    Packed packed(
        3, [&](const std::string& path, unsigned seed) { write_part(path, 24, seed, suffix); });
    const CommitReport report = packed.write(codecs::Profile::balanced, 256U << 20, memory);
    packed.require_same_bytes();
    CHECK(row_of(report, "energy" + suffix).pipeline == "linked");
    CHECK(row_of(report, "density" + suffix).pipeline == "linked");
    const std::string noise_name =
        "noise" + suffix;  // gcc 14 takes row_of() for a reference to a temporary name
    const VariableReport& noise = row_of(report, noise_name);
    CHECK(noise.pipeline != "linked");
    CHECK((noise.why.find("as in earlier sets") != std::string::npos) == (step != "0"));
  }
}

TEST_CASE("a link frame gives the variable's bytes, whether parts are cut into slabs or not") {
  const std::uint64_t memory = GENERATE(256U << 20, 1U << 20);  // the least: frames of 2 MiB
  Packed packed(2, 64);
  packed.write(codecs::Profile::balanced, memory);
  packed.require_same_bytes();
  const auto reader = packed.open();
  restart::KeptFrame kept;
  restart::LinkedFrames linked(*reader, kept);
  Scratch scratch;
  std::size_t checked = 0;
  for (const restart::DatasetEntry& dataset : **reader->datasets()) {
    if (dataset.kind != DatasetKind::variable || !is_linked(*reader, dataset)) continue;
    for (std::uint32_t frame = 0; frame < dataset.frame_count; ++frame) {
      const auto place = *reader->frame_place(dataset, frame);
      Bytes stored;
      REQUIRE(reader->stored_frame(place, stored));
      Bytes raw(place.raw_bytes);
      const auto decoded = codecs::decode_frame(stored, scratch, raw, &linked);
      if (!decoded) FAIL(decoded.error().message);
      ++checked;
    }
  }
  CHECK(checked >= 6);
}

/// Particles as records, and the same array under a second name; "others" has records of its own.
void write_records(const std::string& path, unsigned seed) {
  struct Particle {
    double mass;
    std::int64_t id;
    float velocity[2];
  };
  make_hdf5_file(path, {true, 0}, [&](hid_t file) {
    const hsize_t two = 2;
    const hid_t pair = H5Tarray_create2(H5T_NATIVE_FLOAT, 1, &two);
    const hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(Particle));
    H5Tinsert(type, "mass", offsetof(Particle, mass), H5T_NATIVE_DOUBLE);
    H5Tinsert(type, "id", offsetof(Particle, id), H5T_NATIVE_INT64);
    H5Tinsert(type, "velocity", offsetof(Particle, velocity), pair);
    const hsize_t count = 20000;
    const hid_t space = H5Screate_simple(1, &count, nullptr);
    std::vector<Particle> particles(count);
    for (const char* name : {"particles", "others", "particles again"}) {
      std::mt19937_64 random(std::string(name) == "others" ? seed + 100 : seed);
      for (Particle& p : particles) {
        p = {1 + static_cast<double>(random() % 1000000) * 1e-9,
             static_cast<std::int64_t>(random() % 100000),
             {static_cast<float>(random() % 4096), static_cast<float>(random() % 4096)}};
      }
      const hid_t dataset =
          H5Dcreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
      REQUIRE(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, particles.data()) >= 0);
      H5Dclose(dataset);
    }
    H5Sclose(space);
    H5Tclose(type);
    H5Tclose(pair);
  });
}

TEST_CASE("records that come twice share solid frames, others keep their own") {
  Packed packed(2, write_records);
  const CommitReport report = packed.write(codecs::Profile::balanced);
  packed.require_same_bytes();
  CHECK(row_of(report, "particles").pipeline == "linked");
  CHECK(row_of(report, "particles again").pipeline == "linked");
  CHECK(row_of(report, "others").pipeline != "linked");
  // Two of three arrays cost something, and each of them not half.
  CHECK(report.container_bytes < report.raw_bytes / 3);
}

TEST_CASE("profiles that do not link, and damage in a solid frame") {
  Packed packed(2, 24);
  const CommitReport fast = packed.write(codecs::Profile::fast);
  for (const VariableReport& row : fast.variables) CHECK(row.pipeline != "linked");
  packed.write(codecs::Profile::balanced);
  std::uint64_t offset = 0;
  {
    const auto reader = packed.open();
    for (const restart::DatasetEntry& dataset : **reader->datasets()) {
      if (dataset.kind == DatasetKind::batch) offset = reader->frame_place(dataset, 0)->file_offset;
    }
  }
  REQUIRE(offset != 0);
  Bytes bytes = read_whole(packed.container());
  bytes[static_cast<std::size_t>(offset) + 1000] ^= std::byte{1};
  write_whole(packed.container(), bytes);
  const auto verified = restart::verify_container(*packed.open(), {});
  REQUIRE(verified);
  CHECK_FALSE(verified->damage.empty());
  CHECK(verified->damaged_ranks.size() == 2);
}

/// What the filter gets of a linked variable: a chunk, and the UUID of its container.
struct LinkedChunk {
  std::array<std::uint8_t, 16> uuid{};
  Bytes frame;
  Bytes raw;  // what the filter must make of it

  [[nodiscard]] Result<void> decode_by_filter() const {
    Scratch scratch;
    Bytes decoded(raw.size());
    MCR_TRY(restart::decode_linked_chunk(uuid, frame, scratch, decoded));
    if (decoded != raw) return Error{Cause::damaged, "other values"};
    return {};
  }
  void require_decodes() const {
    const auto decoded = decode_by_filter();
    if (!decoded) FAIL(decoded.error().message);
  }
};

LinkedChunk first_linked_chunk(const Packed& packed) {
  const auto reader = packed.open();
  for (const restart::DatasetEntry& dataset : **reader->datasets()) {
    if (dataset.kind != DatasetKind::variable || !is_linked(*reader, dataset)) continue;
    LinkedChunk chunk;
    chunk.uuid = reader->user_block().uuid;
    const auto place = *reader->frame_place(dataset, 0);
    REQUIRE(reader->stored_frame(place, chunk.frame));
    chunk.raw.resize(place.raw_bytes);
    restart::KeptFrame kept;
    restart::LinkedFrames linked(*reader, kept);
    Scratch scratch;
    REQUIRE(codecs::decode_frame(chunk.frame, scratch, chunk.raw, &linked));
    return chunk;
  }
  FAIL("no linked variable");
  return {};
}

/// Containers with other values in the same places. The second one has the UUID of the first.
struct Twins {
  Packed first{2, 24};
  Packed second{2, [](const std::string& path, unsigned seed) { write_part(path, 24, seed + 50); }};

  Twins() {
    first.write(codecs::Profile::balanced);
    second.write(codecs::Profile::balanced);
    Bytes bytes = read_whole(second.container());
    restart::UserBlock block = second.open()->user_block();
    block.uuid = first.open()->user_block().uuid;
    const Bytes head = restart::write_user_block(block);
    std::copy(head.begin(), head.end(), bytes.begin());
    write_whole(second.container(), bytes);
  }
};

File opened(const std::string& path, int flags = O_RDONLY) {
  auto file = File::open(AT_FDCWD, path, flags);
  REQUIRE(file);
  return std::move(*file);
}

TEST_CASE("the container of a linked chunk is found among open descriptors only") {
  Packed packed(2, 24);
  packed.write(codecs::Profile::balanced);
  const LinkedChunk chunk = first_linked_chunk(packed);
  const auto closed = chunk.decode_by_filter();
  REQUIRE_FALSE(closed);
  CHECK(closed.error().cause == Cause::unsupported);
  CHECK_THAT(closed.error().message, Catch::Contains("mcr unpack"));
  const File held = opened(packed.container());
  chunk.require_decodes();
}

TEST_CASE("the container of a linked chunk is found behind a descriptor with O_DIRECT") {
  Packed packed(2, 24);
  packed.write(codecs::Profile::balanced);
  const LinkedChunk chunk = first_linked_chunk(packed);
  const auto direct = File::open(AT_FDCWD, packed.container(), O_RDONLY | O_DIRECT);
  if (!direct) return;  // this file system has no direct reads
  chunk.require_decodes();
}

/// True while another process cannot lock the file, as fcntl(2) locks.
bool is_locked(const std::string& path) {
  const pid_t child = ::fork();
  if (child == 0) {
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    const int file = ::open(path.c_str(), O_RDWR);
    ::_exit(file >= 0 && ::fcntl(file, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK ? 1 : 0);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return WIFEXITED(status) && WEXITSTATUS(status) == 1;
}

TEST_CASE("reading a linked chunk leaves the program's record locks on other files") {
  Packed packed(2, 24);
  packed.write(codecs::Profile::balanced);
  const LinkedChunk chunk = first_linked_chunk(packed);
  const std::string path = packed.directory / "database";
  write_whole(path, Bytes(4096));
  const File database = opened(path, O_RDWR);
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  REQUIRE(::fcntl(database.descriptor(), F_SETLK, &lock) == 0);
  const File container = opened(packed.container());
  REQUIRE(is_locked(path));
  chunk.require_decodes();
  CHECK(is_locked(path));
}

TEST_CASE("linked chunks of two containers with one UUID are read, whichever is open first") {
  Twins twins;
  const LinkedChunk of_first = first_linked_chunk(twins.first);
  const LinkedChunk of_second = first_linked_chunk(twins.second);
  REQUIRE(of_first.uuid == of_second.uuid);
  REQUIRE(of_first.raw != of_second.raw);
  const bool is_second_first = GENERATE(false, true);
  const File one = opened((is_second_first ? twins.second : twins.first).container());
  const File other = opened((is_second_first ? twins.first : twins.second).container());
  for (int i = 0; i < 2; ++i) {
    of_second.require_decodes();
    of_first.require_decodes();
  }
}

TEST_CASE("what was decoded of a closed container is not used for another one with its UUID") {
  Twins twins;
  const LinkedChunk of_first = first_linked_chunk(twins.first);
  const LinkedChunk of_second = first_linked_chunk(twins.second);
  {
    const File second = opened(twins.second.container());
    of_second.require_decodes();
  }
  const File first = opened(twins.first.container());
  of_first.require_decodes();
  CHECK_FALSE(of_second.decode_by_filter());
}

TEST_CASE("what was decoded of a container is not used for one that has its inode and UUID") {
  Twins twins;
  const LinkedChunk of_first = first_linked_chunk(twins.first);
  const LinkedChunk of_second = first_linked_chunk(twins.second);
  const File held = opened(twins.first.container());
  of_first.require_decodes();
  write_whole(twins.first.container(), read_whole(twins.second.container()));
  of_second.require_decodes();
}

TEST_CASE("of containers with one UUID, this user's own is tried first") {
  if (::geteuid() != 0) return;  // only root gives a file away
  Twins twins;
  REQUIRE(::chown(twins.second.container().c_str(), 12345, 12345) == 0);
  LinkedChunk chunk = first_linked_chunk(twins.first);
  const File stranger = opened(twins.second.container());
  const File own = opened(twins.first.container());
  // No container can answer this link; the error is that of the first one that was tried.
  chunk.frame.clear();
  const codecs::Link link{1000000, {{0, chunk.raw.size()}}};
  codecs::Layout layout;
  layout.bricks.push_back(codecs::Shape::flat(static_cast<std::uint32_t>(chunk.raw.size())));
  REQUIRE(codecs::encode_link_frame(layout, link, 0, chunk.frame));
  const auto decoded = chunk.decode_by_filter();
  REQUIRE_FALSE(decoded);
  CHECK_THAT(decoded.error().message,
             Catch::StartsWith(restart::link_path(own.descriptor()) + ": "));
}

}  // namespace
}  // namespace mcr::aggregation
