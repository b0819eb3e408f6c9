// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/leader/leader.hpp"

#include <fcntl.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <map>
#include <memory>
#include <thread>
#include <utility>

#include "aggregation/commit/commit.hpp"
#include "aggregation/commit/put_back.hpp"
#include "aggregation/commit/superseded_group.hpp"
#include "aggregation/commit/writing_turn.hpp"
#include "aggregation/leader/collections.hpp"
#include "aggregation/leader/deadline.hpp"
#include "aggregation/leader/discovery.hpp"
#include "aggregation/leader/held_sets.hpp"
#include "aggregation/leader/launches.hpp"
#include "aggregation/leader/lifetime.hpp"
#include "aggregation/leader/requests.hpp"
#include "aggregation/leader/siblings.hpp"
#include "aggregation/leader/worker.hpp"
#include "codecs/gpu/lanes/open_card.hpp"
#include "restart/base/limits.hpp"
#include "restart/base/log.hpp"
#include "restart/base/path_names.hpp"
#include "restart/base/system.hpp"
#include "restart/container/shared_frames.hpp"
#include "restart/format/masked_name.hpp"
#include "restart/settings/choices.hpp"
#include "restart/stage/leader_files.hpp"

namespace mcr::aggregation {

using restart::LaunchDirectory;
using State = restart::LaunchDirectory::State;

namespace {

/// How often directories are scanned: `poll_ms` without watches, `safety_poll_ms` with them.
constexpr std::uint64_t poll_ms = 20;
constexpr std::uint64_t safety_poll_ms = 1000;
/// How long to wait between a change and the scan. Ranks publish at about the same time, so that
/// one scan finds all their parts.
constexpr std::uint64_t gather_ms = 2;
/// Bounds of the pause after a turn of the loop that took long.
constexpr std::uint64_t shortest_pause_ns = 4'000'000;
constexpr std::uint64_t longest_pause_ns = 500'000'000;
constexpr std::uint64_t notice_ms = 200;
/// A look at the stage's size looks at each file there. While the stage is not large, such looks take at most a fiftieth of the
/// time, unless that would make them rarer than once in two seconds.
constexpr std::uint64_t size_look_share = 50;
constexpr std::uint64_t longest_size_look_ms = 2'000;
constexpr int niceness_behind_others = 10;
/// The most native files whose writers are remembered.
constexpr std::size_t most_natives = 4096;
/// How often the leader looks for requests of other nodes' ranks, if any can come.
constexpr std::uint64_t request_ms = 250;
constexpr std::uint64_t watch_ms = 100;  ///< between looks at containers that may be removed
constexpr std::uint64_t team_ms = 50;    ///< between looks at what the team has sent, or says
/// Shared frames are dropped after frames_unheld_ns if no rank holds them. Frames that a rank holds
/// are dropped if they were not touched for frames_idle_ns, or frames_idle_short_ns if the stage is
/// large. Ranks touch the frames that they use once a second, but on a busy machine they may be
/// late.
constexpr std::uint64_t frames_unheld_ns = 2'000'000'000;
constexpr std::uint64_t frames_idle_ns = 10'000'000'000;
constexpr std::uint64_t frames_idle_short_ns = 3'000'000'000;
constexpr const char* waiting_for_turn = "waiting for its turn to write to storage (writers=)";
constexpr const char* holding_back = "keeping a set in memory until a newer one is whole (flush=)";
constexpr const char* removing_sets = "removing sets that newer ones replaced";

class Leader {
 public:
  Leader(const LaunchDirectory& directory, const LeaderOptions& options, Patience patience,
         Signals* signals)
      : directory_(directory),
        options_(options),
        signals_(signals),
        watch_({directory.path() + "/published", directory.path() + "/ranks"}),
        clock_(directory),
        discovery_(directory, &stubs_, &requests_, options.adopts_others ? &clock_ : nullptr),
        decisions_(patience),
        deadline_(options.settings),
        summary_(directory),
        held_sets_(directory),
        quick_("mcr put back", answers_),
        collect_("mcr collect", answers_),
        drain_("mcr drain", answers_, Worker::WhenIdle::trim) {}

