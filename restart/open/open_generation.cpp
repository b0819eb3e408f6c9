// SPDX-License-Identifier: BSD-3-Clause
#include "restart/open/open_generation.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <limits>

#include "restart/base/file_identity.hpp"
#include "restart/base/log.hpp"
#include "restart/base/path_names.hpp"
#include "restart/base/system.hpp"
#include "restart/base/trust.hpp"
#include "restart/format/masked_name.hpp"
#include "restart/open/drain_progress.hpp"
#include "restart/open/launch_decision.hpp"
#include "restart/open/mix_text.hpp"
#include "restart/open/next_rank.hpp"
#include "restart/open/open_part.hpp"
#include "restart/open/paths_of_sets.hpp"
#include "restart/open/stub_proof.hpp"
#include "restart/open/unequal_places.hpp"
#include "restart/sets/decision.hpp"
#include "restart/sets/file_of_rank.hpp"
#include "restart/sets/known_generations.hpp"
#include "restart/sets/names_here.hpp"
#include "restart/sets/native_members.hpp"
#include "restart/sets/part_files.hpp"
#include "restart/sets/removed_sets.hpp"
#include "restart/sets/stored_sets.hpp"
#include "restart/stage/file_at.hpp"
#include "restart/stage/living_launches.hpp"
#include "restart/stage/silent_stages.hpp"
#include "restart/stage/stage.hpp"

namespace mcr::restart {
namespace {

constexpr std::uint64_t look_again_ms = 50;
constexpr std::uint64_t looks_per_adoption = 20;
constexpr std::uint64_t quiet_of_nodes_ms = 2000;
/// A look may last this long even if read_wait= is short.
constexpr std::uint64_t least_look_ms = 60'000;
/// If a set has more containers than this, the first opener records its decision even if the set is
/// whole, so that the other ranks need not read all containers.
constexpr std::size_t cheap_containers = 8;

void pause() {
  const timespec time{0, static_cast<long>(look_again_ms) * 1'000'000};
  ::nanosleep(&time, nullptr);
}

/// The system_error of an error that mix=refuse causes.
constexpr int refused = ECANCELED;

/// True if the decision gives the generation of the stub.
bool gives(const Decision& decision, const Stub& stub) {
  return std::any_of(stub.masked_names.begin(), stub.masked_names.end(), [&](const auto& name) {
    return gives(decision, GenerationName{stub.launch, stub.sequence, name});
  });
}

class View {
 public:
  View(const Stub& stub, const std::string& path, const Opener& opener)
      : stub_(stub), opener_(opener), path_(real_path(path)) {
    if (path_.empty()) path_ = path;
  }

  Result<OpenedPart> open() {
    if (opener_.mix == Mix::native || stub_.launch == opener_.launch || stub_.rank_count <= 1)
      return exactly();
    if (!MCR_TRY(look_for_place()))
      return exactly();  // nothing but the stub is known about the set
    // No earlier set is opened because of a text that another user may have written.
    if (is_unproven()) {
      auto own = exactly();
      // The part may have gone from the stage into its container since.
      if (!own || !MCR_TRY(look_for_place()) || is_unproven()) return own;
    }
    if (is_alone()) return exactly();
    if (is_launch()) {
      warn_of_more_ranks();
      if (const auto decision = launch_decision_.find()) return obey(*decision);
    }
    look_for_a_later_stub();
    is_unsettled_ = opener_.waits_for_drains &&
                    (drains(stub_.launch_directory) || coming_ || another_stub_came());
    if (!is_unsettled_ && here_is_plainly_whole()) {
      // Another rank may have recorded a decision while this rank looked.
      if (const auto decision = launch_decision_.find()) return obey(*decision);
      MCR_TRY(look_at_next_rank());
      if (is_launch() && generations_.front().containers > cheap_containers)
        (void)launch_decision_.record(Decision{}).has_value();
      MCR_TRY(look_for_another_set());
      return exactly();
    }
    const Choice choice = MCR_TRY(choose());
    // Parts that still drain here may make another set whole. If this open chose a set now, a later
    // open of another rank's file could choose that other set: a mix.
    if (opener_.waits_for_drains && !obeyed_ && !is_alone() && is_draining_here(choice))
      return still_draining(choice);
    return act_on(choice);
  }

