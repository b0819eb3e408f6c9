// SPDX-License-Identifier: BSD-3-Clause
// The steps of a collection.
//
//  1. Is the committed set whole, as its containers say? If not, nothing is done.
//  2. The directory is synced, so that the containers found in it are durable.
//  3. Decisions that were made before the set was begun are removed. So are the native files of
//     older writings of its name that were kept aside, and the notes about them.
//       crash: some of them remain; no reader needs them
//  4. With gc=on, each older set that the program has given up is removed: a line is written into
//     set-removed.log, then the set's containers with parts go, then those without parts, then our
//     links to the set's stubs.
//       crash: some files of the set remain, and the set is still known to be given up; or links
//       remain without a container, and step 5 removes them
//  5. Links to stubs are removed if no container in the directory lists the stub's part and the
//     program gave the part up before the set was begun.
#include "aggregation/commit/collection.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <set>

#include "aggregation/commit/retention.hpp"
#include "aggregation/commit/set_files.hpp"
#include "restart/base/durable_replace.hpp"
#include "restart/base/fitting_names.hpp"
#include "restart/base/system.hpp"
#include "restart/base/trust.hpp"
#include "restart/sets/decision.hpp"
#include "restart/sets/native_members.hpp"
#include "restart/stage/stub_file.hpp"

namespace mcr::aggregation {

using restart::File;
using restart::FileIdentity;
using restart::modified_ns;
using restart::ParsedContainerName;
using restart::StubLinks;

namespace {

/// A leader never makes symbolic links with the names of containers.
bool is_regular(const std::string& path) {
  struct stat status {};
  return restart::system_calls().fstatat(AT_FDCWD, path.c_str(), &status, AT_SYMLINK_NOFOLLOW) ==
             0 &&
         S_ISREG(status.st_mode);
}

/// Returns the masked name in a prefix of containers' names; empty if it is none.
std::string masked_name_in(const std::string& prefix) {
  const auto own = restart::parse_container_name(prefix + restart::container_suffix(0, 0, {}));
  return own ? own->masked_name : std::string();
}

class Collector {
 public:
  Collector(const CommittedSet& committed, File home, std::vector<std::string> names)
      : committed_(committed),
        directory_(committed.where.directory),
        home_(std::move(home)),
        names_(std::move(names)) {
    masked_name_ = masked_name_in(committed.where.prefix);
    distinct_masked_name_ = masked_name_in(committed.where.distinct_prefix);
  }

  Result<std::vector<std::string>> run() {
    if (masked_name_.empty() || !has_anything_to_do() || !may_be_last()) {
      return std::vector<std::string>();
    }
    auto own = sets_of([&](const std::string& name) {  // 1
      return name.starts_with(committed_.where.prefix);
    });
    std::erase_if(own, [&](const StoredSet& set) {
      return !set.beside.believes(set.owner, ::geteuid()) ||
             (shares_its_names() && distinct_name_of(set) != distinct_masked_name_);
    });
    if (own.size() != 1 || own.front().wholeness != Wholeness::whole)
      return std::vector<std::string>();
    begun_ns_ = own.front().begun_ns;
    MCR_TRY(restart::sync_directory(home_.descriptor()));  // 2
    remove_decisions();                                    // 3
    remove_native_members();
    if (!committed_.collects) return std::vector<std::string>();
    return collect(own.front());  // 4, 5
  }

 private:
  /// True if containers of another directory's sets may have the same names (container_dir=../NAME).
  [[nodiscard]] bool shares_its_names() const { return masked_name_ != distinct_masked_name_; }

  [[nodiscard]] bool has_anything_to_do() const {
    return committed_.collects || std::any_of(names_.begin(), names_.end(), [](const auto& name) {
             return restart::prefix_of_decision(name) || name == restart::native_members_directory;
           });
  }

  /// True if the names of the set's containers account for all ranks, or if the container with the
  /// lowest ranks is ours.
  [[nodiscard]] bool may_be_last() const {
    if (shares_its_names()) return true;  // the names do not tell
    std::vector<std::pair<std::uint32_t, std::uint32_t>> runs;
    for (const std::string& name : names_) {
      if (!name.starts_with(committed_.where.prefix)) continue;
      if (const auto parsed = restart::parse_container_name(name))
        runs.emplace_back(parsed->first_rank, parsed->last_rank);
    }
    std::sort(runs.begin(), runs.end());
    if (!runs.empty() && runs.front().first == committed_.first_rank) return true;
    std::uint64_t covered = 0;
    for (const auto& [first, last] : runs) {
      if (first > covered) return false;
      covered = std::max<std::uint64_t>(covered, std::uint64_t{last} + 1);
    }
    return covered >= committed_.rank_count;
  }

