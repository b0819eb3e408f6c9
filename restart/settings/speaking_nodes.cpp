// SPDX-License-Identifier: BSD-3-Clause
#include "restart/settings/speaking_nodes.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "codecs/base/checksum.hpp"
#include "restart/base/file.hpp"
#include "restart/base/local_socket.hpp"
#include "restart/base/name_text.hpp"
#include "restart/base/own_way.hpp"
#include "restart/base/path_names.hpp"
#include "restart/base/system.hpp"

namespace mcr::restart {
namespace {

constexpr int directory_flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;
/// Directories of older launches are removed.
constexpr std::uint64_t kept_ns = 86'400ULL * 1'000'000'000;

std::string hash_text(std::string_view text) { return hexadecimal(checksum(as_bytes(text))); }

Result<File> made_directory(int above, const std::string& name) {
  constexpr mode_t only_ours = 0700;
  if (system_calls().mkdirat(above, name.c_str(), only_ours) != 0 && errno != EEXIST)
    return system_error("cannot make", name);
  return File::open(above, name, directory_flags);
}

void remove_launch(int told, const std::string& launch) {
  {
    const auto directory = File::open(told, launch, directory_flags);
    const auto names = directory ? list_directory(directory->descriptor(), ".")
                                 : Result<std::vector<std::string>>(directory.error());
    if (!names) return;
    for (const std::string& name : *names)
      (void)system_calls().unlinkat(directory->descriptor(), name.c_str(), 0);
  }
  (void)system_calls().unlinkat(told, launch.c_str(), AT_REMOVEDIR);
}

void remove_old_launches(int told) {
  const auto launches = list_directory(told, ".");
  if (!launches) return;
  const std::uint64_t now = clock_ns(CLOCK_REALTIME);
  for (const std::string& launch : *launches) {
    struct stat status {};
    if (system_calls().fstatat(told, launch.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
        modified_ns(status) + kept_ns < now)
      remove_launch(told, launch);
  }
}

/// Opens told/LAUNCH. An error if the directory cannot be made, or if others may write there.
Result<File> launch_directory(const Launcher& who) {
  constexpr const char* variable = "XDG_CACHE_HOME";
  const std::string above = own_place(variable, ".cache");
  if (above.empty()) return Error{Cause::system, "neither XDG_CACHE_HOME nor HOME is set"};
  if (!is_own_place(variable)) return Error{Cause::system, above + " may be written by others"};
  if (const auto home = open_by_own_way(parent_of(above)))
    (void)system_calls().mkdirat(home->descriptor(), name_of(above).c_str(), 0700);
  const File cache = MCR_TRY(open_by_own_way(above));
  const File ours = MCR_TRY(made_directory(cache.descriptor(), "mcr"));
  const File told = MCR_TRY(made_directory(ours.descriptor(), "told"));
  for (const File* const place : {&ours, &told}) {
    const struct stat status = MCR_TRY(place->status());
    if (status.st_uid != ::geteuid() || (status.st_mode & 022) != 0)
      return Error{Cause::system, place->name() + " may be written by others"};
  }
  auto known = File::open(told.descriptor(), *who.launch, directory_flags);
  if (known) return known;
  remove_old_launches(told.descriptor());
  return made_directory(told.descriptor(), *who.launch);
}

enum class Claim { ours, of_another, failed };

Claim claim(const File& directory, const std::string& name) {
  const auto made =
      File::open(directory.descriptor(), name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW);
  if (made) return Claim::ours;
  return made.error().system_error == EEXIST ? Claim::of_another : Claim::failed;
}

/// For nodes that cannot learn of one another.
Turn turn_on_node(const Launcher& who, std::string_view topic) {
  const std::string launch = hash_text(*who.launch + "/" + who.node);
  const std::string name =
      "mcr-" + std::to_string(::geteuid()) + "-" + launch + "-" + hash_text(topic);
  return take_name_on_node(name) ? Turn::speaks : Turn::repeats;
}

}  // namespace

bool is_to_print(Turn turn) { return turn == Turn::speaks || turn == Turn::speaks_last; }

Turn turn_to_speak(const Launcher& who, std::string_view topic, unsigned most) {
  if (who.rank_count <= 1) return Turn::speaks;
  // Without a launch's name, processes of two jobs cannot be told apart.
  if (!who.launch) return who.rank == 0 ? Turn::speaks : Turn::silent;
  const auto directory = launch_directory(who);
  if (!directory) return turn_on_node(who, topic);
  const std::string name = hash_text(topic);
  switch (claim(*directory, name + "@" + hash_text(who.node))) {
    case Claim::of_another:
      return Turn::repeats;
    case Claim::failed:
      return turn_on_node(who, topic);
    case Claim::ours:
      break;
  }
  for (unsigned turn = 0; turn < most; ++turn) {
    const Claim claimed = claim(*directory, name + "." + std::to_string(turn));
    if (claimed == Claim::of_another) continue;
    return turn + 1 == most_speaking_nodes && claimed == Claim::ours ? Turn::speaks_last
                                                                     : Turn::speaks;
  }
  return Turn::silent;
}

std::size_t silent_nodes(const Launcher& who, std::string_view topic) {
  const auto directory = launch_directory(who);
  const auto names = directory ? list_directory(directory->descriptor(), ".")
                               : Result<std::vector<std::string>>(directory.error());
  if (!names) return 0;
  const std::string prefix = hash_text(topic) + "@";
  const auto nodes = static_cast<std::size_t>(
      std::count_if(names->begin(), names->end(),
                    [&](const std::string& name) { return name.starts_with(prefix); }));
  return nodes > most_speaking_nodes ? nodes - most_speaking_nodes : 0;
}

}  // namespace mcr::restart
