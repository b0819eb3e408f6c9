// SPDX-License-Identifier: BSD-3-Clause
// Fuzzes replicas: arbitrary bytes as a whole file, and as a tail's records with right checksums.
#include <cstdlib>

#include "restart/format/record.hpp"
#include "restart/format/replica.hpp"

namespace {

using namespace mcr;
using namespace mcr::restart;

void try_replica(ByteSpan bytes) {
  auto file = File::without_name("replica");
  if (!file || !file->write_at(0, bytes)) return;
  const auto replica = read_replica(*file);
  if (!replica) return;
  if (replica->container_bytes > bytes.size()) std::abort();
  if (write_replica_tail(*replica).size() > 2 * bytes.size() + 4096) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const ByteSpan bytes(reinterpret_cast<const std::byte*>(data), size);
  try_replica(bytes);
  // The first half of the bytes are the facts, the second half is a journal.
  Bytes file = write_record(1, bytes.first(size / 2));
  const Bytes journal = write_record(2, bytes.subspan(size / 2));
  file.insert(file.end(), journal.begin(), journal.end());
  Writer out(file);
  out.u64(file.size());
  out.bytes(as_bytes("mcr-rep1"));
  try_replica(file);
  return 0;
}