 private:
  /// True if nothing proves that the opened file belongs to the set whose containers were found (stub_proof.hpp).
  [[nodiscard]] bool is_unproven() const {
    if (!lies_beside(here_.place.directory, stub_, path_, launch_decision_.directory()) ||
        has_part(generations_, stub_))
      return false;
    Look look(last_ms());
    return generations_.empty() ||
           !is_part_of_generation(stub_, path_, opener_.allow, generations_.front().name, look);
  }
  [[nodiscard]] bool is_launch() const { return is_of_launch(opener_); }

  Result<bool> look_for_place() {
    Look look(last_ms());
    const bool is_found = find_place(look);
    if (look.problem()) return *look.problem();
    return is_found;
  }

  /// Finds the place of the set's containers, and the present names of the ranks' files.
  bool find_place(Look& look) {
    auto here = find_names(stub_, path_, opener_.allow, generations_, look);
    if (!here) return false;
    here_ = std::move(*here);
    number_ = by_part() ? masked_number(path_, here_.masked_name).value_or(0) : stub_.rank;
    launch_decision_ = LaunchDecision(stub_, path_, opener_, here_);
    return true;
  }

  /// True if a number of the files' own tells them apart.
  [[nodiscard]] bool by_part() const { return is_numbered_by_part(here_.masked_name); }
  /// True if the file is a set of its own, which no other rank's file can make incomplete.
  [[nodiscard]] bool is_alone() const { return is_of_one_file(here_.place.masked_name); }

  /// Returns the container_dir= below which notes about native files are looked for; nothing if they are not
  /// looked for. The ranks of a launch use their setting. A process without a launch uses the stub's value, if the
  /// stub is this user's.
  [[nodiscard]] std::optional<std::string> where_notes_are_found() const {
    if (!opener_.finds_notes) return std::nullopt;
    const bool is_own = here_.place.owner == ::geteuid();
    const std::string& said = stub_.container_directory;
    const bool is_relative = !said.empty() && said.front() != '/';
    return !is_launch() && is_own && is_relative ? said : opener_.container_dir;
  }

  /// True if the containers alone prove that the set of the opened file is whole. Then every rank that opens a file of it
  /// sees the same, and looks only at the next rank's file.
  [[nodiscard]] bool here_is_plainly_whole() const {
    return !here_.renamed && generations_.size() == 1 && is_plainly_whole(generations_.front());
  }

  [[nodiscard]] bool is_plainly_whole(const Generation& own) const {
    const bool has_natives =
        std::any_of(own.members.begin(), own.members.end(),
                    [](const auto& member) { return member.second.native.has_value(); });
    // A rank that wrote one file may have died before its next one.
    const bool has_other_files = by_part() && lies_beside_others(own);
    return !has_natives && !has_other_files && !own.damaged &&
           wholeness(own.account) == Wholeness::whole;
  }

  /// True if files of numbers that the generation does not have lie beside the opened one, or if nobody can tell.
  [[nodiscard]] bool lies_beside_others(const Generation& own) const {
    const auto files = part_files(here_.masked_name);
    if (!files) return true;
    const std::set<FileNumber> numbers = numbers_of(own);
    return std::any_of(files->begin(), files->end(),
                       [&](const auto& entry) { return !numbers.contains(entry.first); });
  }

  /// Returns the time at which a look must end. With a sound set this is never reached: a look at
  /// 100,000 ranks takes seconds.
  [[nodiscard]] std::uint64_t last_ms() const {
    return std::max(begin_ms_ + DrainProgress::longest * opener_.wait_ms,
                    monotonic_ms() + least_look_ms);
  }

