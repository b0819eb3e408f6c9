// SPDX-License-Identifier: BSD-3-Clause
#include "restart/sets/stored_sets.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "restart/base/path_names.hpp"
#include "restart/base/system.hpp"
#include "restart/format/container_name.hpp"
#include "restart/format/masked_name.hpp"

namespace mcr::restart {
namespace {

/// If several containers have a member for one path, the newest container's member is used.
void add_member(Generation& generation, const SetShare& share, Member member) {
  member.written_ns = share.set.created_ns;
  Member& known = generation.members[member.path];
  if (member.written_ns >= known.written_ns) known = std::move(member);
}

void add_share(Generation& generation, const SetShare& share, uid_t owner, std::size_t components) {
  generation.masked_name = share.set.masked_name;
  generation.order_ns = earlier_order(generation.order_ns, share.set);
  account_for(generation.account, share);
  for (const PartRecord* record : share.parts) {
    const PartEntry& entry = record->entry;
    generation.parts.insert(entry.part);
    add_member(generation, share,
               {entry.part, entry.rank, path_tail(entry.path, components), 0, {}, owner});
  }
  for (const NativeMember& native : share.set.natives) {
    std::string path = path_tail(native.path, components);
    if (!is_plain_path(path)) continue;  // the path would lead out of the set's directory
    add_member(generation, share, {PartId{}, native.rank, std::move(path), 0, native, owner});
  }
}

/// The generations of one masked name, collected container by container.
class FoundGenerations {
 public:
  FoundGenerations(const ContainerPlace& place, const OpenContainers& directory,
                   std::size_t components, bool own_only)
      : place_(place), directory_(directory), components_(components), own_only_(own_only) {
    if (auto parsed = parse_container_name(place.prefix + container_suffix(0, 0, {})))
      wanted_ = std::move(parsed->masked_name);
    if (auto parsed = parse_bundle_name(
            bundle_name(place.masked_name, "mcr", "launch", PartId{}).prefix + bundle_suffix(0)))
      bundles_ = std::move(parsed->pattern);
  }

  void look_at(const std::string& name) {
    if (const auto bundle = parse_bundle_name(name)) {
      if (bundles_ == bundle->pattern) add_bundle(name);
    } else if (const auto own = parse_container_name(name)) {
      const bool is_wanted = wanted_ == own->masked_name && !left_out(name);
      if (is_wanted) add_container(name, {own->launch, own->sequence});
    }
  }

  std::vector<Generation> take() {
    std::vector<Generation> found;
    for (auto& [name, generation] : by_name_) found.push_back(std::move(generation));
    return found;
  }

 private:
  [[nodiscard]] bool left_out(const std::string& name) const {
    return own_only_ && !name.starts_with(place_.prefix);
  }

  Generation& one_container_more(const GenerationName& name) {
    Generation& generation = by_name_[name];
    generation.name = name;
    ++generation.containers;
    return generation;
  }

  /// Adds the sets in a bundle. (A bundle is of a launch with one rank.)
  void add_bundle(const std::string& file) {
    const auto reader = directory_.container(file);
    const auto shares =
        reader ? shares_of(**reader) : Result<std::vector<SetShare>>(reader.error());
    const auto status = reader ? (*reader)->status() : Result<struct stat>(reader.error());
    if (!shares || !status) return;
    for (const SetShare& share : *shares) {
      const SetIdentity& set = share.set;
      const std::string own =
          container_name(set.masked_name, "mcr", set.launch, set.sequence).prefix +
          container_suffix(0, 0, {});
      const auto parsed = share.is_bundled ? parse_container_name(own) : std::nullopt;
      if (!parsed || wanted_ != parsed->masked_name || left_out(own)) continue;
      add_share(one_container_more({set.launch, set.sequence}), share, status->st_uid, components_);
    }
  }

  void add_container(const std::string& file, const GenerationName& name) {
    const auto reader = directory_.container(file);
    // A container of a user who is not believed counts as missing.
    if (!reader && reader.error().cause == Cause::usage) return;
    Generation& generation = one_container_more(name);
    const auto shares =
        reader ? shares_of(**reader) : Result<std::vector<SetShare>>(reader.error());
    const auto says = [&](const SetIdentity& set) {
      return set.bundled.empty() && GenerationName{set.launch, set.sequence} == name;
    };
    const bool is_sound = shares && says((*reader)->set());
    const auto status = is_sound ? (*reader)->status() : Result<struct stat>(Error{});
    if (!status) {
      generation.damaged = true;
      generation.damaged_container = place_.directory + "/" + file;
      return;
    }
    for (const SetShare& share : *shares) add_share(generation, share, status->st_uid, components_);
  }

  const ContainerPlace& place_;
  const OpenContainers& directory_;
  std::size_t components_;
  bool own_only_;
  std::optional<std::string> wanted_;   ///< the masked name in names of containers
  std::optional<std::string> bundles_;  ///< the pattern in names of bundles
  std::map<GenerationName, Generation> by_name_;
};

}  // namespace

Result<std::vector<SetShare>> shares_of(ContainerReader& reader) {
  const std::vector<PartRecord>& parts = *MCR_TRY(reader.parts());
  const SetIdentity& set = reader.set();
  std::vector<SetShare> shares;
  if (set.bundled.empty()) {
    SetShare& whole = shares.emplace_back(SetShare{set, {}, false});
    for (const PartRecord& part : parts) whole.parts.push_back(&part);
    return shares;
  }
  for (std::size_t i = 0; i < std::min(set.bundled.size(), parts.size()); ++i)
    shares.push_back({set_of_part(set, i), {&parts[i]}, true});
  return shares;
}

void account_for(Account& account, const SetShare& share) {
  const SetIdentity& set = share.set;
  account.rank_count = std::max(account.rank_count, set.rank_count);
  account.is_of_one_file = is_of_one_file(set.masked_name);
  account.passed.insert(set.passed_ranks.begin(), set.passed_ranks.end());
  account.failed.insert(set.failed_ranks.begin(), set.failed_ranks.end());
  account.drifted |= set.drifted;
  for (const PartRecord* record : share.parts) account.wrote.insert(record->entry.rank);
  for (const NativeMember& native : set.natives) account.wrote.insert(native.rank);
}

std::uint64_t earlier_order(std::uint64_t order_ns, const SetIdentity& set) {
  return order_ns == 0 ? set.order() : std::min(order_ns, set.order());
}

std::vector<Generation> stored_generations(const ContainerPlace& place, std::size_t components,
                                           bool own_only) {
  const auto directory = place.open();
  if (!directory) return {};
  const auto names = list_directory(directory->descriptor(), ".");
  if (!names) return {};
  FoundGenerations found(place, *directory, components, own_only);
  for (const std::string& name : *names) found.look_at(name);
  return found.take();
}

}  // namespace mcr::restart
