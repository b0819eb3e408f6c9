// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/mcr/moved_stubs.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <filesystem>
#include <map>

#include "restart/base/durable_replace.hpp"
#include "restart/base/path_names.hpp"
#include "restart/container_name.hpp"
#include "restart/container_places.hpp"
#include "restart/container_reader.hpp"
#include "restart/open_part.hpp"
#include "restart/stub_file.hpp"
#include "restart/stub_links.hpp"

namespace mcr::aggregation {

namespace fs = std::filesystem;
using restart::File;
using restart::name_of;
using restart::parent_of;
using restart::PartId;
using restart::Stub;

namespace {

struct Holder {
  std::string container;  ///< absolute
  std::string masked_name;
};
using Holders = std::map<PartId, Holder>;

/// A container that cannot be read has no parts here; other commands say what is wrong with it.
void add_parts(const std::string& container, Holders& holders) {
  const auto reader = restart::ContainerReader::open(AT_FDCWD, container);
  if (!reader) return;
  const auto parts = (*reader)->parts();
  if (!parts) return;
  for (std::size_t i = 0; i < (*parts)->size(); ++i) {
    holders[(**parts)[i].entry.part] = {container,
                                        restart::set_of_part((*reader)->set(), i).masked_name};
  }
}

/// The stub with names that lead to that container, wherever the stub lies.
Stub leading_to(const Holder& holder, Stub stub, const std::string& path) {
  const std::string directory = parent_of(holder.container);
  const std::string base = parent_of(directory);
  const std::string old_base = restart::container_name(holder.masked_name, "mcr", "", 0).base;
  std::string below = holder.masked_name;
  if (below.starts_with(old_base)) below.erase(0, old_base.size());
  if (!below.starts_with('/')) below.insert(0, "/");
  stub.container_directory = name_of(directory);
  stub.masked_names = {(base == "/" ? "" : base) + below, holder.masked_name};
  stub.path = path;
  return stub;
}

Result<void> rewrite(const Holder& holder, const Stub& stub, const std::string& path, mode_t mode) {
  const File home = MCR_TRY(File::open(AT_FDCWD, parent_of(path), O_RDONLY | O_DIRECTORY));
  MCR_TRY(restart::replace_file(home.descriptor(), name_of(path),
                                restart::write_stub(leading_to(holder, stub, path)), mode,
                                restart::Durability::durable));
  link_again(parent_of(holder.container), stub.part, path);
  return {};
}

}  // namespace

void link_again(const std::string& containers, const PartId& part, const std::string& path) {
  const auto links = restart::StubLinks::list(containers);
  if (!links || links->fate(part) == restart::StubLinks::Fate::unknown) return;
  const auto made = File::open(AT_FDCWD, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if (made && restart::link_stub(containers, part, *made, path)) return;
  links->remove(part);
}

Result<MovedStubs> mend_moved_stubs(const std::string& directory, bool dry_run) {
  MovedStubs moved;
  Holders holders;
  std::map<std::string, std::pair<Stub, mode_t>> stubs;  // by path
  std::error_code problem;
  const std::string root = restart::real_path(directory);
  fs::recursive_directory_iterator entry(root.empty() ? directory : root, problem);
  for (; !problem && entry != fs::recursive_directory_iterator(); entry.increment(problem)) {
    const std::string path = entry->path();
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
    if (entry->path().parent_path().filename() == restart::stub_links_directory) continue;
    if (restart::is_container_name(name_of(path))) {
      ++moved.containers;
      add_parts(path, holders);
      continue;
    }
    const auto file = File::open(AT_FDCWD, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    if (!file || !restart::is_stub_file(*file)) continue;
    auto stub = restart::read_stub_file(*file);
    if (stub) stubs.emplace(path, std::pair(*std::move(stub), status.st_mode & 07777));
  }
  if (problem) {
    return Error{Cause::system, directory + " cannot be looked at: " + problem.message(),
                 problem.value()};
  }
  for (const auto& [path, found] : stubs) {
    const auto& [stub, mode] = found;
    moved.present.insert(stub.part);
    const auto holder = holders.find(stub.part);
    if (holder == holders.end() || restart::open_part(stub, path, "none", nullptr)) continue;
    const auto done = dry_run ? Result<void>() : rewrite(holder->second, stub, path, mode);
    if (done) {
      moved.mended.push_back(path);
    } else {
      moved.failures.push_back(path + ": " + done.error().message);
    }
  }
  return moved;
}

}  // namespace mcr::aggregation