  Result<Choice> choose() {
    DrainProgress progress(opener_.wait_ms);
    const std::uint64_t begin_ms = monotonic_ms();
    std::uint64_t looks = 0;
    std::uint64_t settled_ms = 0;  // 0: not settled
    for (;;) {
      // This look comes first: a stub that it no longer finds coming is seen at its path by the
      // next look.
      look_for_a_later_stub();
      const Choice choice = MCR_TRY(look());
      // A choice other than as_it_is must be found in two looks. A part that drained during one
      // look may be in a container that was made after the containers were listed.
      if (is_alone()) return choice;
      const bool is_settled = !may_change(choice, begin_ms);
      if (is_settled && choice.kind == Choice::Kind::as_it_is) return choice;
      if (!is_settled && !opener_.waits_for_drains) return choice;
      if (is_settled) {
        if (settled_ms != 0 && monotonic_ms() - settled_ms >= quiet_ms()) return choice;
        if (settled_ms == 0) settled_ms = monotonic_ms();
        if (quiet_ms() > 0) pause();
        continue;
      }
      settled_ms = 0;
      is_unsettled_ = true;
      directories_.insert(stub_.launch_directory);
      if (coming_) directories_.insert(coming_->launch_directory);
      for (const auto& [number, stub] : present_.stubs) directories_.insert(stub.launch_directory);
      if (progress.has_stopped(directories_, here_.place.directory, here_.place.owner)) {
        note_silence();
        return choice;
      }
      // This is repeated, because the leader that was seen may be dying.
      if (opener_.adopt && looks++ % looks_per_adoption == 0) {
        for (const std::string& directory : directories_) opener_.adopt(directory);
      }
      pause();
      // Another rank may have decided meanwhile.
      if (const auto decision = launch_decision_.find()) {
        obeyed_ = decision;
        // This rank has waited more than half of read_wait=, so the deciding rank has probably
        // waited all of read_wait=.
        if (monotonic_ms() - begin_ms > opener_.wait_ms / 2) note_silence();
        return choice;
      }
    }
  }

  /// True if parts that drain on this node may change what is opened.
  [[nodiscard]] bool is_draining_here(const Choice& choice) const {
    if (leader_puts_a_stub()) return true;
    // If no other set of these names exists, each path gives its own file, whatever the drain brings.
    // Ranks wait even then, because they record what they know in a decision.
    const bool is_only_set = !is_launch() && generations_.size() <= 1;
    return choice.may_change && drains_ && !is_only_set;
  }

  /// True if a later look may lead to another choice. A process without other ranks does not wait for
  /// other nodes or for processes that may be dying: tools read files of running jobs, and files whose
  /// node is gone, one file in a process.
  [[nodiscard]] bool may_change(const Choice& choice, std::uint64_t begin_ms) const {
    if (!is_launch()) return is_draining_here(choice);
    return choice.may_change || leader_puts_a_stub() || may_be_dying(choice, begin_ms);
  }

  /// Returns how long the state must stay unchanged before a choice counts. A leader on another
  /// node puts stubs of dead writers in place when it commits, and this node cannot foresee that.
  [[nodiscard]] std::uint64_t quiet_ms() const {
    std::set<std::string> nodes;
    for (const auto& [number, stub] : present_.stubs) nodes.insert(stub.node);
    return is_launch() && nodes.size() > 1 ? quiet_of_nodes_ms : 0;
  }

  /// Records that the stages did not answer, so that no later open waits for them. Does nothing
  /// while this node's own leader has parts to drain, because the wait may then be due to that
  /// leader.
  void note_silence() const {
    if (!is_launch() || drains_ || opener_.wait_ms == 0) return;
    for (const auto& [node, directory] : lost_in_) note_silent_stage(node, directory);
  }

  /// Looks for a stub that will still be put at this path. Without this look, ranks whose stubs are
  /// in place already would get the newer set, and this rank an older set.
  void look_for_a_later_stub() {
    coming_.reset();
    if (!opener_.waits_for_drains) return;
    using From = ComingStub::From;
    coming_ =
        stub_coming_to(path_, stub_.part, opener_.is_native, parent_of(stub_.launch_directory),
                       is_launch() ? From::any_launch : From::ended_launches);
  }
  [[nodiscard]] bool leader_puts_a_stub() const { return coming_ && !coming_->writer_lives; }

