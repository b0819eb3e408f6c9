// SPDX-License-Identifier: BSD-3-Clause
#include "restart/open/mix_text.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "restart/base/printable.hpp"
#include "restart/base/system.hpp"
#include "restart/base/time_stamp.hpp"
#include "restart/base/trust.hpp"
#include "restart/format/masked_name.hpp"

namespace mcr::restart {
namespace {

std::string files_are(std::uint32_t count) {
  return std::to_string(count) +
         (count == 1 ? " file of these names is" : " files of these names are");
}

}  // namespace

MixText::MixText(const Stub& stub, const NamesHere& here,
                 const std::vector<Generation>& generations, const PresentNames& present,
                 const std::set<std::pair<std::string, std::string>>& lost_in)
    : stub_(stub),
      here_(here),
      generations_(generations),
      present_(present),
      lost_in_(lost_in),
      by_part_(is_numbered_by_part(here.masked_name)) {}

const Generation* MixText::generation(const GenerationName& name) const {
  const auto found = std::find_if(generations_.begin(), generations_.end(),
                                  [&](const auto& it) { return it.name == name; });
  return found == generations_.end() ? nullptr : &*found;
}

std::string MixText::of_name(const GenerationName& name) const {
  std::string text = "launch " + name.launch + ", sequence " + std::to_string(name.sequence);
  if (!name.masked_name.empty() && name.masked_name != here_.masked_name)
    text += ", written as " + name.masked_name;
  return text;
}

std::string MixText::of_newest(const Choice& choice) const {
  return "the set " + here_.masked_name + " (" + of_name(choice.newest) + ")";
}

/// Says why the newest set is not whole: one of its containers is damaged, or ranks have written no
/// file of the set.
std::string MixText::what_is_wrong(const Choice& choice) const {
  const Generation* const newest = generation(choice.newest);
  if (newest != nullptr && !newest->damaged_container.empty())
    return "cannot be read whole, because its container " + newest->damaged_container +
           " is damaged (`mcr verify` says which ranks can be restored)";
  const std::string missing =
      std::to_string(choice.missing) + " of " + std::to_string(stub_.rank_count) + " ranks";
  if (const std::string node = node_of_closed_stage(choice.newest); !node.empty()) {
    const std::string user = user_text(here_.place.owner);
    return "is not in storage yet, as far as " + user_text(::geteuid()) + " can see: files of " +
           missing + " may still be in the memory of " + user + "'s processes on the node " + node +
           ". `mcr drain` there, as " + user + ", waits until they are in storage";
  }
  if (by_part_) return "is incomplete: " + files_are(choice.missing) + " missing or of another set";
  return "is incomplete: " + missing + " have no file of it" +
         (here_.renamed ? " under these names" : "");
}

/// If another user wrote the set, and parts that are in no container may be in a stage that only that
/// user may read, returns the node of the stage; else "".
std::string MixText::node_of_closed_stage(const GenerationName& newest) const {
  if (here_.place.owner == ::geteuid()) return {};
  for (const auto& [number, stub] : present_.stubs) {
    struct stat status {};
    const bool is_missing = present_.at.at(number).generation == newest &&
                            lost_in_.contains({stub.node, stub.launch_directory});
    // EACCES: this user may not even see whether the launch's directory exists.
    if (is_missing && (system_calls().fstatat(AT_FDCWD, stub.launch_directory.c_str(), &status,
                                              AT_SYMLINK_NOFOLLOW) == 0 ||
                       errno == EACCES))
      return printable(stub.node);
  }
  return {};
}

/// Says how far the given set is back if other writings lie between it and the newest one. Writings of
/// one launch are numbered, also those that left no container.
std::string MixText::how_far_back(const Choice& choice) const {
  const GenerationName& newest = choice.newest;
  const GenerationName& given = choice.given;
  const bool is_counted = newest.launch == given.launch &&
                          newest.masked_name == given.masked_name &&
                          newest.sequence > given.sequence + 1;
  if (!is_counted) return {};
  const Generation* const set = generation(given);
  const bool has_time =
      set != nullptr && set->order_ns != Generation::not_committed && set->order_ns != 0;
  return ", " + std::to_string(newest.sequence - given.sequence) + " writings back" +
         (has_time ? " (begun at " + time_stamp(set->order_ns) + ")" : std::string()) +
         ": the sets between them are not whole, for example because ranks wrote files natively";
}

std::string MixText::of_refusal(const Choice& choice) const {
  const std::string earlier = choice.kind == Choice::Kind::previous
                                  ? "mix=previous opens the whole set before it (" +
                                        of_name(choice.given) + ")" + how_far_back(choice) +
                                        ", and `mcr unpack` writes that set as plain files"
                                  : "there is no whole set before it that all ranks can open";
  return of_newest(choice) + " " + what_is_wrong(choice) + ". The open was refused (mix=refuse); " +
         earlier;
}

std::string MixText::of_unequal_places(const Choice& choice, const UnequalPlaces& places) const {
  return of_newest(choice) + " " + what_is_wrong(choice) +
         ". All ranks would open the whole set before it (" + of_name(choice.given) + ")" +
         how_far_back(choice) + ". But not the same users may replace " + printable(places.one) +
         " and " + printable(places.other) +
         ", so one of them could choose by one rank's file what all ranks open. The open was "
         "refused; nothing is lost. Set mix=previous if you trust these users. Or look whether "
         "they have put one of the files there, and give the ranks' files and directories the same "
         "permissions; `mcr unpack` writes the earlier set as plain files";
}

std::string MixText::of_passed_over(const Choice& choice, const std::string& older_file) const {
  return of_newest(choice) + " " + what_is_wrong(choice) + ". The last whole set before it (" +
         of_name(choice.passed_over->name) + ") is not opened, because " + printable(older_file) +
         " belongs to an older set. " +
         (choice.kind == Choice::Kind::previous
              ? "All ranks would open " + of_name(choice.given)
              : std::string("Each rank would open its own file")) +
         ". But other users may add files to that directory, so one of them may have moved that "
         "file there. The open was refused; nothing is lost. If you have put it there yourself, "
         "set "
         "mix=previous. If not, `mcr unpack` writes the last whole set as plain files";
}

bool MixText::is_nothing_found(const Choice& choice) const {
  if (!by_part_) return choice.missing == stub_.rank_count;
  return std::none_of(present_.at.begin(), present_.at.end(), [&](const auto& entry) {
    return entry.second.generation == choice.newest && entry.second.available;
  });
}

std::string MixText::what_is_not_known(const Choice& choice) const {
  const Generation* const newest = generation(choice.newest);
  if (newest != nullptr && newest->account.drifted)
    return "its files may be of different steps: ranks did not wait for one another, or attempts "
           "to open a file for writing failed in some ranks only";
  if (choice.missing == 0)
    return "neither a container nor this node's stage is known to have parts of it";
  if (by_part_)
    return files_are(choice.missing) +
           " of another set or cannot be read, and it is not known whether ranks had more files to "
           "write";
  return std::to_string(choice.missing) + " of " + std::to_string(stub_.rank_count) +
         " ranks neither have a file of it nor are known to have had nothing to write";
}

std::string MixText::of_warning(const Choice& choice) const {
  using Kind = Choice::Kind;
  if (choice.kind == Kind::no_whole && is_nothing_found(choice)) return {};
  std::string text = of_newest(choice);
  if (choice.kind == Kind::previous) {
    text += " " + what_is_wrong(choice) + ". All ranks open the whole set before it" +
            (here_.renamed ? " under these names (" : " (") + of_name(choice.given) + ")" +
            how_far_back(choice);
    const Generation* const newest = generation(choice.newest);
    if (here_.renamed && newest != nullptr && wholeness(newest->account) == Wholeness::whole)
      text += ". The newer set has all its files, but not all under these names";
    return text;
  }
  text += choice.kind == Kind::no_whole
              ? " " + what_is_wrong(choice) +
                    ", and there is no whole set before it that all ranks can open"
              : " may not be whole: " + what_is_not_known(choice);
  return text + ". Each path opens its own newest file";
}

std::string MixText::of_two_sets(const Choice& choice) const {
  return of_newest(choice) + " is whole, but " + std::to_string(choice.missing) + " of " +
         std::to_string(stub_.rank_count) +
         " ranks have a file of another set at their names. If a job died while it exchanged files "
         "or moved older ones "
         "back, ranks now open files of different steps. Nothing is lost: `mcr unpack` writes the "
         "set as plain files";
}

}  // namespace mcr::restart
