// SPDX-License-Identifier: BSD-3-Clause
// Fuzzes journals: with arbitrary bytes as a whole journal, and as the payloads of records with
// right checksums.
#include <cstdlib>

#include "restart/format/journal.hpp"
#include "restart/format/record.hpp"

namespace {

using namespace mcr;
using namespace mcr::restart;

void try_journal(ByteSpan bytes) {
  const auto journal = read_journal(bytes);
  if (!journal) return;
  if (journal->begin.masked_names.size() > max_masked_names) std::abort();
  const auto again = read_journal(write_begin(journal->begin));
  if (!again || again->begin.part != journal->begin.part ||
      again->begin.settings != journal->begin.settings) {
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const ByteSpan bytes(reinterpret_cast<const std::byte*>(data), size);
  try_journal(bytes);
  // The first half of the bytes is a begin record, the second half a publish record.
  Bytes file = write_record(1, bytes.first(size / 2));
  try_journal(file);
  file = write_begin({});
  const Bytes publish = write_record(2, bytes);
  file.insert(file.end(), publish.begin(), publish.end());
  try_journal(file);
  return 0;
}