  /// True if the choice depends on a launch that seems to live but may be dying.
  bool may_be_dying(const Choice& choice, std::uint64_t begin_ms) const {
    if (!is_launch()) return false;
    std::set<std::string> launches;
    if (coming_ && coming_->writer_lives) launches.insert(coming_->launch_directory);
    if (choice.kind != Choice::Kind::as_it_is && living_.contains(choice.newest.launch)) {
      for (const auto& [number, stub] : present_.stubs) {
        if (stub.launch == choice.newest.launch) launches.insert(stub.launch_directory);
      }
    }
    std::erase_if(launches, is_known_to_live);
    if (monotonic_ms() - begin_ms < dying_ms) return !launches.empty();
    for (const std::string& launch : launches) note_living(launch);
    return false;
  }

  /// True if another stub was put at the path since stub_ was read. The opener keeps the stub's file
  /// open, so no other file gets its inode number.
  [[nodiscard]] bool another_stub_came() const {
    struct stat status {};
    if (stub_.origin && system_calls().fstatat(AT_FDCWD, path_.c_str(), &status, 0) == 0 &&
        FileIdentity(status) == stub_.origin->file)
      return false;
    const FileAt there = file_at(AT_FDCWD, path_, Links::followed);
    return there.is_stub() && there.stub.part != stub_.part;
  }

  /// An error if the look is not complete: then no set can be chosen, because a set that was not seen
  /// may be the one that another rank chooses.
  Result<Choice> look() {
    Look look(last_ms());
    generations_ = stored_generations(here_.place, here_.components, false, look);
    // The stub's container may have been made meanwhile, under another of the stub's masked names.
    if (!is_known(stub_, generations_) && stub_.masked_names.size() > 1 && find_place(look))
      generations_ = stored_generations(here_.place, here_.components, false, look);
    present_ = present_names({path_, number_, stub_.path, here_.place.owner}, here_.masked_name,
                             stub_.rank_count, where_notes_are_found(), look);
    here_.renamed = here_.renamed || another_was_renamed();
    if (here_.renamed) add_generations_of_stubs(look);
    name_generations(present_, generations_);
    find_native_members(generations_, present_, here_.place.directory, here_.base);
    Question question;
    if (look.problem()) return *look.problem();
    // The directories are listed anew, because a part may have left its stage since the first listing.
    look = Look(last_ms());
    question.stages = look_into_stages(present_, generations_, here_.components, look);
    if (look.problem()) return *look.problem();
    question.stages.drains |= drains(stub_.launch_directory);
    lost_in_ = question.stages.lost_in;
    question.stages.lost = std::any_of(lost_in_.begin(), lost_in_.end(), [](const auto& stage) {
      return !is_silent_stage(stage.first, stage.second);
    });
    living_ = question.stages.living;
    drains_ = question.stages.drains;
    std::erase_if(generations_,
                  [&](const Generation& it) { return it.name.launch == opener_.launch; });
    for (auto& [number, there] : present_.at) {
      // Sets that this launch itself has written are no evidence about other sets.
      if (there.generation.launch == opener_.launch) there = AtName{};
    }
    question.own = generation_of(stub_, generations_, present_);
    question.path = here_.tail;
    question.number = number_;
    question.by_part = by_part();
    question.renamed = here_.renamed;
    question.present = present_.at;
    question.generations = generations_;
    return choose_generation(std::move(question));
  }

  /// True if a file of another rank has not the name under which it was written, or was written below another
  /// directory than the opened file. All ranks then choose by the rule for renamed files.
  [[nodiscard]] bool another_was_renamed() const {
    const auto base_of = [&](const std::string& path) {
      return path.substr(0, path.size() - path_tail(path, here_.components).size());
    };
    return std::any_of(present_.stubs.begin(), present_.stubs.end(), [&](const auto& entry) {
      const auto& [number, stub] = entry;
      if (stub.launch == opener_.launch || present_.linked.contains(number) ||
          present_.at.at(number).may_be_planted)
        return false;
      return path_tail(stub.path, here_.named_components) !=
                 path_tail(present_.paths.at(number), here_.named_components) ||
             base_of(stub.path) != base_of(stub_.path);
    });
  }

