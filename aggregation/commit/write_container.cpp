// SPDX-License-Identifier: BSD-3-Clause
// The steps of writing a container (step 4 of commit.cpp), and what a crash after each leaves:
//  1. inventory, plan, choice: nothing.
//  2. frames, tables and user block under a temporary name: a file that readers ignore. With replicas=, they
//     are first written into a file in memory, which is then copied.
//  3. fsync, then the final name, by a rename that replaces nothing (PendingFile::finish). A crash
//     before it leaves no container, a crash after it a whole one. On a file system without such a
//     rename, a hard link is made and the temporary name removed; a crash between the two leaves
//     the temporary name as a second name.
//  4. fsync of the directory: now the name survives a power failure, and the caller may free the
//     parts.
#include "aggregation/commit/write_container.hpp"

#include <fcntl.h>
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/enumerable_thread_specific.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <list>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "aggregation/commit/container_writer.hpp"
#include "aggregation/merge/choice_rounds.hpp"
#include "aggregation/merge/common_attributes.hpp"
#include "aggregation/merge/layout_reuse.hpp"
#include "aggregation/merge/rehearsal.hpp"
#include "aggregation/merge/solid_choice.hpp"
#include "aggregation/merge/stable_names.hpp"
#include "aggregation/merge/table_rows.hpp"
#include "aggregation/merge/tables.hpp"
#include "aggregation/pipeline/encode.hpp"
#include "aggregation/pipeline/part_sums.hpp"
#include "aggregation/pipeline/stream_copy.hpp"
#include "codecs/choice/chooser.hpp"
#include "codecs/choice/similar_choices.hpp"
#include "codecs/solid/solid_encode.hpp"
#include "restart/base/counted.hpp"
#include "restart/base/durable_replace.hpp"
#include "restart/base/system.hpp"
#include "restart/container/container_reader.hpp"
#include "restart/container/own_file.hpp"
#include "restart/format/table_rows.hpp"

