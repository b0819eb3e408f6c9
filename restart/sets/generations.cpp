// SPDX-License-Identifier: BSD-3-Clause
#include "restart/sets/generations.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "restart/base/path_names.hpp"
#include "restart/format/masked_name.hpp"

namespace mcr::restart {
namespace {

const Generation* find(const std::vector<Generation>& generations, const GenerationName& name) {
  const auto found = std::find_if(generations.begin(), generations.end(),
                                  [&](const Generation& it) { return it.name == name; });
  return found == generations.end() ? nullptr : &*found;
}

bool are_of_one_name(const GenerationName& a, const GenerationName& b) {
  return a.launch == b.launch && a.masked_name == b.masked_name;
}

/// True if `a` was begun before `b`. Valid after put_in_order() has adjusted the times.
bool is_older(const Generation& a, const Generation& b) {
  return std::tie(a.order_ns, a.name.launch, a.staged_order_ns, a.name) <
         std::tie(b.order_ns, b.name.launch, b.staged_order_ns, b.name);
}

/// A generation without a committed part is newer than the launch's committed ones, unless the
/// stage's journals say that it was begun before one of them.
void date_staged(std::vector<Generation>& generations) {
  std::map<std::string, std::uint64_t> last_committed;  // by launch
  for (const Generation& it : generations) {
    if (!it.has_own_date || it.order_ns == Generation::not_committed) continue;
    std::uint64_t& last = last_committed[it.name.launch];
    last = std::max(last, it.order_ns);
  }
  for (Generation& it : generations) {
    if (it.order_ns != Generation::not_committed || it.staged_order_ns == 0) continue;
    const auto last = last_committed.find(it.name.launch);
    if (last != last_committed.end() && it.staged_order_ns < last->second)
      it.order_ns = it.staged_order_ns;
  }
}

/// Changes the times so that is_older() holds.
void put_in_order(std::vector<Generation>& generations) {
  date_staged(generations);
  // Another user's container, or a copy of it, may name a launch of this user, but must not change the times of
  // that launch's writings.
  WritingTimes own;
  WritingTimes others;
  WritingTimes copied;
  WritingTimes staged;
  for (Generation& it : generations) {
    (it.is_copied ? copied : it.has_own_date ? own : others)[it.name] = &it.order_ns;
    staged[it.name] = &it.staged_order_ns;
  }
  follow_sequences(own);
  follow_sequences(others);
  follow_sequences(copied);
  follow_sequences(staged);
}

/// Returns the newest generation that the opened stub, or a stub at a present name, belongs to.
const Generation* newest_shown(const Question& question) {
  const Generation* newest = find(question.generations, question.own);
  for (const auto& [number, there] : question.present) {
    if (there.kind != AtName::Kind::stub || there.may_be_planted) continue;
    const Generation* const shown = find(question.generations, there.generation);
    if (shown != nullptr && (newest == nullptr || is_older(*newest, *shown))) newest = shown;
  }
  return newest;
}

/// Sorts the ranks, and removes those that occur again or are not below `rank_count`.
std::vector<std::uint32_t> in_order(std::vector<std::uint32_t> ranks, std::uint32_t rank_count) {
  if (!std::is_sorted(ranks.begin(), ranks.end())) std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  ranks.erase(std::lower_bound(ranks.begin(), ranks.end(), rank_count), ranks.end());
  return ranks;
}

bool contains(const std::vector<std::uint32_t>& ranks_in_order, std::uint32_t rank) {
  return std::binary_search(ranks_in_order.begin(), ranks_in_order.end(), rank);
}

struct Evidence {
  std::uint32_t missing = 0;  ///< ranks that are not accounted for under these names
  /// A rank has no part of the generation at its name, or the part cannot be read.
  bool is_incomplete = false;
  /// A rank has certainly not finished the generation: it failed, or its name shows another one.
  bool is_certain = false;
};

/// True if the native file was last written before the generation was begun.
bool is_older_than(const AtName& native, const Generation& generation) {
  // Storage sets the time of the file, a node that of the generation. Their clocks may differ by this much.
  constexpr std::uint64_t slack_ns = 10'000'000'000;
  return native.modified_ns != 0 && generation.order_ns != Generation::not_committed &&
         native.modified_ns + slack_ns < generation.order_ns;
}

/// Visits only ranks about which something is known. The number of ranks comes from a file and may
/// be huge, so the work must not grow with that number.
Evidence evidence_against(const Question& question, const Generation& newest) {
  const Account& account = newest.account;
  const std::vector<std::uint32_t> all_passed = in_order(account.passed, account.rank_count);
  const std::vector<std::uint32_t> all_failed = in_order(account.failed, account.rank_count);
  std::vector<std::uint32_t> known = all_passed;
  known.insert(known.end(), all_failed.begin(), all_failed.end());
  for (const auto& [rank, there] : question.present) {
    if (rank < account.rank_count) known.push_back(static_cast<std::uint32_t>(rank));
  }
  Evidence evidence;
  evidence.missing = account.rank_count;
  for (const std::uint32_t rank : in_order(std::move(known), account.rank_count)) {
    const auto found = question.present.find(rank);
    const AtName there = found == question.present.end() ? AtName{} : found->second;
    const bool shows_it = there.kind == AtName::Kind::stub && there.generation == newest.name;
    const bool wrote = account.wrote.contains(rank);
    // A rank that passed has an older file at its name or, if files were renamed, any file.
    const bool passed = contains(all_passed, rank) && !wrote;
    // A native file may still belong to this set: it was spilled, or amended without mcr.
    const bool is_bare = there.kind == AtName::Kind::native_file && wrote;
    const bool is_older_file = is_bare && is_older_than(there, newest);
    const bool counts_as_member = is_bare && !is_older_file;
    if ((shows_it && there.available) || passed || counts_as_member) {
      --evidence.missing;
      continue;
    }
    const bool shows_another = (there.kind == AtName::Kind::stub && !shows_it) || is_older_file;
    evidence.is_certain |= shows_another || contains(all_failed, rank);
    evidence.is_incomplete |= evidence.is_certain || shows_it;
  }
  return evidence;
}

/// Returns the newest generation, of those older than `newest`, to which files that are older than itself do not belong: `before`, the
/// earlier whole generation, or a generation of the same launch that has no file which `newest` lacks. (The launch
/// went on to `newest`, so it had written what it wanted to write.) Null if there is none.
const Generation* superseding(const Question& question, const Generation& newest,
                              const Generation* before) {
  const Generation* found = before;
  for (const Generation& it : question.generations) {
    if (it.name.launch != newest.name.launch || it.members.empty() || !is_older(it, newest))
      continue;
    const bool has_no_other =
        std::all_of(it.members.begin(), it.members.end(),
                    [&](const auto& member) { return newest.members.contains(member.first); });
    if (has_no_other && (found == nullptr || is_older(*found, it))) found = &it;
  }
  return found;
}

/// The evidence against `newest` if its files have {part} in their names. Files that are older than `superseded_by`
/// (superseding()) do not count, because no later generation needs them.
Evidence evidence_in_files(const Question& question, const Generation& newest,
                           const Generation* superseded_by) {
  const Account& account = newest.account;
  const bool is_accounted = wholeness(account) == Wholeness::whole;
  const std::vector<std::uint32_t> passed = in_order(account.passed, account.rank_count);
  const std::vector<std::uint32_t> failed = in_order(account.failed, account.rank_count);
  const auto ranks_failed = static_cast<std::uint32_t>(
      std::count_if(failed.begin(), failed.end(), [&](std::uint32_t rank) {
        return !account.wrote.contains(rank) && !contains(passed, rank);
      }));
  const std::set<FileNumber> written = numbers_of(newest);
  Evidence evidence;
  evidence.is_certain = ranks_failed > 0;
  for (const auto& [number, there] : question.present) {
    const bool is_stub = there.kind == AtName::Kind::stub;
    if (is_stub && there.generation == newest.name) {
      evidence.missing += there.available ? 0 : 1;
      evidence.is_incomplete |= !there.available;
      continue;
    }
    // Nobody knows who wrote a native file without a note. So it counts only where the newest generation has a file.
    const bool is_older_file = there.kind == AtName::Kind::native_file &&
                               written.contains(number) && is_older_than(there, newest);
    if (there.kind == AtName::Kind::unreadable) ++evidence.missing;
    if (!is_stub && !is_older_file) continue;
    // The newest generation has a file of this number, but it is not here: its rename is missing.
    const bool is_misplaced = written.contains(number);
    if (there.may_be_planted && !is_misplaced) continue;
    const bool is_done = is_accounted && !is_misplaced &&
                         (contains(passed, there.rank) || !account.wrote.contains(there.rank));
    const Generation* const shown = find(question.generations, there.generation);
    const bool is_left_over =
        is_stub && shown != nullptr && superseded_by != nullptr && is_older(*shown, *superseded_by);
    if (is_done || is_left_over) continue;
    ++evidence.missing;
    evidence.is_certain |= !is_accounted || is_misplaced;
  }
  evidence.missing = std::max(evidence.missing, ranks_failed);
  evidence.is_incomplete |= evidence.is_certain;
  return evidence;
}

/// Returns the numbers of all files of all known generations.
std::set<FileNumber> known_numbers(const Question& question) {
  std::set<FileNumber> known;
  for (const Generation& it : question.generations) known.merge(numbers_of(it));
  return known;
}

/// True if a native file without a note lies at one of the names of the set. The rank that opens it gets the file as it
/// is, whatever the other ranks open.
bool has_bare_native_file(const Question& question, const Generation& newest) {
  // With {part}, files of other numbers are no files of the set.
  const std::set<FileNumber> written =
      question.by_part ? numbers_of(newest) : std::set<FileNumber>();
  std::optional<std::set<FileNumber>> known;  // few questions need them
  const auto may_be_of_rank = [&](FileNumber number, const AtName& there) {
    if (number >= newest.account.rank_count) return false;
    if (!there.may_be_planted) return true;
    if (!known) known = known_numbers(question);
    return known->contains(number);
  };
  return std::any_of(question.present.begin(), question.present.end(), [&](const auto& entry) {
    const auto& [number, there] = entry;
    if (there.kind != AtName::Kind::native_file) return false;
    return question.by_part ? written.contains(number) : may_be_of_rank(number, there);
  });
}

/// True if the earlier generation has a part for each name of the newest generation, so that each
/// rank gets a part.
bool covers(const Question& question, const Generation& earlier, const Generation& newest) {
  if (question.renamed) {
    // The earlier generation used these names only if at least one of its stubs still does.
    const bool shown =
        std::any_of(question.present.begin(), question.present.end(), [&](const auto& entry) {
          return entry.second.kind == AtName::Kind::stub && entry.second.generation == earlier.name;
        });
    return shown && earlier.account.rank_count == newest.account.rank_count &&
           earlier.account.is_of_one_file == newest.account.is_of_one_file;
  }
  // With {part} a file may be opened that neither generation has; it does not count.
  return (question.by_part || earlier.members.contains(question.path)) &&
         std::all_of(newest.members.begin(), newest.members.end(),
                     [&](const auto& member) { return earlier.members.contains(member.first); });
}

/// Returns the number of a file at one of the generation's paths that is a stub of an older one: a user has put an older checkpoint in
/// its place. Ranks that have not written since then open the older one.
std::optional<FileNumber> taken_back_at(const Question& question, const Generation& generation) {
  if (question.renamed) return {};  // a stub of an older generation may only lack its rename
  std::optional<std::set<FileNumber>> written;  // few questions need them
  for (const auto& [number, there] : question.present) {
    if (there.kind != AtName::Kind::stub || there.may_be_planted) continue;
    const Generation* const shown = find(question.generations, there.generation);
    if (shown == nullptr || !is_older(*shown, generation)) continue;
    if (!written) written = numbers_of(generation);
    if (written->contains(number)) return number;
  }
  return {};
}

/// True if a container of the generation is no copy, or if a file at one of the names of `newest` belongs to it.
bool is_own_or_shown(const Question& question, const Generation& newest, const Generation& it) {
  if (!it.is_of_copies) return true;
  const std::set<FileNumber> written = numbers_of(newest);
  return std::any_of(question.present.begin(), question.present.end(), [&](const auto& entry) {
    const auto& [number, there] = entry;
    const bool is_name_of_newest =
        question.by_part || number < newest.account.rank_count || written.contains(number);
    return is_name_of_newest && there.kind == AtName::Kind::stub && !there.may_be_planted &&
           there.generation == it.name;
  });
}

/// True if the generation is older than `newest`, whole, and covers() its names.
bool could_replace(const Question& question, const Generation& newest, const Generation& it) {
  return is_older(it, newest) && !it.damaged && wholeness(it.account) == Wholeness::whole &&
         covers(question, it, newest);
}

/// Returns the set that is passed over (Choice::passed_over). `given` is the earlier generation that ranks get, or null.
std::optional<Choice::PassedOver> passed_over(const Question& question, const Generation& newest,
                                              const Generation* given) {
  if (has_bare_native_file(question, newest)) return {};
  const Generation* last = nullptr;
  std::optional<Choice::PassedOver> found;
  for (const Generation& it : question.generations) {
    if (it.is_copied || !could_replace(question, newest, it)) continue;
    if ((given != nullptr && !is_older(*given, it)) || (last != nullptr && is_older(it, *last)))
      continue;
    const auto number = taken_back_at(question, it);
    if (!number) continue;
    last = &it;
    found = {it.name, *number};
  }
  return found;
}

/// Returns the generation that is given instead of `newest`: the newest one that is older than it, whole, covers()
/// its names and was not taken back. A copied one is given only if there is no other: the user may have copied it from another
/// user. Null if there is none.
const Generation* whole_before(const Question& question, const Generation& newest) {
  const Generation* before = nullptr;
  bool is_own = false;
  if (has_bare_native_file(question, newest)) return before;
  for (const Generation& earlier : question.generations) {
    if (!could_replace(question, newest, earlier) || taken_back_at(question, earlier)) continue;
    const bool is_here_own = is_own_or_shown(question, newest, earlier);
    const bool is_better =
        before == nullptr || (is_here_own == is_own ? is_older(*before, earlier) : is_here_own);
    if (!is_better) continue;
    before = &earlier;
    is_own = is_here_own;
  }
  return before;
}

/// True if no set that may still become whole lies between the given one and the newest one.
bool is_next_before(const Choice& choice, const Question& question) {
  if (choice.kind != Choice::Kind::previous) return false;
  if (!question.renamed) {
    if (are_of_one_name(choice.given, choice.newest))
      return choice.newest.sequence == choice.given.sequence + 1;
    // Sequences of different names of a launch are not comparable.
    return choice.given.launch != choice.newest.launch && choice.newest.sequence == 0;
  }
  // Under new names only sets that a stub still shows can be given (covers()), so all are known.
  const Generation* const given = find(question.generations, choice.given);
  const Generation* const newest = find(question.generations, choice.newest);
  return std::none_of(
      question.generations.begin(), question.generations.end(),
      [&](const Generation& it) { return is_older(*given, it) && is_older(it, *newest); });
}

/// True if a later commit could make a set whole that is newer than the chosen one.
bool may_change(const Choice& choice, const Question& question, bool is_certain) {
  const StageLook& stages = question.stages;
  // If the newest set is whole, later containers cannot change the choice. While ranks of the
  // newest set's launch live, no decision is made.
  if (choice.kind == Choice::Kind::as_it_is || stages.living.contains(choice.newest.launch))
    return false;
  // All names show the newest set, and no commit takes back that it has drifted.
  const Generation* const newest = find(question.generations, choice.newest);
  if (newest != nullptr && newest->account.drifted && choice.missing == 0) return false;
  if (stages.drains) return true;
  // A lost part could change the choice, with one exception: no commit can make the newest set
  // whole, and no other set lies between it and the given set.
  return stages.lost && !(is_certain && is_next_before(choice, question));
}

/// Chooses by the present state, whether or not that state may change.
Choice choose_now(const Question& question, Evidence& evidence) {
  Choice choice;
  choice.newest = question.own;
  choice.given = question.own;
  const Generation* const newest = newest_shown(question);
  if (newest == nullptr) {
    choice.kind = Choice::Kind::unknown;
    return choice;
  }
  choice.newest = newest->name;
  const Generation* before = question.by_part ? whole_before(question, *newest) : nullptr;
  evidence = question.by_part
                 ? evidence_in_files(question, *newest, superseding(question, *newest, before))
                 : evidence_against(question, *newest);
  choice.missing = evidence.missing;
  if (evidence.missing == 0) {
    // The stub at the opened path may have been replaced since it was read.
    const auto here = question.present.find(question.number);
    const bool shows_it = here != question.present.end() &&
                          here->second.kind == AtName::Kind::stub &&
                          here->second.generation == newest->name;
    if (shows_it) choice.given = newest->name;
    if (newest->account.drifted) choice.kind = Choice::Kind::unknown;
    return choice;
  }
  const bool may_grow = question.stages.living.contains(newest->name.launch);
  if (newest->account.drifted || may_grow || !evidence.is_incomplete) {
    choice.kind = Choice::Kind::unknown;
    return choice;
  }
  if (!question.by_part) before = whole_before(question, *newest);
  choice.kind = before == nullptr ? Choice::Kind::no_whole : Choice::Kind::previous;
  if (before != nullptr) choice.given = before->name;
  choice.passed_over = passed_over(question, *newest, before);
  return choice;
}

}  // namespace

Wholeness wholeness(const Account& account) {
  if (account.is_of_one_file) return account.wrote.empty() ? Wholeness::unknown : Wholeness::whole;
  if (account.has_drifted()) return Wholeness::unknown;
  std::vector<std::uint32_t> accounted = account.passed;
  accounted.insert(accounted.end(), account.wrote.begin(), account.wrote.end());
  accounted = in_order(std::move(accounted), account.rank_count);
  if (accounted.size() == account.rank_count) return Wholeness::whole;
  const bool has_failed = std::any_of(
      account.failed.begin(), account.failed.end(),
      [&](std::uint32_t rank) { return rank < account.rank_count && !contains(accounted, rank); });
  return has_failed ? Wholeness::incomplete : Wholeness::unknown;
}

void follow_sequences(const WritingTimes& times) {
  // A writing without a committed part gets the time of the launch's next later writing, because it
  // was begun before that writing.
  const std::pair<const GenerationName, std::uint64_t*>* later = nullptr;
  for (auto it = times.rbegin(); it != times.rend(); ++it) {
    const bool follows = later != nullptr && are_of_one_name(later->first, it->first);
    if (follows && *it->second == Generation::not_committed) *it->second = *later->second;
    later = &*it;
  }
  const std::pair<const GenerationName, std::uint64_t*>* earlier = nullptr;
  for (const auto& entry : times) {
    const bool follows = earlier != nullptr && are_of_one_name(earlier->first, entry.first);
    if (follows) *entry.second = std::max(*entry.second, *earlier->second);
    earlier = &entry;
  }
}

void mark_after_failed_attempts(const WritingAccounts& accounts) {
  const GenerationName* earlier = nullptr;
  bool differ = false;
  for (const auto& [name, account] : accounts) {
    if (earlier == nullptr || !are_of_one_name(*earlier, name)) differ = false;
    differ |= account->failed_attempts && account->failed_attempts->differ();
    if (differ && !account->is_of_one_file) account->drifted = true;
    earlier = &name;
  }
}

void mark_after_failed_attempts(std::vector<Generation>& generations) {
  WritingAccounts own;
  WritingAccounts others;
  WritingAccounts copied;
  for (Generation& it : generations)
    (it.is_copied ? copied : it.has_own_date ? own : others)[it.name] = &it.account;
  mark_after_failed_attempts(own);
  mark_after_failed_attempts(others);
  mark_after_failed_attempts(copied);
}

FileNumber number_of(const Member& member, const std::string& masked_name) {
  if (!is_numbered_by_part(masked_name)) return member.rank;
  const auto components =
      static_cast<std::size_t>(std::count(member.path.begin(), member.path.end(), '/')) + 1;
  return masked_number(member.path, path_tail(masked_name, components)).value_or(member.rank);
}

std::set<FileNumber> numbers_of(const Generation& generation) {
  std::set<FileNumber> numbers;
  for (const auto& [path, member] : generation.members)
    numbers.insert(number_of(member, generation.name.masked_name));
  return numbers;
}

Choice choose_generation(Question question) {
  put_in_order(question.generations);
  // Writings without a container (native files with notes) come after those that have one.
  mark_after_failed_attempts(question.generations);
  Evidence evidence;
  Choice choice = choose_now(question, evidence);
  choice.may_change = may_change(choice, question, evidence.is_certain);
  return choice;
}

}  // namespace mcr::restart
