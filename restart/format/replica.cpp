// SPDX-License-Identifier: BSD-3-Clause
#include "restart/format/replica.hpp"

#include "restart/format/record.hpp"

namespace mcr::restart {
namespace {

constexpr std::string_view magic = "mcr-rep1";
constexpr std::uint8_t facts_kind = 1;
constexpr std::uint8_t journal_kind = 2;
/// The end of the file: the tail's length without these bytes, and the magic.
constexpr std::size_t end_bytes = sizeof(std::uint64_t) + magic.size();

Error damaged(const File& file, const char* what) {
  return Error{Cause::damaged, file.name() + " is no whole replica: " + what};
}

}  // namespace

Bytes write_replica_tail(const Replica& replica) {
  Bytes tail;
  Writer out(tail);
  Bytes facts;
  Writer of_facts(facts);
  of_facts.u64(replica.container_bytes);
  of_facts.u32(replica.supplement);
  of_facts.u64(replica.clock_behind_ns);
  of_facts.u64(replica.journals.size());
  out.bytes(write_record(facts_kind, facts));
  for (const Journal& journal : replica.journals) {
    Bytes records = write_begin(journal.begin);
    if (journal.publish) {
      const Bytes publish = write_publish(*journal.publish);
      records.insert(records.end(), publish.begin(), publish.end());
    }
    out.bytes(write_record(journal_kind, records));
  }
  out.u64(tail.size());
  out.bytes(as_bytes(magic));
  return tail;
}

Result<Replica> read_replica(const File& file) {
  const std::uint64_t size = MCR_TRY(file.size());
  if (size < end_bytes) return damaged(file, "it is too short");
  Bytes end(end_bytes);
  MCR_TRY(file.read_at(size - end_bytes, end));
  Reader of_end(end);
  const std::uint64_t tail_bytes = MCR_TRY(of_end.u64());
  if (as_text(MCR_TRY(of_end.bytes(magic.size()))) != magic)
    return damaged(file, "no mark at its end");
  if (tail_bytes > size - end_bytes) return damaged(file, "its tail is longer than the file");
  Bytes tail(tail_bytes);
  MCR_TRY(file.read_at(size - end_bytes - tail_bytes, tail));

  RecordReader records(tail);
  const auto first = records.next();
  if (!first || first->kind != facts_kind) return damaged(file, "its tail has no facts");
  Reader facts(first->payload);
  Replica replica;
  replica.container_bytes = MCR_TRY(facts.u64());
  replica.supplement = MCR_TRY(facts.u32());
  replica.clock_behind_ns = MCR_TRY(facts.u64());
  const std::uint64_t journals = MCR_TRY(facts.u64());
  if (replica.container_bytes != size - end_bytes - tail_bytes)
    return damaged(file, "the container has another length");
  while (const auto record = records.next()) {
    if (record->kind != journal_kind) return damaged(file, "its tail has an unknown record");
    replica.journals.push_back(MCR_TRY(read_journal(record->payload)));
  }
  if (records.remaining() != 0 || replica.journals.size() != journals)
    return damaged(file, "journals are missing");
  return replica;
}

}  // namespace mcr::restart