  template <typename Wanted>
  std::vector<StoredSet> sets_of(Wanted wanted) const {
    std::vector<std::string> containers;
    for (const std::string& name : names_) {
      if (restart::is_container_name(name) && wanted(name) && is_regular(directory_ + "/" + name))
        containers.push_back(directory_ + "/" + name);
    }
    std::vector<Error> unreadable;
    auto sets = stored_sets(containers, unreadable);
    // The containers were read by path, and the path may have led to another directory.
    std::erase_if(
        sets, [&](const StoredSet& set) { return set.beside.identity() != committed_.directory; });
    return sets;
  }

  /// True if the decision is about this masked name, or chose a set of this name for files that
  /// were renamed afterwards.
  [[nodiscard]] bool is_about_this_name(const std::string& name, const std::string& prefix) const {
    const std::string masked_name = masked_name_in(prefix);
    if (masked_name.empty()) return false;
    if (masked_name == distinct_masked_name_) return true;
    const auto decision = restart::find_decision(directory_, name);
    if (!decision) return false;
    const auto may_be_chosen = [&](const std::string& other) {
      const auto container = restart::parse_container_name(other);
      return container && container->masked_name == masked_name_ &&
             container->launch == decision->newest.launch &&
             container->sequence == decision->newest.sequence;
    };
    if (!shares_its_names()) return std::any_of(names_.begin(), names_.end(), may_be_chosen);
    // The names of containers do not tell the sets of step1/ and step2/ apart; the containers do.
    const auto chosen = sets_of(may_be_chosen);
    return std::any_of(chosen.begin(), chosen.end(), [&](const StoredSet& set) {
      return distinct_name_of(set) == distinct_masked_name_;
    });
  }

  [[nodiscard]] std::string distinct_name_of(const StoredSet& set) const {
    const restart::ContainerName& where = committed_.where;
    const std::string container_dir =
        where.directory.substr(where.base == "/" ? 1 : where.base.size() + 1);
    return masked_name_in(restart::container_name(set.name.masked_name, container_dir,
                                                  set.name.launch, set.name.sequence)
                              .distinct_prefix);
  }

  /// Removes the decisions made before this set was begun. Ranks that follow such a decision opened
  /// their files before their own or another launch completed this set, so they no longer need it.
  void remove_decisions() const {
    for (const std::string& name : names_) {
      struct stat status {};
      const auto prefix = restart::prefix_of_decision(name);
      if (!prefix ||
          restart::system_calls().fstatat(home_.descriptor(), name.c_str(), &status,
                                          AT_SYMLINK_NOFOLLOW) != 0 ||
          status.st_uid != ::geteuid() || modified_ns(status) >= begun_ns_ ||
          !is_about_this_name(name, *prefix)) {
        continue;
      }
      (void)restart::system_calls().unlinkat(home_.descriptor(), name.c_str(), 0);
    }
  }

