// SPDX-License-Identifier: BSD-3-Clause
#include "restart/sets/stored_sets.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "restart/base/file_identity.hpp"
#include "restart/base/path_names.hpp"
#include "restart/base/system.hpp"
#include "restart/base/trust.hpp"
#include "restart/container/late_copies.hpp"
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

void add_share(Generation& generation, const SetShare& share, const Maker& maker,
               std::size_t components) {
  add_order(generation.order_ns, generation.has_own_date, share.set, maker);
  account_for(generation.account, share);
  for (const PartRecord* record : share.parts) {
    const PartEntry& entry = record->entry;
    generation.parts.insert(entry.part);
    Member member{entry.part,           entry.rank, path_tail(entry.path, components),
                  share.set.created_ns, {},         maker.author};
    if (generation.is_copied) generation.copied.emplace(entry.part, member);
    add_member(generation, share, std::move(member));
  }
  for (const NativeMember& native : share.set.natives) {
    std::string path = path_tail(native.path, components);
    if (!is_plain_path(path)) continue;  // the path would lead out of the set's directory
    add_member(generation, share,
               {PartId{}, native.rank, std::move(path), 0, native, maker.author});
  }
}

/// All generations whose containers show one masked name in their file names, collected container by container. Files
/// of several directories may have been moved to one place: tmp1/a.{rank}.h5 and tmp2/a.{rank}.h5 both show a.{rank}.h5.
class FoundGenerations {
 public:
  FoundGenerations(const ContainerPlace& place, const OpenContainers& directory,
                   std::size_t components, bool own_only, Look& look)
      : place_(place),
        directory_(directory),
        beside_(directory.beside().value_or(Beside())),
        components_(components),
        own_only_(own_only),
        look_(look) {
    if (auto parsed = parse_container_name(place.prefix + container_suffix(0, 0, {}))) {
      wanted_ = std::move(parsed->masked_name);
      launch_ = std::move(parsed->launch);
    }
    if (auto parsed = parse_bundle_name(
            bundle_name(place.masked_name, "mcr", "launch", PartId{}).prefix + bundle_suffix(0)))
      bundles_ = std::move(parsed->pattern);
  }

  std::vector<Generation> find() {
    if (wanted_) {
      for_each(own_only_ ? place_.prefix : "set-" + *wanted_ + ".", [&](const std::string& name) {
        const auto own = parse_container_name(name);
        // A container that cannot be read counts for the masked name of the place.
        if (own && wanted_ == own->masked_name)
          add_container(name, {own->launch, own->sequence, place_.masked_name}, identity_of(name));
      });
    }
    if (bundles_) {
      for_each("set-" + *bundles_ + (own_only_ ? "." + launch_ + "-" : "."),
               [&](const std::string& name) {
                 const auto bundle = parse_bundle_name(name);
                 if (bundle && bundles_ == bundle->pattern) add_bundle(name);
               });
    }
    // Which copies are late ones is known only now.
    are_originals_read_ = true;
    for (const Copy& copy : std::exchange(copies_, {})) {
      if (look_.is_over()) break;
      copy.name ? add_container(copy.file, *copy.name, copy.identity) : add_bundle(copy.file);
    }
    std::vector<Generation> found;
    for (auto& [name, generation] : by_name_) {
      if (auto late = late_.extract(name)) {
        generation.copied = std::move(late.mapped().copied);
        generation.account_of_copied = std::move(late.mapped().account);
      }
      found.push_back(std::move(generation));
    }
    for (auto& [name, generation] : late_) found.push_back(std::move(generation));
    mark_after_failed_attempts(found);
    return found;
  }

 private:
  struct Copy {
    std::string file;
    FileIdentity identity;
    std::optional<GenerationName> name;  ///< none: it may be a bundle
  };

  template <typename Take>
  void for_each(const std::string& prefix, Take take) {
    const auto names = look_.containers(directory_, prefix);
    if (!names) return;
    for (const std::string& name : *names) {
      if (look_.is_over()) return;
      take(name);
    }
  }

  /// True if the error says nothing about the container. Then notes that the look is not complete.
  [[nodiscard]] bool note_if_unknown(const Error& error) const {
    if (means_no_resources(error.system_error)) look_.note(error);
    return means_no_resources(error.system_error);
  }

  [[nodiscard]] bool left_out(const std::string& name) const {
    return own_only_ && !name.starts_with(place_.prefix);
  }

  /// True if the set has one of the names that are looked for. With `own_only_`, its whole masked name is the place's.
  [[nodiscard]] bool is_wanted(const SetIdentity& set) const {
    return place_.fits(set) && (!own_only_ || set.masked_name == place_.masked_name);
  }

  [[nodiscard]] FileOrigin origin_here(const ContainerReader& container) const {
    const auto status = container.status();
    return status ? origin_by(container.origin(), *status, beside_.author(*status))
                  : container.origin();
  }

