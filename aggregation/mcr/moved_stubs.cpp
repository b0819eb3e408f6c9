// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/mcr/moved_stubs.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "aggregation/commit/held_containers.hpp"
#include "aggregation/mcr/files_below.hpp"
#include "aggregation/mcr/make_stub.hpp"
#include "aggregation/mcr/surroundings.hpp"
#include "restart/base/file_identity.hpp"
#include "restart/base/path_names.hpp"
#include "restart/base/system.hpp"
#include "restart/base/trust.hpp"
#include "restart/container/container_reader.hpp"
#include "restart/format/container_name.hpp"
#include "restart/open/open_part.hpp"
#include "restart/sets/container_places.hpp"
#include "restart/sets/stub_links.hpp"
#include "restart/stage/file_at.hpp"

namespace mcr::aggregation {

using restart::File;
using restart::FileIdentity;
using restart::name_of;
using restart::parent_of;
using restart::PartId;
using restart::Stub;

namespace {

/// A container that lists a part. A container of 100,000 parts makes 100,000 holders, which share
/// the container's texts.
struct Holder {
  std::shared_ptr<const std::string> container;  ///< absolute path
  std::shared_ptr<const ContainersPlace> home;
  std::shared_ptr<const std::string> masked_name;
  uid_t author = 0;
};
struct FoundStub {
  Stub stub;
  struct stat status {};
};
/// Several containers may list a part: copies of one container, and containers that another user
/// made.
using Holders = std::map<PartId, std::vector<Holder>>;

/// The directories in which a container has names.
using Seen = std::map<FileIdentity, std::set<std::string>>;
/// A container that has names in more directories than this counts in the first ones only.
constexpr std::size_t most_directories = 16;

/// Adds the parts of an open container in the directory `home`. A container that cannot be read is
/// ignored; other commands report it.
void add_parts(File file, const HeldContainers& home, const std::string& container, Seen& seen,
               Holders& holders) {
  const auto status = file.status();
  if (!status) return;
  std::set<std::string>& directories = seen[FileIdentity(*status)];
  if (directories.size() >= most_directories || !directories.insert(parent_of(container)).second)
    return;
  const uid_t author = home.beside().author(*status);
  const auto reader = restart::ContainerReader::read(std::move(file), container);
  if (!reader) return;
  const auto parts = (*reader)->parts();
  if (!parts) return;
  const auto path = std::make_shared<const std::string>(container);
  std::shared_ptr<const std::string> name;
  for (std::size_t i = 0; i < (*parts)->size(); ++i) {
    const auto& set = restart::set_of_part((*reader)->set(), i);
    if (!name || *name != set.masked_name)
      name = std::make_shared<const std::string>(set.masked_name);
    holders[(**parts)[i].entry.part].push_back({path, home.place(), name, author});
  }
}

/// Returns the stub with names that lead to the holder's container from the stub's `path`.
Stub leading_to(const Holder& holder, Stub stub, const std::string& path) {
  const std::string directory = parent_of(*holder.container);
  const std::string base = parent_of(directory);
  const std::string old_base = restart::container_name(*holder.masked_name, "mcr", "", 0).base;
  std::string below = *holder.masked_name;
  if (below.starts_with(old_base)) below.erase(0, old_base.size());
  if (!below.starts_with('/')) below.insert(0, "/");
  stub.container_directory = name_of(directory);
  stub.masked_names = {(base == "/" ? "" : base) + below, *holder.masked_name};
  stub.path = path;
  return stub;
}

/// Returns the first container that the stub's owner trusts and from which the stub opens without allow=;
/// else the first that the owner trusts. If the owner trusts none, returns the first container, so that
/// the error can name it.
const Holder& holder_for(const std::vector<Holder>& holders, const FoundStub& found,
                         const std::string& path) {
  std::vector<const Holder*> believed;
  for (const Holder& holder : holders) {
    if (restart::is_believed(holder.author, found.status.st_uid)) believed.push_back(&holder);
  }
  if (believed.empty()) return holders.front();
  if (believed.size() == 1) return *believed.front();
  const auto opens = [&](const Holder* holder) {
    return restart::open_part(leading_to(*holder, found.stub, path), path, "none").has_value();
  };
  const auto best = std::find_if(believed.begin(), believed.end(), opens);
  return best == believed.end() ? *believed.front() : **best;
}

/// Returns `path` relative to the directory `root`, which contains it.
std::string below(const std::string& root, const std::string& path) {
  return path.substr(root == "/" ? 1 : root.size() + 1);
}

/// Opens directories below `top` in which files are found. Keeps only the last one open.
class OpenHomes {
 public:
  OpenHomes(const File& top, std::string root) : top_(top), root_(std::move(root)) {}

