// SPDX-License-Identifier: BSD-3-Clause
#include "restart/format/container_name.hpp"

#include "restart/base/name_text.hpp"
#include "test/support/catch.hpp"

using namespace mcr::restart;

TEST_CASE("the steps of container_dir= upwards are known if only a name follows them") {
  CHECK(steps_up_of("mcr") == 0U);
  CHECK(steps_up_of("../sets") == 1U);
  CHECK(steps_up_of("../../sets") == 2U);
  CHECK_FALSE(steps_up_of("../other/mcr"));
  CHECK(container_dir_of(2, "sets") == "../../sets");
}

TEST_CASE("a container lies in the deepest directory that all parts share") {
  const auto name = container_name("/w/out/DD0003/DD0003.cpu{rank}", "mcr", "L1", 4);
  CHECK(name.base == "/w/out/DD0003");
  CHECK(name.directory == "/w/out/DD0003/mcr");
  CHECK(name.depth == 0);
  CHECK(name.directory_from_stub("mcr") == "mcr");
  CHECK(name.prefix == "set-DD0003.cpu{rank}.L1-4.");
}

TEST_CASE("if directories are masked, the container lies above them") {
  const auto name = container_name("/w/checkpoints/{ranks}/dump-00001-{rank}.h5", "mcr", "L", 0);
  CHECK(name.directory == "/w/checkpoints/mcr");
  CHECK(name.directory_from_stub("mcr") == "../mcr");
  CHECK(name.prefix == "set-{ranks}+dump-00001-{rank}.h5.L-0.");
  CHECK(container_name("/w/p{rank}/a/b.h5", "../mcr", "L", 0).directory_from_stub("../mcr") ==
        "../../../mcr");
  CHECK(container_name("/w/s.{part}.h5", "mcr", "L", 0).directory == "/w/mcr");
}

TEST_CASE("the container of a name without a mask lies in the file's own directory") {
  const auto name = container_name("/w/a.h5", "mcr", "L", 0);
  CHECK(name.directory == "/w/mcr");
  CHECK(name.prefix == "set-a.h5.L-0.");
  CHECK(container_name("/a.h5", "mcr", "L", 0).directory == "/mcr");
}

TEST_CASE("braces in the user's own path are not a mask") {
  CHECK(container_name("/w/{x}/r{rank}.h5", "mcr", "L", 0).base == "/w/{x}");
}

TEST_CASE("different masked names never give the same file name") {
  const auto a = container_name("/w/{rank}/x.h5", "mcr", "L", 0);
  const auto b = container_name("/w/{rank}+x.h5", "mcr", "L", 0);
  CHECK(a.base == b.base);
  CHECK(a.prefix != b.prefix);
  const std::string long_a = "/w/r{rank}" + std::string(300, 'a');
  const std::string long_b = "/w/r{rank}" + std::string(301, 'a');
  CHECK(container_name(long_a, "mcr", "L", 0).prefix !=
        container_name(long_b, "mcr", "L", 0).prefix);
}

TEST_CASE(
    "with container_dir=../NAME, sets of several directories have different distinct prefixes") {
  const auto one = container_name("/w/step1/r{rank}.h5", "../sets", "L", 0);
  const auto two = container_name("/w/step2/r{rank}.h5", "../sets", "L", 0);
  CHECK(one.prefix == two.prefix);
  CHECK(one.distinct_prefix == "set-step1+r{rank}.h5.L-0.");
  CHECK(two.distinct_prefix == "set-step2+r{rank}.h5.L-0.");
  CHECK(container_name("/w/a/b/p{rank}/x.h5", "../../sets", "L", 3).distinct_prefix ==
        "set-a+b+p{rank}+x.h5.L-3.");
  CHECK(container_name("/w/r{rank}.h5", "mcr", "L", 0).distinct_prefix == "set-r{rank}.h5.L-0.");
  // The directories end before the steps up do.
  CHECK(container_name("/w/r{rank}.h5", "../../../sets", "L", 0).distinct_prefix ==
        "set-w+r{rank}.h5.L-0.");
  CHECK(container_name("/r{rank}.h5", "../sets", "L", 0).distinct_prefix == "set-r{rank}.h5.L-0.");
}

