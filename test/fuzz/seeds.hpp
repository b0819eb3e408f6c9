// SPDX-License-Identifier: BSD-3-Clause
// Good inputs of each fuzz target, with which mutations and libFuzzer (`--write DIR`) begin.
#pragma once

#include <string_view>
#include <vector>

#include "codecs/base/bytes.hpp"

namespace mcr::fuzz {

/// Of the target `<name>_fuzzer`; empty where its seeds are files (frame: test/golden).
std::vector<Bytes> seeds_of(std::string_view target);

}  // namespace mcr::fuzz