  /// Opens `directory` and the directory in which it lies. The result is valid until the next call.
  Result<const HeldContainers*> open(const std::string& directory) {
    if (held_ && held_->place()->directory == directory) return &*held_;
    held_.reset();
    beside_.reset();
    if (directory == root_) {
      held_ = MCR_TRY(HeldContainers::open(root_, LinksToContainers::trusted));
      if (held_->beside().identity() != FileIdentity(MCR_TRY(top_.status()))) {
        held_.reset();
        return replaced_meanwhile(root_);
      }
      return &*held_;
    }
    const std::string base = parent_of(directory);
    constexpr int to_hold = O_PATH | O_DIRECTORY;
    File outer = MCR_TRY(
        base == root_ ? File::open(top_.descriptor(), ".", to_hold)
                      : restart::open_beneath(top_.descriptor(), below(root_, base), to_hold));
    held_ = MCR_TRY(HeldContainers::in(std::move(outer), base, name_of(directory)));
    return &*held_;
  }

  /// Returns the author of a file of the program in the directory that was opened last.
  uid_t author(const struct stat& file) {
    if (!beside_) beside_ = restart::Beside::in(held_->directory());
    return beside_->author(file);
  }

 private:
  const File& top_;
  std::string root_;
  std::optional<HeldContainers> held_;
  std::optional<restart::Beside> beside_;
};

/// Rewrites the stub where it was found, below the open directory `top`, with the rights of the
/// stub's owner. Follows no links, because another user may have put one on the way since.
Result<void> rewrite(const File& top, const std::string& root, const Holder& holder,
                     const FoundStub& found, const std::string& path) {
  const uid_t owner = found.status.st_uid;
  if (::geteuid() != owner && ::geteuid() != 0)
    return Error{Cause::system,
                 "the stub belongs to " + restart::user_text(owner) +
                     "; nothing was changed; let this user or root run `mcr recover`"};
  if (!restart::is_believed(holder.author, owner))
    return Error{Cause::system,
                 "the stub's container " + *holder.container +
                     (holder.author == restart::unknown_user
                          ? " can be written by other users, who can also put it where it lies"
                          : " is of " + restart::user_text(holder.author) +
                                ", who is not the stub's owner")};
  const std::string relative = below(root, path);
  const std::size_t slash = relative.rfind('/');
  File deeper;
  if (slash != std::string::npos)
    deeper = MCR_TRY(
        restart::open_beneath(top.descriptor(), relative.substr(0, slash), O_RDONLY | O_DIRECTORY));
  const int home = slash == std::string::npos ? top.descriptor() : deeper.descriptor();
  struct stat now {};
  if (restart::system_calls().fstatat(home, name_of(path).c_str(), &now, AT_SYMLINK_NOFOLLOW) !=
          0 ||
      FileIdentity(now) != FileIdentity(found.status))
    return Error{Cause::system,
                 "another process replaced the stub; nothing was changed, run the command again"};
  StubToMake wanted;
  wanted.stub = leading_to(holder, found.stub, path);
  wanted.owner = owner;
  wanted.group = found.status.st_gid;
  const auto old = restart::open_file_beneath(home, name_of(path));
  // If the file cannot be opened, its group's bits may be the mask of an access list, so they are not taken.
  wanted.mode = found.status.st_mode & 0700;
  const auto opened = old ? old->status() : Result<struct stat>(old.error());
  if (opened && FileIdentity(*opened) == FileIdentity(found.status)) wanted.replaced = &*old;
  wanted.existing = restart::Existing::replaced;
  wanted.containers = holder.home;
  return make_stub(home, name_of(path), wanted);
}

/// True if the stub at `path`, which leads to its container below `base`, opens only if allow= names
/// `base`: directory or container belongs to another user than the stub.
bool opens_only_with_allow(const File& top, const std::string& root, const std::string& path,
                           const std::string& allow, const std::string& base) {
  const auto there =
      restart::file_at(restart::open_beneath(top.descriptor(), below(root, path), O_RDONLY));
  return there.is_stub() && !restart::open_part(there.stub, path, allow) &&
         restart::open_part(there.stub, path, base);
}

/// Whether stubs lead to their parts. All names of a file in one directory lead to the same places, so
/// one answer holds for all of them.
class ConnectedStubs {
 public:
  explicit ConnectedStubs(std::string allow) : allow_(std::move(allow)) {}

