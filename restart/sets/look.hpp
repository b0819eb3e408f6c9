// SPDX-License-Identifier: BSD-3-Clause
// One look at what the directories of containers hold now. A stub may name many directories and
// masked names, and beside it may lie many stubs. So each directory is listed once in a look, and
// each question about a place is answered once. A look also ends when its time is over.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "restart/base/file_identity.hpp"
#include "restart/sets/container_places.hpp"
#include "restart/sets/generations.hpp"

namespace mcr::restart {

/// Returns the names of containers in a directory, sorted. If all names exceed most_kept_bytes, returns
/// only containers whose owner `believes` accepts, or whose owner is not known because they cannot be
/// examined; EOVERFLOW if these exceed it as well.
Result<std::vector<std::string>> list_containers(int directory,
                                                 const std::function<bool(uid_t)>& believes);

class Look {
 public:
  /// The look may last until that time of monotonic_ms().
  explicit Look(std::uint64_t until_ms = std::numeric_limits<std::uint64_t>::max())
      : until_ms_(until_ms) {}

  /// True if the time is over. Loops whose length a file determines ask this in each turn, and end.
  bool is_over();
  /// Returns why the look is not complete: its time is over, or a directory could not be listed. A
  /// container that was not found may then exist all the same. Nothing if the look is complete.
  [[nodiscard]] const std::optional<Error>& problem() const { return problem_; }

  /// Notes that a part of the look failed, unless the reason means that there is nothing for this user.
  void note(const Error& error);

  /// Opens the place; nothing if it does not exist or is not believed, or if that is not known.
  std::optional<OpenContainers> open(const ContainerPlace& place);

  /// Returns the names of containers in the directory that begin with `prefix`, sorted; valid as
  /// long as the look.
  Result<std::span<const std::string>> containers(const OpenContainers& directory,
                                                  const std::string& prefix);

  /// The arguments of stored_generations(): the open directory, the fields of the place (`directory`,
  /// `prefix`, `masked_name`), components, own_only.
  using Question =
      std::tuple<OpenContainers::Key, std::string, std::string, std::string, std::size_t, bool>;
  /// Returns the answer, which is found by `find` when the question is asked for the first time.
  const std::vector<Generation>& answer(Question question,
                                        const std::function<std::vector<Generation>()>& find);

 private:
  /// Notes the error, and returns it.
  const Error& incomplete(const Error& error);

  std::uint64_t until_ms_;
  std::optional<Error> problem_;
  std::map<OpenContainers::Key, Result<std::vector<std::string>>> listed_;
  std::map<Question, std::vector<Generation>> answers_;
};

}  // namespace mcr::restart
