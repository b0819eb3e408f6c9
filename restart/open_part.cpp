// SPDX-License-Identifier: BSD-3-Clause
#include "restart/open_part.hpp"

#include <cerrno>
#include <optional>

#include "restart/base/log.hpp"
#include "restart/container_name.hpp"
#include "restart/container_places.hpp"
#include "restart/container_reader.hpp"
#include "restart/part_image.hpp"
#include "restart/removed_sets.hpp"
#include "restart/staged_part.hpp"

namespace mcr::restart {
namespace {

class Search {
 public:
  Search(const Stub& stub, const std::shared_ptr<FrameShare>& share) : stub_(stub), share_(share) {}

  Result<std::unique_ptr<PartSource>> in_place(const ContainerPlace& place) {
    looked_for_.push_back(place.directory + "/" + place.prefix + "*.h5");
    if (removed_.empty()) removed_ = removed_set(place.directory, place.prefix).value_or("");
    const auto directory = place.open();
    if (!directory) return std::unique_ptr<PartSource>();
    auto names = list_directory(directory->descriptor(), ".");
    if (!names) {
      keep(names.error());
      return std::unique_ptr<PartSource>();
    }
    // Those whose ranks include ours first: a set of many nodes has many containers.
    std::vector<std::string> likely;
    std::vector<std::string> others;
    for (std::string& name : *names) {
      if (!name.starts_with(place.prefix)) continue;
      const auto parsed = parse_container_name(name);
      if (!parsed || parsed->sequence != stub_.sequence) continue;
      const bool includes = parsed->first_rank <= stub_.rank && stub_.rank <= parsed->last_rank;
      (includes ? likely : others).push_back(std::move(name));
    }
    likely.insert(likely.end(), others.begin(), others.end());
    for (const std::string& name : likely) {
      auto source = in_container(*directory, place, name);
      if (source && *source != nullptr) return source;
      if (!source) keep(source.error());
    }
    return std::unique_ptr<PartSource>();
  }

  [[nodiscard]] Error nothing_found() const {
    const std::string part = "part " + stub_.part.text() + " (" + stub_.path + ", rank " +
                             std::to_string(stub_.rank) + " of " +
                             std::to_string(stub_.rank_count) + ")";
    if (problem_) {
      return Error{problem_->cause, part + ": " + problem_->message, problem_->system_error};
    }
    if (!removed_.empty()) return Error{Cause::system, part + " is gone: " + removed_, ENOENT};
    std::string places;
    for (const std::string& place : looked_for_) {
      if (!places.empty()) places += ", ";
      places += place;
    }
    return Error{Cause::system,
                 part + " is neither in the stage of this node (" + stub_.launch_directory +
                     ") nor in a container (" + places +
                     "). If the job's node still has its stage, run `mcr recover` there; if the "
                     "containers were moved, move them back beside the files",
                 ENOENT};
  }

 private:
  Result<std::unique_ptr<PartSource>> in_container(const File& directory,
                                                   const ContainerPlace& place,
                                                   const std::string& name) {
    if (!place.allows(directory, name)) return std::unique_ptr<PartSource>();
    auto container = MCR_TRY(ContainerReader::open(directory.descriptor(), name));
    const SetIdentity& set = container->set();
    if (set.launch != stub_.launch || set.sequence != stub_.sequence) {
      return Error{Cause::damaged,
                   place.directory + "/" + name + " holds another set than its name says"};
    }
    const std::vector<PartRecord>* parts = MCR_TRY(container->parts());
    for (const PartRecord& record : *parts) {
      if (record.entry.part != stub_.part) continue;
      log_debug(stub_.path, " is read from ", place.directory, "/", name);
      return open_part_image(container, record, share_);
    }
    return std::unique_ptr<PartSource>();
  }

  /// The first problem is the one to tell, unless a later one is damage.
  void keep(const Error& error) {
    if (!problem_ || (error.cause == Cause::damaged && problem_->cause != Cause::damaged)) {
      problem_ = error;
    }
  }

  const Stub& stub_;
  const std::shared_ptr<FrameShare>& share_;
  std::vector<std::string> looked_for_;
  std::string removed_;  ///< what is said of the removal of its set
  std::optional<Error> problem_;
};

}  // namespace

Result<std::unique_ptr<PartSource>> open_part(const Stub& stub, const std::string& stub_path,
                                              const std::string& allow,
                                              const std::shared_ptr<FrameShare>& share) {
  if (!stub.launch_directory.empty()) {
    // Whatever is wrong with a stage that is not ours, or no longer there: then it is the
    // container's turn.
    if (const auto launch = LaunchDirectory::open(stub.launch_directory)) {
      auto source = open_staged_part(*launch, stub.part);
      if (source && *source != nullptr) {
        log_debug(stub_path, " is read from the stage ", stub.launch_directory);
        return source;
      }
    }
  }
  Search search(stub, share);
  for (const ContainerPlace& place : container_places(stub, stub_path, allow)) {
    auto source = search.in_place(place);
    if (!source || *source != nullptr) return source;
  }
  return search.nothing_found();
}

}  // namespace mcr::restart