  bool contains(const FoundStub& found, const std::string& path) {
    const auto [known, is_new] =
        known_.try_emplace({FileIdentity(found.status), parent_of(path)}, false);
    if (is_new) known->second = restart::open_part(found.stub, path, allow_).has_value();
    return known->second;
  }

 private:
  std::string allow_;  ///< the setting
  std::map<std::pair<FileIdentity, std::string>, bool> known_;
};

}  // namespace

bool MovedStubs::has_stub_of(const PartId& part, std::optional<uid_t> owner) const {
  for (auto stub = present.lower_bound({part, 0}); stub != present.end() && stub->first == part;
       ++stub) {
    if (!owner || restart::is_believed(stub->second, *owner)) return true;
  }
  return false;
}

Result<MovedStubs> reconnect_moved_stubs(const std::string& directory,
                                         const std::optional<FileIdentity>& named, bool dry_run) {
  MovedStubs moved;
  Holders holders;
  Seen seen;
  std::set<std::string> stubs;  // keeps paths only, because a file of 50 KB may have 60,000 names
  const std::string real = restart::real_path(directory);
  const std::string root = real.empty() ? directory : real;
  const File top = MCR_TRY(File::open(AT_FDCWD, root, O_RDONLY | O_DIRECTORY));
  moved.top = FileIdentity(MCR_TRY(top.status()));
  if (named && *named != moved.top) return replaced_meanwhile(directory);
  OpenHomes homes(top, root);
  moved.left_out = look_below(top, root, [&](const FileBelow& found) {
    const std::string& path = found.path;
    if (restart::is_link_to_stub(path)) return;
    const auto home = homes.open(parent_of(path));
    if (!home) return;
    auto file = restart::open_beneath((*home)->directory().descriptor(), name_of(path), O_RDONLY);
    if (restart::is_container_name(name_of(path))) {
      ++moved.containers;
      if (file) add_parts(*std::move(file), **home, path, seen, holders);
      return;
    }
    auto there = restart::file_at(std::move(file));
    if (!there.is_stub()) return;
    stubs.insert(path);
    const uid_t author = homes.author(there.status);
    moved.present.emplace(there.stub.part, author);
    if (author == there.status.st_uid) return;
    moved.doubtful.try_emplace(there.stub.part, path);
    const auto found_in = found.directory.status();
    if (found_in && restart::others_may_only_add(*found_in))
      moved.in_sticky.emplace(there.stub.part, found.home, there.status.st_uid);
  });
  std::vector<std::string> warnings;  // other commands print them
  const auto settings = effective_settings({}, warnings);
  const std::string allow = settings ? std::string(settings->text("allow")) : "none";
  ConnectedStubs connected(allow);
  for (const std::string& path : stubs) {
    auto there =
        restart::file_at(restart::open_beneath(top.descriptor(), below(root, path), O_RDONLY));
    if (!there.is_stub()) continue;
    const FoundStub found{std::move(there.stub), there.status};
    const auto known = holders.find(found.stub.part);
    if (known == holders.end() || connected.contains(found, path)) continue;
    const Holder& holder = holder_for(known->second, found, path);
    const auto done = dry_run ? Result<void>() : rewrite(top, root, holder, found, path);
    const std::string base = parent_of(parent_of(*holder.container));
    if (done && !dry_run && opens_only_with_allow(top, root, path, allow, base))
      moved.needing_allow.push_back({path, base});
    if (done) {
      moved.reconnected.push_back(path);
    } else {
      moved.failures.push_back(path + ": " + done.error().message);
    }
  }
  return moved;
}

}  // namespace mcr::aggregation
