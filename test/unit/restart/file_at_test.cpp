// SPDX-License-Identifier: BSD-3-Clause
#include "restart/stage/file_at.hpp"

#include <fcntl.h>

#include "restart/base/durable_replace.hpp"
#include "test/support/catch.hpp"
#include "test/unit/restart/faults.hpp"
#include "test/unit/restart/scratch_directory.hpp"

using namespace mcr;
using namespace mcr::restart;

TEST_CASE("a stub that cannot be read is not taken for a plain file") {
  const ScratchDirectory directory;
  const std::string path = directory / "a.h5";
  Stub stub;
  stub.part = *PartId::random();
  stub.masked_names = {"/a.h5"};
  REQUIRE(replace_file(AT_FDCWD, path, write_stub(stub), 0644, Durability::none));
  REQUIRE(file_at(AT_FDCWD, path, Links::followed).is_stub());
  bool is_hit = true;
  for (long at = 0; is_hit; ++at) {
    const FaultySystem faulty(at, Fault::error, EIO);
    const FileAt found = file_at(AT_FDCWD, path, Links::followed);
    is_hit = !faulty.hit().empty();
    INFO("call " << at << ", " << faulty.hit());
    CHECK((found.is_stub() || found.kind == FileAt::Kind::closed));
    CHECK((found.is_stub() || found.error.system_error == EIO));
  }
}
