// SPDX-License-Identifier: BSD-3-Clause
// Which generation an open gives, with real stubs and containers but without a program, so that the
// test takes only seconds.
#include "restart/open/open_generation.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <memory>
#include <string_view>

#include "restart/base/durable_replace.hpp"
#include "restart/base/path_names.hpp"
#include "restart/base/system.hpp"
#include "restart/format/container_name.hpp"
#include "restart/format/journal.hpp"
#include "restart/format/masked_name.hpp"
#include "restart/sets/known_generations.hpp"
#include "restart/sets/look.hpp"
#include "restart/sets/names_here.hpp"
#include "restart/sets/native_members.hpp"
#include "restart/stage/stub_file.hpp"
#include "test/support/catch.hpp"
#include "test/unit/restart/faults.hpp"
#include "test/unit/restart/one_part_container.hpp"
#include "test/unit/restart/scratch_directory.hpp"

using namespace mcr;
using namespace mcr::restart;
namespace fs = std::filesystem;

namespace {

constexpr std::uint32_t ranks = 3;

/// A directory with files c.<rank>.h5 of three ranks, as earlier launches left them.
struct Run {
  ScratchDirectory scratch;
  std::string out = fs::canonical(scratch.path()).string() + "/out";

  Run() { fs::create_directories(out + "/mcr"); }

  [[nodiscard]] std::string path(std::uint32_t rank, const std::string& name = "c") const {
    return out + "/" + name + "." + std::to_string(rank) + ".h5";
  }
  static std::string content(const std::string& launch, std::uint64_t sequence, std::uint32_t rank,
                             const std::string& name = "c") {
    return launch + "/" + std::to_string(sequence) + " of rank " + std::to_string(rank) +
           (name == "c" || name.find('/') != std::string::npos || name == "tmp" ? ""
                                                                                : " in " + name);
  }

  /// Writes the rank's part into a container of its own, and its stub to its path.
  void write(const std::string& launch, std::uint64_t sequence, std::uint32_t rank,
             std::uint64_t begun_ns, const std::string& name = "c",
             const std::vector<std::uint32_t>& failed = {}) const {
    SetIdentity set;
    set.masked_name = out + "/" + name + ".{rank}.h5";
    set.launch = launch;
    set.sequence = sequence;
    set.rank_count = ranks;
    set.created_ns = set.begun_ns = begun_ns;
    set.failed_ranks = failed;
    Stub stub;
    stub.part = *PartId::random();
    stub.launch = launch;
    stub.sequence = sequence;
    stub.rank = rank;
    stub.rank_count = ranks;
    stub.masked_names = {set.masked_name};
    stub.container_directory = "mcr";
    stub.path = path(rank, name);
    const ContainerName where = container_name(set.masked_name, "mcr", launch, sequence);
    put(where.directory + "/" + where.prefix + container_suffix(rank, rank, {}),
        one_part_container(set, stub.part, rank, name_of(stub.path),
                           content(launch, sequence, rank, name)));
    put(stub.path, write_stub(stub));
  }

  /// Returns the path of the container of one rank.
  [[nodiscard]] std::string container(const std::string& launch, std::uint64_t sequence,
                                      std::uint32_t rank) const {
    const ContainerName where = container_name(out + "/c.{rank}.h5", "mcr", launch, sequence);
    return where.directory + "/" + where.prefix + container_suffix(rank, rank, {});
  }

  /// Returns the bytes that a rank of a later launch gets from its path; "error" if the open fails.
  [[nodiscard]] std::string read(std::uint32_t rank, Mix mix = Mix::previous,
                                 const std::string& launch = "next",
                                 const std::string& name = "c") const {
    const auto stub = read_stub_file(*File::open(AT_FDCWD, path(rank, name), O_RDONLY));
    REQUIRE(stub);
    Opener opener;
    opener.launch = launch;
    opener.rank_count = ranks;
    opener.mix = mix;
    const auto opened = open_generation(*stub, path(rank, name), opener);
    if (!opened) return "error";
    Bytes bytes(static_cast<std::size_t>(opened->source->size()));
    REQUIRE(opened->source->read_at(0, bytes));
    return std::string(as_text(bytes));
  }

  static void put(const std::string& path, ByteSpan bytes) {
    REQUIRE(replace_file(AT_FDCWD, path, bytes, 0644, Durability::none));
  }
};

}  // namespace

