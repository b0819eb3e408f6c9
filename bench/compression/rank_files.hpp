// SPDX-License-Identifier: BSD-3-Clause
// The variables of a set of rank files, as the leader sees them. A variable is all ranks' datasets
// of one name.
#pragma once

#include <string>
#include <vector>

#include "codecs/base/bytes.hpp"
#include "codecs/base/layout.hpp"
#include "codecs/records/columns.hpp"

namespace mcr::bench {

/// The datasets of one name in all files. They follow one another in `raw`; each is a brick.
struct Variable {
  std::string name;  ///< numbers of four digits and more are written as {n}
  codecs::Layout layout;
  std::vector<codecs::Column> columns;  ///< for records: the members of an element
  Bytes raw;
};

/// A set of rank files.
struct Set {
  std::vector<Variable> variables;
  std::uint64_t file_bytes = 0;
};

/// Returns all regular files of `directory` whose names do not begin with a dot, in the order of
/// names.
Result<std::vector<std::string>> files_in(const std::string& directory);

/// Reads all datasets. Numbers keep their type; other data is read as records of bytes. Leaves out
/// datasets whose data is not in the dataset itself (variable length, virtual, external).
Result<Set> read_set(const std::vector<std::string>& files);

}  // namespace mcr::bench
