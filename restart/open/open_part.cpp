// SPDX-License-Identifier: BSD-3-Clause
#include "restart/open/open_part.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "restart/base/file_identity.hpp"
#include "restart/base/log.hpp"
#include "restart/base/system.hpp"
#include "restart/container/container_reader.hpp"
#include "restart/container/part_image.hpp"
#include "restart/format/container_name.hpp"
#include "restart/sets/container_places.hpp"
#include "restart/sets/look.hpp"
#include "restart/sets/places_above.hpp"
#include "restart/sets/removed_sets.hpp"
#include "restart/stage/staged_part.hpp"

namespace mcr::restart {
namespace {

class Search {
 public:
  Search(const Stub& stub, const std::string& stub_path, const std::shared_ptr<FrameShare>& share,
         std::optional<PartOrigin>* origin)
      : stub_(stub), stub_path_(stub_path), share_(share), origin_(origin) {}

  /// Returns the part if an original container in the place has it. Copies that have it are kept for from_copies().
  Result<std::unique_ptr<PartSource>> in_place(const ContainerPlace& place, bool is_above = false) {
    if (!is_above) looked_in_.push_back(place);
    const auto opened = place.open();
    if (!opened) {
      keep(opened.error());
      return std::unique_ptr<PartSource>();
    }
    const std::optional<OpenContainers>& directory = *opened;
    struct stat status {};
    if (!directory || ::fstat(directory->descriptor(), &status) != 0 ||
        searched_.contains({FileIdentity(status), place.prefix}))
      return std::unique_ptr<PartSource>();
    was_refused_ = false;
    // Try likely names first, so that a directory of 100,000 containers is not listed for each
    // open.
    for (const std::string& name : likely_names(place)) {
      auto source = in_container(*directory, place, name);
      if (source && *source != nullptr) return source;
      if (!source && source.error().system_error == ENOENT) {
        if (parse_bundle_name(name)) break;
        continue;
      }
      if (!source) keep(source.error());
    }
    const auto names = look_.containers(*directory, place.prefix);
    const std::string bundle = bundle_prefix(place);
    const auto bundles = look_.containers(*directory, bundle);
    if (!names || !bundles) {
      keep(names ? bundles.error() : names.error());
      return std::unique_ptr<PartSource>();
    }
    // Containers whose ranks include ours come first, because a set of many nodes has many
    // containers. If one of them is a copy with the part, containers of other ranks are not read.
    std::vector<std::string> likely;
    std::vector<std::string> others;
    for (const std::string& name : *bundles) {
      if (is_one_rank() && parse_bundle_name(name)) others.push_back(name);
    }
    for (const std::string& name : *names) {
      const auto parsed = parse_container_name(name);
      if (!parsed || parsed->sequence != stub_.sequence) continue;
      const bool includes = parsed->first_rank <= stub_.rank && stub_.rank <= parsed->last_rank;
      (includes ? likely : others).push_back(name);
    }
    const std::size_t likely_count = is_one_rank() ? likely.size() + others.size() : likely.size();
    likely.insert(likely.end(), others.begin(), others.end());
    for (std::size_t i = 0; i < likely.size() && (copies_.empty() || i < likely_count); ++i) {
      const std::string& name = likely[i];
      if (look_.is_over()) {
        keep(*look_.problem());
        return std::unique_ptr<PartSource>();
      }
      auto source = in_container(*directory, place, name);
      if (source && *source != nullptr) return source;
      if (!source) keep(source.error());
    }
    if (!was_refused_) searched_.emplace(FileIdentity(status), place.prefix);
    return std::unique_ptr<PartSource>();
  }

  /// Returns the part from a copy; null if no copy has it. Fails if copies differ: one of them may be another user's container. A part
  /// never changes, so a user's own copies of it are equal.
  Result<std::unique_ptr<PartSource>> from_copies() {
    if (copies_.empty()) return std::unique_ptr<PartSource>();
    // The original may be in a place that was refused, or that was not looked at in time.
    if (is_a_holder_refused_ && problem_) return *problem_;
    if (look_.problem()) return *look_.problem();
    Copy& first = copies_.front();
    for (std::size_t i = 1; i < copies_.size(); ++i) {
      if (are_equal(*first.source, *copies_[i].source)) continue;
      return Error{Cause::damaged,
                   first.container + " and " + copies_[i].container + " have different data for " +
                       stub_path_ +
                       ", and neither is certainly an original, so nothing tells which of them "
                       "belongs to it. Move "
                       "the one that does not belong here to another directory (`mcr ls` shows "
                       "what a container has, `mcr unpack` writes its files)"};
    }
    if (origin_ != nullptr) *origin_ = std::move(first.origin);
    return std::move(first.source);
  }