  /// The drain's thread must not wait for its turn any more, because the threads are waited for.
  ~Leader() { anybody_lives_ = false; }
  Leader(const Leader&) = delete;
  Leader& operator=(const Leader&) = delete;

  /// Runs until the decisions include Exit.
  Result<void> run() {
    free_what_a_dead_leader_kept();
    if (was_led_before()) {
      decisions_.succeed();
      codecs::gpu::decide_for_no_card(
          "the job had a leader before, which may have died in the GPU's driver");
    }
    if (const auto listening = stubs_.listen(directory_); !listening)
      restart::log_summary(
          "cannot receive stubs from ranks, so the leader searches for renamed files by their "
          "paths: " +
          listening.error().message);
    while (!exit_) {
      turn_begin_ns_ = restart::clock_ns(CLOCK_THREAD_CPUTIME_ID);
      std::vector<Event> events = take_answers();
      stubs_.receive();
      notice_.seen_ns = restart::clock_ns(CLOCK_REALTIME);
      std::vector<Event> found = MCR_TRY(discovery_.scan());
      const bool has_found = !found.empty();
      for (const Event& event : found) {
        if (const auto* withdrawn = std::get_if<PartWithdrawn>(&event))
          held_sets_.note_left(withdrawn->part);
        if (const auto* gone = std::get_if<PartDropped>(&event)) held_sets_.note_left(gone->part);
      }
      std::move(found.begin(), found.end(), std::back_inserter(events));
      look_at_clock();
      if (signals_ != nullptr && signals_->take()) {
        restart::log_summary(
            "SIGTERM received: the leader drains the published parts and then ends");
        events.emplace_back(Terminate{});
        was_terminated_ = true;
      }
      if (std::exchange(tells_stage_short_, false)) events.emplace_back(StageShort{});
      look_at_watch();
      look_at_collections();
      std::vector<Event> said = held_sets_.look();
      std::move(said.begin(), said.end(), std::back_inserter(events));
      events.emplace_back(
          Hurry{is_stage_large_ || deadline_.is_near(now_since_1970_ms()) || is_asked_to_flush(),
                held_sets_.has_team()});
      events.emplace_back(FramesShared{shares_frames_});
      events.emplace_back(ContainersWatched{!container_watch_.is_empty()});
      events.emplace_back(Tick{});
      const std::vector<Decision> all = decisions_.on(events, restart::monotonic_ms());
      anybody_lives_ = decisions_.anybody_lives();
      for (const Decision& decision : all) {
        std::visit([this](const auto& it) { act(it); }, decision);
      }
      if (!decisions_.anybody_may_write()) (void)directory_.shrink_pool(UINT64_MAX).has_value();
      deadline_.set_waiting(decisions_.pending_bytes());
      summary_.write(decisions_.pending(), busy());
      leave_notice(has_found);
      weigh_our_session();
      look_for_requests();
      if (!exit_) wait();
    }
    collect_.finish();  // no drain is under way
    collections_.finish();
    return {};
  }

  [[nodiscard]] bool was_terminated() const { return was_terminated_; }

 private:
  // --- actions, one for each decision -----------------------------------------------------------

  void act(const LookForSiblings& look) {
    quick_.submit("looking for the files of other ranks", [this, look]() -> std::vector<Event> {
      stubs_.receive();
      const auto journal = directory_.journal(State::published, look.part);
      // A part whose journal cannot be read counts as one with siblings, so that it is not put
      // back.
      if (!journal) return {SiblingsLookedUp{look.part, 0}};
      const Siblings found = find_siblings(journal->begin, stubs_, natives_);
      return {SiblingsLookedUp{look.part, found.name, found.is_certain}};
    });
  }

