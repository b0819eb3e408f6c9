// SPDX-License-Identifier: BSD-3-Clause
// Decides which generation of a set a restart sees (docs/design/sets.md, docs/design/restart.md).
// Pure: it reads no clock and no file, so every rank that sees the same directory decides the same.
//
// A part's life, with the function that makes each transition:
//
//   (none) --LaunchDirectory::begin--> open --LaunchDirectory::publish--> published
//   published --LaunchDirectory::withdraw--> open             its writer goes on writing
//   published --write_container (final name)--> in a container
//   in a container --LaunchDirectory::mark_committed--> kept in the stage, or freed from it (free_part)
//   open, its writer dead --settle--> native file, kept in mcr/, or dropped
//   published --put_back--> native file
//
// A generation's life, as a reader of its containers and of the stubs at its final names sees it:
//
// clang-format off
//   unknown --a container or supplement accounts for the last rank--> whole
//   unknown --a rank drifted: counts prove nothing------------------> unknown for ever, read as native would
//   unknown --a rank ended without it, or its path shows another----> incomplete: the newest earlier whole one is given, if any
//   whole   --a newer one of the same names is whole----------------> superseded (`mcr gc` may take it)
// clang-format on
//
// wholeness() makes the transitions that counts prove. choose_generation() makes those that the
// files at the present names prove. The states are never stored: both functions look anew each
// time.
#pragma once

#include <sys/types.h>

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "restart/base/part_id.hpp"
#include "restart/format/index.hpp"

namespace mcr::restart {

/// What counts prove about a set. In a set that is `unknown`, a rank that is not accounted for may
/// have had nothing to write; an `incomplete` set certainly lacks a part.
enum class Wholeness : std::uint8_t { whole, incomplete, unknown };

/// What the indexes of a set's containers say about each rank of the set.
struct Account {
  std::uint32_t rank_count = 1;
  std::set<std::uint32_t> wrote;  ///< published a part of this set
  // The lists of all containers one after the other: in any order, and a rank may occur repeatedly. A
  // container of some MiB may list millions of ranks, which need ten times the memory in a std::set.
  std::vector<std::uint32_t> passed;  ///< known to have had nothing to write
  std::vector<std::uint32_t> failed;  ///< wrote earlier sets, and ended or died without this one
  /// A rank began its next writing too early, or attempts to write this set or an earlier one failed in some ranks only.
  bool drifted = false;
  bool is_of_one_file = false;  ///< a set of one file, whichever rank wrote it (masked_name.hpp)
  std::optional<FailedAttempts> failed_attempts = {};

  /// Its parts may belong to different steps.
  [[nodiscard]] bool has_drifted() const {
    return drifted || (failed_attempts && failed_attempts->differ());
  }
};
Wholeness wholeness(const Account& account);

/// Names one writing of a set: its launch, the masked name under which it was written, and its number
/// among the launch's writings of that name. If a program writes each step under another name and
/// renames the files to one name, only the masked names tell its writings apart.
struct GenerationName {
  std::string launch;
  std::uint64_t sequence = 0;
  std::string masked_name = {};  ///< a full path; empty: not known

  bool operator==(const GenerationName&) const = default;
  /// The writings of one name in one launch come one after the other.
  auto operator<=>(const GenerationName& other) const {
    return std::tie(launch, masked_name, sequence) <=>
           std::tie(other.launch, other.masked_name, other.sequence);
  }
};

/// A part of a generation that a container holds, or that the stage of this node still has.
struct Member {
  PartId part;
  std::uint32_t rank = 0;
  std::string path;              ///< relative to the directory that all parts share
  std::uint64_t written_ns = 0;  ///< time of the container; the newest member of a path counts
  /// Set if no container has the bytes: the file lies natively at its path, or it was kept aside.
  std::optional<NativeMember> native;
  uid_t owner = 0;  ///< owner of the container that lists the member
};

struct Generation {
  /// Order of a generation without a committed part: later than all generations of other launches.
  static constexpr std::uint64_t not_committed = UINT64_MAX;

  GenerationName name;
  Account account;
  std::uint64_t order_ns = 0;  ///< when it was begun, or not_committed
  /// When the parts of it in this node's stage were begun. 0: not known. It orders writings of one
  /// launch only.
  std::uint64_t staged_order_ns = 0;
  /// True if this user or root has containers or stubs of it: they alone say when it was begun
  /// (add_order()).
  bool has_own_date = false;
  std::map<std::string, Member> members;  ///< by path
  /// All parts in its containers. A part that a later amendment replaced counts too, because a
  /// copied stub may still name it.
  std::set<PartId> parts;
  /// Members in late copies (LateCopies) of containers. If the generation has other containers, each counts once a present stub
  /// names its part: the user may have copied the container from another user.
  std::map<PartId, Member> copied;
  Account
      account_of_copied;  ///< what these containers say of ranks without a part; counts once a member counts
  std::size_t containers = 0;
  /// All its containers are late copies.
  bool is_copied = false;
  /// All its containers are copies, late or not: the whole run may have been copied or moved.
  bool is_of_copies = false;

