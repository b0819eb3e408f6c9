// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/commit/linked_stubs.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "aggregation/commit/commit_options.hpp"
#include "restart/base/file.hpp"
#include "restart/base/path_names.hpp"
#include "restart/base/system.hpp"
#include "restart/base/trust.hpp"
#include "restart/sets/stub_links.hpp"
#include "restart/settings/choices.hpp"
#include "restart/stage/stub_file.hpp"

namespace mcr::aggregation {

using restart::File;
using restart::FileIdentity;
using restart::PartBegin;

namespace {

bool are_stubs_linked(const PartBegin& begin) {
  return !begin.masked_names.empty() && restart::gc_of(settings_of(begin)) == restart::Gc::always;
}

/// Returns the directory in which the part's rank links stubs.
std::string where_rank_links(const PartBegin& begin) {
  return container_name_of(begin, begin.masked_names.front()).directory;
}

/// Opens the file at the path if it is this user's stub of the part.
std::optional<File> own_stub_at(const std::string& path, const restart::PartId& part) {
  auto stub = File::open(AT_FDCWD, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  const auto content = stub ? restart::read_stub_file(*stub) : Result<restart::Stub>(Error{});
  const bool is_ours =
      content && content->part == part && content->origin && content->origin->owner == ::geteuid();
  return is_ours ? std::optional(*std::move(stub)) : std::nullopt;
}

/// Where the part's rank has linked the stub.
struct RankLinks {
  File files;  ///< the directory in which the part was begun
  std::string name;
  File containers;
  FileIdentity identity;  ///< of `containers`
};
/// Nothing if that is not in the directory in which the part was begun: another directory, or a link, may have its path
/// by now.
std::optional<RankLinks> links_of_rank(const PartBegin& begin, const std::string& containers) {
  if (restart::parent_of(containers) != restart::parent_of(begin.path)) return std::nullopt;
  auto files = restart::open_begun_in(begin, O_PATH);
  const std::string name = restart::name_of(containers);
  auto opened = files ? restart::open_beneath(files->descriptor(), name, O_PATH | O_DIRECTORY)
                      : Result<File>(files.error());
  const auto status = opened ? opened->status() : Result<struct stat>(opened.error());
  if (!status) return std::nullopt;
  return RankLinks{*std::move(files), name, *std::move(opened), FileIdentity(*status)};
}

/// ESTALE or ENOENT: the stub was not found under its name.
Result<void> move_once(const PartBegin& begin, const restart::ContainerName& where,
                       const StubHandles* stubs) {
  const auto rank = links_of_rank(begin, where_rank_links(begin));
  const auto found = stubs != nullptr ? stubs->find(begin.part) : StubHandles::Found{};
  const bool is_present = found.fate == StubHandles::Fate::present;
  const std::string& path = is_present ? found.path : begin.path;
  const auto stub = own_stub_at(path, begin.part);
  if (!stub && !is_present) return {};  // the program has renamed or removed it
  if (!stub) return Error{Cause::system, path + " is not the stub", ENOENT};
  const struct stat status = MCR_TRY(stub->status());
  const File home = MCR_TRY(File::open(AT_FDCWD, where.directory, O_PATH | O_DIRECTORY));
  if (rank && FileIdentity(MCR_TRY(home.status())) == rank->identity) return {};
  MCR_TRY(restart::link_stub(home, begin.part, *stub, path));
  // If the rank's link is not found, the stub has two links of ours, and its set stays.
  if (!rank) return {};
  restart::unlink_stub(rank->containers, begin.part, status);
  restart::remove_empty_links_directories(rank->containers);
  (void)restart::system_calls().unlinkat(rank->files.descriptor(), rank->name.c_str(),
                                         AT_REMOVEDIR);
  return {};
}

}  // namespace

void link_repaired_stub(const PartBegin& begin) {
  if (!are_stubs_linked(begin)) return;
  if (const auto stub = own_stub_at(begin.path, begin.part))
    (void)restart::link_stub(where_rank_links(begin), begin.part, *stub, begin.path).has_value();
}

void move_stub_link(const PartBegin& begin, const restart::ContainerName& where,
                    const StubHandles* stubs) {
  // While somebody exchanges directories on the way, the stub is not found for a moment.
  constexpr int most_turns = 20;
  constexpr auto pause = std::chrono::milliseconds(5);
  if (!are_stubs_linked(begin) || where_rank_links(begin) == where.directory) return;
  for (int turn = 0; turn < most_turns; ++turn) {
    const auto moved = move_once(begin, where, stubs);
    const int number = moved ? 0 : moved.error().system_error;
    if (number != ESTALE && number != ENOENT) return;
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace mcr::aggregation
