// SPDX-License-Identifier: BSD-3-Clause
#include "restart/open_generation.hpp"

#include <fcntl.h>

#include <algorithm>
#include <ctime>

#include "restart/base/log.hpp"
#include "restart/base/system.hpp"
#include "restart/container_name.hpp"
#include "restart/format/decision.hpp"
#include "restart/known_generations.hpp"
#include "restart/masked_name.hpp"
#include "restart/native_members.hpp"
#include "restart/open_part.hpp"
#include "restart/stage.hpp"

namespace mcr::restart {
namespace {

constexpr std::uint64_t look_again_ms = 50;
constexpr std::uint64_t looks_per_adoption = 20;
/// With more containers than this the first opener's answer is written down even where the set is
/// whole, so that the others need not read them all.
constexpr std::size_t cheap_containers = 8;

std::uint64_t now_ms() { return clock_ns(CLOCK_MONOTONIC) / 1'000'000; }

std::string text_of(const GenerationName& name) {
  return "launch " + name.launch + ", sequence " + std::to_string(name.sequence);
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
    if (!find_place()) return exactly();  // nothing of it is known but the stub
    if (is_launch()) {
      if (const auto decision = find_decision(decision_directory_, decision_name_))
        return obey(*decision);
    }
    is_unsettled_ = is_launch() && drains(stub_.launch_directory);
    if (!is_unsettled_ && is_plainly_whole()) {
      // Written while we looked.
      if (const auto decision =
              is_launch() ? find_decision(decision_directory_, decision_name_) : std::nullopt)
        return obey(*decision);
      if (is_launch() && generations_.front().containers > cheap_containers)
        (void)record_decision(decision_directory_, decision_name_, Decision{}).has_value();
      return exactly();
    }
    const Choice choice = choose();
    return act_on(choice);
  }

 private:
  [[nodiscard]] bool is_launch() const { return opener_.rank_count > 1 && !opener_.launch.empty(); }

  /// Where containers of these names lie, and what the ranks' names are now.
  bool find_place() {
    for (ContainerPlace& place : container_places(stub_, path_, opener_.allow)) {
      const std::size_t components = components_of(place.masked_name);
      generations_ = stored_generations(place, components, true);
      if (generations_.empty()) continue;
      use(std::move(place), components);
      break;
    }
    if (!place_) {  // all of it may still be in a stage
      auto places = container_places(stub_, path_, opener_.allow);
      if (places.empty()) return false;
      const std::size_t components = components_of(places.front().masked_name);
      use(std::move(places.front()), components);
    }
    return !masked_name_.empty();
  }

  [[nodiscard]] std::size_t components_of(const std::string& masked_name) const {
    const ContainerName name =
        container_name(masked_name, stub_.container_directory, stub_.launch, stub_.sequence);
    return name.depth + 1;
  }

  void use(ContainerPlace place, std::size_t components) {
    place_ = std::move(place);
    components_ = components;
    tail_ = path_tail(path_, components);
    // Beside the stub, under the name that it had: only then the whole tree may have been moved.
    renamed_ = tail_ != path_tail(stub_.path, components) || place_->owner.has_value();
    masked_name_.clear();
    if (place_->masked_name.find("{part}") != std::string::npos) return;
    if (!renamed_) {
      masked_name_ =
          path_.substr(0, path_.size() - tail_.size()) + path_tail(place_->masked_name, components);
    } else {
      masked_name_ = present_mask();
    }
    if (masked_name_.empty()) return;
    const ContainerName here =
        container_name(masked_name_, stub_.container_directory, opener_.launch, 0);
    decision_directory_ = here.directory;
    decision_name_ = here.prefix + "decision";
  }

