// SPDX-License-Identifier: BSD-3-Clause
// What the first opener of a launch decided about the generations under some names, so that all
// ranks of the launch see the same one. docs/format.md, "Decision".
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "restart/sets/generations.hpp"

namespace mcr::restart {

struct Decision {
  bool as_it_is = true;  ///< each path its own file; else all `given`
  GenerationName given;
  GenerationName newest;  ///< for people
};

Bytes write_decision(const Decision& decision);
/// Cause::damaged, Cause::unsupported.
Result<Decision> read_decision(ByteSpan file);

/// The name of the decision about the generations of which the names of containers begin with `prefix`.
std::string decision_name(const std::string& prefix);
/// For a file in a directory of containers: the prefix of the decision that it holds, under its name or
/// under its second one. Nothing where it holds none.
std::optional<std::string> prefix_of_decision(std::string_view file_name);

/// The decision under that name in a directory of containers; nothing where there is none, or none
/// of this user's that can be read.
std::optional<Decision> find_decision(const std::string& directory, const std::string& name);

/// Puts it in place complete, durably, unless another one lies there: the one that holds is
/// returned. An error where none could be put.
struct Recorded {
  Decision decision;
  bool is_ours = false;
};
Result<Recorded> record_decision(const std::string& directory, const std::string& name,
                                 const Decision& decision);

}  // namespace mcr::restart
