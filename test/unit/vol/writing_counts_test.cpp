// SPDX-License-Identifier: BSD-3-Clause
#include "vol/process/writing_counts.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <vector>

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
  /// `is_open`: others may have made the link that leads there.
  [[nodiscard]] Writing writing(const std::string& name, const std::string& target,
                                bool is_open = false) const {
    return {written_name(place / name), place / target, {}, !is_open};
  }
  std::uint64_t write_by_open_link(const std::string& name, const std::string& target) {
    return counts.next(writing(name, target, true), [] { return std::uint64_t{0}; });
  }
  [[nodiscard]] bool would_repeat(const std::string& name) const {
    return counts.would_repeat(writing(name, name));
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
  writer.counts.count_native(writer.writing("a", "a"));
  CHECK(writer.write("a", "a") == 1);
  writer.counts.count_native(writer.writing("a", "a"));
  CHECK(writer.write("a", "a") == 3);
}

TEST_CASE("two names of one file share its sequences, whichever writings are native", "[counts]") {
  // A bit of `natives` for each of three writings; the fourth is captured, and tells the count.
  for (unsigned natives = 0; natives < 8; ++natives) {
    Writer writer;
    const char* const names[] = {"latest", "a", "a", "latest"};
    for (unsigned step = 0; step < 3; ++step) {
      if ((natives >> step & 1) != 0)
        writer.counts.count_native(writer.writing(names[step], "a"));
      else
        CHECK(writer.write(names[step], "a") == step);
    }
    CHECK(writer.write(names[3], "a") == 3);
  }
}

TEST_CASE("a writing that did not come about is not counted", "[counts]") {
  Writer writer;
  for (std::uint64_t sequence : {0, 1}) {
    CHECK(writer.write("a", "a") == sequence);
    writer.counts.take_back(writer.writing("a", "a"), sequence);
    CHECK(writer.write("a", "a") == sequence);
  }
}

TEST_CASE(
    "if others may have made a link, each name keeps its own count, and no writing may repeat a "
    "sequence of the file",
    "[counts]") {
  Writer writer;
  CHECK(writer.write_by_open_link("a", "b") == 0);
  CHECK(writer.would_repeat("b"));
  CHECK(writer.write("b", "b") == 0);
  CHECK(writer.write_by_open_link("a", "b") == 1);
  CHECK(writer.write_by_open_link("a", "b") == 2);
  CHECK(writer.would_repeat("b"));
  CHECK(writer.write("b", "b") == 1);
  CHECK(writer.write("b", "b") == 2);
  CHECK_FALSE(writer.would_repeat("b"));
  CHECK(writer.write("b", "b") == 3);
}

TEST_CASE("a repeated writing that did not come about leaves the file's sequence alone",
          "[counts]") {
  Writer writer;
  CHECK(writer.write_by_open_link("a", "b") == 0);
  CHECK(writer.write("b", "b") == 0);
  writer.counts.take_back(writer.writing("b", "b"), 0);
  CHECK(writer.would_repeat("b"));
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

TEST_CASE("failed attempts are known for each file, under all its names", "[counts]") {
  Writer writer;
  const auto failed = [&](const std::string& name, const std::string& target) {
    return writer.counts.failed(writer.writing(name, target));
  };
  writer.counts.count_failed(written_name(writer.place / "a"));
  CHECK(failed("a", "a") != 0);
  CHECK(failed("b", "b") == 0);
  writer.write("link", "c");
  writer.write("c", "c");
  writer.counts.count_failed(written_name(writer.place / "link"));
  CHECK(failed("link", "c") != 0);
  CHECK(failed("c", "c") != 0);
}

TEST_CASE("an attempt that failed under a name without writings counts for the path", "[counts]") {
  Writer writer;
  const auto before = std::filesystem::current_path();
  const std::string path = std::filesystem::canonical(writer.place / ".") / "run/a";
  const auto failed = [&] { return writer.counts.failed({written_name("run/a"), path, {}}); };
  writer.counts.next({written_name("run/a"), path, {}}, [] { return std::uint64_t{0}; });
  CHECK(failed() == 0);
  writer.counts.count_failed(written_name(writer.place / "run/b"));
  CHECK(failed() == 0);
  writer.counts.count_failed(written_name(writer.place / "run/a"));  // `run` is not there
  const std::uint64_t once = failed();
  CHECK(once != 0);
  std::filesystem::current_path(writer.place / ".");
  writer.counts.count_failed(written_name("./run/../run/a"));
  CHECK(failed() != once);
  std::filesystem::current_path(before);
}

TEST_CASE("as many failed attempts in other steps are other attempts", "[counts]") {
  // The steps at which attempts failed, of five.
  const auto after = [](const std::vector<int>& failed) {
    Writer writer;
    for (int step = 0; step < 5; ++step) {
      for (const int one : failed) {
        if (one == step) writer.counts.count_failed(written_name(writer.place / "a"));
      }
      writer.write("a", "a");
    }
    return writer.counts.failed(writer.writing("a", "a"));
  };
  CHECK(after({}) == 0);
  CHECK(after({1, 2}) == after({1, 2}));
  CHECK(after({1, 1}) != after({1, 2}));
  CHECK(after({1}) != after({2}));
  CHECK(after({0}) != after({0, 0}));
  CHECK(after({0, 3, 4}) != after({3, 4}));
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
