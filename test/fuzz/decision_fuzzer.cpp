// SPDX-License-Identifier: BSD-3-Clause
// Fuzzes decisions: with arbitrary bytes, and with arbitrary bytes behind the right magic, version
// and checksum. A decision that can be read must be the same after it is written and read again.
#include <cstdlib>

#include "codecs/base/checksum.hpp"
#include "restart/sets/decision.hpp"

namespace {

using namespace mcr;
using namespace mcr::restart;

void try_decision(ByteSpan bytes) {
  const auto decision = read_decision(bytes);
  if (!decision) return;
  const auto again = read_decision(write_decision(*decision));
  if (!again || again->as_it_is != decision->as_it_is || again->given != decision->given ||
      again->newest != decision->newest) {
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const ByteSpan bytes(reinterpret_cast<const std::byte*>(data), size);
  try_decision(bytes);
  Bytes file;
  Writer writer(file);
  writer.bytes(ByteSpan(write_decision({})).first(9));
  writer.bytes(bytes);
  writer.u64(checksum(file));
  try_decision(file);
  return 0;
}
