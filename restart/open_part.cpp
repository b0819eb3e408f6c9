// SPDX-License-Identifier: BSD-3-Clause
#include "restart/open_part.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <optional>

#include "restart/container_name.hpp"
#include "restart/container_reader.hpp"
#include "restart/part_image.hpp"
#include "restart/staged_part.hpp"

namespace mcr::restart {
namespace {

/// Links resolved; empty where there is nothing.
std::string real_path(const std::string& path) {
  char* resolved = ::realpath(path.c_str(), nullptr);
  if (resolved == nullptr) return {};
  std::string text = resolved;
  std::free(resolved);
  return text;
}

std::string directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

/// Relative, and upwards at its beginning only.
bool is_modest(std::string_view container_directory) {
  bool down = false;
  std::string_view rest = container_directory;
  while (!rest.empty()) {
    const std::string_view component = rest.substr(0, rest.find('/'));
    rest.remove_prefix(std::min(rest.size(), component.size() + 1));
    if (component.empty()) return false;  // absolute, or "//"
    if (component == ".." && down) return false;
    down = down || component != "..";
  }
  return down;
}

bool is_below_allowed(const std::string& directory, std::string_view allow) {
  const std::string real = real_path(directory);
  if (real.empty() || allow == "none") return false;
  while (!allow.empty()) {
    const std::string_view item = allow.substr(0, allow.find(':'));
    allow.remove_prefix(std::min(allow.size(), item.size() + 1));
    const std::string allowed = real_path(std::string(item));
    if (allowed.empty()) continue;
    if (real == allowed || allowed == "/" || real.starts_with(allowed + "/")) return true;
  }
  return false;
}

class Search {
 public:
  explicit Search(const Stub& stub) : stub_(stub) {}

  /// In one directory; `owner`: to whom directory and container must belong.
  Result<std::unique_ptr<PartSource>> in_directory(const std::string& path,
                                                   const std::string& prefix,
                                                   std::optional<uid_t> owner) {
    looked_for_.push_back(path + "/" + prefix + "*.h5");
    auto directory = File::open(AT_FDCWD, path, O_RDONLY | O_DIRECTORY);
    if (!directory) return std::unique_ptr<PartSource>();
    if (owner && !belongs_to(*directory, *owner)) return std::unique_ptr<PartSource>();
    auto names = list_directory(directory->descriptor(), ".");
    if (!names) {
      keep(names.error());
      return std::unique_ptr<PartSource>();
    }
    // Those whose ranks include ours first: a set of many nodes has many containers.
    std::vector<std::string> likely;
    std::vector<std::string> others;
    for (std::string& name : *names) {
      if (!name.starts_with(prefix)) continue;
      const auto parsed = parse_container_name(name);
      if (!parsed || parsed->sequence != stub_.sequence) continue;
      const bool includes = parsed->first_rank <= stub_.rank && stub_.rank <= parsed->last_rank;
      (includes ? likely : others).push_back(std::move(name));
    }
    likely.insert(likely.end(), others.begin(), others.end());
    for (const std::string& name : likely) {
      auto source = in_container(*directory, path, name, owner);
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
  static bool belongs_to(const File& file, uid_t owner) {
    const auto status = file.status();
    return status && status->st_uid == owner;
  }

  Result<std::unique_ptr<PartSource>> in_container(const File& directory, const std::string& path,
                                                   const std::string& name,
                                                   std::optional<uid_t> owner) {
    if (owner) {
      const auto file =
          File::open(directory.descriptor(), name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
      if (!file || !belongs_to(*file, *owner)) return std::unique_ptr<PartSource>();
    }
    auto container = MCR_TRY(ContainerReader::open(directory.descriptor(), name));
    const SetIdentity& set = container->set();
    if (set.launch != stub_.launch || set.sequence != stub_.sequence) {
      return Error{Cause::damaged, path + "/" + name + " holds another set than its name says"};
    }
    const std::vector<PartRecord>* parts = MCR_TRY(container->parts());
    for (const PartRecord& record : *parts) {
      if (record.entry.part == stub_.part) return open_part_image(container, record);
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
  std::vector<std::string> looked_for_;
  std::optional<Error> problem_;
};

}  // namespace

Result<std::unique_ptr<PartSource>> open_part(const Stub& stub, const std::string& stub_path,
                                              const std::string& allow) {
  if (!stub.launch_directory.empty()) {
    // Whatever is wrong with a stage that is not ours, or no longer there: then it is the
    // container's turn.
    if (const auto launch = LaunchDirectory::open(stub.launch_directory)) {
      auto source = open_staged_part(*launch, stub.part);
      if (source && *source != nullptr) return source;
    }
  }
  Search search(stub);
  if (!is_modest(stub.container_directory)) return search.nothing_found();

  // A link to a stub stands for the stub where that one lies.
  const std::string resolved = real_path(stub_path);
  const std::string stub_directory = directory_of(resolved.empty() ? stub_path : resolved);
  for (const std::string& masked_name : stub.masked_names) {
    const ContainerName name =
        container_name(masked_name, stub.container_directory, stub.launch, stub.sequence);
    const std::string path =
        stub_directory + "/" + name.directory_from_stub(stub.container_directory);
    auto source = search.in_directory(path, name.prefix, std::nullopt);
    if (!source || *source != nullptr) return source;
  }

  const auto stub_file = File::open(AT_FDCWD, stub_path, O_RDONLY | O_NONBLOCK);
  const auto stub_status = stub_file ? stub_file->status() : Result<struct stat>(stub_file.error());
  for (const std::string& masked_name : stub.masked_names) {
    const ContainerName name =
        container_name(masked_name, stub.container_directory, stub.launch, stub.sequence);
    if (!name.directory.starts_with('/') || name.directory.find("/../") != std::string::npos)
      continue;
    std::optional<uid_t> owner;
    if (!is_below_allowed(name.directory, allow)) {
      if (!stub_status) continue;
      owner = stub_status->st_uid;
    }
    auto source = search.in_directory(name.directory, name.prefix, owner);
    if (!source || *source != nullptr) return source;
  }
  return search.nothing_found();
}

}  // namespace mcr::restart