  void act(const DrainGroup& group) {
    drains_[group.drain] = group.parts;
    drain_.submit(writing_text(group), [this, group = group]() mutable -> std::vector<Event> {
      HeldSets::Taken taken = held_sets_.take(group.set);
      group.held = taken.held.get();
      if (auto dropped = drop_superseded(directory_, group, summary_, stubs_))
        return {*std::move(dropped)};
      DrainDone done = commit(group);
      if (!done.committed.empty()) collect(group);
      // The others may have dropped older sets, so this one must not be in the memory of one node only.
      for (const PartId& part : group.parts) taken.waiting.erase(part);
      taken.waiting.insert(done.failed.begin(), done.failed.end());
      if (taken.held != nullptr && !taken.waiting.empty())
        held_sets_.keep(group.set, std::move(taken));
      return {std::move(done)};
    });
  }

  void act(const HoldSet& hold) {
    const DrainGroup& group = hold.group;
    drain_.submit("encoding " + group.set.masked_name + " for another node",
                  [this, group]() -> std::vector<Event> {
                    auto held = hold_group(directory_, group, stubs_);
                    const bool is_held = held != nullptr;
                    if (is_held) held_sets_.add(group.set, std::move(held));
                    return {SetHeld{group.drain, group.set, is_held}};
                  });
  }

  void act(const TellSafe& safe) { held_sets_.tell(safe); }

  void act(const TakeBackSafe& safe) { held_sets_.take_back(safe); }

  static std::string writing_text(const DrainGroup& group) {
    return "writing the container of " + group.set.masked_name;
  }

  /// Runs in the drain's thread. The group may have waited for it, so the profile is chosen now.
  DrainDone commit(DrainGroup group) {
    WritingTurn turn(directory_, options_.settings,
                     [this, is_told = false, what = writing_text(group)](bool waits) mutable {
                       if (waits != std::exchange(is_told, waits))
                         drain_.describe(waits ? waiting_for_turn : what);
                       return may_wait_for_turn();
                     });
    const std::uint64_t begin_ms = restart::monotonic_ms();
    // Before the parts are locked, because a rank may open its file again meanwhile. A replica is made before the turn.
    if (options_.settings.text("replicas") != "1") turn.wait();
    group.turn_to_write = &turn;
    group.fast |= was_terminated_ || deadline_.needs_speed(now_since_1970_ms());
    clock_.look_if_replaced(restart::container_name(group.set.masked_name,
                                                    options_.settings.text("container_dir"),
                                                    group.set.launch, group.set.sequence)
                                .directory);
    DrainDone done = commit_group(directory_, group, summary_, &stubs_, &places_, &known_,
                                  &container_watch_, &short_storage_);
    // A failure may come at once, and tells nothing about the speed of storage.
    if (done.failed.empty() && done.without_stub.empty())
      deadline_.measure(group.bytes, restart::monotonic_ms() - begin_ms - turn.waited_ms());
    has_committed_ = has_committed_ || !done.committed.empty();
    return done;
  }

  /// False if the leader must hurry, or if its launch is over: then openers may wait for what it commits.
  [[nodiscard]] bool may_wait_for_turn() const {
    return !was_terminated_ && anybody_lives_ && !deadline_.is_near(now_since_1970_ms());
  }

  static std::uint64_t now_since_1970_ms() { return restart::clock_ns(CLOCK_REALTIME) / 1'000'000; }

  void act(const NoteAccount& note) {
    const std::string what = "recording which ranks wrote " + note.account.set.masked_name;
    drain_.submit(what, [this, note]() -> std::vector<Event> {
      const auto noted = note_account(directory_, note.account, places_);
      if (!noted) restart::log_warning(noted.error().message);
      if (noted) collect(note.account);
      return {AccountNoted{note.account.set}};
    });
  }

