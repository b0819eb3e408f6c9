// SPDX-License-Identifier: BSD-3-Clause
#include "restart/known_generations.hpp"

#include <fcntl.h>

#include <algorithm>

#include "restart/container_name.hpp"
#include "restart/container_reader.hpp"
#include "restart/masked_name.hpp"
#include "restart/stage.hpp"
#include "restart/stub_file.hpp"

namespace mcr::restart {
namespace {

/// Orders a generation of which nothing is committed behind all others.
constexpr std::uint64_t not_committed = UINT64_MAX;

void add_container(Generation& generation, const SetIdentity& set,
                   const std::vector<PartRecord>& parts, std::size_t components) {
  generation.masked_name = set.masked_name;
  Account& account = generation.account;
  account.rank_count = std::max(account.rank_count, set.rank_count);
  account.passed.insert(set.passed_ranks.begin(), set.passed_ranks.end());
  account.failed.insert(set.failed_ranks.begin(), set.failed_ranks.end());
  account.drifted |= set.drifted;
  const std::uint64_t order = set.begun_ns != 0 ? set.begun_ns : set.created_ns;
  generation.order_ns = generation.order_ns == 0 ? order : std::min(generation.order_ns, order);
  for (const PartRecord& record : parts) {
    const PartEntry& entry = record.entry;
    account.wrote.insert(entry.rank);
    const std::string path = path_tail(entry.path, components);
    Member& member = generation.members[path];
    if (set.created_ns < member.written_ns) continue;
    member = {entry.part, entry.rank, path, set.created_ns};
  }
  for (const NativeMember& native : set.natives) account.wrote.insert(native.rank);
}

std::optional<Stub> read_stub_at(const std::string& path, AtName& there) {
  const auto file = File::open(AT_FDCWD, path, O_RDONLY | O_NONBLOCK);
  if (!file) {
    there.kind =
        file.error().system_error == ENOENT ? AtName::Kind::nothing : AtName::Kind::unreadable;
    return std::nullopt;
  }
  there.kind = AtName::Kind::native_file;
  if (!is_stub_file(*file)) return std::nullopt;
  auto stub = read_stub_file(*file);
  if (!stub) {
    there.kind = AtName::Kind::unreadable;
    return std::nullopt;
  }
  there.kind = AtName::Kind::stub;
  there.generation = {stub->launch, stub->sequence};
  return std::move(*stub);
}

bool has_part(const Generation& generation, const PartId& part) {
  return std::any_of(generation.members.begin(), generation.members.end(),
                     [&](const auto& member) { return member.second.part == part; });
}

}  // namespace

std::string path_tail(const std::string& path, std::size_t components) {
  std::size_t begin = path.size();
  for (; components > 0 && begin != std::string::npos && begin > 0; --components) {
    begin = path.rfind('/', begin - 1);
  }
  return begin == std::string::npos ? path : path.substr(begin + (components == 0 ? 1 : 0));
}

std::vector<Generation> stored_generations(const ContainerPlace& place, std::size_t components,
                                           bool own_only) {
  std::vector<Generation> found;
  const auto wanted = parse_container_name(place.prefix + container_suffix(0, 0, {}));
  const auto directory = place.open();
  if (!directory || !wanted) return found;
  const auto names = list_directory(directory->descriptor(), ".");
  if (!names) return found;
  std::map<GenerationName, Generation> by_name;
  for (const std::string& name : *names) {
    const auto parsed = parse_container_name(name);
    if (!parsed || parsed->masked_name != wanted->masked_name) continue;
    if (own_only && !name.starts_with(place.prefix)) continue;
    if (!place.allows(*directory, name)) continue;
    const GenerationName key{parsed->launch, parsed->sequence};
    Generation& generation = by_name[key];
    generation.name = key;
    ++generation.containers;
    const auto reader = ContainerReader::open(directory->descriptor(), name);
    const auto parts =
        reader ? (*reader)->parts() : Result<const std::vector<PartRecord>*>(reader.error());
    const bool is_sound =
        parts && (*reader)->set().launch == key.launch && (*reader)->set().sequence == key.sequence;
    if (is_sound) {
      add_container(generation, (*reader)->set(), **parts, components);
    } else {
      generation.damaged = true;
    }
  }
  for (auto& [key, generation] : by_name) found.push_back(std::move(generation));
  return found;
}

PresentNames present_names(const std::string& path, const std::string& masked_name,
                           std::uint32_t rank, std::uint32_t rank_count) {
  PresentNames present;
  for (std::uint32_t other = 0; other < rank_count; ++other) {
    AtName there;
    const std::vector<std::string> paths =
        other == rank ? std::vector{path} : sibling_paths(path, masked_name, rank, other);
    for (const std::string& sibling : paths) {
      auto stub = read_stub_at(sibling, there);
      if (there.kind == AtName::Kind::nothing) continue;
      present.paths[other] = sibling;
      if (stub) present.stubs[other] = std::move(*stub);
      break;
    }
    present.at[other] = there;
  }
  return present;
}

StageLook look_into_stages(PresentNames& present, std::vector<Generation>& generations,
                           std::size_t components) {
  using State = LaunchDirectory::State;
  StageLook look;
  std::map<std::string, std::optional<LaunchDirectory>> stages;
  for (auto& [rank, stub] : present.stubs) {
    AtName& there = present.at[rank];
    auto known = std::find_if(generations.begin(), generations.end(),
                              [&](const auto& it) { return it.name == there.generation; });
    auto [stage, is_new] = stages.try_emplace(stub.launch_directory);
    if (is_new) {
      auto opened = LaunchDirectory::open(stub.launch_directory);
      if (opened) stage->second = std::move(*opened);
      const auto goes_on = stage->second ? stage->second->anybody_goes_on() : Result<bool>(false);
      if (goes_on && *goes_on) look.living.insert(stub.launch);
    }
    if (known != generations.end() && has_part(*known, stub.part)) {
      there.available = true;
      continue;
    }
    const bool staged = stage->second && (stage->second->is_in(State::published, stub.part) ||
                                          stage->second->is_in(State::committed, stub.part));
    there.available = staged;
    look.lost |= !staged;
    look.drains |= staged && !look.living.contains(stub.launch);
    if (known == generations.end()) {
      Generation generation;
      generation.name = there.generation;
      generation.order_ns = not_committed;
      generation.account.rank_count = stub.rank_count;
      known = generations.insert(generations.end(), std::move(generation));
    }
    if (!staged) continue;
    known->account.wrote.insert(stub.rank);
    const std::string path = path_tail(stub.path, components);
    known->members[path] = {stub.part, stub.rank, path, not_committed};
  }
  return look;
}

}  // namespace mcr::restart