  [[nodiscard]] Error nothing_found() const {
    const std::string part = "part " + stub_.part.text() + " (" + stub_.path + ", rank " +
                             std::to_string(stub_.rank) + " of " +
                             std::to_string(stub_.rank_count) + ")";
    if (problem_) {
      return Error{problem_->cause, part + ": " + problem_->message, problem_->system_error};
    }
    std::string places;
    for (const ContainerPlace& place : looked_in_) {
      const auto opened = place.open();
      if (const auto removed =
              opened && *opened ? removed_set(**opened, place.distinct_prefix) : std::nullopt)
        return Error{Cause::system, part + " was removed: " + *removed, ENOENT};
      if (!places.empty()) places += ", ";
      places += place.directory + "/" + place.prefix + "*.h5";
    }
    return Error{Cause::system,
                 part + " is neither in the stage of this node (" + stub_.launch_directory +
                     ") nor in a container (" + places +
                     ", also searched in the directories above). If the job's node still has its "
                     "stage, run `mcr recover` there. If files or containers were moved, run `mcr "
                     "recover DIR` with a directory DIR above both",
                 ENOENT};
  }

 private:
  /// The part in a container that is a copy (FileOrigin::is_copy).
  struct Copy {
    std::string container;
    FileIdentity identity;
    std::unique_ptr<PartSource> source;
    std::optional<PartOrigin> origin;
  };

  static bool are_equal(PartSource& one, PartSource& other) {
    if (one.size() != other.size()) return false;
    constexpr std::uint64_t block_bytes = 1U << 20;
    Bytes a;
    Bytes b;
    for (std::uint64_t done = 0; done < one.size(); done += a.size()) {
      a.resize(static_cast<std::size_t>(std::min(block_bytes, one.size() - done)));
      b.resize(a.size());
      if (!one.read_at(done, a) || !other.read_at(done, b) || a != b) return false;
    }
    return true;
  }

  /// Other users may add containers, and names of them, beside the stub's.
  static constexpr std::uint64_t longest_search_ms = 60'000;
  /// Few bundles share a block, because a leader begins another bundle only after the last one is
  /// written.
  static constexpr std::uint32_t most_bundles = 16;

  [[nodiscard]] bool is_one_rank() const { return stub_.rank_count == 1; }

  [[nodiscard]] std::string bundle_prefix(const ContainerPlace& place) const {
    return bundle_name(place.masked_name, stub_.container_directory, stub_.launch, stub_.part)
        .prefix;
  }

  /// Returns the names of this rank's own container and of the bundles that may hold the part.
  [[nodiscard]] std::vector<std::string> likely_names(const ContainerPlace& place) const {
    std::vector<std::string> names{place.prefix + container_suffix(stub_.rank, stub_.rank, {})};
    if (!is_one_rank()) return names;
    const std::string bundle = bundle_prefix(place);
    for (std::uint32_t number = 0; number < most_bundles; ++number)
      names.push_back(bundle + bundle_suffix(number));
    return names;
  }