  void act(const PutBack& order) {
    quick_.submit(
        "writing a checkpoint file as a plain one", [this, order]() -> std::vector<Event> {
          stubs_.receive();
          const auto journal = directory_.journal(State::published, order.part);
          const bool is_lone = order.reason == PutBackReason::lone;
          const auto may_drain = is_lone ? MayDrain::yes : MayDrain::no;
          const auto ended = put_back(directory_, order.part, {}, &stubs_, may_drain);
          if (!ended)
            restart::log_warning(
                "a part cannot be put back to its path yet; nothing is lost, the part stays in the "
                "stage: " +
                ended.error().message);
          const PutBackEnd end = ended ? *ended : PutBackEnd::not_possible;
          const bool is_done = end == PutBackEnd::done;
          // It goes into a container, and still is this rank's alone.
          const bool is_lone_in_container = is_lone && ended && end == PutBackEnd::not_possible;
          if ((is_done || is_lone_in_container) && journal) remember_native(journal->begin);
          if (is_lone_in_container && journal) remove_leftover(journal->begin);
          if (is_done) summary_.put_back(is_lone);
          if (is_done) restart::log_debug("part " + order.part.text() + " is a native file now");
          return {PutBackDone{order.part, end}};
        });
  }

  void act(const MarkNative& mark) {
    restart::log_summary("files of this pattern are native from now on: " + mark.pattern + " (" +
                         mark.why + ")");
    if (const auto marked = directory_.mark_native(mark.pattern); !marked) {
      restart::log_warning(marked.error().message);
    }
  }

  void act(const StorageFailed&) {
    commit_failed_ = true;
    noticed_ms_ = 0;
    act(MarkNative{std::string(restart::every_pattern),
                   "a container could not be written to storage"});
  }

  void act(const Settle& order) {
    quick_.submit("settling a file that a dead rank left open",
                  [this, order]() -> std::vector<Event> {
                    stubs_.receive();
                    const auto journal = directory_.journal(State::open, order.part);
                    const auto said = settle(directory_, order.part, &stubs_);
                    if (journal) remember_native(journal->begin);
                    if (said) {
                      restart::log_summary(*said);
                    } else if (said.error().system_error !=
                               EWOULDBLOCK) {  // EWOULDBLOCK: another process writes this file
                      restart::log_warning_once(order.part.text(),
                                                "the file of a writer that died cannot be brought "
                                                "to storage yet and stays in memory: " +
                                                    said.error().message);
                    }
                    return {SettleDone{order.part, said.has_value()}};
                  });
  }

  void act(const FreeKept& order) {
    if (const auto freed = directory_.free_part(order.part, {}); !freed) {
      restart::log_warning(freed.error().message);
    }
  }

  void act(const Exit& exit) {
    exit_ = true;
    if (exit.complete) held_sets_.withdraw_all();
    if (!exit.complete)
      restart::log_warning("uncommitted parts remain in " + directory_.path() +
                           "; `mcr recover` brings them to storage");
  }

  /// Runs in the quick thread. Remembers that the file at this path is this rank's, so that it does
  /// not count as a sibling of another rank's file.
  void remember_native(const restart::PartBegin& begin) {
    if (natives_.size() >= most_natives) natives_.clear();
    natives_[begin.path] = begin.rank;
  }

  /// Runs in the drain's thread. If the set is whole now, removes what it makes superfluous. A
  /// collection reads containers and may take long, so neither the report of this commit nor the next
  /// commit waits for it.
  void collect(const DrainGroup& group) {
    const auto place = places_.find(group.set);
    if (place == places_.end()) return;
    const SetPlace& set = place->second;
    collections_.committed(restart::pattern_of(group.set.masked_name),
                           {set.where, set.directory, set.first_rank, group.rank_count,
                            restart::gc_of(set.settings) == restart::Gc::always});
    collect_.submit(removing_sets, [this]() -> std::vector<Event> {
      collections_.collect();
      return {};
    });
  }