  /// Removes native files of older writings of this name, and the notes about them.
  void remove_native_members() const {
    const auto home = File::open(home_.descriptor(), std::string(restart::native_members_directory),
                                 O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    // A neighbour could have moved this user's files and notes into a directory that he may write to.
    const auto beside =
        home ? restart::Beside::of(home_, *home) : Result<restart::Beside>(home.error());
    if (!beside || !beside->adders_may_remove(::geteuid())) return;
    const auto notes = restart::list_directory(home->descriptor(), ".");
    if (!notes) return;
    for (const std::string& name : *notes) {
      if (!name.ends_with(restart::native_note_ending)) continue;
      const auto note = File::open(home->descriptor(), name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
      const auto status = note ? note->status() : Result<struct stat>(note.error());
      const auto stub = note ? restart::read_stub_file(*note) : Result<restart::Stub>(note.error());
      const auto author = note ? restart::author_of(*note, *home) : Result<uid_t>(note.error());
      if (!status || !stub || !author || *author != ::geteuid()) continue;
      if (!is_older_writing(*stub, *status)) continue;
      const bool was_aside =
          remove_aside(*home, name.substr(0, name.size() - restart::native_note_ending.size()));
      // With container_dir=../NAME, the file may have moved with its directory, and then only the note tells
      // which file it is.
      if (was_aside || !shares_its_names())
        (void)restart::system_calls().unlinkat(home->descriptor(), name.c_str(), 0);
    }
  }

  /// Removes a native file that was kept aside. Its name is its inode number. False: there was none.
  static bool remove_aside(const File& home, const std::string& name) {
    struct stat there {};
    if (restart::system_calls().fstatat(home.descriptor(), name.c_str(), &there,
                                        AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISREG(there.st_mode) && name == restart::aside_name(there.st_ino))
      return restart::system_calls().unlinkat(home.descriptor(), name.c_str(), 0) == 0;
    return false;
  }

  [[nodiscard]] bool is_older_writing(const restart::Stub& stub, const struct stat& note) const {
    const auto own = restart::parse_container_name(committed_.where.prefix +
                                                   restart::container_suffix(0, 0, {}));
    const bool is_this_name = std::any_of(
        stub.masked_names.begin(), stub.masked_names.end(), [&](const std::string& masked) {
          const auto name =
              restart::container_name(masked, stub.container_directory, own->launch, own->sequence);
          return name.prefix == committed_.where.prefix &&
                 name.distinct_prefix == committed_.where.distinct_prefix;
        });
    if (!is_this_name) return false;
    if (stub.launch == own->launch) return stub.sequence < own->sequence;
    // The note was last touched when the file was closed.
    return static_cast<std::uint64_t>(note.st_ctim.tv_sec + 1) * 1'000'000'000 < begun_ns_;
  }

  [[nodiscard]] std::set<std::pair<std::string, std::uint64_t>> decided() const {
    std::set<std::pair<std::string, std::uint64_t>> found;
    for (const std::string& name : names_) {
      if (!restart::prefix_of_decision(name)) continue;
      if (const auto decision = restart::find_decision(directory_, name))
        found.emplace(decision->given.launch, decision->given.sequence);
    }
    return found;
  }

  Result<std::vector<std::string>> collect(const StoredSet& newest) const {
    std::vector<std::string> removed;
    const StubLinks links = MCR_TRY(StubLinks::list(home_));
    // If no link to this set could be made, links are not kept here, or not by this user.
    const bool has_links =
        std::any_of(newest.parts.begin(), newest.parts.end(), [&](const StoredPart& part) {
          return links.fate(part.part, newest.owner) != StubLinks::Fate::unknown;
        });
    if (!has_links) return removed;
    const auto sets = sets_of([](const std::string&) { return true; });
    const auto in_force = decided();
    std::vector<GivenUp> orders = given_up(sets, links);
    std::erase_if(orders, [&](const GivenUp& order) {
      return in_force.contains({order.set->name.launch, order.set->name.sequence});
    });
    for (const GivenUp& order : without_shared_containers(std::move(orders), sets)) {
      MCR_TRY(remove_set(order));
      removed.push_back(order.set->prefix);
    }
    std::set<PartId> listed;
    for (const StoredSet& set : sets) {
      if (set.is_unreadable) return removed;  // may list any part
      for (const StoredPart& part : set.parts) listed.insert(part.part);
    }
    for (const PartId& part : links.parts()) {
      if (!listed.contains(part) && links.fate(part, ::geteuid()) == StubLinks::Fate::given_up &&
          links.changed_ns(part) < begun_ns_) {
        links.remove(part);
      }
    }
    return removed;
  }

  const CommittedSet& committed_;
  const std::string& directory_;
  File home_;  ///< committed_.where.directory, open
  std::vector<std::string> names_;
  std::string masked_name_;           ///< as in the names of containers
  std::string distinct_masked_name_;  ///< as in the names of decisions
  std::uint64_t begun_ns_ = 0;
};

}  // namespace

Result<std::vector<std::string>> collect_after(const CommittedSet& committed) {
  auto home = File::open(AT_FDCWD, committed.where.directory, O_RDONLY | O_DIRECTORY);
  if (!home) {
    if (home.error().system_error == ENOENT) return std::vector<std::string>();
    return home.error();
  }
  const bool is_it = FileIdentity(MCR_TRY(home->status())) == committed.directory;
  if (!is_it) return std::vector<std::string>();
  auto names =
      MCR_TRY(restart::list_fitting_names(home->descriptor(), ".", [](const std::string& name) {
        return restart::is_container_name(name) || restart::prefix_of_decision(name) ||
               name == restart::native_members_directory;
      }));
  return Collector(committed, *std::move(home), std::move(names)).run();
}

}  // namespace mcr::aggregation