namespace mcr::aggregation {
namespace {

class Seconds {
 public:
  /// Returns the time since the last call.
  double lap() {
    const auto now = std::chrono::steady_clock::now();
    const double passed = std::chrono::duration<double>(now - last_).count();
    last_ = now;
    return passed;
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

/// The most walked parts of a set with which other parts are compared. The ranks of a program rarely
/// have more layouts than this.
constexpr std::size_t max_references = 4;
/// Layouts of earlier sets may use one byte of the leader's memory in this many.
constexpr std::uint64_t layouts_share = 4;

/// Limit on the processor time for walking a part. A valid part stays below it, because a dataset
/// takes 31 µs to walk and at least 300 bytes of the part.
std::chrono::milliseconds walking_time(std::uint64_t bytes) {
  return std::chrono::milliseconds(5000 + bytes / 1024);
}

constexpr const char* deflate_text = "shuffle, deflate (HDF5's own)";

class ContainerMaker {
 public:
  ContainerMaker(const SetToCommit& set, const MergeOptions& options)
      : set_(set),
        options_(options),
        kept_types_(options.layouts != nullptr ? options.layouts->types()
                                               : std::make_shared<Datatypes>()),
        types_(*kept_types_) {}

  Result<CommitReport> run() {
    for (const PartToCommit& part : set_.parts) {
      files_.push_back(part.bytes);
      part_bytes_.push_back(part.size);
      ranks_.push_back(part.rank);
      report_.raw_bytes += part.size;
    }
    report_.path = set_.directory + "/" + set_.name;
    MCR_TRY(take_inventory());
    report_.inventory_seconds = seconds_.lap();
    MCR_TRY(plan_datasets());
    report_.plan_seconds = seconds_.lap();
    MCR_TRY(choose_encodings());
    report_.choose_seconds = seconds_.lap();
    MCR_TRY(make_tables());
    report_.choose_seconds += seconds_.lap();
    MCR_TRY(finish_plan_of_parts());
    report_.plan_seconds += seconds_.lap();

    const int from = set_.home != nullptr ? set_.home->descriptor() : AT_FDCWD;
    const restart::File directory = MCR_TRY(restart::File::open(
        from, set_.home != nullptr ? "." : set_.directory, O_RDONLY | O_DIRECTORY));
    // Before any file in storage, which may be slow.
    if (set_.replica != nullptr) MCR_TRY(make_replica(*set_.replica));
    if (set_.is_held_back) return std::move(report_);
    restart::PendingFile pending = MCR_TRY(restart::PendingFile::create(
        directory.descriptor(), set_.name, set_.look_at_access ? 0600 : 0666, set_.temporary_word));
    pending.file().leave_access_time();  // HDF5 may read what it has written
    if (set_.replica != nullptr) {
      MCR_TRY(copy_in_streams(*set_.replica, pending.file(), report_.container_bytes,
                              options_.drain.streams));
      // A program may have closed a file to others since the replica was made.
      if (set_.look_at_access) accesses_ = set_.look_at_access();
    } else {
      MCR_TRY(write_file(pending.file(), set_.directory + "/" + pending.temporary_name()));
    }
    MCR_TRY(mark(directory, pending.file()));
    if (options_.drain.verify) MCR_TRY(read_back(pending.file()));
    if (set_.look_at_access) {
      report_.access = restart::readers_of(accesses_);
      MCR_TRY(restart::give_access(pending.file(), report_.access));
    } else {
      report_.access = MCR_TRY(restart::access_of(pending.file()));
    }
    report_.finish_seconds = seconds_.lap();
    if (set_.is_wanted && !set_.is_wanted())
      return Error{Cause::system, report_.path + " is not needed any more", ENOENT};
    keep_open(pending.file());
    MCR_TRY(pending.finish(restart::Durability::durable, options_.replace
                                                             ? restart::Existing::replaced
                                                             : restart::Existing::kept));
    report_.commit_seconds = seconds_.lap();
    return std::move(report_);
  }

 private:
  Result<void> mark(const restart::File& directory, const restart::File& container) const {
    const std::uint64_t known_ns =
        options_.since ? options_.since->of(directory) : restart::written_since(directory);
    const std::uint64_t since_ns = MCR_TRY(restart::mark_own_file(container, known_ns));
    if (options_.since) options_.since->note(directory, since_ns, set_.name);
    return {};
  }

  Result<void> make_replica(const restart::File& file) {
    MCR_TRY(write_file(file, file.name()));
    return set_.replica_is_made(report_.container_bytes);
  }

  /// Keeps the container open, because another process may remove it as soon as it has its name.
  void keep_open(const restart::File& file) {
    const std::string link = restart::link_path(file.descriptor());
    auto container = restart::File::open(AT_FDCWD, link, O_RDONLY);
    const auto status = file.status();
    if (!container || !status) return;
    container->leave_access_time();
    report_.container = std::move(*container);
    report_.status = *status;
  }

  /// Takes the inventory of all parts. A part that HDF5 cannot read (killed in the middle of
  /// writing, damaged, newer than this HDF5) is committed as well: all of it is skeleton.
  Result<void> take_inventory() {
    opaque_type_ = MCR_TRY(types_.opaque_bytes());
    layouts_.resize(set_.parts.size());
    if (!is_aware(options_.scheme)) return {};
    if (options_.layouts != nullptr) references_ = options_.layouts->take(memory_key());
    Rehearsal rehearsal(set_.parts.size(), [this](std::size_t i) {
      const auto done = take_inventory_of(i, nullptr);
      return done ? std::string() : done.error().message;
    });
    for (std::size_t i = 0; i < set_.parts.size(); ++i) {
      if (const auto done = take_inventory_of(i, &rehearsal); !done)
        report_.unreadable.push_back(set_.parts[i].path + ": " + done.error().message);
    }
    if (options_.layouts != nullptr) {
      options_.layouts->keep(memory_key(), std::move(references_),
                             options_.drain.memory_bytes / layouts_share);
    }
    references_.clear();
    return {};
  }

  /// `rehearsal` is null in the rehearsal's child process.
  Result<void> take_inventory_of(std::size_t i, Rehearsal* rehearsal) {
    const PartToCommit& part = set_.parts[i];
    const auto known = std::find_if(
        references_.begin(), references_.end(),
        [&](ReferencePart& reference) { return reference.fits(*part.bytes, part.size); });
    if (known != references_.end()) {
      layouts_[i] = known->layout();
      ++report_.parts_not_walked;
      return {};
    }
    if (rehearsal != nullptr) MCR_TRY(rehearsal->passes(i, walking_time(part.size)));
    const WalkedPart walked =
        MCR_TRY(read_part_layout(restart::link_path(part.bytes->descriptor()), part.size, types_));
    layouts_[i] = walked.layout;
    const bool is_needed = i + 1 < set_.parts.size() || options_.layouts != nullptr;
    // The rehearsal's child must get the same references, although it leaves out parts that fit.
    if (!is_needed || made_references_ == max_references) return {};
    auto reference = ReferencePart::make(*part.bytes, part.size, types_, walked);
    if (!reference) return {};
    references_.push_back(std::move(*reference));
    ++made_references_;
    return {};
  }

  /// Plans the datasets, still without tables and skeletons.
  Result<void> plan_datasets() {
    const bool blocks =
        options_.scheme == Scheme::aware_block || options_.scheme == Scheme::agnostic_block;
    const std::uint64_t block = blocks ? std::max<std::uint64_t>(options_.block_bytes, 1) : 0;
    std::vector<DatasetPlan>& datasets = plan_.datasets;
    if (!is_aware(options_.scheme)) {
      datasets = plan_whole_parts(part_bytes_, opaque_type_, block);
      return {};
    }
    variables_ = MCR_TRY(find_variables(layouts_, options_.match));
    std::vector<std::string> names;
    for (const Variable& variable : variables_) names.push_back(variable.name);
    stable_names_ = stable_names(names);
    datasets = plan_variables(variables_, layouts_, types_, block, options_.frame_bytes);
    if (options_.scheme != Scheme::aware) return {};
    tables_.emplace(datasets, variables_, layouts_, types_, options_.profile);
    reasons_ =
        MCR_TRY(choose_solid(datasets, tables_->suits(), files_, options_.profile, opaque_type_,
                             solid_frame_bytes(), known_links(), options_.drain.threads));
    return {};
  }

  /// Gathers small variables into tables. Those of one table would have got the same pipeline, and about the same
  /// ratio: together, unlike variables would compress worse.
  Result<void> make_tables() {
    if (!tables_) return {};
    const auto origins = tables_->gather(
        plan_.datasets, [this](std::size_t i) { return likeness_of(encodings_[i]); },
        std::min(options_.frame_bytes, table_frame_bytes));
    std::vector<Encoding> encodings(origins.size());
    std::vector<std::string> reasons(origins.size());
    for (std::size_t i = 0; i < origins.size(); ++i) {
      if (!plan_.datasets[i].is_table()) {
        encodings[i] = std::move(encodings_[origins[i].front()]);
        reasons[i] = std::move(reasons_[origins[i].front()]);
        continue;
      }
      for (const std::size_t number : origins[i])
        choices_in_tables_[i].push_back(std::move(encodings_[number].choice));
    }
    encodings_ = std::move(encodings);
    reasons_ = std::move(reasons);
    Scratch scratch;
    for (const auto& [number, choices] : choices_in_tables_) {
      MCR_TRY(choose_encoding(number, nullptr, scratch));
      std::string& reason = reasons_[number];
      reason = restart::counted(choices.size(), "variable") + (reason.empty() ? "" : "; ") + reason;
    }
    return {};
  }

  static std::string likeness_of(const Encoding& encoding) {
    constexpr double most = 64;
    const double ratio = std::clamp(encoding.choice.ratio, 1.0, most);
    return encoding.choice.pipeline.print() + '\n' +
           std::to_string(std::lround(2 * std::log2(ratio)));
  }

  /// Adds the skeletons, and maps the parts.
  Result<void> finish_plan_of_parts() {
    plan_ = finish_plan(std::move(plan_.datasets), part_bytes_, opaque_type_, options_.frame_bytes);
    encodings_.resize(plan_.datasets.size());
    reasons_.resize(plan_.datasets.size());
    if (plan_.has_skeletons()) {
      Scratch scratch;
      MCR_TRY(choose_encoding(plan_.datasets.size() - 1, nullptr, scratch));
    }
    WindowedReads reads(files_, window_bytes());
    return find_skeleton_bases(plan_, reads);
  }

  /// Runs work(i) for all i below `count` on all threads; returns the first error.
  template <typename Work>
  Result<void> for_each(std::size_t count, const Work& work) {
    std::vector<Result<void>> results(count);
    oneapi::tbb::task_arena arena(static_cast<int>(std::max(options_.drain.threads, 1U)));
    arena.execute([&] {
      oneapi::tbb::parallel_for(std::size_t{0}, count,
                                [&](std::size_t i) { results[i] = work(i); });
    });
    for (Result<void>& result : results) {
      if (!result) return result;
    }
    return {};
  }

  /// Chooses a pipeline for each dataset.
  Result<void> choose_encodings() {
    encodings_.resize(plan_.datasets.size());
    reasons_.resize(plan_.datasets.size());
    oneapi::tbb::enumerable_thread_specific<Scratch> scratches;
    const ChoiceRounds plan = plan_choices(plan_.datasets);
    std::vector<codecs::SimilarChoices> earlier(plan.likenesses);
    for (const auto& round : plan.rounds) {
      std::vector<std::optional<codecs::TriedChoice>> tried(round.size());
      MCR_TRY(for_each(round.size(), [&](std::size_t i) {
        const codecs::ChoiceSharing sharing{earlier[round[i].likeness], tried[i]};
        return choose_encoding(round[i].dataset, &sharing, scratches.local());
      }));
      for (std::size_t i = 0; i < round.size(); ++i) {
        if (tried[i]) earlier[round[i].likeness].add(*std::move(tried[i]));
      }
    }
    return {};
  }

  /// `sharing` may be null.
  Result<void> choose_encoding(std::size_t number, const codecs::ChoiceSharing* sharing,
                               Scratch& scratch) {
    const DatasetPlan& dataset = plan_.datasets[number];
    Encoding& encoding = encodings_[number];
    if (options_.profile.profile == codecs::Profile::portable) {
      encoding.storage = restart::DatasetStorage::deflate;
      return {};
    }
    if (dataset.kind == restart::DatasetKind::skeletons) {
      if (options_.profile.profile != codecs::Profile::none) {
        encoding.choice.pipeline = MCR_TRY(codecs::Pipeline::parse("zstd(9)"));
      }
      return {};
    }
    if (dataset.kind == restart::DatasetKind::batch) {
      encoding.solid = codecs::solid_options(options_.profile);
      return {};
    }
    if (dataset.linked) return {};
    encoding.profile = options_.profile;
    if (dataset.variable >= 0 || dataset.is_table())
      encoding.columns = types_[dataset.type].columns;
    if (options_.memory) {
      if (auto known = options_.memory->recall(memory_key(dataset), dataset.raw_bytes())) {
        encoding.choice = *std::move(known);
        reasons_[number] = encoding.choice.why + "; as in earlier sets";
        return {};
      }
    }
    const codecs::ElementType type = dataset.layout_of(dataset.frame(0)).type;
    // A setting codec.values= is for variables of that name.
    const std::string name = dataset.is_table() ? std::string() : dataset.name;
    if (auto given = codecs::choice_without_data(options_.profile, type, name)) {
      encoding.choice = *std::move(given);
      reasons_[number] = encoding.choice.why;
      return {};
    }
    // The first frame, one in the middle and the last show what a variable's ranks have in common.
    const std::uint32_t count = dataset.frame_count();
    std::vector<DatasetPlan::Frame> samples{dataset.frame(0)};
    if (count > 2) samples.push_back(dataset.frame(count / 2));
    if (count > 1) samples.push_back(dataset.frame(count - 1));
    codecs::Layout layout{type, {}};
    std::size_t bytes = 0;
    for (const DatasetPlan::Frame& frame : samples) {
      const codecs::Layout of_frame = dataset.layout_of(frame);
      layout.bricks.insert(layout.bricks.end(), of_frame.bricks.begin(), of_frame.bricks.end());
      bytes += static_cast<std::size_t>(frame.bytes);
    }
    const auto memory = scratch.take<std::byte>(bytes);
    DirectReads reads(files_);
    MutableByteSpan left = memory.span();
    for (const DatasetPlan::Frame& frame : samples) {
      const auto own = left.first(static_cast<std::size_t>(frame.bytes));
      MCR_TRY(fetch_frame(plan_, reads, dataset, frame, own));
      left = left.subspan(own.size());
    }
    encoding.choice = codecs::choose(options_.profile, layout, memory.span(), scratch, name,
                                     encoding.columns, sharing);
    reasons_[number] = encoding.choice.why;
    return {};
  }

  /// Returns a key that is the same for a program's next set: the paths of steps differ only in
  /// numbers, which the key leaves out.
  [[nodiscard]] std::string memory_key() const {
    std::string key(codecs::profile_name(options_.profile.profile));
    key += '\n';
    for (const char c : set_.set.masked_name) {
      if (c < '0' || c > '9') key += c;
    }
    return key;
  }
  [[nodiscard]] std::string memory_key(const std::string& stable_name, std::uint32_t type) const {
    return memory_key() + '\n' + stable_name + '\n' + types_[type].kind;
  }
  [[nodiscard]] std::string memory_key(const DatasetPlan& dataset) const {
    return memory_key(stable_name(dataset), dataset.type);
  }

  /// Returns the name by which a variable is known in the next set.
  [[nodiscard]] std::string stable_name(const DatasetPlan& dataset) const {
    if (dataset.is_table())
      return std::string(restart::tables_group) + '/' + stable_names_[dataset.variables.front()];
    return dataset.variable < 0 ? dataset.name
                                : stable_names_[static_cast<std::size_t>(dataset.variable)];
  }

  /// Remembers the choices for a table's variables, so that the next set has the same tables.
  void remember_members(std::size_t number, std::uint64_t stored_bytes) const {
    const DatasetPlan& table = plan_.datasets[number];
    const std::vector<codecs::Choice>& choices = choices_in_tables_.at(number);
    const double share = static_cast<double>(stored_bytes) / static_cast<double>(table.raw_bytes());
    for (std::size_t i = 0; i < choices.size(); ++i) {
      const std::size_t variable = table.variables[i];
      std::uint64_t bytes = 0;
      for (const FragmentRef& fragment : variables_[variable].fragments)
        bytes += layouts_[fragment.part]->datasets[fragment.dataset].bytes();
      options_.memory->learn(memory_key(stable_names_[variable], table.type), choices[i], bytes,
                             static_cast<std::uint64_t>(share * static_cast<double>(bytes)));
    }
  }

  [[nodiscard]] std::uint64_t set_bytes() const {
    return std::accumulate(part_bytes_.begin(), part_bytes_.end(), std::uint64_t{0});
  }

  [[nodiscard]] std::optional<ChoiceMemory::Links> known_links() const {
    if (!options_.memory) return std::nullopt;
    const auto remembered = options_.memory->recall_links(memory_key(), set_bytes());
    if (!remembered) return std::nullopt;
    ChoiceMemory::Links links;
    for (std::size_t i = 0; i < variables_.size(); ++i) {
      const auto link = remembered->find(stable_names_[i]);
      if (link != remembered->end()) links.emplace(variables_[i].name, link->second);
    }
    return links;
  }

  /// Remembers this set's choices and sizes for the next set.
  void remember(const std::vector<std::uint64_t>& stored_bytes) const {
    if (!options_.memory || options_.profile.profile == codecs::Profile::portable) return;
    ChoiceMemory::Links links;
    std::uint64_t linked_stored = 0;
    for (std::size_t i = 0; i < plan_.datasets.size(); ++i) {
      const DatasetPlan& dataset = plan_.datasets[i];
      if (dataset.linked) links.emplace(stable_name(dataset), reasons_[i]);
      if (dataset.kind == restart::DatasetKind::batch) linked_stored = stored_bytes[i];
      if (dataset.kind != restart::DatasetKind::variable || dataset.linked) continue;
      options_.memory->learn(memory_key(dataset), encodings_[i].choice, dataset.raw_bytes(),
                             stored_bytes[i]);
      if (dataset.is_table()) remember_members(i, stored_bytes[i]);
    }
    if (options_.scheme != Scheme::aware) return;
    options_.memory->learn_links(memory_key(), links, set_bytes(), linked_stored);
  }

  [[nodiscard]] std::uint64_t solid_frame_bytes() const {
    const std::uint64_t target = solid_frame_target(options_.drain);
    return options_.frame_bytes < frame_target_bytes ? std::min(target, options_.frame_bytes)
                                                     : target;
  }

  [[nodiscard]] std::uint64_t window_bytes() const { return options_.drain.memory_bytes / 32; }

  Result<void> finish_sums(PartSums& sums) {
    report_.checksums.resize(set_.parts.size());
    return for_each(set_.parts.size(), [&](std::size_t part) -> Result<void> {
      report_.checksums[part] = MCR_TRY(sums.finish(part));
      return {};
    });
  }

  /// Returns the options for drain(), which must not use the memory that layouts take.
  [[nodiscard]] DrainOptions drain_options() const {
    DrainOptions options = options_.drain;
    if (options_.layouts != nullptr)
      options.memory_bytes -= std::min(options.memory_bytes, options_.layouts->memory_bytes());
    return options;
  }

  Result<void> write_file(const restart::File& file, const std::string& path) {
    const auto writer = MCR_TRY(ContainerWriter::create(file, path));
    std::int64_t present = -1;
    WindowedReads windows(files_, window_bytes());
    PartSums sums(files_, part_bytes_);
    FrameSink sink;
    sink.place = [&](const EncodedFrame& frame) -> Result<std::optional<std::uint64_t>> {
      const DatasetPlan& dataset = plan_.datasets[frame.dataset];
      if (present != frame.dataset) {
        present = frame.dataset;
        MCR_TRY(writer->begin_dataset(dataset, types_, encodings_[frame.dataset],
                                      attributes_of(dataset), ranks_));
      }
      return writer->place_frame(dataset, frame);
    };
    sink.store = [&](std::uint64_t place, ByteSpan stored) { return writer->store(place, stored); };
    report_.drain = MCR_TRY(drain(plan_, windows, sums, encodings_, drain_options(), sink));
    seconds_.lap();
    MCR_TRY(finish_sums(sums));
    for (const DatasetPlan& dataset : plan_.datasets) {
      if (dataset.is_table()) MCR_TRY(write_rows(*writer, dataset));
    }
    MCR_TRY(write_group_attributes(*writer));
    if (set_.look_at_access) accesses_ = set_.look_at_access();
    restart::Index index = make_index();
    const ContainerWriter::Totals totals = MCR_TRY(writer->finish(index));
    report_.container_bytes = totals.file_bytes;
    fill_report(totals.stored_bytes);
    remember(totals.stored_bytes);
    return {};
  }

  /// A group whose variables are all in tables is made for its attributes.
  Result<void> write_group_attributes(ContainerWriter& writer) {
    std::vector<std::string_view> tabled;
    for (const DatasetPlan& dataset : plan_.datasets) {
      for (const std::size_t variable : dataset.variables)
        tabled.push_back(variables_[variable].name);
    }
    std::sort(tabled.begin(), tabled.end());
    for (const GroupInfo& group : common_groups(layouts_)) {
      const std::string below = group.path + '/';
      const auto first = std::lower_bound(tabled.begin(), tabled.end(), below);
      const bool is_needed = first != tabled.end() && first->starts_with(below);
      MCR_TRY(writer.write_group_attributes(group.path, is_needed, types_, group.attributes));
    }
    return {};
  }

  /// Writes the dataset that says which variables are in a table.
  Result<void> write_rows(ContainerWriter& writer, const DatasetPlan& table) {
    TableRows rows = MCR_TRY(TableRows::make(table, variables_, layouts_, types_));
    Encoding& encoding = encoding_of_rows_;
    if (options_.profile.profile == codecs::Profile::portable) {
      encoding.storage = restart::DatasetStorage::deflate;
    } else if (options_.profile.profile != codecs::Profile::none) {
      encoding.choice.pipeline = MCR_TRY(codecs::Pipeline::parse("zstd(9)"));
    }
    MergePlan& merge = rows_.emplace_back();  // the writer refers to it until finish()
    merge.datasets.push_back(rows.plan());
    const DatasetPlan& plan = merge.datasets.front();
    MCR_TRY(writer.begin_dataset(plan, types_, encoding, {}, {}));
    Scratch scratch;
    Bytes stored;
    for (std::uint32_t i = 0; i < plan.frame_count(); ++i) {
      const Bytes raw = rows.frame(i, ranks_);
      MCR_TRY(encode_block(merge, {0, i}, {}, encoding, raw, scratch, stored));
      if (options_.drain.verify) MCR_TRY(verify_block(plan, encoding, stored, raw, scratch));
      const auto place =
          MCR_TRY(writer.place_frame(plan, {0, i, static_cast<std::uint32_t>(raw.size()), stored}));
      if (place) MCR_TRY(writer.store(*place, stored));
    }
    return {};
  }

  /// Checks that every frame lies where the index says. HDF5 chose these places, but our reader
  /// reads them without HDF5.
  Result<void> read_back(const restart::File& file) {
    constexpr std::size_t at_once = 4096;
    const std::string& name = file.name();
    const int second = ::fcntl(file.descriptor(), F_DUPFD_CLOEXEC, 0);
    if (second < 0) return restart::system_error("cannot read back", name);
    const auto container =
        MCR_TRY(restart::ContainerReader::read(restart::File(second, name), name));
    MCR_TRY(container->parts());
    oneapi::tbb::enumerable_thread_specific<Bytes> stored;
    std::vector<restart::FramePlace> places;
    const auto read_them = [&] {
      const auto now = std::exchange(places, {});
      return for_each(now.size(), [&](std::size_t i) {
        return container->stored_frame(now[i], stored.local());
      });
    };
    for (const restart::DatasetEntry& dataset : *MCR_TRY(container->datasets())) {
      for (std::uint32_t frame = 0; frame < dataset.frame_count; ++frame) {
        places.push_back(MCR_TRY(container->frame_place(dataset, frame)));
        if (places.size() == at_once) MCR_TRY(read_them());
      }
    }
    return read_them();
  }

  [[nodiscard]] std::vector<AttributeValue> attributes_of(const DatasetPlan& dataset) const {
    if (dataset.variable < 0) return {};
    return common_attributes(variables_[static_cast<std::size_t>(dataset.variable)], layouts_);
  }

  [[nodiscard]] restart::Index make_index() {
    restart::Index index;
    index.set = set_.set;
    index.set.scheme = scheme_name(options_.scheme);
    index.set.profile = codecs::profile_name(options_.profile.profile);
    index.set.writer = "mcr " MCR_VERSION;
    index.set.created_ns = restart::clock_ns(CLOCK_REALTIME);
    for (std::size_t i = 0; i < set_.parts.size(); ++i) {
      const PartToCommit& part = set_.parts[i];
      const std::uint32_t mode = i < accesses_.size() ? accesses_[i].mode : part.mode;
      index.parts.push_back({part.part, part.rank, part.path, part.size, report_.checksums[i], mode,
                             plan_.parts[i].skeleton, std::move(plan_.parts[i].entries)});
    }
    return index;
  }

  void fill_report(const std::vector<std::uint64_t>& stored_bytes) {
    for (std::size_t i = 0; i < plan_.datasets.size(); ++i) {
      const DatasetPlan& dataset = plan_.datasets[i];
      add_to_report(dataset, stored_bytes[i], storage_text(i));
      VariableReport& variable = report_.variables.back();
      variable.why = reasons_[i];
      variable.choice = encodings_[i].choice;
      variable.variables = std::max<std::size_t>(dataset.variables.size(), 1);
      if (dataset.kind == restart::DatasetKind::skeletons)
        report_.skeleton_bytes = dataset.raw_bytes();
    }
    std::size_t i = plan_.datasets.size();
    for (const MergePlan& rows : rows_) {
      add_to_report(rows.datasets.front(), stored_bytes[i++],
                    encoding_of_rows_.storage == restart::DatasetStorage::deflate
                        ? deflate_text
                        : encoding_of_rows_.choice.pipeline.print());
    }
  }

  void add_to_report(const DatasetPlan& dataset, std::uint64_t stored_bytes, std::string pipeline) {
    VariableReport variable;
    variable.name = dataset.name;
    variable.type = types_[dataset.type].kind;
    variable.raw_bytes = dataset.raw_bytes();
    variable.stored_bytes = stored_bytes;
    variable.frames = dataset.frame_count();
    variable.fragments = dataset.pieces.size();
    variable.pipeline = std::move(pipeline);
    report_.variables.push_back(std::move(variable));
    report_.frame_bytes += stored_bytes;
  }

  [[nodiscard]] std::string storage_text(std::size_t i) const {
    if (encodings_[i].storage == restart::DatasetStorage::deflate) {
      return deflate_text;
    }
    if (plan_.datasets[i].kind == restart::DatasetKind::batch) return "solid";
    return plan_.datasets[i].linked ? "linked" : encodings_[i].choice.pipeline.print();
  }

  const SetToCommit& set_;
  const MergeOptions& options_;
  Seconds seconds_;
  PartFiles files_;
  std::vector<std::uint64_t> part_bytes_;
  std::vector<std::uint32_t> ranks_;
  std::shared_ptr<Datatypes> kept_types_;
  Datatypes& types_;
  std::uint32_t opaque_type_ = 0;
  PartLayouts layouts_;
  std::vector<ReferencePart> references_;  ///< used while the inventory is taken
  std::size_t made_references_ = 0;        ///< of this set's parts
  std::vector<Variable> variables_;
  std::vector<std::string> stable_names_;  ///< of the variables
  MergePlan plan_;
  std::optional<TableChoice> tables_;
  std::map<std::size_t, std::vector<codecs::Choice>> choices_in_tables_;  ///< by dataset
  std::list<MergePlan> rows_;                                             ///< of the tables
  Encoding encoding_of_rows_;
  std::vector<Encoding> encodings_;
  std::vector<std::string> reasons_;
  std::vector<restart::Access> accesses_;  // of the parts and of native members
  CommitReport report_;
};

}  // namespace

Result<CommitReport> write_container(const SetToCommit& set, const MergeOptions& options) {
  return ContainerMaker(set, options).run();
}

}  // namespace mcr::aggregation