TEST_CASE("each rank gets its own part of a set that all ranks have written") {
  const Run run;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) run.write("A", 0, rank, 10);
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    CHECK(run.read(rank) == Run::content("A", 0, rank));
}

TEST_CASE("if a rank has not finished the newest set, every rank gets the whole set before it") {
  const Run run;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) run.write("A", 0, rank, 10);
  run.write("A", 1, 0, 20);
  run.write("A", 1, 1, 20);
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    CHECK(run.read(rank) == Run::content("A", 0, rank));
  // The setting mix=native gives the stub's own part, and mix=refuse an error.
  CHECK(run.read(0, Mix::native, "native") == Run::content("A", 1, 0));
  CHECK(run.read(0, Mix::refuse, "refuse") == "error");
}

namespace {

/// While it lives, the open number `at` of a file other than a container fails with EIO. (A container
/// that cannot be read counts as damaged.)
class FailingOpen {
 public:
  explicit FailingOpen(long at) : replaced_(table()) { left_ = at; }
  static bool is_hit() { return left_ < 0; }

 private:
  static const SystemCalls& table() {
    static const SystemCalls failing = [] {
      SystemCalls calls = real_system_calls();
      calls.openat = [](int directory, const char* name, int flags, mode_t mode) {
        const bool counts = std::string_view(name).find("set-") == std::string_view::npos;
        if (!counts || left_-- != 0)
          return real_system_calls().openat(directory, name, flags, mode);
        errno = EIO;
        return -1;
      };
      return calls;
    }();
    return failing;
  }
  static inline long left_ = 0;
  ReplacedSystemCalls replaced_;
};

}  // namespace

TEST_CASE("an open in which a call fails gives the set that all ranks get, or an error") {
  const Run run;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) run.write("A", 0, rank, 10);
  run.write("A", 1, 0, 20);
  run.write("A", 1, 1, 20);
  const auto stub = read_stub_file(*File::open(AT_FDCWD, run.path(0), O_RDONLY));
  REQUIRE(stub);
  // Returns true if the open failed or gave the set A, 0. The launch is another one in each turn.
  const auto is_right = [&](const std::string& launch, const auto& make_fault) {
    Opener opener;
    opener.launch = launch;
    opener.rank_count = ranks;
    const auto opened = [&] {
      const auto fault = make_fault();
      return open_generation(*stub, run.path(0), opener);
    }();
    if (!opened) return true;
    Bytes bytes(static_cast<std::size_t>(opened->source->size()));
    REQUIRE(opened->source->read_at(0, bytes));
    return std::string(as_text(bytes)) == Run::content("A", 0, 0);
  };
  bool is_hit = true;
  long at = 0;
  SECTION("the process has no descriptor or memory left") {
    for (; is_hit; ++at) {
      INFO("call " << at);
      CHECK(is_right("full" + std::to_string(at),
                     [&] { return std::make_unique<FaultySystem>(at, Fault::error, EMFILE); }));
      const FaultySystem counts(-1, Fault::error);
      (void)run.read(0, Mix::previous, "count" + std::to_string(at));
      is_hit = at < counts.calls();
    }
  }
  SECTION("storage does not answer for a directory or another rank's file") {
    for (; is_hit; ++at) {
      INFO("open " << at);
      CHECK(is_right("broken" + std::to_string(at),
                     [&] { return std::make_unique<FailingOpen>(at); }));
      is_hit = FailingOpen::is_hit();
    }
  }
  CHECK(at > 20);
}

TEST_CASE("a decision holds for all ranks of its launch, and a later launch decides anew") {
  const Run run;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) run.write("A", 0, rank, 10);
  run.write("A", 1, 0, 20);
  run.write("A", 1, 1, 20);
  CHECK(run.read(0) == Run::content("A", 0, 0));
  run.write("A", 1, 2, 20);  // from a late leader of another node
  CHECK(run.read(2, Mix::previous, "later") == Run::content("A", 1, 2));
}

TEST_CASE(
    "the later launch counts, and within a launch the later writing, whatever the clocks said") {
  const Run run;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) run.write("A", 0, rank, 50);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) run.write("A", 1, rank, 30);
  run.write("B", 0, 0, 60);
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    CHECK(run.read(rank) == Run::content("A", 1, rank));
}