TEST_CASE("a container's file name is never longer than a file name may be") {
  std::string word;
  for (int i = 0; i < 100; ++i) word += "é";
  const auto name =
      container_name("/w/r{rank}" + word, "mcr", std::string(64, 'l'), ~std::uint64_t{0});
  CHECK((name.prefix + container_suffix(4294967294U, 4294967295U, 4294967295U)).size() <= 255);
}

TEST_CASE("a container's file name can be parsed again") {
  const auto name = container_name("/w/a-b.1/r{rank}.x.h5", "mcr", "l-1_2", 12);
  const auto parsed = parse_container_name(name.prefix + container_suffix(3, 7, 2));
  REQUIRE(parsed);
  CHECK(parsed->masked_name == "r{rank}.x.h5");
  CHECK(parsed->launch == "l-1_2");
  CHECK(parsed->sequence == 12);
  CHECK(parsed->first_rank == 3);
  CHECK(parsed->last_rank == 7);
  CHECK(parsed->supplement == 2U);
  CHECK_FALSE(parse_container_name(name.prefix + container_suffix(3, 7, {}))->supplement);
}

TEST_CASE("other file names are not taken for containers") {
  for (const char* text :
       {"", "set-", "set-.h5", "set-a.h5", "set-a.L-0.r0.h5", "set-a.L.r0-1.h5", "set-a.-0.r0-1.h5",
        "set-.L-0.r0-1.h5", "set-a.L-0.r0-1.sx.h5", "set-a.L-0.r0-99999999999.h5",
        "xset-a.L-0.r0-1.h5", "set-a.L-0.r0-1.h5.tmp"}) {
    INFO(text);
    CHECK_FALSE(parse_container_name(text));
  }
}

TEST_CASE("a safe name is the text itself, or ends in the text's checksum") {
  CHECK(safe_name("node_17-a", 80) == "node_17-a");
  CHECK(safe_name("a.b", 80) != safe_name("a_b", 80));
  CHECK(safe_name("a.b", 80) != safe_name("a/b", 80));
  CHECK(safe_name(std::string(200, 'x'), 80).size() == 80);
  CHECK(safe_name("../..", 80).find('.') == std::string::npos);
  CHECK_FALSE(safe_name("", 80).empty());
}

TEST_CASE(
    "a bundle is named by pattern, launch and the part's block, and the name can be parsed again") {
  PartId part;
  part.bytes[0] = 0xab;
  const ContainerName name = bundle_name("/out/step3/f0007.h5", "mcr", "L-1", part);
  CHECK(name.directory == "/out/step3/mcr");
  CHECK(name.prefix == "set-f{n}.h5.L-1-ab00000000000000.");
  PartId other = part;
  other.bytes[15] = 1;  // of the same block
  CHECK(bundle_name("/out/step3/f0008.h5", "mcr", "L-1", other).prefix == name.prefix);
  other.bytes[7] = 1;
  CHECK(bundle_name("/out/step3/f0008.h5", "mcr", "L-1", other).prefix != name.prefix);

  const std::string file = name.prefix + bundle_suffix(12);
  const auto parsed = parse_bundle_name(file);
  REQUIRE(parsed);
  CHECK(parsed->pattern == "f{n}.h5");
  CHECK(parsed->launch == "L-1");
  CHECK(parsed->block == "ab00000000000000");
  CHECK(parsed->number == 12);
  CHECK_FALSE(parse_container_name(file));
  CHECK(is_container_name(file));
}

TEST_CASE("other file names are not taken for bundles") {
  for (const char* name :
       {"set-f.h5.L-1.r0-0.h5", "set-f.h5.L-1.b0.h5", "set-f.h5.L-ab00000000000000.b.h5",
        "set-f.h5.L-ab00000000000000.b0", "f.h5.L-ab00000000000000.b0.h5",
        "set-.L-ab00000000000000.bx.h5", "set-L-ab00000000000000.b0.h5"}) {
    INFO(name);
    CHECK_FALSE(parse_bundle_name(name));
  }
  CHECK(is_container_name("set-f.h5.L-1.r0-0.h5"));
}
