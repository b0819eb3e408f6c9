// SPDX-License-Identifier: BSD-3-Clause
// A decision says which generation all ranks of a launch get when they open files under one masked
// name. The first rank that opens such a file writes the decision; the other ranks follow it.
// docs/format.md, "Decision".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "restart/sets/generations.hpp"

namespace mcr::restart {

/// Which files a decision is about. The file name of a decision does not tell this alone: `a/+b` and `a+/b`
/// have one flat name, and files of several directories may have one directory of containers.
struct DecidedFiles {
  /// Leads from the files' directory to that of the decision.
  std::string container_dir = {};
  std::string name = {};  ///< name_beside_containers() of the files' present mask

  bool operator==(const DecidedFiles&) const = default;
};

struct Decision {
  bool as_it_is = true;   ///< true: each path gives its own file; false: all paths give `given`
  GenerationName given;   ///< without a masked name in decisions of the first builds
  GenerationName newest;  ///< for messages only; read without its masked name
  /// The name under which the decision was recorded, and the inode number of its directory; empty in
  /// decisions of earlier versions. Another user can move a decision, but cannot change these fields.
  std::string recorded_as = {};
  std::uint64_t recorded_in = 0;
  /// Empty in decisions of earlier versions: these hold for no open.
  DecidedFiles files = {};
  /// Inode number and birth time of the decision's own file; a birth time of 0 is not known. A user may copy another user's decision, but a
  /// copy has other ones. Zero in decisions of earlier versions, which hold for no open.
  std::uint64_t own_inode = 0;
  std::uint64_t born_ns = 0;
};
/// True if all paths give that generation. A decision without a masked name gives any of that launch
/// and sequence.
bool gives(const Decision& decision, const GenerationName& name);

Bytes write_decision(const Decision& decision);
/// Fails with Cause::damaged or, if a newer version wrote it, Cause::unsupported.
Result<Decision> read_decision(ByteSpan file);

/// Returns the name of the decision about the generations whose containers' names begin with
/// `prefix`.
std::string decision_name(const std::string& prefix);
/// Returns the prefix of the decision with that file name; nothing for other names. A decision has
/// a second name if another user's file, or a decision about other files, has the first one.
std::optional<std::string> prefix_of_decision(std::string_view file_name);

/// Returns the decision under that name (or its second name) in a directory of containers. Returns
/// nothing if there is no readable decision of this user or root, or if another user may have moved it
/// there. If `files` is not null, a decision about other files is not found.
std::optional<Decision> find_decision(const std::string& directory, const std::string& name,
                                      const DecidedFiles* files = nullptr);

/// The decision that holds, and whether it is the one that this process wanted to record.
struct Recorded {
  Decision decision;
  bool is_ours = false;
};
/// Records `decision` durably, unless one about the same files exists already; returns the decision that
/// holds. Fails if none exists and this one cannot be written.
Result<Recorded> record_decision(const std::string& directory, const std::string& name,
                                 const Decision& decision);

}  // namespace mcr::restart
