// SPDX-License-Identifier: BSD-3-Clause
#include "vol/process/writing_counts.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "test/support/catch.hpp"
#include "test/unit/restart/scratch_directory.hpp"

using namespace mcr;
using namespace mcr::vol;
using restart::ScratchDirectory;

namespace {

std::uint64_t never() {
  FAIL("an earlier program was asked for");
  return 0;
}

/// One process that writes files below a directory of its own.
struct Writer {
  const ScratchDirectory place;
  WritingCounts counts;

  std::uint64_t write(const std::string& name, const std::string& target, std::uint64_t first = 0) {
    return counts.next(writing(name, target), [&] { return first; });
  }
  [[nodiscard]] Writing writing(const std::string& name, const std::string& target) const {
    return {written_name(place / name), place / target, {}};
  }
  [[nodiscard]] bool is_misled(const std::string& name, const std::string& target) const {
    return counts.is_misled(written_name(place / name), place / target);
  }
  void link(const std::string& target, const std::string& name) const {
    std::filesystem::remove(place / name);
    REQUIRE(::symlink(target.c_str(), (place / name).c_str()) == 0);
  }
};

}  // namespace

TEST_CASE("writings of a name are counted, from what earlier programs wrote on", "[counts]") {
  Writer writer;
  CHECK(writer.write("a", "a", 3) == 3);
  CHECK(writer.write("a", "a", 7) == 4);
  CHECK(writer.write("b", "b") == 0);
  CHECK(writer.counts.next(writer.writing("a", "a"), never) == 5);
}

TEST_CASE("a name's sequence goes on wherever a link leads", "[counts]") {
  Writer writer;
  CHECK(writer.write("a", "elsewhere/a") == 0);
  CHECK(writer.write("a", "a") == 1);
  CHECK(writer.write("a", "elsewhere/a") == 2);
}

TEST_CASE("native writings count, also before the first captured one", "[counts]") {
  Writer writer;
  writer.counts.count_native(written_name(writer.place / "a"));
  CHECK(writer.write("a", "a") == 1);
  writer.counts.count_native(written_name(writer.place / "a"));
  CHECK(writer.write("a", "a") == 3);
}

TEST_CASE("a writing that did not come about is not counted", "[counts]") {
  Writer writer;
  for (std::uint64_t sequence : {0, 1}) {
    const Writing writing = writer.writing("a", "a");
    CHECK(writer.write("a", "a") == sequence);
    writer.counts.take_back(writing, sequence);
    CHECK(writer.write("a", "a") == sequence);
  }
}

TEST_CASE("two names of one file share its sequences, if nobody else can have made the link",
          "[counts]") {
  Writer writer;
  writer.link("a", "latest");
  CHECK(writer.write("latest", "a") == 0);
  CHECK_FALSE(writer.is_misled("a", "a"));
  CHECK(writer.write("a", "a") == 1);
  CHECK(writer.write("latest", "a") == 2);
}

TEST_CASE(
    "others may have made the link: the second name keeps its own count, and may not be captured "
    "under a sequence "
    "that the file has had",
    "[counts]") {
  Writer writer;
  REQUIRE(::chmod((writer.place / "").c_str(), 0775) == 0);
  writer.link("b", "a");
  CHECK(writer.write("a", "b") == 0);
  CHECK(writer.is_misled("b", "b"));
  CHECK(writer.write("b", "b") == 0);
  CHECK(writer.write("a", "b") == 1);
  CHECK(writer.write("a", "b") == 2);
  CHECK(writer.is_misled("b", "b"));
  CHECK(writer.write("b", "b") == 1);
  CHECK(writer.write("b", "b") == 2);
  CHECK_FALSE(writer.is_misled("b", "b"));
  CHECK(writer.write("b", "b") == 3);
}

TEST_CASE("a link that is not there any more counts as made by others", "[counts]") {
  Writer writer;
  writer.link("b", "a");
  CHECK(writer.write("a", "b") == 0);
  std::filesystem::remove(writer.place / "a");
  CHECK(writer.is_misled("b", "b"));
}

TEST_CASE("a relative name belongs to its working directory, whatever that is called by now",
          "[counts]") {
  const ScratchDirectory place;
  const auto before = std::filesystem::current_path();
  std::filesystem::create_directory(place / "one");
  std::filesystem::create_directory(place / "two");
  std::filesystem::current_path(place / "one");
  const WrittenName in_one = written_name("./a//b");
  CHECK(in_one == written_name("a/./b"));
  std::filesystem::rename(place / "one", place / "three");
  CHECK(in_one == written_name("a/b"));
  std::filesystem::current_path(place / "two");
  CHECK(in_one != written_name("a/b"));
  std::filesystem::current_path(before);
  CHECK(written_name("/x//./y") == written_name("/x/y"));
  CHECK(written_name("/x/y") != written_name("x/y"));
}

TEST_CASE("the directory of a writing is known", "[counts]") {
  Writer writer;
  Writing writing = writer.writing("a", "a");
  writing.directory = restart::FileIdentity(1, 2);
  CHECK(writer.counts.next(writing, [] { return std::uint64_t{4}; }) == 4);
  CHECK(writer.counts.directory_of(writing.path, 4) == writing.directory);
  CHECK_FALSE(writer.counts.directory_of(writing.path, 5));
  CHECK_FALSE(writer.counts.directory_of(writing.path + "x", 4));
}
