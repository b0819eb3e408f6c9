// SPDX-License-Identifier: BSD-3-Clause
// A decision says which generation the files of some names give to all ranks of a launch. The first rank
// that opens one of these files writes it; the others follow it. docs/format.md, "Decision".
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "restart/sets/generations.hpp"

namespace mcr::restart {

struct Decision {
  bool as_it_is = true;  ///< true: each path gives its own file; false: all paths give `given`
  GenerationName given;
  GenerationName newest;  ///< for messages only
};

Bytes write_decision(const Decision& decision);
/// Fails with Cause::damaged or, if a newer version wrote it, Cause::unsupported.
Result<Decision> read_decision(ByteSpan file);

/// Returns the name of the decision about the generations whose containers' names begin with `prefix`.
std::string decision_name(const std::string& prefix);
/// If the file is a decision, under its first or its second name, returns the prefix of that decision.
std::optional<std::string> prefix_of_decision(std::string_view file_name);

/// Finds the decision under that name in a directory of containers. Returns nothing if no readable
/// decision of this user or root has that name.
std::optional<Decision> find_decision(const std::string& directory, const std::string& name);

/// The decision that holds, and whether it is the one that this process wanted to record.
struct Recorded {
  Decision decision;
  bool is_ours = false;
};
/// Writes the decision, complete and durably, unless there is one already. Fails if no decision
/// exists and this one could not be written.
Result<Recorded> record_decision(const std::string& directory, const std::string& name,
                                 const Decision& decision);

}  // namespace mcr::restart
