// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/base/scratch.hpp"

#include "test/support/catch.hpp"

namespace mcr {
namespace {

int made = 0;
int ended = 0;
int* make_number() { return new int(++made); }
void end_number(int* number) {
  ++ended;
  delete number;
}

TEST_CASE("scratch gives the same memory again once it came back") {
  Scratch scratch;
  void* first = nullptr;
  {
    const auto lease = scratch.take<double>(100);
    first = lease.data();
    REQUIRE(reinterpret_cast<std::uintptr_t>(first) % 64 == 0);
    const auto other = scratch.take<double>(100);
    REQUIRE(other.data() != first);
  }
  const auto again = scratch.take<std::byte>(10);
  REQUIRE(static_cast<void*>(again.data()) == first);
}

TEST_CASE("scratch vectors come empty and keep their capacity") {
  Scratch scratch;
  {
    const auto vector = scratch.take_vector();
    const auto inner = scratch.take_vector();
    REQUIRE(&*vector != &*inner);
    vector->resize(1000);
  }
  const auto vector = scratch.take_vector();
  REQUIRE(vector->empty());
  REQUIRE(vector->capacity() >= 1000);
}

TEST_CASE("scratch makes a context once and ends it with itself") {
  made = ended = 0;
  {
    Scratch scratch;
    int* number = scratch.context<make_number, end_number>();
    REQUIRE(*number == 1);
    REQUIRE(scratch.context<make_number, end_number>() == number);
    REQUIRE(ended == 0);
  }
  REQUIRE(made == 1);
  REQUIRE(ended == 1);
}

}  // namespace
}  // namespace mcr
