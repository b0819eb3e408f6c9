// SPDX-License-Identifier: BSD-3-Clause
#include "restart/sets/known_generations.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "restart/base/path_names.hpp"
#include "restart/base/system.hpp"
#include "restart/base/trust.hpp"
#include "restart/container/container_reader.hpp"
#include "restart/format/container_name.hpp"
#include "restart/format/masked_name.hpp"
#include "restart/sets/file_of_rank.hpp"
#include "restart/sets/names_here.hpp"
#include "restart/sets/native_members.hpp"
#include "restart/sets/part_files.hpp"
#include "restart/sets/planted_files.hpp"
#include "restart/sets/ranks_to_probe.hpp"
#include "restart/sets/stored_sets.hpp"
#include "restart/stage/stage.hpp"

namespace mcr::restart {
namespace {

/// Reads the stub at a name, or the note about a native file there (`is_native`).
std::optional<Stub> read_stub_at(const std::string& path,
                                 const std::optional<std::string>& container_dir,
                                 const std::string& base, uid_t owner, AtName& there,
                                 bool& is_native, Look& look) {
  using Kind = FileAt::Kind;
  FileAt found = file_of_rank(path, base, owner);
  if (found.kind == Kind::nothing || found.kind == Kind::other) return std::nullopt;
  if (found.kind == Kind::closed) {
    look.note(found.error);
    there.kind = AtName::Kind::unreadable;
    return std::nullopt;
  }
  is_native = found.kind == Kind::plain_file;
  if (is_native) {
    there.kind = AtName::Kind::native_file;
    there.modified_ns = modified_ns(found.status);
    auto note = note_about(path, found.status, container_dir);
    if (!note) return std::nullopt;
    there.kind = AtName::Kind::stub;
    there.generation = {note->stub.launch, note->stub.sequence, {}};
    there.available = note->is_complete;
    return std::move(note->stub);
  }
  if (!found.is_stub()) {
    there.kind = AtName::Kind::unreadable;
    return std::nullopt;
  }
  there.kind = AtName::Kind::stub;
  there.generation = {found.stub.launch, found.stub.sequence, {}};
  return std::move(found.stub);
}

/// Of directories, by path, so that each is resolved once.
using RealPaths = std::map<std::string, std::string>;

/// If the stub was written in the directory in which it lies, and a link leads there, returns the path
/// at which it was written, below the link.
std::optional<std::string> written_through_link(const Stub& stub, const std::string& path,
                                                RealPaths& real_paths) {
  const std::string written_in = parent_of(stub.path);
  const std::string here = parent_of(path);
  if (written_in == here) return std::nullopt;
  const auto [real, is_new] = real_paths.try_emplace(here);
  if (is_new) real->second = real_path(here);
  if (real->second == written_in) return here + "/" + name_of(stub.path);
  // The file itself may be a link.
  struct stat status {};
  const bool is_link =
      system_calls().fstatat(AT_FDCWD, path.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
      S_ISLNK(status.st_mode);
  if (!is_link || real_path(path) != stub.path) return std::nullopt;
  return path;
}

bool exists(const std::string& path) {
  struct stat status {};
  return system_calls().fstatat(AT_FDCWD, path.c_str(), &status, 0) == 0;
}

/// If liveness cannot be determined, assumes that the launch has ended; its parts are then drained.
bool goes_on(const LaunchDirectory& directory) {
  const auto answer = directory.anybody_goes_on();
  return answer && *answer;
}

/// True if the launch has parts in its stage. Parts that no stub names any more count too, because
/// they may make an earlier set whole.
bool has_parts(const LaunchDirectory& directory) {
  using State = LaunchDirectory::State;
  for (const State state : {State::open, State::published}) {
    const auto parts = directory.list(state);
    if (parts && !parts->empty()) return true;
  }
  return false;
}

/// Returns the paths at which the file of each rank may lie, the likeliest first.
std::map<FileNumber, std::vector<std::string>> paths_of_ranks(const std::string& path,
                                                              const std::string& masked_name,
                                                              std::uint32_t rank,
                                                              std::uint32_t rank_count,
                                                              Look& look) {
  const auto paths_of = [&](std::uint32_t other) {
    return other == rank ? std::vector{path} : sibling_paths(path, masked_name, rank, other);
  };
  std::set<std::uint32_t> ranks = ranks_to_probe(masked_name, rank_count, [&](std::uint32_t other) {
    const auto paths = paths_of(other);
    return !look.is_over() && std::any_of(paths.begin(), paths.end(), exists);
  });
  if (rank < rank_count) ranks.insert(rank);
  std::map<FileNumber, std::vector<std::string>> found;
  for (const std::uint32_t other : ranks) found[other] = paths_of(other);
  return found;
}

PartFiles paths_of_parts(const std::string& path, const std::string& masked_name, FileNumber number,
                         Look& look) {
  auto found = part_files(masked_name);
  // In a directory that may only be entered, no other rank finds the others' files either.
  if (!found && found.error().system_error != EACCES) look.note(found.error());
  PartFiles files = found ? *std::move(found) : PartFiles();
  files[number] = {path};
  return files;
}

/// What lies at one path.
struct Found {
  AtName there;
  std::optional<Stub> stub;  ///< for a native file: the stub in its note
  bool is_native = false;
  std::optional<std::string> linked;  ///< PresentNames::linked
};

}  // namespace

PresentNames present_names(const OpenedStub& opened, const std::string& masked_name,
                           std::uint32_t rank_count,
                           const std::optional<std::string>& container_dir, Look& look) {
  PresentNames present;
  const std::string base = shared_directory(masked_name);
  const auto components = static_cast<std::size_t>(
      std::count(masked_name.begin() +
                     static_cast<std::ptrdiff_t>(std::min(base.size() + 1, masked_name.size())),
                 masked_name.end(), '/') +
      1);
  const bool by_part = is_numbered_by_part(masked_name);
  const auto files =
      by_part ? paths_of_parts(opened.path, masked_name, opened.number, look)
              : paths_of_ranks(opened.path, masked_name, static_cast<std::uint32_t>(opened.number),
                               rank_count, look);
  PlantedFiles planted(opened.path, opened.written_as, opened.owner, base, components);
  RealPaths real_paths;
  for (const auto& [other, paths] : files) {
    if (look.is_over()) break;
    std::optional<std::string> at;
    Found found;
    for (const std::string& path : paths) {
      if (planted.is_of_another_user(path)) continue;
      Found next;
      next.stub =
          read_stub_at(path, container_dir, base, opened.owner, next.there, next.is_native, look);
      // A stub of another rank under this rank's name says nothing about the set.
      if (next.stub && !by_part && next.stub->rank != other) continue;
      if (next.there.kind == AtName::Kind::nothing) continue;
      if (next.stub) {
        next.there.rank = next.stub->rank;
        next.linked = written_through_link(*next.stub, path, real_paths);
      }
      next.there.may_be_planted = planted.may_include(path, next.stub);
      const bool is_better = !at || (found.there.may_be_planted && !next.there.may_be_planted);
      if (!is_better) continue;
      found = std::move(next);
      at = path;
      if (!found.there.may_be_planted) break;
    }
    if (!at) continue;
    // The file's own rank has none, as far as this user's programs wrote.
    if (found.stub && found.there.may_be_planted && !by_part) continue;
    present.at[other] = found.there;
    present.paths[other] = *at;
    if (!found.stub) continue;
    if (found.is_native) present.natives.insert(other);
    if (found.linked) present.linked[other] = *std::move(found.linked);
    for (const std::string& candidate : found.stub->masked_names)
      ++present.candidates[{found.stub->launch, found.stub->sequence, candidate}];
    present.stubs[other] = *std::move(found.stub);
  }
  return present;
}

namespace {

bool is_candidate(const Stub& stub, const std::string& masked_name) {
  return std::find(stub.masked_names.begin(), stub.masked_names.end(), masked_name) !=
         stub.masked_names.end();
}

/// Returns the known generation of the stub, or null.
const Generation* known_generation(const Stub& stub, const std::vector<Generation>& generations) {
  const Generation* named = nullptr;
  for (const Generation& it : generations) {
    if (it.name.launch != stub.launch || it.name.sequence != stub.sequence) continue;
    if (it.has(stub.part)) return &it;
    if (named == nullptr && is_candidate(stub, it.name.masked_name)) named = &it;
  }
  return named;
}

}  // namespace

bool is_known(const Stub& stub, const std::vector<Generation>& generations) {
  return known_generation(stub, generations) != nullptr;
}

GenerationName generation_of(const Stub& stub, const std::vector<Generation>& generations,
                             const PresentNames& present) {
  if (const Generation* const known = known_generation(stub, generations)) return known->name;
  GenerationName best{stub.launch, stub.sequence, {}};
  std::size_t most = 0;
  for (const std::string& masked_name : stub.masked_names) {
    const GenerationName candidate{stub.launch, stub.sequence, masked_name};
    const auto found = present.candidates.find(candidate);
    const std::size_t stubs = found == present.candidates.end() ? 1 : found->second;
    if (stubs <= most) continue;
    most = stubs;
    best = candidate;
  }
  return best;
}

namespace {

/// Returns the generation whose masked name fits a stub that was written through a link.
std::optional<GenerationName> generation_through_link(const Stub& stub, const std::string& written,
                                                      const std::vector<Generation>& generations,
                                                      const PresentNames& present) {
  const auto fits = [&](const GenerationName& name) {
    return name.launch == stub.launch && name.sequence == stub.sequence &&
           fits_mask(written, name.masked_name);
  };
  for (const Generation& it : generations) {
    if (fits(it.name)) return it.name;
  }
  for (const auto& [name, stubs] : present.candidates) {
    if (fits(name)) return name;
  }
  return std::nullopt;
}

}  // namespace

void name_generations(PresentNames& present, const std::vector<Generation>& generations) {
  for (const auto& [number, stub] : present.stubs) {
    std::optional<GenerationName> name;
    if (const auto linked = present.linked.find(number); linked != present.linked.end())
      name = generation_through_link(stub, linked->second, generations, present);
    present.at[number].generation = name ? *name : generation_of(stub, generations, present);
  }
}

void find_native_members(std::vector<Generation>& generations, PresentNames& present,
                         const std::string& containers, const std::string& base) {
  for (Generation& generation : generations) {
    for (const auto& [path, member] : generation.members) {
      if (!member.native) continue;
      const FileNumber number = number_of(member, generation.name.masked_name);
      const auto named = present.paths.find(number);
      const std::string here = named == present.paths.end() ? base + path : named->second;
      const std::string place = place_of_native(containers, *member.native, here, member.owner);
      generation.damaged |= place.empty();
      AtName& there = present.at[number];
      if (place != here || there.kind != AtName::Kind::native_file) continue;
      there = {AtName::Kind::stub, generation.name, true, 0, member.rank};
    }
  }
}

bool drains(const std::string& launch_directory) {
  const auto directory = LaunchDirectory::open(launch_directory);
  // has_parts() comes first: few launches have parts left, and goes_on() makes several calls per process.
  return directory && has_parts(*directory) && !goes_on(*directory);
}

namespace {

bool replaces(const Journal& journal, const PartId& there, bool is_native) {
  // The stub has replaced its older file already, so the program has put this file at the path since.
  if (journal.publish && journal.publish->stub_is_placed) return false;
  if (!is_native) return journal.begin.replaced_part == there;
  const bool stays_native = journal.publish && journal.publish->native;
  return journal.begin.replaced == Replaced::native_file && !stays_native;
}

}  // namespace

std::optional<ComingStub> stub_coming_to(const std::string& path, const PartId& there,
                                         bool is_native, const std::string& stage,
                                         ComingStub::From from) {
  using State = LaunchDirectory::State;
  const auto launches = launch_directories(stage);
  if (!launches) return std::nullopt;
  for (const std::string& launch : *launches) {
    const auto directory = LaunchDirectory::open(launch);
    const auto parts = directory ? directory->list(State::published)
                                 : Result<std::vector<PartId>>(directory.error());
    if (!parts || parts->empty()) continue;
    if (from == ComingStub::From::ended_launches && goes_on(*directory)) continue;
    for (const PartId& part : *parts) {
      const auto journal = directory->journal(State::published, part);
      if (journal && journal->begin.path == path && replaces(*journal, there, is_native))
        return ComingStub{launch, goes_on(*directory)};
    }
  }
  return std::nullopt;
}

namespace {

/// True if the part is in a container to which the part's own stub leads. That container may have
/// other names than those of the opened file, because the rank's directory may be a link now.
bool is_in_own_container(const Stub& stub, const std::string& path, Look& look) {
  const auto places = container_places(stub, path, "none");
  return std::any_of(places.begin(), places.end(), [&](const ContainerPlace& place) {
    const std::vector<Generation>& found =
        stored_generations(place, components_of(stub, place.masked_name), true, look);
    return !found.empty() && found.front().has(stub.part);
  });
}

/// Adds the part that the present stub names, if only a copy of a container has it. The copy may tell another rank, which could be one
/// that the set lacks.
void use_copy(Generation& generation, const Stub& stub) {
  const auto copied = generation.copied.extract(stub.part);
  if (!copied || generation.parts.contains(stub.part) || copied.mapped().rank != stub.rank) return;
  Member& member = copied.mapped();
  generation.parts.insert(stub.part);
  generation.account.wrote.insert(stub.rank);
  add_statements(generation.account, generation.account_of_copied);
  generation.account_of_copied = {};
  Member& known = generation.members[member.path];
  if (member.written_ns >= known.written_ns) known = std::move(member);
}

/// Notes when a part in the stage was begun, as its container will say it.
void date_by_journal(Generation& generation, const LaunchDirectory& stage, const PartId& part) {
  using State = LaunchDirectory::State;
  auto journal = stage.journal(State::published, part);
  if (!journal) journal = stage.journal(State::committed, part);
  if (!journal) return;
  const std::uint64_t begun_ns = journal->begin.begin_ns + stage.clock_behind_ns();
  std::uint64_t& first = generation.staged_order_ns;
  first = first == 0 ? begun_ns : std::min(first, begun_ns);
}

}  // namespace

StageLook look_into_stages(PresentNames& present, std::vector<Generation>& generations,
                           std::size_t components, Look& containers) {
  using State = LaunchDirectory::State;
  StageLook look;
  std::map<std::string, std::optional<LaunchDirectory>> stages;
  for (auto& [number, stub] : present.stubs) {
    if (containers.is_over()) break;
    AtName& there = present.at[number];
    auto known = std::find_if(generations.begin(), generations.end(),
                              [&](const auto& it) { return it.name == there.generation; });
    auto [stage, is_new] = stages.try_emplace(stub.launch_directory);
    if (is_new) {
      auto opened = LaunchDirectory::open(stub.launch_directory);
      if (opened) stage->second = std::move(*opened);
      const bool is_living = stage->second && goes_on(*stage->second);
      if (is_living) look.living.insert(stub.launch);
      look.drains |= stage->second && !is_living && has_parts(*stage->second);
    }
    const bool is_native = present.natives.contains(number);
    // No container of this user has a part of this user's writing yet. What other users' containers
    // say about that writing does not order it.
    const bool is_own = stub.origin && is_believed(stub.origin->owner, ::geteuid());
    if (known != generations.end() && is_own && !known->has_own_date) {
      known->order_ns = Generation::not_committed;
      known->has_own_date = true;
    }
    if (known != generations.end() && !is_native && !there.may_be_planted) use_copy(*known, stub);
    if (known != generations.end() && !is_native && known->parts.contains(stub.part)) {
      there.available = true;
      continue;
    }
    const bool staged = stage->second && (stage->second->is_in(State::published, stub.part) ||
                                          stage->second->is_in(State::committed, stub.part));
    there.available = staged || (is_native && there.available) ||
                      (!is_native && is_in_own_container(stub, present.paths[number], containers));
    if (!there.available && !is_native) {  // no stage has a native file's bytes
      look.lost = true;
      look.lost_in.emplace(stub.node, stub.launch_directory);
    }
    look.drains |= staged && !look.living.contains(stub.launch);
    // The set itself is still in the stage, so the copies are not of it.
    if (known != generations.end() && staged && known->is_copied) {
      generations.erase(known);
      known = generations.end();
    }
    if (known != generations.end() && staged) known->is_of_copies = false;
    if (known == generations.end()) {
      Generation generation;
      generation.name = there.generation;
      generation.order_ns = Generation::not_committed;
      generation.has_own_date = is_own;
      generation.account.rank_count = stub.rank_count;
      known = generations.insert(generations.end(), std::move(generation));
    }
    if (staged && known->order_ns == Generation::not_committed)
      date_by_journal(*known, *stage->second, stub.part);
    if (!there.available) continue;
    known->account.wrote.insert(stub.rank);
    if (is_native) continue;  // its bytes are only at its path
    const std::string path = path_tail(stub.path, components);
    known->members[path] = {stub.part, stub.rank, path, Generation::not_committed, {}, ::geteuid()};
  }
  return look;
}

}  // namespace mcr::restart