  [[nodiscard]] bool has(const PartId& part) const {
    return parts.contains(part) || copied.contains(part);
  }
  bool damaged = false;  ///< a container of the set is unreadable, or a native member is gone
  std::string damaged_container;  ///< path of an unreadable container; empty: none
};

/// The times that order writings. Time decides between launches, and between names within a launch.
/// Between the writings of one name in one launch the sequence decides, whatever the clocks said.
/// So the function changes the times: no writing gets an earlier time than a writing of the same
/// name and launch with a lower sequence. Then (time, name) is a total order.
using WritingTimes = std::map<GenerationName, std::uint64_t*>;
void follow_sequences(const WritingTimes& times);

/// If attempts to write a name's files failed in some ranks of a launch only, these ranks may count other steps than the others
/// from then on. So the first writing that shows it, and all later ones of the name and launch, count as drifted.
using WritingAccounts = std::map<GenerationName, Account*>;
void mark_after_failed_attempts(const WritingAccounts& accounts);
/// The same. Another user's container, or a copy of it, may name a launch of this user, but does not say that its writings have
/// drifted.
void mark_after_failed_attempts(std::vector<Generation>& generations);

/// What tells the files of a set apart: the rank or, if the masked name has {part}, the number there.
using FileNumber = std::uint64_t;

/// The file at a present name.
struct AtName {
  enum class Kind : std::uint8_t { nothing, stub, native_file, unreadable };
  Kind kind = Kind::nothing;
  GenerationName generation;      ///< the generation that the stub names
  bool available = false;         ///< a container, or the stage of this node, has the stub's part
  std::uint64_t modified_ns = 0;  ///< of a native file; 0: not known
  std::uint32_t rank = 0;         ///< that wrote it, as its stub says
  /// A neighbour may have moved this file there: others may add files to the directory, and this file was not written
  /// there as far as is known, but the opened one was.
  bool may_be_planted = false;
};

/// What a look into this node's stages shows about parts that no container holds.
struct StageLook {
  /// This node has parts of a launch whose processes no longer write. These parts may make any set
  /// whole.
  bool drains = false;
  /// A stub's part is neither here nor in a container; another node may still commit it.
  bool lost = false;
  /// Node and launch directory of each lost part.
  std::set<std::pair<std::string, std::string>> lost_in;
  std::set<std::string> living;  ///< launches with living ranks on this node, which may still write
};

/// Returns the number by which a member is told from the others of a set with that masked name.
FileNumber number_of(const Member& member, const std::string& masked_name);
/// Returns the numbers of all members.
std::set<FileNumber> numbers_of(const Generation& generation);

struct Question {
  GenerationName own;     ///< the generation that the stub at the opened path names
  std::string path;       ///< path of the opened file, relative as Member::path
  FileNumber number = 0;  ///< of the opened file
  bool renamed = false;   ///< the files do not have the names under which they were written
  bool by_part =
      false;  ///< the numbers are those at {part}, and any rank may have written any file
  std::map<FileNumber, AtName> present;  ///< the files at the present names
  std::vector<Generation> generations;   ///< all known generations of these names, in any order
  StageLook stages;
};

struct Choice {
  enum class Kind : std::uint8_t {
    as_it_is,  ///< whole, or no evidence against it
    unknown,   ///< given as it is, but some ranks are not accounted for
    previous,  ///< `newest` is incomplete: `given` is opened instead
    no_whole,  ///< `newest` is incomplete, and no earlier set is whole: given as it is
  };
  Kind kind = Kind::as_it_is;
  GenerationName newest;
  GenerationName given;
  /// The last whole set before `newest`, if it is not given, because an older file lies at one of its paths. The user has put an
  /// older checkpoint there, or a neighbour has put that one file there.
  struct PassedOver {
    GenerationName name;
    FileNumber older_file = 0;
  };
  std::optional<PassedOver> passed_over;
  /// Ranks without a part of `newest` at its name; with Question::by_part, files that are not of `newest`.
  std::uint32_t missing = 0;
  bool may_change = false;  ///< a later commit may lead to another choice
};

/// Chooses the newest generation that the present names show. That generation is incomplete if the
/// path of a rank that is not accounted for still shows an older generation, or a part that no
/// stage and no container has. In that case the newest earlier whole generation of exactly these
/// names is chosen. With Question::by_part nobody knows which files a rank still had to write, so
/// the files that are there decide (docs/design/restart.md, "Files that {part} names").
Choice choose_generation(Question question);

}  // namespace mcr::restart
