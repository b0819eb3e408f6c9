// SPDX-License-Identifier: BSD-3-Clause
// Which files of other users this user believes, and for what (docs/design/trust-boundaries.md).
//
// The one rule: what a file says is believed as far as its owner could have done the same with
// native files, and no further. Two questions follow from it, and everything that goes where a file
// points asks them here:
//
//  * Who made it? A container, a note or a decision counts for a file only if its maker is the owner
//    of that file, root, or a user who could have replaced that file: the owner of its directory or,
//    in a directory without a sticky bit that several users may write to, each of them.
//  * Where does it lead? A place that a file names is a name below a directory that is held open.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <string>
#include <string_view>

#include "restart/base/file.hpp"
#include "restart/base/file_identity.hpp"

namespace mcr::restart {

/// True if the path is relative and no component is empty, "." or "..".
bool is_plain_path(std::string_view path);

/// Opens a file below an open directory without leaving it. `path` must be plain (else EXDEV), and no
/// link is followed, not even the last component (ELOOP). Never blocks on a pipe.
Result<File> open_beneath(int directory, const std::string& path, int flags, mode_t mode = 0600);
/// Opens a regular file for reading in the same way; ENXIO if something else lies there.
Result<File> open_file_beneath(int directory, const std::string& path);

/// True if a file that `writer` made counts for a file of `owner`, wherever both lie.
bool is_believed(uid_t writer, uid_t owner);

/// True if this user may follow that link: the link is this user's or root's.
bool is_own_link(const struct stat& status);

/// A directory of ours, `inner`, that stands in `outer` beside the files that it is about.
class Beside {
 public:
  Beside() = default;  ///< both are root's, and closed to everybody else
  Beside(const struct stat& outer, const struct stat& inner)
      : outer_(outer),
        inner_(inner),
        outer_group_(outer.st_mode & S_IRWXG),
        inner_group_(inner.st_mode & S_IRWXG) {}
  /// Opens the directory at that path and the one above it; links are followed. If they cannot be
  /// looked at, the result is a default Beside.
  static Beside of(const std::string& directory);
  /// The same for an `inner` that is open already.
  static Beside of(const File& inner, const std::string& directory);
  /// The same for two open directories, perhaps opened by O_PATH. Access lists count too.
  static Result<Beside> of(const File& outer, const File& inner);
  /// The same for files that lie directly in the directory at that path.
  static Beside in(const std::string& directory);

  /// True if a file that `writer` made in `inner` counts for a file of `owner` in `outer` or below it.
  [[nodiscard]] bool believes(uid_t writer, uid_t owner) const;
  /// True if this user may keep files in `inner`: other users can do no more to files there than to
  /// files in `outer`.
  [[nodiscard]] bool may_be_used() const;
  /// True if all users who may write to `outer` may exchange files in either directory; then files of
  /// all of them count alike.
  [[nodiscard]] bool is_shared_by_all() const;
  /// True if `owner` or root owns `outer`, and all users who may write to `outer` may also remove files
  /// in `inner`.
  [[nodiscard]] bool writers_may_remove(uid_t owner) const;
  /// Returns the user to whom a file in `inner` is attributed: `writer`, or 0 in a shared directory,
  /// where all writers count as one.
  [[nodiscard]] uid_t voice(uid_t writer) const { return is_shared_by_all() ? 0 : writer; }
  /// The owner of `outer`.
  [[nodiscard]] uid_t host() const { return outer_.st_uid; }
  /// Which directory `inner` is.
  [[nodiscard]] FileIdentity identity() const { return FileIdentity(inner_); }
  /// True if every user who may write to `inner` may write to `outer` too, and `inner` has a sticky bit
  /// if `outer` has one and other users may write to `inner`.
  [[nodiscard]] bool is_no_more_open() const;

 private:
  struct stat outer_ {};
  struct stat inner_ {};
  mode_t outer_group_ = 0;  ///< rights of the owning group, at the place of the group bits
  mode_t inner_group_ = 0;
  bool has_outer_list_ = false;   ///< an access list lets named users or groups into `outer`
  bool lets_more_write_ = false;  ///< one of `inner` lets users write whom none of `outer` does
};

/// True if the file, which lies in the directory at that path, belongs to `owner`, to root, or to a
/// user who could have replaced files of `owner` there.
bool is_believed_in(const std::string& directory, const struct stat& file, uid_t owner);

/// Returns the status as the kernel gives it, but with the rights of the owning group in the group
/// bits. With an access list the kernel puts the list's mask there: the most that any named user or
/// group may do.
Result<struct stat> status_with_own_group(const File& directory);

/// True if an access list names users or groups beside owner, group and others.
bool has_access_list(const File& directory);
/// True if new files in the directory inherit an access list.
bool has_default_list(const File& directory);

/// Returns the mode, before umask, with which mkdir() should make a directory of ours in `outer`.
mode_t mode_beside(const struct stat& outer);

/// For messages: "user 1000".
std::string user_text(uid_t user);

}  // namespace mcr::restart