  Result<std::unique_ptr<PartSource>> in_container(const OpenContainers& directory,
                                                   const ContainerPlace& place,
                                                   const std::string& name) {
    struct stat status {};
    const bool is_there = system_calls().fstatat(directory.descriptor(), name.c_str(), &status,
                                                 AT_SYMLINK_NOFOLLOW) == 0;
    if (is_there && without_part_.contains(FileIdentity(status)))
      return std::unique_ptr<PartSource>();
    auto opened = directory.container(name);
    if (!opened) {
      if (is_there && opened.error().cause == Cause::damaged)
        without_part_.insert(FileIdentity(status));
      return opened.error();
    }
    auto container = *std::move(opened);
    const SetIdentity& set = container->set();
    const bool is_bundle = !set.bundled.empty();
    if (set.launch != stub_.launch || (!is_bundle && set.sequence != stub_.sequence)) {
      without_part_.insert(FileIdentity(MCR_TRY(container->status())));
      return Error{Cause::damaged,
                   place.directory + "/" + name + " has another set in it than its name says"};
    }
    const std::vector<PartRecord>* parts = MCR_TRY(container->parts());
    for (std::size_t i = 0; i < parts->size(); ++i) {
      const PartRecord& record = (*parts)[i];
      if (record.entry.part != stub_.part || record.entry.rank != stub_.rank) continue;
      if (is_bundle && set.bundled[i].sequence != stub_.sequence) continue;
      if (MCR_TRY(place.is_open_to_strangers(directory, stub_path_))) {
        is_a_holder_refused_ = true;
        return Error{
            Cause::usage,
            place.directory + "/" + name +
                " lies where other users can put files, and they cannot put any beside the "
                "stub, so the container is not trusted; if you trust these users, set "
                "allow= to its directory, or write the files out with `mcr unpack`"};
      }
      if (place.is_allowed) container->trust_owner();
      std::optional<PartOrigin> origin;
      if (origin_ != nullptr)
        origin = MCR_TRY(stored_origin(*container, i, directory.descriptor()));
      const struct stat status = MCR_TRY(container->status());
      const auto beside = directory.beside();
      const uid_t author = beside ? beside->author(status) : status.st_uid;
      const bool is_copy = origin_by(container->origin(), status, author).is_copy;
      const FileIdentity identity(status);
      const auto has_it = [&](const Copy& copy) { return copy.identity == identity; };
      if (is_copy && std::any_of(copies_.begin(), copies_.end(), has_it))
        return std::unique_ptr<PartSource>();
      log_debug(stub_.path, " is read from ", place.directory, "/", name);
      auto source = MCR_TRY(open_part_image(container, record, share_));
      if (is_copy) {
        copies_.push_back(
            {place.directory + "/" + name, identity, std::move(source), std::move(origin)});
        return std::unique_ptr<PartSource>();
      }
      if (origin_ != nullptr) *origin_ = std::move(origin);
      return source;
    }
    without_part_.insert(FileIdentity(MCR_TRY(container->status())));
    return std::unique_ptr<PartSource>();
  }

  /// Keeps the first error, unless a later one reports damage.
  void keep(const Error& error) {
    was_refused_ |= error.cause == Cause::usage;
    if (!problem_ || (error.cause == Cause::damaged && problem_->cause != Cause::damaged)) {
      problem_ = error;
    }
  }

  const Stub& stub_;
  const std::string& stub_path_;
  const std::shared_ptr<FrameShare>& share_;
  std::optional<PartOrigin>* origin_;
  std::vector<ContainerPlace> looked_in_;
  Look look_{monotonic_ms() + longest_search_ms};
  // Each directory is searched once for a prefix, and each container is read once. A stub may name
  // many places, and links and second names may lead from all of them to the same few files.
  std::set<std::pair<FileIdentity, std::string>> searched_;
  std::set<FileIdentity> without_part_;
  std::vector<Copy> copies_;
  /// A container that has the part lies in a place that is not believed.
  bool is_a_holder_refused_ = false;
  /// A container in this place was not believed; in another place it may be.
  bool was_refused_ = false;
  std::optional<Error> problem_;
};

}  // namespace

Result<std::unique_ptr<PartSource>> open_part(const Stub& stub, const std::string& stub_path,
                                              const std::string& allow,
                                              const std::shared_ptr<FrameShare>& share,
                                              std::optional<PartOrigin>* origin) {
  if (!stub.launch_directory.empty()) {
    // If the stage cannot be used (it is gone, or another user's), the containers are tried.
    if (const auto launch = LaunchDirectory::open(stub.launch_directory)) {
      PartBegin begin;
      auto source = open_staged_part(*launch, stub.part, &begin);
      if (source && *source != nullptr) {
        if (origin != nullptr) *origin = staged_origin(begin);
        log_debug(stub_path, " is read from the stage ", stub.launch_directory);
        return source;
      }
    }
  }
  Search search(stub, stub_path, share, origin);
  for (const ContainerPlace& place : container_places(stub, stub_path, allow)) {
    // Copies around the stub come with it when a run is copied, and must not depend on the run from which they were copied.
    if (place.is_elsewhere()) {
      auto copied = search.from_copies();
      if (!copied || *copied != nullptr) return copied;
    }
    auto source = search.in_place(place);
    if (!source || *source != nullptr) return source;
  }
  auto copied = search.from_copies();
  if (!copied || *copied != nullptr) return copied;
  // Not found so far: the program may have renamed its files, before the commit or after it.
  for (const ContainerPlace& place : places_above(stub, stub_path, true)) {
    auto source = search.in_place(place, true);
    if (!source || *source != nullptr) return source;
  }
  copied = search.from_copies();
  if (!copied || *copied != nullptr) return copied;
  return search.nothing_found();
}

}  // namespace mcr::restart
