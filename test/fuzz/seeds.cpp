// SPDX-License-Identifier: BSD-3-Clause
#include "test/fuzz/seeds.hpp"

#include <bit>
#include <cmath>
#include <string>

#include "codecs/base/registry.hpp"
#include "restart/format/index.hpp"
#include "restart/format/journal.hpp"
#include "restart/format/record.hpp"
#include "restart/format/replica.hpp"
#include "restart/format/stub.hpp"
#include "restart/sets/decision.hpp"

namespace mcr::fuzz {
namespace {

using namespace mcr::restart;

Bytes of_text(std::string_view text) {
  const ByteSpan bytes = as_bytes(text);
  return {bytes.begin(), bytes.end()};
}

std::vector<Bytes> of_texts(std::initializer_list<std::string_view> texts) {
  std::vector<Bytes> seeds;
  for (const std::string_view text : texts) seeds.push_back(of_text(text));
  return seeds;
}

/// Two parts over one dataset of three frames, a skeleton each, and a native member.
Index small_index() {
  Index index;
  index.set.masked_name = "/data/run/ckpt.{rank}.h5";
  index.set.launch = "job-17";
  index.set.rank_count = 4;
  index.set.passed_ranks = {3};
  index.set.scheme = "aware";
  index.set.profile = "balanced";
  index.set.writer = "mcr 0.1.0";
  index.set.natives.push_back({2, "ckpt.2.h5", 5, 77, 1000});
  DatasetEntry variable;
  variable.name = "Grid{n}/Density";
  variable.element_bytes = 8;
  variable.chunk_bytes = 256;
  variable.raw_bytes = 600;
  variable.frame_count = 3;
  DatasetEntry skeletons;
  skeletons.name = "skeletons";
  skeletons.kind = DatasetKind::skeletons;
  skeletons.chunk_bytes = 4096;
  skeletons.raw_bytes = 200;
  skeletons.first_frame = 3;
  skeletons.frame_count = 1;
  index.datasets = {variable, skeletons};
  index.frames = {{4096, 100, 256, 1}, {4196, 90, 256, 2}, {4286, 60, 88, 3}, {4346, 80, 200, 4}};
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    PartEntry part;
    part.part.bytes.fill(static_cast<std::uint8_t>(rank + 1));
    part.rank = rank;
    part.path = "ckpt." + std::to_string(rank) + ".h5";
    part.size = 400;
    part.mode = 0644;
    part.skeleton.begin = 100 * rank;
    part.skeleton.bytes = 100;
    if (rank == 1) part.skeleton.base = 0;
    part.map = {{60, MapEntry::skeleton, 0, 0, 0},
                {300, 0, rank, 44 * rank, 0},
                {40, MapEntry::skeleton, 0, 0, 60}};
    index.parts.push_back(part);
  }
  return index;
}

Bytes index_seed() { return write_index(small_index()).bytes; }

PartBegin begin_seed() {
  PartBegin begin;
  begin.part.bytes.fill(7);
  begin.path_as_passed = "ckpt.3.h5";
  begin.path = "/data/run/ckpt.3.h5";
  begin.rank = 3;
  begin.rank_count = 8;
  begin.node = "n1";
  begin.launch = "job-17";
  begin.sequence = 2;
  begin.masked_names = {"/data/run/ckpt.{rank}.h5", "/data/run/ckpt.3.h5"};
  begin.replaced = Replaced::stub;
  begin.replaced_part = begin.part;
  begin.mode = 0644;
  begin.begin_ns = 1'700'000'000'000'000'000;
  begin.settings = "keep=2;stage=/dev/shm/me";
  begin.above = {{2049, 5}, {66305, 77}};
  begin.amended_by = "job-18";
  return begin;
}

/// What the record around it carries, so that mutations of it come with a right checksum.
Bytes payload_of(const Bytes& record) {
  static const std::size_t around = write_record(1, {}).size();
  constexpr std::size_t behind = 8;  // the checksum
  return {record.begin() + static_cast<std::ptrdiff_t>(around - behind),
          record.end() - static_cast<std::ptrdiff_t>(behind)};
}

std::vector<Bytes> journal_seeds() {
  Bytes whole = write_begin(begin_seed());
  PartPublish publish;
  publish.size = 4096;
  publish.native = PartPublish::NativeFile{5, 77};
  for (const Bytes& record : {write_content(of_text("some bytes")), write_publish(publish)})
    whole.insert(whole.end(), record.begin(), record.end());
  Bytes first_half = payload_of(write_begin(begin_seed()));
  first_half.resize(2 * first_half.size());
  return {whole, first_half, payload_of(write_publish(publish))};
}

std::vector<Bytes> replica_seeds() {
  Replica replica;
  for (const Bytes& bytes : journal_seeds()) {
    if (auto journal = read_journal(bytes)) replica.journals.push_back(*std::move(journal));
  }
  return {write_replica_tail(replica)};
}

std::vector<Bytes> stub_seeds() {
  Stub stub;
  stub.part.bytes.fill(9);
  stub.launch = "job-17";
  stub.rank = 3;
  stub.rank_count = 8;
  stub.node = begin_seed().node;
  stub.masked_names = begin_seed().masked_names;
  stub.container_directory = "mcr";
  stub.launch_directory = "/dev/shm/me/n1.job-17";
  stub.path = "/data/run/ckpt.3.h5";
  const Bytes whole = write_stub(stub);
  const auto record = static_cast<std::ptrdiff_t>(Stub::head_bytes + sizeof(std::uint32_t));
  return {whole, Bytes(whole.begin() + record, whole.end())};
}

std::vector<Bytes> decision_seeds() {
  const Bytes whole = write_decision({false, {"job-17", 2}, {"job-17", 3}});
  return {whole, Bytes(whole.begin() + 9, whole.end() - 8)};
}

/// For each codec a smooth field to encode, and what it becomes to decode; the head is
/// codec_fuzzer's.
std::vector<Bytes> codec_seeds() {
  constexpr std::uint32_t count = 300;
  const codecs::Layout layout{{codecs::ElementKind::floating, 8}, {codecs::Shape::flat(count)}};
  Bytes raw;
  Writer field(raw);
  for (std::uint32_t i = 0; i < count; ++i)
    field.u64(std::bit_cast<std::uint64_t>(1.5 + std::sin(i * 0.01) * (i % 7 == 0 ? 1 : 2)));
  Scratch scratch;
  std::vector<Bytes> seeds;
  const auto table = codecs::all_codecs();
  for (std::size_t i = 0; i < table.size(); ++i) {
    const auto add = [&](bool decode, ByteSpan data) {
      Bytes seed;
      Writer out(seed);
      for (const unsigned head : {static_cast<unsigned>(i), decode ? 1U : 0U, 3U | 3U << 2, 0U,
                                  count % 256, count / 256, 0U, 0U}) {
        out.u8(static_cast<std::uint8_t>(head));
      }
      out.bytes(data);
      seeds.push_back(std::move(seed));
    };
    add(false, raw);
    Bytes stored;
    if (table[i].codec().output(layout, {}) &&
        table[i].codec().encode(raw, layout, {}, scratch, stored))
      add(true, stored);
  }
  return seeds;
}

}  // namespace