  /// True if the container is a copy, and originals are still to be read.
  bool is_for_later(const ContainerReader& container, const Copy& copy) {
    const FileOrigin origin = origin_here(container);
    if (is_own(copy.file)) late_copies_.add(origin, newest_order(container.set()));
    if (are_originals_read_ || !origin.is_copy) return false;
    known_copies_.insert(copy.identity);
    copies_.push_back(copy);
    return true;
  }

  Generation& one_container_more(const GenerationName& name, bool is_copy = false,
                                 bool is_late = false) {
    Generation& generation = is_late ? late_[name] : by_name_[name];
    generation.is_copied = is_late;
    generation.is_of_copies = is_copy && (generation.is_of_copies || generation.containers == 0);
    generation.name = name;
    ++generation.containers;
    return generation;
  }

  /// Adds the sets in a bundle. (A bundle is of a launch with one rank.)
  void add_bundle(const std::string& file) {
    if (!are_originals_read_ && !bundles_read_.insert(identity_of(file)).second) return;
    const auto reader = directory_.container(file);
    if (reader && is_for_later(**reader, {file, identity_of(file), std::nullopt})) return;
    const auto shares =
        reader ? shares_of(**reader) : Result<std::vector<SetShare>>(reader.error());
    const auto status = reader ? (*reader)->status() : Result<struct stat>(reader.error());
    if (!shares || !status) {
      (void)note_if_unknown(shares ? status.error() : shares.error());
      return;
    }
    for (const SetShare& share : *shares) {
      const SetIdentity& set = share.set;
      if (!is_wanted(set)) continue;
      const std::string own =
          container_name(set.masked_name, "mcr", set.launch, set.sequence).prefix +
          container_suffix(0, 0, {});
      const auto parsed = share.is_bundled ? parse_container_name(own) : std::nullopt;
      if (!parsed || wanted_ != parsed->masked_name || left_out(own)) continue;
      const std::uint64_t limit_ns = late_copies_.latest_ns(origin_here(**reader));
      add_share(one_container_more({set.launch, set.sequence, set.masked_name},
                                   origin_here(**reader).is_copy, limit_ns != 0),
                share, maker_of(beside_, *status).of_copy(limit_ns), components_);
    }
  }

  /// True if this user or root has made the file in the directory of containers.
  [[nodiscard]] bool is_own(const std::string& file) const {
    struct stat status {};
    return system_calls().fstatat(directory_.descriptor(), file.c_str(), &status,
                                  AT_SYMLINK_NOFOLLOW) == 0 &&
           is_believed(beside_.author(status), ::geteuid());
  }

  void add_container(const std::string& file, GenerationName name, const FileIdentity& identity) {
    if (!are_originals_read_ && known_copies_.contains(identity)) {
      copies_.push_back({file, identity, name});
      return;
    }
    const auto earlier = read_.find(identity);
    if (earlier != read_.end()) {
      const auto& names = earlier->second.names;
      const bool is_same =
          names && names->launch == name.launch && names->sequence == name.sequence;
      if (!is_same) return add_damage(name, file, earlier->second.origin);
      if (earlier->second.is_added) return;
    }
    const auto reader = directory_.container(file);
    // If the container's owner is not believed, the container counts as missing.
    if (!reader && reader.error().cause == Cause::usage) return;
    if (reader && is_for_later(**reader, {file, identity, name})) return;
    if (!reader && !are_originals_read_ && origin_in_place(file).is_copy) {
      known_copies_.insert(identity);
      copies_.push_back({file, identity, name});
      return;
    }
    const auto shares =
        reader ? shares_of(**reader) : Result<std::vector<SetShare>>(reader.error());
    const auto status = shares ? (*reader)->status() : Result<struct stat>(shares.error());
    if (!status && note_if_unknown(status.error())) return;
    // The names in the container; none if it is damaged, or a bundle under the name of a container of one set.
    std::optional<GenerationName> names;
    if (status && (*reader)->set().bundled.empty()) {
      const SetIdentity& set = (*reader)->set();
      if (!is_wanted(set)) return;
      name.masked_name = set.masked_name;
      names = {set.launch, set.sequence, set.masked_name};
    }
    Read& read = read_[identity];
    read.names = names;
    read.is_added = read.names == name;
    read.origin = reader ? origin_here(**reader) : origin_in_place(file);
    if (!read.is_added) return add_damage(name, file, read.origin);
    const std::uint64_t limit_ns = late_copies_.latest_ns(read.origin);
    Generation& generation = one_container_more(name, read.origin.is_copy, limit_ns != 0);
    for (const SetShare& share : *shares)
      add_share(generation, share, maker_of(beside_, *status).of_copy(limit_ns), components_);
  }