  /// Returns the job that has taken longest among those of the workers.
  [[nodiscard]] Summary::Busy busy() const {
    Worker::Busy longest = drain_.busy();
    for (const Worker* worker : {&quick_, &collect_}) {
      const Worker::Busy other = worker->busy();
      if (longest.what.empty() || (!other.what.empty() && other.since_ms < longest.since_ms))
        longest = other;
    }
    const bool holds_back = decisions_.holds_back();
    if (longest.what.empty()) return {holds_back ? holding_back : std::string(), 0, holds_back};
    return {longest.what, (restart::monotonic_ms() - longest.since_ms) / 1000, holds_back};
  }

  // --- between decisions ------------------------------------------------------------------------

  /// While the job computes, the leader's session has a tenth of the weight of another session. It
  /// has the full weight while a process waits for the leader, until its first commit, shortly before
  /// the job's end, and while the stage takes memory that the job may need.
  void weigh_our_session() {
    if (!options_.is_detached) return;
    const bool is_first = !has_committed_ && decisions_.pending() > 0;
    const bool is_urgent = decisions_.somebody_waits() || is_stage_large_ || is_first ||
                           deadline_.is_near(now_since_1970_ms());
    const int niceness = is_urgent ? 0 : niceness_behind_others;
    if (niceness != session_niceness_ && weigh_session(niceness)) session_niceness_ = niceness;
  }

  /// True once for each time that a command has asked for what is held back (wait_until_drained()).
  [[nodiscard]] bool is_asked_to_flush() const {
    return decisions_.holds_back() &&
           restart::system_calls().unlinkat(directory_.descriptor(),
                                            restart::leader_files::flush_name, 0) == 0;
  }

  /// Submits a job to the drain's thread. The job runs before the drains of the parts that were
  /// found just now.
  void look_at_clock() {
    if (!clock_.has_news()) return;
    drain_.submit("comparing clocks with sets in storage", [this]() -> std::vector<Event> {
      clock_.look();
      return {};
    });
  }

  /// Submits a look at the watched containers to the drain's thread.
  void look_at_watch() {
    const std::uint64_t now = restart::monotonic_ms();
    if (container_watch_.is_empty() || is_watching_ || now < watched_ms_ + watch_ms) return;
    is_watching_ = true;
    watched_ms_ = now;
    drain_.submit("looking whether containers were removed", [this]() -> std::vector<Event> {
      container_watch_.look();
      is_watching_ = false;
      return {};
    });
  }

  void look_at_collections() {
    const auto due_ms = collections_.due_ms();
    if (!due_ms || is_collecting_ || restart::monotonic_ms() < *due_ms) return;
    is_collecting_ = true;
    collect_.submit(removing_sets, [this]() -> std::vector<Event> {
      collections_.make_up();
      is_collecting_ = false;
      return {};
    });
  }

  /// Forgets the parts of finished actions, so that the parts that are still in the stage are
  /// reported again; and notes those that ranks took back from an action.
  std::vector<Event> take_answers() {
    std::vector<Event> events = answers_.take();
    for (const Event& event : events) {
      if (const auto* done = std::get_if<DrainDone>(&event)) {
        std::vector<PartId> parts = std::move(drains_[done->drain]);
        drains_.erase(done->drain);
        for (const auto* stay : {&done->failed, &done->without_stub}) {
          std::erase_if(parts, [&](const PartId& part) {
            return std::find(stay->begin(), stay->end(), part) != stay->end();
          });
        }
        discovery_.forget(parts);
      } else if (const auto* back = std::get_if<PutBackDone>(&event)) {
        if (back->end != PutBackEnd::not_possible) held_sets_.note_left(back->part);
        if (back->end == PutBackEnd::done) discovery_.forget({back->part});
        if (back->end == PutBackEnd::taken_back) discovery_.note_withdrawn(back->part);
      }
    }
    return events;
  }