  /// Adds the generations of the present stubs. Renamed files may come from sets of several names
  /// and directories, so the containers of each generation are looked for where its own stub says.
  void add_generations_of_stubs(Look& look) {
    for (const auto& [number, stub] : present_.stubs) {
      if (look.is_over()) return;
      if (is_known(stub, generations_)) continue;
      const std::string& path = present_.paths[number];
      std::vector<Generation> found;
      for (const ContainerPlace& place : container_places(stub, path, opener_.allow)) {
        found = stored_generations(place, components_of(stub_, place.masked_name), true, look);
        // As in open(): a copied stub may name any run.
        if (lies_beside(place.directory, stub, path, launch_decision_.directory()) &&
            !has_part(found, stub))
          found.clear();
        if (!found.empty()) break;
      }
      if (found.empty()) {
        const auto above = find_place_above(stub, path, found, look);
        if (above && lies_beside(above->directory, stub, path, launch_decision_.directory()) &&
            !has_part(found, stub))
          found.clear();
      }
      if (!found.empty()) generations_.push_back(found.front());
    }
  }

  [[nodiscard]] Error still_draining(const Choice& choice) const {
    return Error{Cause::system,
                 path_ + " cannot be opened yet: files of the launch that wrote it (" +
                     text().of_name(choice.newest) + ") are still in this node's stage, " +
                     stub_.launch_directory +
                     ", and within read_wait= the leader of that launch brought none of them to "
                     "storage. `mcr "
                     "status` shows what the leader does, `mcr drain` waits for it, and `mcr "
                     "recover` starts another leader if it is dead",
                 ETIMEDOUT};
  }

  /// True if the newest set is plainly whole, though some names show an earlier one. Its ranks look only at the next
  /// rank's file, so most of them open the newest set whatever this rank chooses.
  [[nodiscard]] bool others_open_the_newest(const Choice& choice) const {
    if (choice.kind != Choice::Kind::previous || here_.renamed) return false;
    const auto newest = std::find_if(generations_.begin(), generations_.end(),
                                     [&](const auto& it) { return it.name == choice.newest; });
    return newest != generations_.end() && is_plainly_whole(*newest);
  }

  /// True if the opened stub's set was removed: somebody has put an older file back. No container tells its time any more, so it counts
  /// as newer than the sets that came after it, and none of these may be opened in its place.
  [[nodiscard]] bool own_set_was_removed() const {
    const auto places = container_places(stub_, path_, opener_.allow);
    return std::any_of(places.begin(), places.end(), [](const ContainerPlace& place) {
      const auto opened = place.open();
      return opened && *opened && removed_set(**opened, place.distinct_prefix).has_value();
    });
  }

  Result<OpenedPart> act_on(const Choice& choice) {
    if (obeyed_) return obey(*obeyed_);
    if (is_alone()) return exactly();
    if (choice.kind == Choice::Kind::previous &&
        choice.newest == generation_of(stub_, generations_, present_) &&
        !has_part(generations_, stub_) && own_set_was_removed())
      return exactly();
    if (living_.contains(choice.newest.launch)) {
      // Another rank, which looked a moment later, may have seen that launch dead and have decided.
      if (const auto decision = launch_decision_.find()) return obey(*decision);
      // A newer stub may have been put at this path since stub_ was read. No decision is recorded,
      // because the living launch may write more sets.
      const bool is_whole = choice.kind == Choice::Kind::as_it_is;
      return is_whole ? obey(Decision{false, choice.given, choice.newest}) : exactly();
    }
    if (choice.kind == Choice::Kind::as_it_is) {
      // While this rank writes its native file, the set does not look whole to the other ranks.
      if (!is_unsettled_ && !opener_.writes_native) {
        MCR_TRY(look_at_next_rank());
        return exactly();
      }
      Decision whole{false, choice.newest, choice.newest};
      const auto recorded = launch_decision_.record(whole);
      if (!recorded && recorded.error().cause == Cause::damaged) return recorded.error();
      return obey(recorded ? recorded->decision : Decision{false, choice.given, choice.newest});
    }
    if (others_open_the_newest(choice)) {
      MCR_TRY(warn_or_refuse("mix ", text().of_two_sets(choice)));
      return exactly();
    }
    if (opener_.mix == Mix::refuse && choice.kind != Choice::Kind::unknown)
      return Error{Cause::usage, text().of_refusal(choice), refused};
    MCR_TRY(refuse_others_choice(choice));
    Decision decision{choice.kind != Choice::Kind::previous, choice.given, choice.newest};
    bool is_first = true;
    if (is_launch()) {
      const auto recorded = launch_decision_.record(decision);
      // If no decision can be recorded or read, fail: each rank would decide alone, and ranks could
      // get different sets.
      if (!recorded && recorded.error().cause == Cause::damaged) return recorded.error();
      if (recorded && !recorded->is_ours) {
        is_first = false;
        decision = recorded->decision;
      }
    }
    const bool is_to_warn = is_first && (choice.kind != Choice::Kind::unknown || is_launch());
    if (const std::string warning = text().of_warning(choice); is_to_warn && !warning.empty())
      log_warning_once("mix " + here_.masked_name, warning);
    return obey(decision);
  }

