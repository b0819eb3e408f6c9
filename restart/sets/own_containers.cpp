// SPDX-License-Identifier: BSD-3-Clause
#include "restart/sets/own_containers.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <string_view>
#include <utility>

#include "restart/base/access_list.hpp"
#include "restart/base/attributes.hpp"
#include "restart/base/closed_directories.hpp"
#include "restart/base/durable_replace.hpp"
#include "restart/base/own_way.hpp"
#include "restart/base/path_names.hpp"
#include "restart/base/system.hpp"
#include "restart/base/trust.hpp"
#include "restart/sets/directory_access.hpp"

namespace mcr::restart {
namespace {

Error not_to_be_used(const std::string& path, const struct stat& inner, const Beside& beside) {
  const bool is_open = !beside.is_no_more_open();
  const std::string why = is_open ? " lets users add files who could not replace those beside it"
                                  : ", who could remove or replace other users' files in it";
  const std::string list =
      is_open && beside.is_listed_above()
          ? ", or give it the access list of the directory above (getfacl --access " +
                parent_of(path) + " | setfacl --set-file=- " + path + ")"
          : "";
  return Error{Cause::system,
               path + " belongs to " + user_text(inner.st_uid) + (is_open ? " and" : "") + why +
                   "; write into a directory of your own, name another directory with "
                   "container_dir=, or let the owner " +
                   (is_open ? "see what is in it and close it (chmod go-w)" : "remove it") + list,
               EPERM};
}

/// What is done if a symbolic link lies in place of the directory.
enum class Link {
  followed,  ///< if no other user can have put it there
  refused,  ///< several runs may have links to one directory, and mistake each other's sets for their own
};

/// Follows a link in place of a directory of containers, if no other user can have put it there.
Result<File> open_linked(const File& parent, const std::string& path, Link link) {
  struct stat entry {};
  const std::string name = name_of(path);
  if (system_calls().fstatat(parent.descriptor(), name.c_str(), &entry, AT_SYMLINK_NOFOLLOW) != 0)
    return system_error("cannot look at", path);
  if (!S_ISLNK(entry.st_mode)) {
    errno = ENOTDIR;
    return system_error("cannot use as a directory:", path);
  }
  if (!is_own_link(entry)) {
    return Error{Cause::system,
                 path + " is a symbolic link that " + user_text(entry.st_uid) +
                     " made, and mcr does not follow it; write into a directory of your own, or "
                     "name another directory with container_dir=",
                 EPERM};
  }
  if (link == Link::refused) {
    return Error{Cause::system,
                 path +
                     " is a symbolic link, and mcr writes nothing through it, because several runs "
                     "may have links to one directory; put a directory in its place, or name "
                     "another directory with container_dir=",
                 EPERM};
  }
  if (others_may_write(MCR_TRY(parent.status()))) {
    return Error{Cause::system,
                 path +
                     " is a symbolic link in a directory to which other users may write, and mcr "
                     "does not follow it, because they can put or move one there; let only "
                     "yourself write to "
                     "that directory, or put the directory itself in its place",
                 EPERM};
  }
  const auto end = follow_trusted_links(parent, name);
  if (!end && end.error().system_error == ELOOP) {
    return Error{
        Cause::system,
        path +
            " is a symbolic link, and other users may have put one on the way to its target; "
            "mcr does not follow it: let the link lead straight to the directory",
        EPERM};
  }
  if (!end) return end.error();
  File linked = MCR_TRY(
      File::open(end->directory.descriptor(), end->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  const struct stat status = MCR_TRY(linked.status());
  const bool is_ours = is_believed(status.st_uid, ::geteuid());
  if (is_ours && !others_may_write(status)) return linked;
  // The directory above the link's target counts, not the directory of the link.
  const File above = MCR_TRY(File::open(linked.descriptor(), "..", O_PATH | O_DIRECTORY));
  const Beside beside = MCR_TRY(Beside::of(above, linked));
  if (beside.may_be_used()) return linked;
  return not_to_be_used(path, status, beside);
}

Result<File> open_usable(const File& parent, const std::string& path, Link link) {
  auto opened = open_beneath(parent.descriptor(), name_of(path), O_RDONLY | O_DIRECTORY);
  if (!opened) {
    const int number = opened.error().system_error;
    return number == ELOOP || number == ENOTDIR ? open_linked(parent, path, link)
                                                : std::move(opened);
  }
  const Beside beside = MCR_TRY(Beside::of(parent, *opened));
  if (beside.may_be_used()) return opened;
  return not_to_be_used(path, MCR_TRY(opened->status()), beside);
}

/// Returns the mode with which a directory of containers keeps these users out.
mode_t closed_mode(mode_t mode, const KeptOut& kept) {
  const mode_t closed = mode & 07777 & ~kept.writers;
  const bool others_write = (closed & (S_IWGRP | S_IWOTH)) != 0;
  return kept.removers && others_write ? closed | S_ISVTX : closed;
}

struct Made {
  File directory;
  bool is_new = false;      ///< this call made the directory
  bool is_certain = false;  ///< and no other user has put another directory in its place
};

/// True if the directory may be used as it is.
bool needs_no_change(const File& parent, const File& directory) {
  const auto beside = Beside::of(parent, directory);
  if (!beside || !beside->may_be_used()) return false;
  const bool is_ours = beside->directories().inner_owner == ::geteuid();
  return !is_ours || (beside->is_no_more_listed() && beside->lets_all_enter());
}

Result<Made> make_usable(const File& parent, const std::string& path,
                         const KeptOutOf& kept_out_of = {}) {
  const std::string name = name_of(path);
  const auto open = [&] { return open_beneath(parent.descriptor(), name, O_RDONLY | O_DIRECTORY); };
  Made made;
  auto there = open();
  if (!there && there.error().system_error == ENOENT) {
    struct timespec before {};
    // File systems stamp birth times by the coarse clock, which may lag behind CLOCK_REALTIME.
    system_calls().clock_gettime(CLOCK_REALTIME_COARSE, &before);
    mode_t mode = MCR_TRY(mode_of_new(parent));
    if (kept_out_of) mode = closed_mode(mode, kept_out_of(MCR_TRY(parent.status())));
    const int answer = system_calls().mkdirat(parent.descriptor(), name.c_str(), mode);
    if (answer != 0 && errno != EEXIST) return system_error("cannot make directory", path);
    if (answer == 0) let_owner_enter(parent, name);
    there = open();
    made.is_new = answer == 0;
    made.is_certain = made.is_new && there && is_empty(*there) && is_born_since(*there, before);
    if (made.is_certain) let_group_enter(parent, *there);
  }
  if (there && !made.is_new && needs_no_change(parent, *there)) {
    made.directory = *std::move(there);
    return made;
  }
  if (there) MCR_TRY(close_as_far(parent, *there));
  if (there) MCR_TRY(close_as_entered(parent, *there));
  made.directory = MCR_TRY(open_usable(parent, path, Link::refused));
  if (made.is_certain)
    made.is_certain =
        FileIdentity(MCR_TRY(made.directory.status())) == FileIdentity(MCR_TRY(there->status()));
  return made;
}

/// Opens the directory that contains the last component of `below`.
Result<File> parent_of_containers(const File& directory, const std::string& below) {
  const std::string above = below.find('/') == std::string::npos ? "." : parent_of(below);
  return File::open(directory.descriptor(), above, O_PATH | O_DIRECTORY);
}

Result<File> parent_directory(const std::string& directory) {
  return File::open(AT_FDCWD, parent_of(directory), O_PATH | O_DIRECTORY);
}

/// True if make_own_containers() may close the directory to other users: it is this user's, it is empty, and it may be
/// changed.
bool may_be_closed(const File& parent, const std::string& directory) {
  const auto opened = open_beneath(parent.descriptor(), name_of(directory), O_RDONLY | O_DIRECTORY);
  const auto status = opened ? opened->status() : Result<struct stat>(opened.error());
  return status && status->st_uid == ::geteuid() && is_empty(*opened) &&
         may_be_changed(parent, *opened);
}

/// True if the mode keeps the write bits, or if the directory is empty.
bool keeps_writers_or_is_empty(const File& containers, const struct stat& status, mode_t mode) {
  if (((status.st_mode ^ mode) & (S_IWGRP | S_IWOTH)) == 0) return true;
  const auto readable = File::open(containers.descriptor(), ".", O_RDONLY | O_DIRECTORY);
  return readable && is_empty(*readable);
}

/// True if the directory may get this mode: it is this user's, may be changed, and is empty or keeps its write bits.
bool may_get_mode(const File& parent, const File& containers, const struct stat& status,
                  mode_t mode) {
  return status.st_uid == ::geteuid() && may_be_changed(parent, containers) &&
         keeps_writers_or_is_empty(containers, status, mode);
}

/// True if other users could remove or add containers, although the files' directories keep them out: the owner of a
/// directory, and the users who may write to it.
bool is_more_open(const struct stat& containers, const KeptOut& kept) {
  return kept.any() && (!is_believed(containers.st_uid, ::geteuid()) ||
                        closed_mode(containers.st_mode, kept) != (containers.st_mode & 07777));
}

Error more_open(const std::string& path, const struct stat& status) {
  return Error{
      Cause::system,
      path + " belongs to " + user_text(status.st_uid) +
          " and lets users add or remove files who may not do so in the directories of the "
          "checkpoint files; name another directory with container_dir=, or let its owner see what "
          "is "
          "in it and close it (chmod go-w)",
      EPERM};
}

/// As refusal_of_containers(), for one directory on the way; `is_last`: the containers lie in it.
std::optional<std::string> refusal_of_one(const std::string& directory, bool is_last,
                                          const File& files) {
  struct stat status {};
  if (system_calls().fstatat(AT_FDCWD, directory.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0 ||
      (!is_last && !S_ISLNK(status.st_mode)))
    return std::nullopt;
  if (S_ISDIR(status.st_mode) &&
      ::faccessat(AT_FDCWD, directory.c_str(), W_OK | X_OK, AT_EACCESS) != 0 &&
      (errno == EACCES || errno == EROFS)) {
    return system_error("cannot put files into", directory).message +
           "; make it writable, or name another directory with container_dir=";
  }
  const bool is_plain = S_ISDIR(status.st_mode) && is_believed(status.st_uid, ::geteuid()) &&
                        !others_may_write(status);
  if (is_plain) return std::nullopt;
  const auto above = parent_directory(directory);
  const auto opened =
      above ? open_usable(*above, directory, Link::refused) : Result<File>(above.error());
  if (!opened) {
    const bool is_refused =
        opened.error().system_error == EPERM && !may_be_closed(*above, directory);
    return is_refused ? std::optional(opened.error().message) : std::nullopt;
  }
  const auto outer = above->status();
  const auto inner = opened->status();
  if (!is_last || !outer || !inner) return std::nullopt;
  const KeptOut kept = kept_out(files, *outer);
  if (!is_more_open(*inner, kept) ||
      may_get_mode(*above, *opened, *inner, closed_mode(inner->st_mode, kept)))
    return std::nullopt;
  return more_open(directory, *inner).message;
}

}  // namespace

Result<File> open_own_containers(const std::string& directory) {
  return open_usable(MCR_TRY(parent_directory(directory)), directory, Link::followed);
}

Result<File> open_own_containers_to_write(const std::string& directory) {
  return open_usable(MCR_TRY(parent_directory(directory)), directory, Link::refused);
}

Result<File> open_own_containers_to_write(const File& directory, const std::string& below) {
  return open_usable(MCR_TRY(parent_of_containers(directory, below)), below, Link::refused);
}

Result<File> make_own_containers(const std::string& directory) {
  return make_own_containers(directory, {});
}

Result<File> make_own_containers(const std::string& directory, const KeptOutOf& kept_out_of) {
  const File above = MCR_TRY(parent_directory(directory));
  return std::move(MCR_TRY(make_usable(above, directory, kept_out_of)).directory);
}

Result<File> open_own_containers(const File& directory, const std::string& below) {
  return open_usable(MCR_TRY(parent_of_containers(directory, below)), below, Link::followed);
}

Result<File> make_own_containers(const File& directory, const std::string& below) {
  File above = MCR_TRY(File::open(directory.descriptor(), ".", O_PATH | O_DIRECTORY));
  for (const std::string& name : split_path(parent_of(below))) {
    auto next = File::open(above.descriptor(), name, O_PATH | O_DIRECTORY);
    if (!next && next.error().system_error == ENOENT)
      next = std::move(MCR_TRY(make_open_containers(above, name)).directory);
    above = MCR_TRY(std::move(next));
  }
  return std::move(MCR_TRY(make_usable(above, name_of(below))).directory);
}

Result<MadeContainers> make_open_containers(const File& directory, const std::string& name,
                                            const KeptOutOf& kept_out_of) {
  Made made = MCR_TRY(make_usable(directory, name, kept_out_of));
  if (made.is_certain) MCR_TRY(open_as_parent(made.directory, directory));
  return MadeContainers{std::move(made.directory), made.is_new};
}

Result<File> make_in_own_containers(const File& containers, const std::string& name) {
  return std::move(MCR_TRY(make_usable(containers, name)).directory);
}

Result<File> make_closed_in_own_containers(const File& containers, const std::string& name) {
  if (system_calls().mkdirat(containers.descriptor(), name.c_str(), S_IRWXU) == 0)
    let_owner_enter(containers, name);
  else if (errno != EEXIST)
    return system_error("cannot make directory", containers.name() + "/" + name);
  return open_usable(containers, containers.name() + "/" + name, Link::refused);
}

std::optional<std::string> refusal_of_containers(const std::string& base,
                                                 std::string_view container_dir,
                                                 const File& files) {
  const std::string directory = base + "/" + std::string(container_dir);
  for (std::size_t end = directory.find('/', base.size() + 1);;
       end = directory.find('/', end + 1)) {
    const bool is_last = end == std::string::npos;
    if (auto why = refusal_of_one(directory.substr(0, end), is_last, files)) return why;
    if (is_last) return std::nullopt;
  }
}

Result<void> close_to(const KeptOut& kept, const File& containers, const std::string& path) {
  const struct stat status = MCR_TRY(containers.status());
  if (!is_more_open(status, kept)) return {};
  const mode_t mode = closed_mode(status.st_mode, kept);
  const File parent = MCR_TRY(File::open(containers.descriptor(), "..", O_PATH | O_DIRECTORY));
  if (!may_get_mode(parent, containers, status, mode)) {
    // Another process of this user may have closed it since, and put a file into it.
    if (!is_more_open(MCR_TRY(containers.status()), kept)) return {};
    return more_open(path, status);
  }
  const File readable = MCR_TRY(File::open(containers.descriptor(), ".", O_RDONLY | O_DIRECTORY));
  if (system_calls().fchmod(readable.descriptor(), mode) != 0)
    return system_error("cannot close", path);
  if (keeps_writers_or_is_empty(readable, status, mode)) return {};
  // Another user has put a file into it before it was closed. In a closed directory, that file would look like this user's.
  if (system_calls().fchmod(readable.descriptor(), status.st_mode & 07777) != 0)
    return system_error("cannot open again", path);
  return more_open(path, status);
}

}  // namespace mcr::restart
