// SPDX-License-Identifier: BSD-3-Clause
// Directories to which other users add names: what is kept of them is limited.
#include "restart/base/fitting_names.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "restart/base/file.hpp"
#include "restart/base/system.hpp"
#include "restart/sets/look.hpp"
#include "test/support/catch.hpp"
#include "test/unit/restart/scratch_directory.hpp"

using namespace mcr::restart;
namespace fs = std::filesystem;

namespace {

using Names = std::vector<std::string>;

/// Makes an empty file with `count` further names, "<before><number><after>".
void make_names(const std::string& directory, std::size_t count, const std::string& before,
                const std::string& after) {
  const std::string file = directory + "/file";
  std::ofstream(file).close();
  for (std::size_t i = 0; i < count; ++i) {
    // A file has a limited number of links.
    if (i % 50'000 == 49'999) {
      fs::remove(file);
      std::ofstream(file).close();
    }
    REQUIRE(::link(file.c_str(), (directory + "/" + before + std::to_string(i) + after).c_str()) ==
            0);
  }
}

/// While it lives, the file of that name cannot be examined (EIO).
class Unexamined {
 public:
  explicit Unexamined(const std::string& name) : replaced_(table()) { name_ = name; }

 private:
  static const SystemCalls& table() {
    static const SystemCalls failing = [] {
      SystemCalls calls = real_system_calls();
      calls.fstatat = [](int directory, const char* name, struct stat* status, int flags) {
        if (name != name_) return real_system_calls().fstatat(directory, name, status, flags);
        errno = EIO;
        return -1;
      };
      return calls;
    }();
    return failing;
  }
  static inline std::string name_;
  ReplacedSystemCalls replaced_;
};

bool is_long(const std::string& name) { return name.starts_with("x"); }

}  // namespace

TEST_CASE("only the names that fit are listed, in order") {
  const ScratchDirectory scratch;
  for (const char* name : {"x2", "y", "x1", ".c"}) std::ofstream(scratch / name).close();
  const auto names = list_fitting_names(AT_FDCWD, scratch.path(), is_long);
  REQUIRE(names);
  CHECK(*names == Names{"x1", "x2"});
  CHECK_FALSE(list_fitting_names(AT_FDCWD, scratch / "y", is_long));
}

TEST_CASE("a directory with too many fitting names cannot be listed, and the error names it") {
  const ScratchDirectory scratch;
  const std::string before = "x" + std::string(240, 'x');
  const std::size_t enough = most_kept_bytes / (sizeof(std::string) + before.size()) + 1;
  make_names(scratch.path(), enough, before, "");
  const auto names = list_fitting_names(AT_FDCWD, scratch.path(), is_long);
  REQUIRE_FALSE(names);
  CHECK(names.error().system_error == EOVERFLOW);
  CHECK(names.error().message.find(fs::canonical(scratch.path()).string()) != std::string::npos);
  // Names that do not fit do not count.
  const auto others = list_fitting_names(AT_FDCWD, scratch.path(),
                                         [](const std::string& name) { return !is_long(name); });
  REQUIRE(others);
  CHECK(*others == Names{"file"});
}

TEST_CASE("a hundred thousand containers with the longest names can be listed") {
  const ScratchDirectory scratch;
  const std::string before = "set-" + std::string(210, 'x') + ".launch-";
  make_names(scratch.path(), 100'000, before, ".r0-1.h5");
  const File home = std::move(*File::open(AT_FDCWD, scratch.path(), O_RDONLY | O_DIRECTORY));
  const auto names = list_containers(home.descriptor(), [](uid_t) { return false; });
  REQUIRE(names);
  CHECK(names->size() == 100'000);
}

TEST_CASE("if others have filled a directory, the containers that count are found all the same") {
  if (::geteuid() != 0) return;  // only root can give files to another user
  const ScratchDirectory scratch;
  const std::string before = "set-" + std::string(200, 'x') + ".launch-";
  const std::size_t enough = most_kept_bytes / (sizeof(std::string) + before.size()) + 1;
  make_names(scratch.path(), enough, before, ".r0-1.h5");
  for (const auto& entry : fs::directory_iterator(scratch.path()))
    REQUIRE(::chown(entry.path().c_str(), 64202, 64202) == 0);
  const std::string own = "set-c_{rank}.h5.launch-0.r0-1.h5";
  std::ofstream(scratch / own).close();
  const File home = std::move(*File::open(AT_FDCWD, scratch.path(), O_RDONLY | O_DIRECTORY));
  const auto names = list_containers(home.descriptor(), [](uid_t writer) { return writer == 0; });
  REQUIRE(names);
  CHECK(*names == Names{own});
  CHECK_FALSE(list_containers(home.descriptor(), [](uid_t) { return true; }));
  {
    // A container that cannot be examined is not left out: its reader reports it.
    const Unexamined container(own);
    const auto all = list_containers(home.descriptor(), [](uid_t writer) { return writer == 0; });
    REQUIRE(all);
    CHECK(*all == Names{own});
  }
  // A look that has listed the directory for one owner finds what counts for another owner.
  const std::string other = "set-c_{rank}.h5.launch-1.r0-1.h5";
  std::ofstream(scratch / other).close();
  REQUIRE(::chown((scratch / other).c_str(), 64203, 64203) == 0);
  Look look;
  const auto for_owner = [&](uid_t owner) {
    const OpenContainers directory(std::move(*File::open(AT_FDCWD, scratch.path(), O_RDONLY)),
                                   owner, {});
    const auto found = look.containers(directory, "set-c_");
    return found ? Names(found->begin(), found->end()) : Names{"error"};
  };
  CHECK(for_owner(0) == Names{own});
  CHECK(for_owner(64203) == Names{own, other});
  CHECK(for_owner(0) == Names{own});
}
