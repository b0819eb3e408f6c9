// SPDX-License-Identifier: BSD-3-Clause
// Fuzzes stubs: with arbitrary bytes as a whole stub, and as a stub's record with the right
// checksum. A stub that can be read is used as a reader uses it, and must be the same after it is
// written and read again.
#include <cstdlib>

#include "codecs/base/checksum.hpp"
#include "restart/format/container_name.hpp"
#include "restart/format/stub.hpp"

namespace {

using namespace mcr;
using namespace mcr::restart;

void try_stub(ByteSpan bytes) {
  const auto stub = read_stub(bytes);
  if (!stub) return;
  for (const std::string& masked_name : stub->masked_names) {
    const auto name =
        container_name(masked_name, stub->container_directory, stub->launch, stub->sequence);
    (void)name.directory_from_stub(stub->container_directory);
    (void)parse_container_name(name.prefix + container_suffix(stub->rank, stub->rank, {}));
  }
  const Bytes written = write_stub(*stub);
  if (written.size() > Stub::max_bytes) std::abort();
  const auto again = read_stub(written);
  if (!again || again->part != stub->part || again->path != stub->path) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const ByteSpan bytes(reinterpret_cast<const std::byte*>(data), size);
  try_stub(bytes);
  if (size > Stub::max_bytes) return 0;
  Bytes file;
  Writer writer(file);
  writer.bytes(ByteSpan(write_stub({})).first(18));
  writer.u32(static_cast<std::uint32_t>(size));
  writer.bytes(bytes);
  writer.u64(checksum(file));
  try_stub(file);
  return 0;
}
