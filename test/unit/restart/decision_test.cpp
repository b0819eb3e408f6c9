// SPDX-License-Identifier: BSD-3-Clause
#include "restart/sets/decision.hpp"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "test/support/catch.hpp"
#include "test/unit/restart/scratch_directory.hpp"

using namespace mcr;
using namespace mcr::restart;

namespace {

Decision example() {
  return {false,
          {"mpi-0123456789abcdef", 7, "/out/c.{rank}.h5"},
          {"mpi-fedcba9876543210", 300},
          "set-c.{rank}.h5.now-0.decision",
          12,
          {"mcr", "c.{rank}.h5"},
          4711,
          1'700'000'000'000'000'001};
}

/// The decision as builds wrote it that did not record its own file's identity.
Bytes without_identity(const Decision& decision) {
  Bytes file = write_decision(decision);
  file.resize(file.size() - 3 * 8);
  return file;
}

/// The decision as builds wrote it that did not record which files it is about.
Bytes without_files(const Decision& decision) {
  Bytes file = without_identity(decision);
  file.resize(file.size() - 8 - decision.files.container_dir.size() - 1 -
              decision.files.name.size() - 1);
  return file;
}

/// The decision as builds wrote it that did not record its place.
Bytes without_place(const Decision& decision) {
  Bytes file = without_files(decision);
  file.resize(file.size() - 8 - 1 - decision.recorded_as.size() - 1);
  return file;
}

/// The decision as builds wrote it that did not record the masked name.
Bytes without_name(const Decision& decision) {
  Bytes file = without_place(decision);
  file.resize(file.size() - 8 - decision.given.masked_name.size() - 1);
  return file;
}

bool says(const Result<Decision>& read, const Decision& wanted) {
  return read && read->as_it_is == wanted.as_it_is && read->given == wanted.given &&
         read->newest == wanted.newest && read->recorded_as == wanted.recorded_as &&
         read->recorded_in == wanted.recorded_in && read->files == wanted.files &&
         read->own_inode == wanted.own_inode && read->born_ns == wanted.born_ns;
}

}  // namespace

TEST_CASE("a decision is read back as it was written") {
  CHECK(says(read_decision(write_decision(example())), example()));
  CHECK(says(read_decision(write_decision({})), {}));
}

TEST_CASE("every altered bit of a decision is noticed, and every length to which it is cut") {
  const Bytes file = write_decision(example());
  std::size_t changes = 0;
  for (std::size_t place = 0; place < file.size(); ++place) {
    for (unsigned bit = 0; bit < 8; ++bit, ++changes) {
      Bytes altered = file;
      altered[place] ^= std::byte(1U << bit);
      INFO(place << "." << bit);
      CHECK_FALSE(read_decision(altered));
    }
  }
  const std::set<std::size_t> earlier_forms{
      without_name(example()).size(), without_place(example()).size(),
      without_files(example()).size(), without_identity(example()).size()};
  for (std::size_t length = 0; length < file.size(); ++length)
    CHECK(read_decision(ByteSpan(file).first(length)).has_value() ==
          earlier_forms.contains(length));
  WARN(changes << " bits changed, " << file.size() << " lengths cut; " << earlier_forms.size()
               << " of these are decisions of earlier builds");
}

TEST_CASE("a decision without a masked name gives every generation of that launch and sequence") {
  const GenerationName one{"mpi-0123456789abcdef", 7, "/out/c.{rank}.h5"};
  const GenerationName other{"mpi-0123456789abcdef", 7, "/out/d.{rank}.h5"};
  const auto old = read_decision(without_name(example()));
  REQUIRE(old);
  CHECK(gives(*old, one));
  CHECK(gives(*old, other));
  CHECK_FALSE(gives(*old, {"mpi-0123456789abcdef", 8, one.masked_name}));
  const auto now = read_decision(write_decision(example()));
  REQUIRE(now);
  CHECK(gives(*now, one));
  CHECK_FALSE(gives(*now, other));
  CHECK_FALSE(gives(Decision{true, one, one}, one));
}

TEST_CASE("a decision of a newer format is unsupported") {
  Bytes file = write_decision(example());
  file[8] = std::byte{2};
  const auto read = read_decision(file);
  REQUIRE_FALSE(read);
  CHECK(read.error().cause == Cause::unsupported);
}