  void wait() {
    std::uint64_t pause = watch_.is_complete() ? safety_poll_ms : poll_ms;
    if (shares_frames_) pause = std::min(pause, notice_ms);
    if (!container_watch_.is_empty()) pause = std::min(pause, watch_ms);
    if (requests_.may_come()) pause = std::min(pause, request_ms);
    if (held_sets_.waits()) pause = std::min(pause, team_ms);
    const auto wake_at = [&, now = restart::monotonic_ms()](std::optional<std::uint64_t> at_ms) {
      if (at_ms) pause = std::min(pause, *at_ms > now ? *at_ms - now : 0);
    };
    wake_at(decisions_.next_tick_ms());
    if (!is_collecting_) wake_at(collections_.due_ms());
    pause_after_a_long_turn();
    std::array<pollfd, 4> sources{{{watch_.descriptor(), POLLIN, 0},
                                   {answers_.descriptor(), POLLIN, 0},
                                   {stubs_.descriptor(), POLLIN, 0},
                                   {signals_ != nullptr ? signals_->descriptor() : -1, POLLIN, 0}}};
    if (::poll(sources.data(), sources.size(), static_cast<int>(pause)) > 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(gather_ms));
    }
    (void)watch_.take();
  }

  /// Pauses after a turn of the loop that took long, so that turns take at most a fifth of the
  /// time. Each turn looks at every waiting part: without pauses, committing 10,000 parts one by
  /// one would cost 10,000 looks at 10,000 parts.
  void pause_after_a_long_turn() const {
    const std::uint64_t turn_ns = restart::clock_ns(CLOCK_THREAD_CPUTIME_ID) - turn_begin_ns_;
    const std::uint64_t pause_ns = std::min(4 * turn_ns, longest_pause_ns);
    if (pause_ns < shortest_pause_ns) return;
    // While further drains are queued, the end of a drain need not end the pause.
    const bool drains_wait = drains_.size() > 2;
    std::array<pollfd, 2> sources{{{drains_wait ? -1 : answers_.descriptor(), POLLIN, 0},
                                   {signals_ != nullptr ? signals_->descriptor() : -1, POLLIN, 0}}};
    (void)::poll(sources.data(), sources.size(), static_cast<int>(pause_ns / 1'000'000));
  }

  /// Begins a look only when the last one is over, so that looks do not pile up if storage is slow.
  void look_for_requests() {
    const std::uint64_t now = restart::monotonic_ms();
    if (looking_ || now < looked_ms_ + request_ms || !requests_.may_come()) return;
    looking_ = true;
    looked_ms_ = now;
    quick_.submit("looking for requests of other nodes", [this]() -> std::vector<Event> {
      std::vector<Event> asked = requests_.look();
      looking_ = false;
      return asked;
    });
  }

  /// Writes the notice, which ranks read at each create: how much the stage holds, whether storage has
  /// failed, and how many sets wait for their commit.
  void leave_notice(bool has_found) {
    const std::uint64_t now = restart::monotonic_ms();
    const bool is_due = noticed_ms_ == 0 || now >= noticed_ms_ + notice_ms;
    const bool has_news = has_found || decisions_.behind() != notice_.sets_behind;
    if (!is_due && !has_news) return;
    const bool is_size_due =
        sized_ms_ == 0 || is_stage_large_ || now >= sized_ms_ + size_look_pause_ms_;
    if (is_due && is_size_due) {
      look_at_stage_size();
      sized_ms_ = now;
      size_look_pause_ms_ = std::clamp(size_look_share * (restart::monotonic_ms() - now), notice_ms,
                                       longest_size_look_ms);
    }
    if (is_due) noticed_ms_ = now;
    notice_.sets_behind = decisions_.behind();
    notice_.commit_failed = commit_failed_;
    (void)directory_.write_notice(notice_).has_value();
  }

  void look_at_stage_size() {
    const auto launches = restart::launch_directories(restart::parent_of(directory_.path()));
    if (!launches) return;
    notice_.stage_bytes = 0;
    for (const std::string& launch : *launches) {
      const auto directory = LaunchDirectory::open(launch);
      const auto used = directory ? directory->used_bytes() : Result<std::uint64_t>(0);
      if (used) notice_.stage_bytes += *used;
    }
    notice_.automatic_limit =
        restart::automatic_stage_limit(directory_.descriptor(), notice_.stage_bytes);
    give_memory_back();
    const auto shared = restart::drop_idle_frames(
        directory_, frames_unheld_ns, is_stage_large_ ? frames_idle_short_ns : frames_idle_ns);
    shares_frames_ = shared && *shared;
  }