TEST_CASE("if no set is whole, each rank gets the part that the stub at its path names") {
  const Run run;
  run.write("A", 0, 0, 10, "c", {1});
  run.write("A", 0, 2, 10, "c", {1});
  CHECK(run.read(0) == Run::content("A", 0, 0));
  CHECK(run.read(2) == Run::content("A", 0, 2));
}

TEST_CASE("if all files were renamed, they are still one set") {
  const Run run;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) run.write("A", 0, rank, 10, "tmp");
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    fs::rename(run.path(rank, "tmp"), run.path(rank));
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    CHECK(run.read(rank) == Run::content("A", 0, rank));
}

TEST_CASE(
    "each step was written under its own name, and only some files were renamed over old ones") {
  const Run run;
  const std::string last = GENERATE("tmp4", "tmp2");  // the order of the names says nothing
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    run.write("A", 0, rank, 10, "tmp3");
    fs::rename(run.path(rank, "tmp3"), run.path(rank));
  }
  for (std::uint32_t rank = 0; rank < ranks; ++rank) run.write("A", 0, rank, 20, last);
  const auto content_of = [&](std::uint32_t rank) {
    return run.read(rank, Mix::native, "native", last);
  };
  const std::string newest = content_of(0);
  fs::rename(run.path(0, last), run.path(0));
  for (const std::string launch : {"next", "later"}) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
      CHECK(run.read(rank, Mix::previous, launch) == Run::content("A", 0, rank, "tmp3"));
  }
  CHECK(run.read(0, Mix::native, "native") == newest);
  CHECK(newest == Run::content("A", 0, 0, last));
}

TEST_CASE("two names were used in turn, and only some files were renamed over old ones") {
  const Run run;
  const std::vector<std::string> names = {"a", "b", "a", "b", "a"};
  for (std::uint64_t step = 0; step < names.size(); ++step) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
      run.write("A", step / 2, rank, 10 * (step + 1), names[step]);
    const bool is_last = step + 1 == names.size();
    for (std::uint32_t rank = 0; rank < (is_last ? 1 : ranks); ++rank)
      fs::rename(run.path(rank, names[step]), run.path(rank));
  }
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    CHECK(run.read(rank) == Run::content("A", 1, rank, "b"));
}

TEST_CASE(
    "a rank's file that is a link now belongs to the set, although its container lies elsewhere") {
  const Run run;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) run.write("A", 0, rank, 10);
  fs::create_directories(run.out + "/elsewhere/mcr");
  fs::remove(run.path(0));
  fs::create_symlink("elsewhere/c.0.h5", run.path(0));
  // The program writes through the link, so rank 0's names are those of the other directory.
  run.write("B", 0, 0, 20, "elsewhere/c");
  run.write("B", 0, 1, 20);
  run.write("B", 0, 2, 20);
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    CHECK(run.read(rank) == Run::content("B", 0, rank));
}

namespace {

/// Files that are renamed or copied after they were written.
struct Renamed : Run {
  bool has_containers = true;

  /// Writes the rank's part under the masked name `masked`, and renames the stub to `now`.
  void write_as(std::uint32_t rank, std::uint64_t begun_ns, const std::string& masked,
                const std::string& now, std::uint64_t sequence = 0) const {
    std::string written = masked;
    for (std::size_t at = 0; (at = written.find("{rank}")) != std::string::npos;)
      written.replace(at, 6, std::to_string(rank));
    SetIdentity set;
    set.masked_name = out + "/" + masked;
    set.launch = "A";
    set.sequence = sequence;
    set.rank_count = ranks;
    set.created_ns = set.begun_ns = begun_ns;
    Stub stub;
    stub.part = *PartId::random();
    stub.launch = "A";
    stub.sequence = sequence;
    stub.rank = rank;
    stub.rank_count = ranks;
    stub.masked_names = masked_names(out + "/" + written, rank, ranks, out.size());
    stub.container_directory = "mcr";
    stub.path = out + "/" + written;
    if (has_containers) {
      const ContainerName where = container_name(set.masked_name, "mcr", "A", sequence);
      fs::create_directories(where.directory);
      put(where.directory + "/" + where.prefix + container_suffix(rank, rank, {}),
          one_part_container(set, stub.part, rank, name_of(stub.path), now));
    }
    fs::create_directories(parent_of(out + "/" + now));
    put(out + "/" + now, write_stub(stub));
  }
  [[nodiscard]] std::string mask_of(const std::string& name) const {
    const std::string file = out + "/" + name;
    const auto stub = read_stub_file(*File::open(AT_FDCWD, file, O_RDONLY));
    REQUIRE(stub);
    std::vector<Generation> stored;
    Look look;
    const auto here = find_names(*stub, file, "none", stored, look);
    REQUIRE(here);
    return here->masked_name.substr(out.size() + 1);
  }
};

// Files s<step>.<rank>.h5: the name of step 2 and rank 2 fits three masks.
std::string step_name(std::uint32_t step, std::uint32_t rank) {
  return "s" + std::to_string(step) + "." + std::to_string(rank) + ".h5";
}

std::string step_mask(std::uint32_t step) { return "s" + std::to_string(step) + ".{rank}.h5"; }

}  // namespace

