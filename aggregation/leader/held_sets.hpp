// SPDX-License-Identifier: BSD-3-Clause
// The sets of several nodes that this leader holds back (flush=), and what it tells the team about them, and the team it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "aggregation/commit/held_set.hpp"
#include "aggregation/leader/decisions.hpp"
#include "restart/stage/team_directory.hpp"

namespace mcr::aggregation {

class HeldSets {
 public:
  explicit HeldSets(const restart::LaunchDirectory& directory) : directory_(directory) {}
  /// Removes this leader's files from safe/ and agreed/. The replicas of held sets stay, unless withdraw_all() was called.
  ~HeldSets();
  HeldSets(const HeldSets&) = delete;
  HeldSets& operator=(const HeldSets&) = delete;

  // The drain's thread calls these three.
  void add(const SetName& set, std::unique_ptr<HeldSet> held);
  struct Taken {
    std::unique_ptr<HeldSet> held;  ///< null if the set is not held
    std::set<PartId> waiting;       ///< the parts for which an earlier commit has failed
  };
  Taken take(const SetName& set);

  /// These parts of a set that was taken still wait for storage. The buddy keeps the replica until none of them does.
  void keep(const SetName& set, Taken taken);

  // The leader's loop calls these.
  /// The part is in storage as a plain file, or the program removed it or writes it again.
  void note_left(const PartId& part);
  /// All parts are in storage.
  void withdraw_all();
  void tell(const TellSafe& safe);
  void take_back(const TakeBackSafe& safe);
  /// Returns what has become known: SetReplicated and SetAgreed.
  std::vector<Event> look();
  /// True if the team lives, or if this leader has needed none yet.
  [[nodiscard]] bool has_team();
  /// True if look() will probably find something new soon.
  [[nodiscard]] bool waits() const;

 private:
  struct Entry {
    std::unique_ptr<HeldSet> held;
    bool is_replicated = false;  ///< was told to the decisions
  };
  /// A file in safe/, and what the leader says when the set is not safe any more.
  struct Told {
    std::string name;
    std::string not_safe;
    bool is_safe = true;
  };
  const restart::TeamDirectory* place();

  const restart::LaunchDirectory& directory_;
  std::optional<restart::TeamDirectory> place_;
  std::map<SetName, Told> told_;
  mutable std::mutex mutex_;
  std::map<SetName, Entry> held_;  ///< guarded by mutex_
  std::map<SetName, Taken> kept_;  ///< guarded by mutex_: sets that storage has refused
  std::uint64_t changed_ms_ =
      0;  ///< guarded by mutex_: when the team last had something new to do or to say
};

}  // namespace mcr::aggregation