  /// Frees memory if the stage is near stage_limit=: first the pool, then kept sets. If that is not
  /// enough, ranks write natively.
  void give_memory_back() {
    const std::uint64_t used = notice_.stage_bytes;
    std::uint64_t limit = options_.settings.bytes("stage_limit");
    if (limit == 0) limit = notice_.automatic_limit;
    is_stage_large_ = limit != 0 && used > limit - limit / 4;
    if (!is_stage_large_) return;
    tells_stage_short_ = true;
    if (const auto given = directory_.shrink_pool(used - limit / 2); given && *given > 0) {
      restart::log_debug("the stage holds " + std::to_string(used) + " of " +
                         std::to_string(limit) + " B: " + std::to_string(*given) +
                         " B of drained files given back");
    }
  }

  /// True if the launch had a leader before, which left a summary: that is the first file that a
  /// leader writes.
  [[nodiscard]] bool was_led_before() const {
    return restart::File::open(directory_.descriptor(), restart::leader_files::summary_name,
                               O_RDONLY)
        .has_value();
  }

  /// Frees the parts that a dead leader kept. These parts are committed, and from now on this
  /// leader alone decides which parts are kept.
  void free_what_a_dead_leader_kept() {
    const auto kept = directory_.list(State::committed);
    if (!kept) return;
    for (const PartId& part : *kept) (void)directory_.free_part(part, {}).has_value();
  }

  const LaunchDirectory& directory_;
  const LeaderOptions& options_;
  Signals* signals_;
  Watch watch_;
  StubHandles stubs_;
  Requests requests_;
  LaunchClock clock_;
  Discovery discovery_;
  Decisions decisions_;
  Deadline deadline_;
  LaunchDirectory::Notice notice_;  ///< as last written
  Summary summary_;
  Answers answers_;
  SetPlaces places_;       ///< of the drain's thread
  KnownContainers known_;  ///< of the drain's thread
  ContainerWatch container_watch_;
  ShortStorage short_storage_{summary_, container_watch_};  ///< of the drain's thread
  NativeWriters natives_;                                   ///< of the quick thread
  Collections collections_;
  HeldSets held_sets_;
  /// By number of a drain under way: its parts.
  std::map<std::uint64_t, std::vector<PartId>> drains_;
  std::uint64_t turn_begin_ns_ = 0;  ///< this thread's processor time when the turn began
  std::uint64_t noticed_ms_ = 0;
  std::uint64_t sized_ms_ = 0;
  std::uint64_t size_look_pause_ms_ = notice_ms;
  std::atomic<bool> looking_ = false;
  std::atomic<bool> is_watching_ = false;  ///< a look at the watched containers is queued or runs
  std::atomic<bool> is_collecting_ = false;
  std::uint64_t watched_ms_ = 0;
  std::uint64_t looked_ms_ = 0;
  bool commit_failed_ = false;
  bool tells_stage_short_ = false;
  bool is_stage_large_ = false;
  bool shares_frames_ = false;
  bool exit_ = false;
  std::atomic<bool> was_terminated_ = false;
  std::atomic<bool> anybody_lives_ = false;  ///< of the launch
  std::atomic<bool> has_committed_ = false;  ///< this leader has committed a set
  std::optional<int> session_niceness_;      ///< as last set
  // The workers are declared last, so that they are destroyed first: their jobs use all members
  // above.
  Worker quick_;    ///< small files, which must not wait for a large set
  Worker collect_;  ///< removals, for which no commit waits
  Worker drain_;    ///< the only thread that calls HDF5
};

}  // namespace