TEST_CASE(
    "a step has the number of a rank, and only that rank renamed its file: no other step's file is "
    "given") {
  Renamed run;
  run.has_containers = GENERATE(true, false);
  const bool are_others_left = GENERATE(true, false);
  for (std::uint32_t step = 0; step < ranks; ++step) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      const bool is_renamed = step < 2 || rank == 2;
      if (!is_renamed && !are_others_left) continue;
      run.write_as(rank, 10 * (step + 1), step_mask(step) + ".tmp",
                   step_name(step, rank) + (is_renamed ? "" : ".tmp"));
    }
  }
  for (std::uint32_t step = 0; step < ranks; ++step)
    CHECK(run.mask_of(step_name(step, step)) == step_mask(step));
  if (!run.has_containers) return;
  for (std::uint32_t step = 0; step < ranks; ++step)
    CHECK(run.read(step, Mix::previous, "next", "s" + std::to_string(step)) ==
          step_name(step, step));
}

TEST_CASE("each step is a set of one temporary name, and a step has the number of a rank") {
  Renamed run;
  run.has_containers = GENERATE(true, false);
  for (std::uint32_t step = 0; step < ranks; ++step) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      const bool is_renamed = step < 2 || rank == 2;
      run.write_as(rank, 10 * (step + 1), "tmp.{rank}.h5",
                   is_renamed ? step_name(step, rank) : "tmp." + std::to_string(rank) + ".h5",
                   step);
    }
  }
  for (std::uint32_t step = 0; step < ranks; ++step)
    CHECK(run.mask_of(step_name(step, step)) == step_mask(step));
}

TEST_CASE("the rank stands elsewhere in the new name than in the written one") {
  Renamed run;
  run.has_containers = GENERATE(true, false);
  const auto now = [](std::uint32_t rank) { return std::to_string(rank) + ".s2.h5"; };
  const bool is_over_older = GENERATE(true, false);
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    run.write_as(rank, 10, "tmp.{rank}.h5", now(rank));
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const bool is_renamed = !is_over_older || rank == 2;
    run.write_as(rank, 20, "tmp.{rank}.h5",
                 is_renamed ? now(rank) : "tmp." + std::to_string(rank) + ".h5", 1);
  }
  CHECK(run.mask_of(now(2)) == "{rank}.s2.h5");
}

TEST_CASE("the rank stands in two places of a renamed path, or has zeros in front of it") {
  Renamed run;
  run.has_containers = GENERATE(true, false);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const std::string number = std::to_string(rank);
    run.write_as(rank, 10, "a/{rank}/c.{rank}.tmp", "a/" + number + "/c." + number + ".h5");
    run.write_as(rank, 20, "b/{rank}/c.2.tmp", "b/" + number + "/c.2.h5");
    run.write_as(rank, 30, "s2.{rank}.h5.tmp", "s2.000" + number + ".h5");
    run.write_as(rank, 40, "d2_{rank}.tmp", "d0002_" + number + ".h5");
  }
  CHECK(run.mask_of("a/2/c.2.h5") == "a/{rank}/c.{rank}.h5");
  CHECK(run.mask_of("b/2/c.2.h5") == "b/{rank}/c.2.h5");
  CHECK(run.mask_of("s2.0002.h5") == "s2.{rank}.h5");
  CHECK(run.mask_of("d0002_2.h5") == "d0002_{rank}.h5");
}

