// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/commit/dropped_sets.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "aggregation/commit/commit_options.hpp"
#include "aggregation/merge/part_settings.hpp"
#include "restart/base/durable_replace.hpp"
#include "restart/base/file.hpp"
#include "restart/base/log.hpp"
#include "restart/base/path_names.hpp"
#include "restart/base/system.hpp"
#include "restart/sets/own_containers.hpp"
#include "restart/sets/removed_sets.hpp"
#include "restart/sets/stub_links.hpp"
#include "restart/stage/put_back_mark.hpp"
#include "restart/stage/stub_file.hpp"

namespace mcr::aggregation {

using restart::File;
using restart::LaunchDirectory;
using restart::PartId;
using State = LaunchDirectory::State;

namespace {

/// The stub of a part, open in its directory.
struct StubToRemove {
  File directory;
  File stub;
  std::optional<std::string> our_link;  ///< gc=on
};

class Drop {
 public:
  Drop(const LaunchDirectory& directory, const SetName& set, const std::vector<PartId>& parts,
       const SetName& newer, StubHandles& stubs)
      : directory_(directory), set_(set), parts_(parts), newer_(newer), stubs_(stubs) {}

  Result<bool> run() {
    for (const PartId& part : parts_) {
      auto journal = directory_.journal(State::published, part);
      if (!journal) {
        if (journal.error().system_error == ENOENT) continue;  // it has left the stage
        return journal.error();
      }
      journals_.push_back(std::move(*journal));
      if (!journals_.back().held_in) return false;
    }
    if (journals_.empty()) return true;
    note_paths_of_others();
    for (const restart::Journal& journal : journals_) {
      if (!is_removed(journal.begin) && !find_stub(journal.begin)) return false;
    }
    for (const restart::Journal& journal : journals_) {
      if (!MCR_TRY(remove_stub(journal.begin))) return false;
    }
    note();
    for (const restart::Journal& journal : journals_)
      MCR_TRY(directory_.free_part(journal.begin.part, {}));
    MCR_TRY(directory_.remove_held(*journals_.front().held_in));
    restart::log_summary("dropped " + set_.masked_name + ", sequence " +
                         std::to_string(set_.sequence) + ": " + newer_.masked_name + ", sequence " +
                         std::to_string(newer_.sequence) + ", is whole (flush=)");
    return true;
  }

 private:
  /// A rank that writes a path anew replaces the stub there itself, so the stub is left to it.
  void note_paths_of_others() {
    const std::set<PartId> own(parts_.begin(), parts_.end());
    for (const State state : {State::open, State::published}) {
      const auto others = directory_.list(state);
      if (!others) continue;
      for (const PartId& part : *others) {
        if (own.contains(part)) continue;
        if (const auto journal = directory_.journal(state, part))
          paths_of_others_.insert(journal->begin.path);
      }
    }
  }

  /// True if the program has deleted or overwritten the stub under its last name.
  [[nodiscard]] bool is_removed(const restart::PartBegin& begin) {
    const auto found = stubs_.find(begin.part);
    if (found.fate == StubHandles::Fate::removed) return true;
    if (found.fate == StubHandles::Fate::present) return false;
    const auto home = restart::open_own_containers(where_of(begin).directory);
    const auto links =
        home ? restart::StubLinks::list(*home) : Result<restart::StubLinks>(home.error());
    return links && links->fate(begin.part, ::geteuid()) == restart::StubLinks::Fate::given_up;
  }

  static restart::ContainerName where_of(const restart::PartBegin& begin) {
    return container_name_of(begin,
                             begin.masked_names.empty() ? begin.path : begin.masked_names.front());
  }

  /// Opens the stub at the path where it was written. Nothing if it is not there, or has a further name.
  [[nodiscard]] static std::optional<StubToRemove> find_stub(const restart::PartBegin& begin) {
    StubToRemove found;
    auto directory = restart::open_begun_in(begin, O_PATH);
    if (!directory) return std::nullopt;
    found.directory = std::move(*directory);
    auto stub = File::open(found.directory.descriptor(), restart::name_of(begin.path),
                           O_RDWR | O_NOFOLLOW | O_NONBLOCK);
    if (!stub) return std::nullopt;
    stub->leave_access_time();
    const auto status = stub->status();
    const auto content = restart::read_stub_file(*stub);
    if (!status || !content || content->part != begin.part || !restart::may_be_marked(*stub))
      return std::nullopt;
    found.our_link = restart::our_link_to(*content, begin.path, *status);
    if (status->st_nlink != (found.our_link ? 2U : 1U)) return std::nullopt;
    found.stub = std::move(*stub);
    return found;
  }

  /// Returns false if the program has renamed the stub just now.
  [[nodiscard]] Result<bool> remove_stub(const restart::PartBegin& begin) {
    if (is_removed(begin) || paths_of_others_.contains(begin.path)) return true;
    const auto found = find_stub(begin);
    if (!found) return false;
    // A rank may have it open to replace it: by the mark it knows who removed it.
    MCR_TRY(restart::mark_dropped(found->stub, begin.part));
    if (!MCR_TRY(unlink_very_file(*found, restart::name_of(begin.path), begin.part))) return false;
    if (found->our_link)
      (void)restart::system_calls().unlinkat(AT_FDCWD, found->our_link->c_str(), 0);
    return true;
  }

  /// Unlinks the stub by its name, but no other file that comes to that name at this moment: the name is moved
  /// away first.
  [[nodiscard]] static Result<bool> unlink_very_file(const StubToRemove& found,
                                                     const std::string& name, const PartId& part) {
    const int at = found.directory.descriptor();
    const auto& calls = restart::system_calls();
    const std::string aside = restart::temporary_name(part.text());
    if (calls.rename_new(at, name.c_str(), at, aside.c_str()) != 0) {
      if (restart::means_gone(errno)) return true;
      return restart::system_error("cannot remove the superseded file", name);
    }
    if (!restart::is_still_named(found.stub, at, aside)) {
      // Another file has that name by now: the program replaced it again, as it would have replaced this one.
      if (calls.rename_new(at, aside.c_str(), at, name.c_str()) == 0 || errno != EEXIST)
        return false;
    }
    (void)calls.unlinkat(at, aside.c_str(), 0);
    return true;
  }

  /// Writes a line for users who open a copy of a stub.
  void note() const {
    const restart::ContainerName where = where_of(journals_.front().begin);
    const auto home = restart::open_own_containers(where.directory);
    if (!home) return;
    const auto name = restart::container_name(
        set_.masked_name, settings_of(journals_.front().begin).text("container_dir"), set_.launch,
        set_.sequence);
    restart::note_removed_set(*home, name.prefix,
                              "removed: flush= kept it in node memory only, until sequence " +
                                  std::to_string(newer_.sequence) + " of " +
                                  restart::name_of(newer_.masked_name) + " was whole");
  }

  const LaunchDirectory& directory_;
  const SetName& set_;
  const std::vector<PartId>& parts_;
  const SetName& newer_;
  StubHandles& stubs_;
  std::vector<restart::Journal> journals_;
  std::set<std::string> paths_of_others_;
};

}  // namespace

Result<bool> drop_held_set(const LaunchDirectory& directory, const SetName& set,
                           const std::vector<PartId>& parts, const SetName& newer,
                           StubHandles& stubs) {
  return Drop(directory, set, parts, newer, stubs).run();
}

}  // namespace mcr::aggregation
