// SPDX-License-Identifier: BSD-3-Clause
// Fuzzes masked names with arbitrary paths, ranks and numbers of ranks. There must be only a few
// candidates, and each must lead back to its path.
#include <algorithm>
#include <cstdlib>

#include "restart/format/container_name.hpp"
#include "restart/format/masked_name.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace mcr::restart;
  if (size < 2) return 0;
  const std::uint32_t rank_count = 1U + data[0];
  const std::uint32_t rank = data[1] % rank_count;
  const std::string_view path(reinterpret_cast<const char*>(data) + 2, size - 2);
  if (path.find('{') != std::string_view::npos) return 0;  // a path that looks masked itself
  const auto names = masked_full_names(path, path, rank, rank_count);
  if (names.size() > 16) std::abort();
  for (const std::string& name : names) {
    (void)pattern_of(name);
    (void)container_name(name, "mcr", "L", 0);
    if (rank_count == 1) continue;
    if (masked_number(path, name) != rank) std::abort();
    const auto own = sibling_paths(path, name, rank, rank);
    if (std::find(own.begin(), own.end(), path) == own.end()) std::abort();
    (void)sibling_paths(path, name, rank, rank_count - 1 - rank);
  }
  return 0;
}
