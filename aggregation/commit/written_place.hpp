// SPDX-License-Identifier: BSD-3-Clause
// Where the stubs of a set lie, as its containers say. A directory of containers may be reached by several ways:
// `mcr` may be a link of the user's to a directory elsewhere, and may be mounted at a second place. Then
// the directory above it is not the one with the stubs.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "aggregation/commit/set_files.hpp"
#include "restart/base/file.hpp"
#include "restart/base/part_id.hpp"

namespace mcr::aggregation {

/// The directory below which a set's files were written, if it still leads to the set's containers.
struct WrittenPlace {
  std::string path;
  std::string name;  ///< of the entry in it that leads to the directory of containers
  restart::File directory;
  bool is_base = false;  ///< it is the very directory `set.home->base`
};
/// Looks for the set's directory of containers in the directory that the masked name implies, and for
/// container_dir=../NAME in the one above it. nullopt: it is in neither, or they are gone.
std::optional<WrittenPlace> written_place(const StoredSet& set);

/// The stubs that were found below a directory: the setting container_dir in each, by part.
using StubsFound = std::map<PartId, std::string>;

/// True if `found`, the stubs below `set.home->base`, shows that the set's stubs lie there, because the run
/// was moved as a whole. A stub of any set in the same directory of containers shows it. If runs reach that
/// directory by links (the base has one, or the directory has another name than in container_dir=), other
/// runs may have one too; then only a stub of a set that was written to the same place shows it.
bool was_moved_to_base(const StoredSet& set, const std::vector<StoredSet>& sets,
                       const StubsFound& found);

/// Returns, for a message, that no stub shows that `set.home->base` is where the set's stubs belong.
std::string no_stub_below_base(const StoredSet& set);

}  // namespace mcr::aggregation