TEST_CASE("a copy of a decision, and one that does not know its own file, hold for no open") {
  const ScratchDirectory directory;
  const std::string place = directory / "mcr";
  REQUIRE(::mkdir(place.c_str(), 0755) == 0);
  REQUIRE(record_decision(place, "set-x.decision", example()));
  REQUIRE(find_decision(place, "set-x.decision"));
  const auto put = [&](const Bytes& content) {
    std::ofstream(place + "/set-y.decision", std::ios::binary)
        .write(reinterpret_cast<const char*>(content.data()),
               static_cast<std::streamsize>(content.size()));
  };
  std::filesystem::copy_file(place + "/set-x.decision", place + "/set-y.decision");
  CHECK_FALSE(find_decision(place, "set-y.decision"));
  put(without_identity(example()));
  CHECK_FALSE(find_decision(place, "set-y.decision"));
  // A forger who knows the inode number does not know the birth time.
  struct stat status {};
  REQUIRE(::stat((place + "/set-y.decision").c_str(), &status) == 0);
  Decision forged = example();
  forged.own_inode = status.st_ino;
  put(write_decision(forged));
  CHECK_FALSE(find_decision(place, "set-y.decision"));
}

TEST_CASE("the first decision that is recorded under a name holds") {
  const ScratchDirectory directory;
  const std::string place = directory / "mcr";
  REQUIRE(::mkdir(place.c_str(), 0755) == 0);
  const auto first = record_decision(place, "set-x.decision", example());
  REQUIRE(first);
  CHECK(first->is_ours);
  Decision other;
  other.files = example().files;
  const auto second = record_decision(place, "set-x.decision", other);
  REQUIRE(second);
  CHECK_FALSE(second->is_ours);
  CHECK(second->decision.given == example().given);
  CHECK(find_decision(place, "set-x.decision")->newest == example().newest);
}

TEST_CASE(
    "a decision about files of the same flat name in another place is neither obeyed nor in the "
    "way") {
  const ScratchDirectory directory;
  const std::string place = directory / "mcr";
  REQUIRE(::mkdir(place.c_str(), 0755) == 0);
  const DecidedFiles own{"mcr", "a/+b.{rank}.h5"};
  const DecidedFiles theirs = GENERATE(DecidedFiles{"mcr", "a+/b.{rank}.h5"},
                                       DecidedFiles{"run/mcr", "a/+b.{rank}.h5"}, DecidedFiles{});
  Decision decision = example();
  decision.files = theirs;
  REQUIRE(record_decision(place, "set-x.decision", decision));
  CHECK_FALSE(find_decision(place, "set-x.decision", &own));
  decision.files = own;
  decision.given.sequence = 8;
  const auto recorded = record_decision(place, "set-x.decision", decision);
  REQUIRE(recorded);
  CHECK(recorded->is_ours);
  const auto found = find_decision(place, "set-x.decision", &own);
  REQUIRE(found);
  CHECK(found->given.sequence == 8);
  CHECK(find_decision(place, "set-x.decision", &theirs)->given.sequence == 7);
  CHECK_FALSE(record_decision(place, "set-x.decision", decision)->is_ours);
}

TEST_CASE(
    "a decision of an earlier launch under the next one's name does not count where others may "
    "write") {
  const ScratchDirectory directory;
  const std::string place = directory / "mcr";
  REQUIRE(::mkdir(place.c_str(), 0755) == 0);
  const mode_t mode = GENERATE(02775U, 0755U);
  REQUIRE(::chmod(directory.path().c_str(), mode) == 0);
  REQUIRE(::chmod(place.c_str(), mode) == 0);
  REQUIRE(record_decision(place, "set-x.earlier-0.decision", example()));
  REQUIRE(::rename((place + "/set-x.earlier-0.decision").c_str(),
                   (place + "/set-x.next-0.decision").c_str()) == 0);
  CHECK(find_decision(place, "set-x.next-0.decision").has_value() == (mode == 0755));
}

TEST_CASE("a decision that was moved does not count where other users can move files") {
  const ScratchDirectory directory;
  const std::string own = directory / "own";
  const std::string place = directory / "mcr";
  REQUIRE(::chmod(directory.path().c_str(), 0777) == 0);
  for (const std::string& made : {own, place}) {
    REQUIRE(::mkdir(made.c_str(), 0755) == 0);
    REQUIRE(::chmod(made.c_str(), 01777) == 0);
  }
  REQUIRE(record_decision(own, "set-x.decision", example()));
  REQUIRE(record_decision(place, "set-y.decision", example()));
  CHECK(find_decision(own, "set-x.decision"));
  SECTION("from another directory") {
    REQUIRE(::rename((own + "/set-x.decision").c_str(), (place + "/set-x.decision").c_str()) == 0);
  }
  SECTION("from another name") {
    REQUIRE(::rename((place + "/set-y.decision").c_str(), (place + "/set-x.decision").c_str()) ==
            0);
  }
  CHECK_FALSE(find_decision(place, "set-x.decision"));
  REQUIRE(::chmod(place.c_str(), 0755) == 0);
  CHECK(find_decision(place, "set-x.decision"));  // as in a directory that its user moved
}
