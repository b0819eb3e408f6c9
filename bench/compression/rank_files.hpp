// SPDX-License-Identifier: BSD-3-Clause
// The variables of a set of rank files, as the merger sees them: pieces of one name over all ranks.
#pragma once

#include <string>
#include <vector>

#include "codecs/base/bytes.hpp"
#include "codecs/base/layout.hpp"
#include "codecs/records/columns.hpp"

namespace mcr::bench {

/// One name over all files: its pieces lie one behind the other in `raw`, a brick each.
struct Variable {
  std::string name;  ///< numbers of four digits and more are written as {n}
  codecs::Layout layout;
  std::vector<codecs::Column> columns;  ///< of records
  Bytes raw;
};

/// A set of rank files.
struct Set {
  std::vector<Variable> variables;
  std::uint64_t file_bytes = 0;
};

/// All regular files of `directory` whose name does not begin with a dot, in order of names.
Result<std::vector<std::string>> files_in(const std::string& directory);

/// Numbers keep their type; everything else is read as records of bytes. Datasets whose data lies
/// elsewhere (variable length, virtual, external) are left out.
Result<Set> read_set(const std::vector<std::string>& files);

}  // namespace mcr::bench