  /// Returns the origin of a file that may be unreadable as a container.
  [[nodiscard]] FileOrigin origin_in_place(const std::string& file) const {
    struct stat status {};
    FileOrigin origin = origin_of(directory_.directory(), file).value_or(FileOrigin());
    if (system_calls().fstatat(directory_.descriptor(), file.c_str(), &status,
                               AT_SYMLINK_NOFOLLOW) != 0)
      return origin;
    return origin_by(origin, status, beside_.author(status));
  }

  /// The file is damaged, or has another set in it than its name says. In a late copy this says nothing of the set's own containers.
  void add_damage(const GenerationName& name, const std::string& file, const FileOrigin& origin) {
    Generation& generation = one_container_more(name, origin.is_copy, late_copies_.is_late(origin));
    generation.damaged = true;
    generation.damaged_container = place_.directory + "/" + file;
    if (generation.has_own_date || !is_own(file)) return;
    generation.order_ns = 0;  // unknown: no earlier set replaces the damaged one
    generation.has_own_date = true;
  }

  [[nodiscard]] FileIdentity identity_of(const std::string& file) const {
    struct stat status {};
    if (system_calls().fstatat(directory_.descriptor(), file.c_str(), &status,
                               AT_SYMLINK_NOFOLLOW) != 0)
      look_.note(system_error("cannot look at", file));
    return FileIdentity(status);
  }

  /// What was found in a file. If another user gives a large container a thousand names, it is still
  /// read only once, or twice if its first name is not the name of the set in it.
  struct Read {
    std::optional<GenerationName> names;  ///< the generation that the file names, if it names one
    FileOrigin origin;
    bool is_added = false;
  };

  const ContainerPlace& place_;
  const OpenContainers& directory_;
  Beside beside_;  ///< of `directory_`
  std::size_t components_;
  bool own_only_;
  Look& look_;
  std::optional<std::string> wanted_;   ///< the masked name in names of containers
  std::string launch_;                  ///< in the place's prefix
  std::optional<std::string> bundles_;  ///< the pattern in names of bundles
  std::map<GenerationName, Generation> by_name_;
  std::map<GenerationName, Generation> late_;  ///< what late copies of containers say
  std::vector<Copy> copies_;                   ///< to be read after all originals
  std::set<FileIdentity> known_copies_;
  LateCopies late_copies_;
  bool are_originals_read_ = false;
  std::map<FileIdentity, Read> read_;
  std::set<FileIdentity> bundles_read_;
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
  account.passed.insert(account.passed.end(), set.passed_ranks.begin(), set.passed_ranks.end());
  account.failed.insert(account.failed.end(), set.failed_ranks.begin(), set.failed_ranks.end());
  account.drifted |= set.drifted;
  add_attempts(account.failed_attempts, set.failed_attempts);
  for (const PartRecord* record : share.parts) account.wrote.insert(record->entry.rank);
  for (const NativeMember& native : set.natives) account.wrote.insert(native.rank);
}

void add_statements(Account& account, const Account& more) {
  account.passed.insert(account.passed.end(), more.passed.begin(), more.passed.end());
  account.failed.insert(account.failed.end(), more.failed.begin(), more.failed.end());
  account.drifted |= more.drifted;
  add_attempts(account.failed_attempts, more.failed_attempts);
}

Maker maker_of(const Beside& beside, const struct stat& container) {
  return {beside.author(container), beside.others_may_add()
                                        ? changed_ns(container)
                                        : std::numeric_limits<std::uint64_t>::max()};
}

std::uint64_t newest_order(const SetIdentity& set) {
  std::uint64_t newest = set.order();
  for (std::size_t i = 0; i < set.bundled.size(); ++i)
    newest = std::max(newest, set_of_part(set, i).order());
  return newest;
}

void add_order(std::uint64_t& order_ns, bool& has_own_date, const SetIdentity& set,
               const Maker& maker) {
  const bool is_own = is_believed(maker.author, ::geteuid());
  if (has_own_date && !is_own) return;
  const bool is_first = order_ns == 0 || has_own_date != is_own;
  const std::uint64_t order = std::min(set.order(), maker.latest_ns);
  order_ns = is_first ? order : std::min(order_ns, order);
  has_own_date = is_own;
}

const std::vector<Generation>& stored_generations(const ContainerPlace& place,
                                                  std::size_t components, bool own_only,
                                                  Look& look) {
  const auto nothing = [] { return std::vector<Generation>(); };
  const std::vector<Generation>& none = look.answer({}, nothing);  // valid as long as the look
  if (look.is_over()) return none;
  const auto directory = look.open(place);
  if (!directory) return none;
  const auto key = directory->key();
  if (!key) {
    look.note(key.error());
    return none;
  }
  return look.answer(
      {*key, place.directory, place.prefix, place.masked_name, components, own_only},
      [&] { return FoundGenerations(place, *directory, components, own_only, look).find(); });
}

}  // namespace mcr::restart