  /// The files were renamed: the likeliest mask under which another rank's file lies there.
  [[nodiscard]] std::string present_mask() const {
    const auto masks = masked_names(path_, stub_.rank, stub_.rank_count);
    for (const std::string& mask : masks) {
      for (std::uint32_t other = 0; other < std::min(stub_.rank_count, 4U); ++other) {
        if (other == stub_.rank) continue;
        for (const std::string& path : sibling_paths(path_, mask, stub_.rank, other)) {
          if (File::open(AT_FDCWD, path, O_RDONLY | O_NONBLOCK)) return mask;
        }
      }
    }
    return masks.empty() ? std::string() : masks.front();
  }

  /// By the containers alone: then every look gives the same, and nothing else has to be read.
  [[nodiscard]] bool is_plainly_whole() const {
    if (renamed_ || generations_.size() != 1) return false;
    const Generation& own = generations_.front();
    const bool has_natives =
        std::any_of(own.members.begin(), own.members.end(),
                    [](const auto& member) { return member.second.native.has_value(); });
    return !has_natives && !own.damaged && wholeness(own.account) == Wholeness::whole;
  }

  /// A leader, perhaps one yet to come, may still change what lies at these names.
  [[nodiscard]] bool anything_drains() const {
    return drains(stub_.launch_directory) ||
           std::any_of(present_.stubs.begin(), present_.stubs.end(),
                       [](const auto& there) { return drains(there.second.launch_directory); });
  }

  /// Also what no stub shows any more may make an earlier set whole.
  static bool drains(const std::string& launch_directory) {
    using State = LaunchDirectory::State;
    const auto directory = LaunchDirectory::open(launch_directory);
    if (!directory) return false;
    const auto goes_on = directory->anybody_goes_on();
    if (goes_on && *goes_on) return false;  // nothing is decided then
    for (const State state : {State::published, State::open}) {
      const auto parts = directory->list(state);
      if (parts && !parts->empty()) return true;
    }
    return false;
  }

  /// No set lies between the two that a node's containers, still to come, could make whole.
  static bool is_next_before(const Choice& choice) {
    if (choice.kind != Choice::Kind::previous) return false;
    const bool same_launch = choice.given.launch == choice.newest.launch;
    return choice.newest.sequence == (same_launch ? choice.given.sequence + 1 : 0);
  }

  Choice choose() {
    const std::uint64_t begin = now_ms();
    std::uint64_t looks = 0;
    for (;;) {
      const Choice choice = look();
      // Whole for all: what drains can only be newer and incomplete. Else what drains may be the
      // newest whole one; what is nowhere may come from another node.
      const bool may_come = anything_drains() || stage_.drains ||
                            (stage_.lost && !(choice.is_certain && is_next_before(choice)));
      const bool is_settled = choice.kind == Choice::Kind::as_it_is ||
                              stage_.living.contains(choice.newest.launch) || !may_come;
      if (is_settled || !is_launch() || now_ms() - begin >= opener_.wait_ms) return choice;
      // Again and again: the leader that was seen may be dying.
      if (opener_.adopt && looks++ % looks_per_adoption == 0) {
        directories_.insert(stub_.launch_directory);
        for (const auto& [rank, stub] : present_.stubs) directories_.insert(stub.launch_directory);
        for (const std::string& directory : directories_) opener_.adopt(directory);
      }
      const timespec pause{0, static_cast<long>(look_again_ms) * 1'000'000};
      ::nanosleep(&pause, nullptr);
      // Another rank may have been first.
      if (const auto decision = find_decision(decision_directory_, decision_name_)) {
        obeyed_ = decision;
        return choice;
      }
    }
  }

