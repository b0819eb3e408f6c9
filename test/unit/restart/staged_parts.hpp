// SPDX-License-Identifier: BSD-3-Clause
// A stage for one test, and parts as ranks leave them in a stage.
#pragma once

#include <cstdint>
#include <string>

#include "restart/stage/stage.hpp"
#include "test/support/catch.hpp"
#include "test/unit/restart/scratch_directory.hpp"

namespace mcr::restart {

inline LaunchDirectory made_in(const std::string& stage) {
  auto made = LaunchDirectory::create(stage, "node", "launch");
  REQUIRE(made);
  return std::move(*made);
}

struct TestStage {
  ScratchDirectory scratch;
  std::string path = scratch / "stage";
  LaunchDirectory directory = made_in(path);
};

inline PartBegin begin_of(const PartId& part) {
  PartBegin begin;
  begin.part = part;
  begin.path = "/w/r0.h5";
  begin.launch = "launch";
  begin.masked_names = {"/w/r{rank}.h5"};
  return begin;
}

inline PartPublish final_publish(std::uint64_t size) { return {size, 1, false, false, {}, {}}; }

/// Makes a published part with these bytes, whose writer has released its locks.
inline PartId published_part(const LaunchDirectory& directory, const std::string& bytes) {
  const auto made = directory.create_part(0);
  REQUIRE(made);
  const auto journal = directory.begin(begin_of(made->part));
  REQUIRE(journal);
  REQUIRE(made->bytes.write_at(0, as_bytes(bytes)));
  REQUIRE(directory.publish(made->part, *journal, final_publish(bytes.size())));
  return made->part;
}

/// The same for a small part, whose bytes lie in its journal.
inline PartId small_part(const LaunchDirectory& directory, const std::string& bytes) {
  const PartId part = *PartId::random();
  REQUIRE(directory.publish_small(begin_of(part), final_publish(bytes.size()), as_bytes(bytes)));
  return part;
}

inline std::string bytes_of(const LaunchDirectory& directory, const PartId& part) {
  const auto file = directory.open_bytes(part);
  REQUIRE(file);
  return std::string(as_text(*file->read_all(1 << 20)));
}

}  // namespace mcr::restart