TEST_CASE("a native file of the set shows where the rank stands in a renamed file's name") {
  Renamed run;
  for (std::uint32_t step = 0; step < ranks; ++step) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
      run.write_as(rank, 10 * (step + 1), "tmp.{rank}.h5",
                   std::to_string(rank) + ".s" + std::to_string(step) + ".h5", step);
  }
  const std::string native = run.out + "/0.s2.h5";
  const auto stub = read_stub_file(*File::open(AT_FDCWD, native, O_RDONLY));
  REQUIRE(stub);
  fs::remove(native);
  Run::put(native, Bytes(100));
  struct stat status {};
  REQUIRE(::stat(native.c_str(), &status) == 0);
  const File directory = *File::open(AT_FDCWD, run.out, O_RDONLY | O_DIRECTORY);
  REQUIRE(note_native(directory, "mcr", *stub, status.st_ino));
  complete_note(run.out + "/mcr", stub->part, status);
  fs::remove(run.out + "/1.s2.h5");
  CHECK(run.mask_of("2.s2.h5") == "{rank}.s2.h5");
}

TEST_CASE("a renamed file without any number opens, and so does a second hard link") {
  Renamed run;
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    run.write_as(rank, 10, "s2.{rank}.h5.tmp", step_name(2, rank));
  fs::create_hard_link(run.out + "/s2.2.h5", run.out + "/last.2.h5");
  fs::rename(run.out + "/s2.1.h5", run.out + "/c.1.h5");
  fs::copy_file(run.out + "/c.1.h5", run.out + "/plain.h5");
  CHECK(run.mask_of("last.2.h5") == "last.{rank}.h5");
  CHECK(run.mask_of("s2.2.h5") == "s2.{rank}.h5");
  const auto stub = read_stub_file(*File::open(AT_FDCWD, run.out + "/plain.h5", O_RDONLY));
  REQUIRE(stub);
  Opener opener;
  opener.launch = "next";
  opener.rank_count = ranks;
  CHECK(open_generation(*stub, run.out + "/plain.h5", opener));
}

TEST_CASE("a copy below a run that was moved opens at once") {
  Renamed run;
  const std::string moved = run.scratch.path() + std::string("/moved");
  const bool is_of_two_sets = GENERATE(false, true);
  fs::create_directories(run.out + "/k");
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const std::string set = is_of_two_sets && rank == 0 ? "b" : "c";
    const std::string name = "." + std::to_string(rank) + ".h5";
    run.write_as(rank, set == "b" ? 20 : 10, set + ".{rank}.h5", set + name);
    fs::copy_file(run.out + "/" + set + name, run.out + "/k/c" + name);
  }
  fs::rename(run.out, moved);
  run.out = moved;
  Opener opener;
  opener.launch = "next";
  opener.rank_count = ranks;
  opener.wait_ms = 5000;
  const std::string copy = moved + "/k/c.0.h5";
  const auto stub = read_stub_file(*File::open(AT_FDCWD, copy, O_RDONLY));
  REQUIRE(stub);
  const std::uint64_t begin_ms = monotonic_ms();
  const auto opened = open_generation(*stub, copy, opener);
  REQUIRE(opened);
  CHECK(opened->stub.part == stub->part);
  CHECK(monotonic_ms() - begin_ms < opener.wait_ms);
}