  Choice look() {
    generations_ = stored_generations(*place_, components_, false);
    present_ = present_names(path_, masked_name_, stub_.rank, stub_.rank_count, place_->directory);
    if (renamed_) add_generations_of_stubs();
    find_native_members(generations_, present_, place_->directory,
                        path_.substr(0, path_.size() - tail_.size()));
    stage_ = look_into_stages(present_, generations_, components_);
    std::erase_if(generations_,
                  [&](const Generation& it) { return it.name.launch == opener_.launch; });
    for (auto& [rank, there] : present_.at) {
      // What this launch has written meanwhile says nothing about the others' sets.
      if (there.generation.launch == opener_.launch) there = AtName{};
    }
    Question question;
    question.own = {stub_.launch, stub_.sequence};
    question.path = tail_;
    question.rank = stub_.rank;
    question.renamed = renamed_;
    question.present = present_.at;
    question.generations = generations_;
    question.living = stage_.living;
    return choose_generation(question);
  }

  /// Renamed files may come from sets of several names and places: each stub leads to its own.
  void add_generations_of_stubs() {
    for (const auto& [rank, stub] : present_.stubs) {
      const GenerationName name{stub.launch, stub.sequence};
      const auto known = std::any_of(generations_.begin(), generations_.end(),
                                     [&](const auto& it) { return it.name == name; });
      if (known) continue;
      for (const ContainerPlace& place :
           container_places(stub, present_.paths[rank], opener_.allow)) {
        auto found = stored_generations(place, components_of(place.masked_name), true);
        if (found.empty()) continue;
        generations_.push_back(std::move(found.front()));
        break;
      }
    }
  }

  Result<OpenedPart> act_on(const Choice& choice) {
    if (obeyed_) return obey(*obeyed_);
    if (stage_.living.contains(choice.newest.launch)) return exactly();
    if (choice.kind == Choice::Kind::as_it_is) {
      if (!is_unsettled_) return exactly();
      Decision whole{false, choice.newest, choice.newest};
      const auto recorded = record_decision(decision_directory_, decision_name_, whole);
      return obey(recorded ? recorded->decision : Decision{false, choice.given, choice.newest});
    }
    const std::string missing =
        std::to_string(choice.missing) + " of " + std::to_string(stub_.rank_count) + " ranks";
    const std::string newest = masked_name_ + " (" + text_of(choice.newest) + ")";
    if (opener_.mix == Mix::refuse && choice.kind != Choice::Kind::unknown) {
      const std::string earlier = choice.kind == Choice::Kind::previous
                                      ? "the whole set before it is (" + text_of(choice.given) + ")"
                                      : "there is no whole set before it";
      return Error{Cause::usage, "the set " + newest + " is incomplete, " + missing +
                                     " have no file of it; " + earlier +
                                     ", and mix=refuse: mix=previous gives that one, `mcr unpack` "
                                     "writes it as plain files"};
    }
    Decision decision{choice.kind != Choice::Kind::previous, choice.given, choice.newest};
    bool is_first = true;
    if (is_launch()) {
      const auto recorded = record_decision(decision_directory_, decision_name_, decision);
      if (recorded && !recorded->is_ours) {
        is_first = false;
        decision = recorded->decision;
      }
    }
    if (is_first) warn(choice, newest, missing);
    return obey(decision);
  }

  void warn(const Choice& choice, const std::string& newest, const std::string& missing) const {
    if (choice.kind == Choice::Kind::unknown && !is_launch()) return;
    // Nothing of it is here, as where stubs were copied without their mcr/: the open fails, and says
    // where it has looked.
    if (choice.kind == Choice::Kind::no_whole && choice.missing == stub_.rank_count) return;
    std::string text = "the set " + newest;
    if (choice.kind == Choice::Kind::previous) {
      text += " is incomplete: " + missing + " have no file of it. All ranks get the whole set " +
              "before it (" + text_of(choice.given) + ")";
    } else if (choice.kind == Choice::Kind::no_whole) {
      text += " is incomplete: " + missing + " have no file of it, and there is no whole set " +
              "before it: each path gives its own newest file";
    } else {
      text += " may not be whole: " + missing +
              " are not accounted for. Each path gives its own newest file";
    }
    log_warning_once("mix " + masked_name_, text);
  }