  /// Fails if an earlier set would be opened, and another user could choose, by one rank's file, the set that all ranks
  /// open: he may replace that file but not another rank's; or he may put an older file of the user's at a free name. If mix= is
  /// set, the user of the job has decided, and the open goes on.
  [[nodiscard]] Result<void> refuse_others_choice(const Choice& choice) const {
    if (opener_.is_mix_set) return {};
    if (choice.passed_over) {
      const std::string& path = present_.paths.at(choice.passed_over->older_file);
      if (strangers_may_add(path, here_.place.owner))
        return Error{Cause::usage, text().of_passed_over(choice, path), refused};
    }
    if (choice.kind != Choice::Kind::previous) return {};
    const std::vector<std::string> paths = paths_of_sets(
        {choice.newest, choice.given}, {path_, number_, stub_.rank}, here_, present_, generations_);
    const std::string shared = shared_directory(here_.masked_name);
    const bool is_above = paths.front().starts_with(shared + "/");
    const auto unequal =
        unequal_places(paths, is_above ? shared : parent_of(here_.base + "x"), here_.place.owner);
    if (!unequal) return {};
    return Error{Cause::usage, text().of_unequal_places(choice, *unequal), refused};
  }

  /// Warns if the launch that wrote the set had fewer ranks than this one, and a file of the next
  /// rank lies beside the set: a rank that opens that file gets another step.
  void warn_of_more_ranks() const {
    if (stub_.rank != 0 || opener_.rank_count <= stub_.rank_count) return;
    for (const std::string& path :
         sibling_paths(path_, here_.masked_name, stub_.rank, stub_.rank_count)) {
      const FileAt next =
          file_of_rank(path, shared_directory(here_.masked_name), here_.place.owner);
      const bool is_older = next.is_stub() && next.stub.rank == stub_.rank_count &&
                            next.stub.rank_count > stub_.rank_count;
      if (!is_older) continue;
      log_warning_once("ranks " + here_.masked_name,
                       "the set " + here_.masked_name + " (launch " + stub_.launch + ") has " +
                           std::to_string(stub_.rank_count) + " ranks, but beside it lies " + path +
                           " of a set of " + std::to_string(next.stub.rank_count) +
                           " ranks. Ranks that open files of both get different sets");
    }
  }

  [[nodiscard]] OpenedFile opened_file() const { return {stub_.rank, stub_.rank_count, path_}; }

  /// When the container with the stub's part was made, by the clock of its leader's node. If the part is in no container,
  /// the stub's own time counts.
  [[nodiscard]] std::uint64_t committed_ns() const {
    for (const Generation& generation : generations_) {
      for (const auto& [path, member] : generation.members)
        if (member.part == stub_.part) return member.written_ns;
    }
    return std::numeric_limits<std::uint64_t>::max();
  }