TEST_CASE("if nothing but the stub is known about a set, the warning counts no ranks") {
  const Run run;
  run.write("A", 0, 0, 10);
  const auto stub = read_stub_file(*File::open(AT_FDCWD, run.path(0), O_RDONLY));
  REQUIRE(stub);
  // Since the stub was read, another program has removed the containers and written the file.
  fs::remove(run.container("A", 0, 0));
  REQUIRE(replace_file(AT_FDCWD, run.path(0), as_bytes("a plain file"), 0644, Durability::none));
  Opener opener;
  opener.launch = "next";
  opener.rank_count = ranks;
  const std::string printed = run.out + "/printed";
  const File into = *File::open(AT_FDCWD, printed, O_RDWR | O_CREAT, 0600);
  const int before = ::dup(2);
  ::dup2(into.descriptor(), 2);
  CHECK_FALSE(open_generation(*stub, run.path(0), opener));
  ::dup2(before, 2);
  ::close(before);
  const std::string text(as_text(*into.read_all(10'000)));
  INFO(text);
  CHECK(text.find("neither a container nor this node's stage") != std::string::npos);
  CHECK(text.find("0 of") == std::string::npos);
}

TEST_CASE("an earlier set with a damaged container is not given") {
  const Run run;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) run.write("A", 0, rank, 10);
  run.write("A", 1, 0, 20);
  const auto where = container_name(run.out + "/c.{rank}.h5", "mcr", "A", 0);
  fs::resize_file(where.directory + "/" + where.prefix + container_suffix(2, 2, {}), 100);
  CHECK(run.read(0) == Run::content("A", 1, 0));  // with a warning, because there is no whole set
}

TEST_CASE("an open lists a directory a few times, however many stubs and masked names lead to it") {
  const Run run;
  constexpr std::uint32_t stubs = 100;
  Stub stub;
  stub.launch = "A";
  stub.rank_count = stubs;
  stub.container_directory = "mcr";
  stub.masked_names = {run.out + "/c.{rank}.h5"};
  for (char letter = 'd'; stub.masked_names.size() < max_masked_names; ++letter)
    stub.masked_names.push_back(run.out + "/" + letter + ".{rank}.h5");
  for (stub.rank = 0; stub.rank < stubs; ++stub.rank) {
    stub.part = *PartId::random();
    stub.path = run.path(stub.rank);
    REQUIRE(replace_file(AT_FDCWD, stub.path, write_stub(stub), 0644, Durability::none));
  }
  static int listings = 0;
  listings = 0;
  SystemCalls calls = system_calls();
  calls.fdopendir = [](int descriptor) {
    ++listings;
    return ::fdopendir(descriptor);
  };
  {
    const ReplacedSystemCalls replaced(calls);
    CHECK(run.read(0) == "error");
  }
  CHECK(listings < 20);
}

TEST_CASE("a look ends when its time is over, and says so") {
  const Run run;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) run.write("A", 0, rank, 10);
  Look look(0);
  const std::string mask = run.out + "/c.{rank}.h5";
  const std::string path = run.path(0);
  const OpenedStub opened{path, 0, path, ::geteuid()};
  const auto present = present_names(opened, mask, ranks, std::string("mcr"), look);
  CHECK(present.at.empty());
  REQUIRE(look.problem());
  CHECK(look.problem()->system_error == ETIMEDOUT);
  Look whole;
  CHECK(present_names(opened, mask, ranks, std::string("mcr"), whole).at.size() == ranks);
  CHECK_FALSE(whole.problem());
}

TEST_CASE(
    "if a directory of containers cannot be listed, an open fails and gives no part of another "
    "set") {
  const Run run;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) run.write("A", 0, rank, 10);
  run.write("A", 1, 0, 20);
  static FileIdentity broken;
  static int number = 0;
  broken = FileIdentity(*File::open(AT_FDCWD, run.out + "/mcr", O_RDONLY)->status());
  SystemCalls calls = system_calls();
  calls.fdopendir = [](int descriptor) -> DIR* {
    struct stat status {};
    if (::fstat(descriptor, &status) != 0 || FileIdentity(status) != broken)
      return ::fdopendir(descriptor);
    errno = number;
    return nullptr;
  };
  for (const int error : {EIO, ESTALE, EMFILE, ENOMEM}) {
    number = error;
    const ReplacedSystemCalls replaced(calls);
    CHECK(run.read(0) == "error");
  }
  CHECK(run.read(0) == Run::content("A", 0, 0));
}

TEST_CASE("a container with a thousand names is read once, and a name of another set hides none") {
  const Run run;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) run.write("A", 0, rank, 10);
  run.write("A", 1, 0, 20);
  const auto calls_of_read = [&](const std::string& launch) {
    const FaultySystem system(-1, Fault::error);
    CHECK(run.read(0, Mix::previous, launch) == Run::content("A", 0, 0));
    return system.calls();
  };
  const long before = calls_of_read("before");
  // The names of an older launch come first, and are not those of the set in the container.
  for (std::uint32_t i = 0; i < 1000; ++i) {
    fs::create_hard_link(run.container("A", 0, 1), run.container("0", 0, 1000 + i));
    fs::create_hard_link(run.container("A", 0, 1), run.container("A", 0, 1000 + i));
  }
  // One fstatat() for each name, in some looks of one open; reading a container takes five more calls.
  CHECK(calls_of_read("after") < before + 4 * 2000);
}
