// SPDX-License-Identifier: BSD-3-Clause
#include "restart/open/part_request.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include "test/support/catch.hpp"
#include "test/unit/restart/scratch_directory.hpp"

using namespace mcr;
using namespace mcr::restart;

namespace {

struct Asked {
  Asked() {
    REQUIRE(::mkdir(containers.c_str(), 0755) == 0);
    REQUIRE(::chmod(containers.c_str(), 01777) == 0);
  }
  [[nodiscard]] PartRequest request(PartWish wish) const {
    return {containers, File(), "node", "launch", part, wish};
  }
  /// The request for a native file, its bell, or any other file of this user under that name.
  void make(const std::string& name, const std::string& content, mode_t mode) const {
    const std::string path = containers + "/" + name;
    REQUIRE(File::open(AT_FDCWD, path, O_WRONLY | O_CREAT)->write_at(0, as_bytes(content)));
    REQUIRE(::chmod(path.c_str(), mode) == 0);
  }

  ScratchDirectory place;
  std::string containers = place / "mcr";
  PartId part = *PartId::random();
  std::string wish = "set-request." + part.text() + ".native";
  std::string bell = "set-asked.node.launch";
};

}  // namespace

TEST_CASE("a request and its bell are found until the rank's wait ends") {
  const Asked asked;
  {
    PartRequest request(asked.request(PartWish::container));
    request.ring();
    request.ring();
    CHECK(take_bell(asked.containers, "node", "launch"));
    CHECK_FALSE(take_bell(asked.containers, "node", "launch"));
    CHECK(find_request(asked.containers, asked.part) == PartWish::container);
  }
  CHECK_FALSE(find_request(asked.containers, asked.part));
}

TEST_CASE("a file that another user may have written or moved is no request, and is not removed") {
  const Asked asked;
  SECTION("other users may write to the files") {
    asked.make(asked.wish, asked.wish, 0666);
    asked.make(asked.bell, asked.bell, 0666);
  }
  SECTION("the files are moved ones of this user") {
    asked.make(asked.wish, "other content", 0644);
    asked.make(asked.bell, "", 0644);
  }
  CHECK_FALSE(find_request(asked.containers, asked.part));
  CHECK_FALSE(take_bell(asked.containers, "node", "launch"));
  {
    PartRequest request(asked.request(PartWish::native));
    request.ring();
  }
  for (const std::string& name : {asked.wish, asked.bell})
    CHECK(::access((asked.containers + "/" + name).c_str(), F_OK) == 0);
}