namespace {

/// Makes this process a leader in the background: binds it to its processors, and logs into the
/// launch's log file.
Result<void> become_leader(const LaunchDirectory& directory, const LeaderOptions& options) {
  MCR_TRY(step_back(std::string(options.settings.text("leader_cpus"))));
  auto log = MCR_TRY(restart::File::open(directory.descriptor(), restart::leader_files::log_name,
                                         O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW));
  restart::set_log_descriptor(log.release());
  // Summaries are logged whatever the level, because they go to a file and disturb no user.
  restart::set_log_level(
      std::max(restart::log_level_of(options.settings), restart::LogLevel::summary));
  return {};
}

/// See adopt_launches().
void adopt_others(const LaunchDirectory& directory, bool kept_too) {
  const std::string& path = directory.path();
  (void)adopt_launches(restart::parent_of(path), path, kept_too).has_value();
}

/// The signal that ended the leader may have been sent to the ranks too, and they may not have ended yet. Tries for a moment to
/// remove the launch's directory after them, unless another leader leads by then.
Result<bool> remove_after_ranks(const LaunchDirectory& directory) {
  constexpr int look_ms = 20;
  const std::uint64_t begin = restart::monotonic_ms();
  while (restart::monotonic_ms() < begin + dying_ms) {
    ::poll(nullptr, 0, look_ms);
    const auto lives = directory.anybody_lives();
    if (!lives && restart::means_gone(lives.error().system_error)) return true;
    if (MCR_TRY(lives)) continue;
    const auto lock = MCR_TRY(directory.try_lead());
    return lock ? directory.remove_if_done() : Result<bool>(false);
  }
  return false;
}

/// Leads until the launch needs no leader. Returns true if a signal ended it.
Result<bool> lead_launch(LaunchDirectory& directory, const LeaderOptions& options,
                         Signals* signals) {
  Patience patience;
  // The ranks of an adopted launch joined long ago, so the leader does not wait for a first rank.
  if (!options.adopts_others) patience.first_rank_ms = 0;
  patience.lag = options.settings.count("lag");
  Leader leader(directory, options, patience, signals);
  MCR_TRY(leader.run());
  return leader.was_terminated();
}

}  // namespace

Result<LeaderReport> lead(LaunchDirectory directory, const LeaderOptions& options) {
  LeaderReport report;
  std::unique_ptr<Signals> signals;
  if (options.is_process) {
    signals = std::make_unique<Signals>();
  }
  for (;;) {
    // A launch has one leader: a second one ends here.
    auto lock = MCR_TRY(directory.try_lead());
    if (!lock) return report;
    report.led = true;
    directory.end_start();
    MCR_TRY(directory.complete());
    if (options.is_process) MCR_TRY(become_leader(directory, options));
    if (options.adopts_others) adopt_others(directory, false);
    const bool was_terminated = MCR_TRY(lead_launch(directory, options, signals.get()));
    // Frees the kept sets of crashed launches. This launch is over, so a restart from these sets
    // has read them by now.
    if (options.adopts_others) adopt_others(directory, true);
    // A rank may have begun to share frames since the leader's exit.
    const auto shared = restart::drop_idle_frames(directory, 0, frames_idle_ns);
    const bool is_shared = shared && *shared;
    if (!is_shared) {
      const auto removed = directory.remove_if_done();
      if (!removed) restart::log_warning(removed.error().message);
      report.removed = MCR_TRY(removed);
    }
    report.left = report.removed ? 0 : parts_in(directory);
    if (was_terminated && !report.removed && report.left == 0) {
      lock.reset();  // a rank that lives on may start a leader
      report.removed = MCR_TRY(remove_after_ranks(directory));
    }
    if (report.removed || was_terminated) return report;
    // A process that joined after the exit was decided found our lock held. It started no leader,
    // and relies on this one.
    const auto lives = directory.anybody_lives();
    if (!is_shared && (!lives || !*lives)) return report;
  }
}

}  // namespace mcr::aggregation
