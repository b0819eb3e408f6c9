// SPDX-License-Identifier: BSD-3-Clause
// Where the containers of a set lie and what they are called. The leader, which writes containers,
// and a reader of a stub compute both from the same inputs, so no container name is stored
// anywhere:
//
//   <deepest directory that all parts of the set share>/<container_dir>/
//     set-<masked name>.<launch>-<sequence>.r<first>-<last>[.s<k>].h5
//
// In the file name the masked name is relative to the shared directory, with '/' as '+' and '+' as
// "++". A masked name that is too long for a file name is cut and ends in a checksum.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "restart/base/part_id.hpp"

namespace mcr::restart {

/// The value of container_dir= unless it is set.
constexpr std::string_view default_container_dir = "mcr";

struct ContainerName {
  std::string base;       ///< the directory that all parts share, absolute
  std::string directory;  ///< base / container_dir
  /// How many directories a part lies below `base`: 0 for `out/r{rank}.h5`, 1 for `{rank}/out.h5`.
  /// The path from a stub's directory to the container's is "../", `depth` times, then
  /// container_dir.
  std::uint32_t depth = 0;
  std::string prefix;  ///< of the file names: "set-<masked name>.<launch>-<sequence>."
  /// With container_dir=../NAME, sets of several directories may have one prefix: step1/a.{rank}.h5 and
  /// step2/a.{rank}.h5 both have "set-a.{rank}.h5.…". This prefix differs: "set-step1+a.{rank}.h5.…".
  /// With other values of container_dir it is equal to `prefix`.
  std::string distinct_prefix;

  /// Returns the path from a stub's directory to the container's.
  [[nodiscard]] std::string directory_from_stub(std::string_view container_dir) const;
};

/// `masked_name` is a full path.
ContainerName container_name(std::string_view masked_name, std::string_view container_dir,
                             std::string_view launch, std::uint64_t sequence);

/// Returns the number of "../" at the beginning of container_dir=; nothing if more than a name follows them.
std::optional<std::uint32_t> steps_up_of(std::string_view container_dir);
/// The inverse: returns "../" `steps_up` times, then `name`.
std::string container_dir_of(std::uint32_t steps_up, std::string_view name);

/// Returns the masked name relative to the directory that holds the directory of containers. This end of
/// the name differs between all sets in one directory of containers. With container_dir=../NAME it begins
/// with the directory of the files.
std::string_view name_beside_containers(std::string_view masked_name,
                                        std::string_view container_dir);

/// As container_name(), for a container outside the directory that its masked name implies, because the program
/// renamed the files before their commit. The container lies in `base`/container_dir. Its file name
/// begins with the whole masked name, so that sets of several directories have different names
/// there. Readers look for such containers in all directories above a stub, and above the place
/// where it was written (places_above, container_places.hpp).
ContainerName far_container_name(const std::string& base, std::string_view masked_name,
                                 std::string_view container_dir, std::string_view launch,
                                 std::uint64_t sequence);

/// The file name after the prefix: "r<first>-<last>.h5", or "r<first>-<last>.s<supplement>.h5".
std::string container_suffix(std::uint32_t first_rank, std::uint32_t last_rank,
                             std::optional<std::uint32_t> supplement);

/// Returns directory and name of the bundle that may hold a part of one rank:
///
///     set-<pattern of the masked name>.<launch>-<block of the part's id>.b<number>.h5
///
/// `prefix` ends before the "b". Numbers count from 0; a reader tries them in turn.
ContainerName bundle_name(std::string_view masked_name, std::string_view container_dir,
                          std::string_view launch, const PartId& part);
std::string bundle_suffix(std::uint32_t number);

/// The pieces of a bundle's file name.
struct ParsedBundleName {
  std::string pattern;  ///< as in the file name, with '+' for '/'
  std::string launch;
  std::string block;
  std::uint32_t number = 0;
};
std::optional<ParsedBundleName> parse_bundle_name(std::string_view file_name);

/// True for the name of a container of one set or of a bundle.
bool is_container_name(std::string_view file_name);

/// The pieces of the file name of a container of one set.
struct ParsedContainerName {
  std::string masked_name;  ///< as in the file name, with '+' for '/'
  std::string launch;
  std::uint64_t sequence = 0;
  std::uint32_t first_rank = 0;
  std::uint32_t last_rank = 0;
  std::optional<std::uint32_t> supplement;
};
std::optional<ParsedContainerName> parse_container_name(std::string_view file_name);

}  // namespace mcr::restart