std::vector<Bytes> seeds_of(std::string_view target) {
  if (target == "codec") return codec_seeds();
  if (target == "decision") return decision_seeds();
  if (target == "index") return {index_seed()};
  if (target == "journal") return journal_seeds();
  if (target == "replica") return replica_seeds();
  if (target == "stub") return stub_seeds();
  if (target == "masked_name") {
    return of_texts({"\x08\x03/data/run/rank3/dump.3.h5", "\xff\x0c/a/Grid00000012/ckpt_000012.h5",
                     "\x04\x01/data/run 1/st\xc3\xa4p1.1.h5"});
  }
  if (target == "pipeline_text") {
    return of_texts({"transpose|zstd(19,long)", "structure_split|ordered_int|delta|zigzag|entropy",
                     " lorenzo ( auto ) | planes | class_coder ", "none"});
  }
  if (target == "settings") {
    return of_texts({"under_vol=0;under_info={};stage=/dev/shm/me;keep=2",
                     "stage_limit=25%;exit_wait=90s;codec.double=ordered_int|planes;mix=refuse",
                     "stage = \"/dev/shm/me\"\nkeep = 2\n[codec]\nDensity = \"zstd(3)\"\n",
                     "512MiB", "1.5s"});
  }
  return {};
}

}  // namespace mcr::fuzz