  /// Warns, or fails with mix=refuse, if the names show another whole set, too, although the set of the opened file is whole.
  /// The file is opened all the same, for two reasons. The set's other ranks look only at their next ranks, so the ranks
  /// cannot agree on another set. And a neighbour may be able to write the next rank's file, but not this one.
  Result<void> look_for_another_set() {
    if (!shows_another_set(opened_file(), here_.masked_name, here_.place.owner,
                           generations_.front(), opener_.launch))
      return {};
    const GenerationName own = generations_.front().name;
    const auto choice = look();
    if (!choice || living_.contains(choice->newest.launch)) return {};
    const bool is_certain =
        choice->kind == Choice::Kind::previous || choice->kind == Choice::Kind::no_whole;
    if (!is_certain || (choice->newest != own && !others_open_the_newest(*choice))) return {};
    return warn_or_refuse("mix ", text().of_two_sets(*choice));
  }

  /// True if a file of the opened set was written again after its commit, or if that is not known. Its first writing is then lost,
  /// as natively.
  [[nodiscard]] bool was_written_again() const {
    if (generations_.empty()) return true;
    const Generation& own = generations_.front();
    const auto stored = std::count_if(own.members.begin(), own.members.end(),
                                      [](const auto& member) { return !member.second.native; });
    return own.parts.size() > static_cast<std::size_t>(stored) || !own.parts.contains(stub_.part);
  }

  /// Warns, or fails with mix=refuse, if a native file has replaced a rank's file since (newer_native_file()).
  /// Not if the set is this file alone: ranks that write files in turn have one each.
  Result<void> look_at_next_rank() const {
    if (!generations_.empty() && numbers_of(generations_.front()).size() < 2) return {};
    const std::uint32_t ranks = is_launch() ? opener_.rank_count : stub_.rank_count;
    OpenedFile own = opened_file();
    own.committed_ns = committed_ns();
    const std::string path = newer_native_file(own, ranks, here_.masked_name, here_.place.owner,
                                               where_notes_are_found(), present_);
    if (path.empty()) return {};
    const std::string text =
        path + " was written natively after the set " + here_.masked_name + " (launch " +
        stub_.launch + ", sequence " + std::to_string(stub_.sequence) + "), from which " + path_ +
        " is opened. If a job died before all ranks had written the "
        "later step, ranks now open files of different steps" +
        (was_written_again() ? ""
                             : ". Nothing is lost: `mcr unpack` writes the older set as plain "
                               "files");
    return warn_or_refuse("natively ", text);
  }

  /// Says that ranks open files of different steps. `kind` and the masked name are what is warned of once.
  [[nodiscard]] Result<void> warn_or_refuse(const std::string& kind,
                                            const std::string& text) const {
    if (opener_.mix == Mix::refuse)
      return Error{Cause::usage, text + ". The open was refused (mix=refuse)", refused};
    log_warning_once(kind + here_.masked_name, text);
    return {};
  }

  [[nodiscard]] MixText text() const { return {stub_, here_, generations_, present_, lost_in_}; }

  Result<OpenedPart> obey(const Decision& decision) {
    if (decision.as_it_is || gives(decision, stub_)) {
      MCR_TRY(look_at_next_rank());
      return exactly();
    }
    // The last look was before the decision, and may have missed a container that the decision is
    // based on.
    const std::uint64_t begin = monotonic_ms();
    for (;;) {
      (void)MCR_TRY(look());
      const auto given = std::find_if(generations_.begin(), generations_.end(),
                                      [&](const auto& it) { return gives(decision, it.name); });
      const bool is_there = given != generations_.end();
      const Member* const member = is_there ? member_of(*given) : nullptr;
      if (member != nullptr) return open_member(*given, *member);
      // A rank that passed, or that did not exist in the set's launch, keeps its own file. With {part}, a file that
      // belongs to neither set stays as it is.
      const auto has_passed = [&](const Account& account) {
        return std::find(account.passed.begin(), account.passed.end(), stub_.rank) !=
               account.passed.end();
      };
      const bool is_of_neither =
          by_part() && generation_of(stub_, generations_, present_) != decision.newest;
      const bool is_left_out =
          is_there &&
          (by_part() ? is_of_neither
                     : has_passed(given->account) || stub_.rank >= given->account.rank_count);
      if (is_left_out) return exactly();
      if (monotonic_ms() - begin >= opener_.wait_ms) break;
      pause();
    }
    return Error{Cause::system,
                 path_ + " belongs to an incomplete set, so the launch opens an earlier set (" +
                     text().of_name(decision.given) +
                     "), but this rank's file of the earlier set is gone"};
  }