  Result<OpenedPart> obey(const Decision& decision) {
    const GenerationName own{stub_.launch, stub_.sequence};
    if (decision.as_it_is || decision.given == own) return exactly();
    // What was looked at before the decision was made may lack a container that it was made with.
    const std::uint64_t begin = now_ms();
    for (;;) {
      (void)look();
      const auto given = std::find_if(generations_.begin(), generations_.end(),
                                      [&](const auto& it) { return it.name == decision.given; });
      const bool is_there = given != generations_.end();
      const Member* const member = is_there ? member_of(*given) : nullptr;
      if (member != nullptr) return open_member(*given, *member);
      // A rank that passed, or that the set's launch did not have, keeps what it has.
      const bool is_left_out = is_there && (given->account.passed.contains(stub_.rank) ||
                                            stub_.rank >= given->account.rank_count);
      if (is_left_out) return exactly();
      if (now_ms() - begin >= opener_.wait_ms) break;
      const timespec pause{0, static_cast<long>(look_again_ms) * 1'000'000};
      ::nanosleep(&pause, nullptr);
    }
    return Error{Cause::system, path_ +
                                    " belongs to an incomplete set, and its part of the set that "
                                    "the launch was given instead (" +
                                    text_of(decision.given) + ") is not there any more"};
  }

  [[nodiscard]] const Member* member_of(const Generation& given) const {
    const Member* newest = nullptr;
    for (const auto& [path, it] : given.members) {
      const bool is_it = renamed_ ? it.rank == stub_.rank : path == tail_;
      if (is_it && (newest == nullptr || newest->written_ns < it.written_ns)) newest = &it;
    }
    return newest;
  }

  Result<OpenedPart> open_native(const Member& member, Stub other) {
    const auto named = present_.paths.find(member.rank);
    const std::string place = place_of_native(
        place_->directory, *member.native, named == present_.paths.end() ? path_ : named->second);
    auto source = MCR_TRY(open_native_source(place, *member.native));
    return OpenedPart{std::move(source), std::move(other)};
  }

  Result<OpenedPart> open_member(const Generation& given, const Member& member) {
    Stub other = stub_;
    other.part = member.part;
    other.launch = given.name.launch;
    other.sequence = given.name.sequence;
    other.launch_directory.clear();
    std::string from = path_;
    for (const auto& [rank, stub] : present_.stubs) {
      if (GenerationName{stub.launch, stub.sequence} != given.name) continue;
      other = stub;  // its places and its stage
      other.part = member.part;
      if (renamed_) from = present_.paths[rank];
      break;
    }
    other.rank = member.rank;
    other.path = stub_.path;
    if (!given.masked_name.empty()) other.masked_names = {given.masked_name};
    if (member.native) return open_native(member, std::move(other));
    auto source = MCR_TRY(open_part(other, from, opener_.allow));
    return OpenedPart{std::move(source), std::move(other)};
  }

  Result<OpenedPart> exactly() {
    if (opener_.is_native) return OpenedPart{nullptr, stub_};
    auto source = MCR_TRY(open_part(stub_, path_, opener_.allow));
    return OpenedPart{std::move(source), stub_};
  }

  const Stub& stub_;
  const Opener& opener_;
  std::string path_;  ///< links resolved
  std::optional<ContainerPlace> place_;
  std::size_t components_ = 1;
  std::string tail_;         ///< of path_, below the directory that all parts share
  std::string masked_name_;  ///< of the present names
  bool renamed_ = false;
  bool is_unsettled_ = false;
  std::string decision_directory_;
  std::string decision_name_;
  std::vector<Generation> generations_;
  PresentNames present_;
  StageLook stage_;
  std::set<std::string> directories_;
  std::optional<Decision> obeyed_;
};

}  // namespace

Result<OpenedPart> open_generation(const Stub& stub, const std::string& path,
                                   const Opener& opener) {
  return View(stub, path, opener).open();
}

}  // namespace mcr::restart