  [[nodiscard]] const Member* member_of(const Generation& given) const {
    const Member* newest = nullptr;
    for (const auto& [path, it] : given.members) {
      const bool is_it =
          here_.renamed ? number_of(it, given.name.masked_name) == number_ : path == here_.tail;
      if (is_it && (newest == nullptr || newest->written_ns < it.written_ns)) newest = &it;
    }
    return newest;
  }

  Result<OpenedPart> open_native(const Member& member, const std::string& masked_name, Stub other) {
    const auto named = present_.paths.find(number_of(member, masked_name));
    const std::string place =
        place_of_native(here_.place.directory, *member.native,
                        named == present_.paths.end() ? path_ : named->second, member.owner);
    File directory = MCR_TRY(File::open(AT_FDCWD, parent_of(place), O_PATH | O_DIRECTORY));
    File file = MCR_TRY(
        File::open(directory.descriptor(), name_of(place), O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
    auto source = MCR_TRY(native_source(file, place, member.owner, *member.native));
    return OpenedPart{std::move(source), std::move(other),
                      NativePlace{std::move(directory), std::move(file), member.owner}};
  }

  Result<OpenedPart> open_member(const Generation& given, const Member& member) {
    Stub other = stub_;
    other.part = member.part;
    other.launch = given.name.launch;
    other.sequence = given.name.sequence;
    other.launch_directory.clear();
    std::string from = path_;
    for (const auto& [number, stub] : present_.stubs) {
      if (present_.at.at(number).generation != given.name) continue;
      other = stub;  // for its container places and its stage
      other.part = member.part;
      if (here_.renamed) {
        from = present_.paths[number];
      } else {
        other.origin = stub_.origin;  // containers are looked for as for the opened file
      }
      break;
    }
    other.rank = member.rank;
    other.path = stub_.path;
    if (!given.name.masked_name.empty()) other.masked_names = {given.name.masked_name};
    if (member.native) return open_native(member, given.name.masked_name, std::move(other));
    auto source = MCR_TRY(open_part(other, from, opener_.allow, opener_.share));
    return OpenedPart{std::move(source), std::move(other), {}};
  }

  Result<OpenedPart> exactly() {
    if (opener_.is_native) return OpenedPart{nullptr, stub_, {}};
    auto source = MCR_TRY(open_part(stub_, path_, opener_.allow, opener_.share));
    return OpenedPart{std::move(source), stub_, {}};
  }

  const Stub& stub_;
  const Opener& opener_;
  std::string path_;  ///< links resolved
  NamesHere here_;
  FileNumber number_ = 0;  ///< of the opened file
  std::uint64_t begin_ms_ = monotonic_ms();
  bool is_unsettled_ = false;
  std::optional<ComingStub> coming_;  ///< a stub that will be put at this path
  /// This node's stages have parts of launches whose processes no longer write.
  bool drains_ = false;
  LaunchDecision launch_decision_;
  std::vector<Generation> generations_;
  PresentNames present_;
  std::set<std::string> living_;  ///< launches with living ranks on this node
  std::set<std::string> directories_;
  std::set<std::pair<std::string, std::string>> lost_in_;  ///< StageLook::lost_in of the last look
  std::optional<Decision> obeyed_;
};

}  // namespace

Result<OpenedPart> open_generation(const Stub& stub, const std::string& path,
                                   const Opener& opener) {
  return View(stub, path, opener).open();
}

bool is_refused(const Result<OpenedPart>& opened) {
  return !opened && opened.error().cause == Cause::usage && opened.error().system_error == refused;
}

}  // namespace mcr::restart
